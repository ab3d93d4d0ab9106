"""Affine forms `const + sum(coefficient * name)` of index expressions, and windows: what of a tensor they touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from ..errors import TilewrightError
from .expr import Access, Call, Expr, Name, Num, print_expr
from .formula import evaluate_formula


@dataclass(frozen=True)
class Affine:
    """`const + sum(coefficient * name)`; terms are sorted by name and have nonzero coefficients."""

    const: int
    terms: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return print_expr(self.to_expr())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names with a nonzero coefficient, sorted."""
        return tuple(name for name, _ in self.terms)

    def coefficient(self, name: str) -> int:
        """What `name` is multiplied by; 0 if it does not occur."""
        return dict(self.terms).get(name, 0)

    def range(self, extents: Mapping[str, int]) -> tuple[int, int]:
        """Smallest and largest value when each name runs over `0 .. extents[name] - 1`; both inclusive."""
        low = high = self.const
        for name, coefficient in self.terms:
            span = coefficient * (extents[name] - 1)
            low += min(0, span)
            high += max(0, span)
        return low, high

    def evaluate(self, point: Mapping[str, int]) -> int:
        """The value at a point."""
        return self.const + sum(coefficient * point[name] for name, coefficient in self.terms)

    def substitute(self, forms: Mapping[str, Affine]) -> Affine:
        """Replaces names by affine forms; names that are not in `forms` stay."""
        result = Affine(self.const)
        for name, coefficient in self.terms:
            result = result + forms.get(name, Affine(0, ((name, 1),))).scale(coefficient)
        return result

    def scale(self, factor: int) -> Affine:
        """`factor` times this."""
        return make_affine(self.const * factor, {name: value * factor for name, value in self.terms})

    def __add__(self, other: Affine) -> Affine:
        terms = dict(self.terms)
        for name, coefficient in other.terms:
            terms[name] = terms.get(name, 0) + coefficient
        return make_affine(self.const + other.const, terms)

    def __sub__(self, other: Affine) -> Affine:
        return self + other.scale(-1)

    def to_expr(self) -> Expr:
        """The form as an expression, e.g. `2 * p + r - 1`."""
        result: Expr | None = None
        for name, coefficient in self.terms:
            result = _append(result, coefficient, Name(name))
        if result is None:
            return Num(self.const)
        if self.const == 0:
            return result
        return Call("add" if self.const > 0 else "sub", (result, Num(abs(self.const))))


def make_affine(const: int, terms: Mapping[str, int]) -> Affine:
    """An affine form from unsorted terms; zero coefficients are dropped."""
    return Affine(const, tuple(sorted((name, value) for name, value in terms.items() if value)))


def to_affine(expr: Expr, env: Mapping[str, int] | None = None) -> Affine:
    """The affine form of `expr`; names in `env` are constants.

    Raises `TilewrightError` (kind `unsupported`) for products of names, divisions and other functions of names.
    """
    env = env or {}
    match expr:
        case Num(int(value)):
            return Affine(value)
        case Name(id):
            return Affine(env[id]) if id in env else Affine(0, ((id, 1),))
        case Call("add", (left, right)):
            return to_affine(left, env) + to_affine(right, env)
        case Call("sub", (left, right)):
            return to_affine(left, env) - to_affine(right, env)
        case Call("neg", (operand,)):
            return to_affine(operand, env).scale(-1)
        case Call("mul", (left, right)):
            return _product(expr, to_affine(left, env), to_affine(right, env))
        case Call(fn, args):
            return Affine(_constant(expr, fn, [to_affine(arg, env) for arg in args]))
        case _:
            raise _not_affine(expr)


def index_forms(access: Access) -> tuple[Affine, ...]:
    """The affine form of each index of `access`."""
    return tuple(map(to_affine, access.indices))


def _product(expr: Expr, left: Affine, right: Affine) -> Affine:
    if not left.terms:
        return right.scale(left.const)
    if not right.terms:
        return left.scale(right.const)
    raise _not_affine(expr)


def _constant(expr: Expr, fn: str, args: list[Affine]) -> int:
    if any(arg.terms for arg in args):
        raise _not_affine(expr)
    value = evaluate_formula(Call(fn, tuple(Num(arg.const) for arg in args)), {})
    if not isinstance(value, int):
        raise _not_affine(expr)
    return value


def _not_affine(expr: Expr) -> TilewrightError:
    return TilewrightError("unsupported", print_expr(expr), "an index that is affine in the dims", "another expression")


def _append(result: Expr | None, coefficient: int, name: Name) -> Expr:
    if result is None:
        return name if coefficient == 1 else Call("mul", (Num(coefficient), name))
    size = abs(coefficient)
    term: Expr = name if size == 1 else Call("mul", (Num(size), name))
    return Call("add" if coefficient > 0 else "sub", (result, term))


@dataclass(frozen=True)
class Range:
    """Iterations `start .. start + extent - 1` of a dim."""

    start: int
    extent: int


@dataclass(frozen=True)
class Axis:
    """One coordinate of a window: every `step`-th element from `low` on, at most `size` of them.

    With one index form, `step` is the greatest common divisor of the coefficients of the dims that vary inside the
    window, so that what a strided access skips is not kept.  Several forms keep their dense hull.
    """

    forms: tuple[Affine, ...]
    step: int
    size: int

    def low(self, ranges: Mapping[str, Range]) -> int:
        """The smallest coordinate that the accesses reach."""
        return min(form_low(form, ranges) for form in self.forms)

    def count(self, ranges: Mapping[str, Range]) -> int:
        """Elements between the smallest and the largest coordinate, both included, in steps."""
        if len(self.forms) == 1:
            return form_span(self.forms[0], ranges) // self.step + 1
        lows = [form_low(form, ranges) for form in self.forms]
        highs = [low + form_span(form, ranges) for low, form in zip(lows, self.forms, strict=True)]
        return (max(highs) - min(lows)) // self.step + 1


def form_low(form: Affine, ranges: Mapping[str, Range]) -> int:
    """The smallest value of an index form."""
    total = form.const
    for dim, coefficient in form.terms:
        current = ranges[dim]
        total += coefficient * (current.start if coefficient > 0 else current.start + current.extent - 1)
    return total


def form_span(form: Affine, ranges: Mapping[str, Range]) -> int:
    """The difference between the largest and the smallest value of an index form."""
    return sum(abs(c) * (ranges[dim].extent - 1) for dim, c in form.terms)


def window(accesses: Sequence[Sequence[Affine]], extents: Mapping[str, int]) -> tuple[Axis, ...]:
    """The axes of the window of accesses (the index forms of each) whose dims vary over full tiles of `extents`."""
    full = {dim: Range(0, extent) for dim, extent in extents.items()}
    axes: list[Axis] = []
    for forms in zip(*accesses, strict=True):
        unique, step = tuple(dict.fromkeys(forms)), step_of(forms, extents)
        axes.append(Axis(unique, step, Axis(unique, step, 0).count(full)))
    return tuple(axes)


def step_of(forms: Sequence[Affine], extents: Mapping[str, int]) -> int:
    """The distance of the elements that are kept of a coordinate (see `Axis`); `extents` of a full tile."""
    if any(form != forms[0] for form in forms):
        return 1
    return gcd(*(c for dim, c in forms[0].terms if extents[dim] > 1)) or 1


Share = tuple[tuple[str, int, int | None], ...]
"""Dim, iterations left out at its beginning, iterations at most (None: all that are left)."""


def narrowed(ranges: Mapping[str, Range], share: Share) -> Mapping[str, Range] | None:
    """The ranges of a share; None where nothing is left of one of them."""
    if not share:
        return ranges
    found = dict(ranges)
    for dim, skip, take in share:
        whole = ranges[dim]
        extent = whole.extent - skip if take is None else min(take, whole.extent - skip)
        if extent < 1:
            return None
        found[dim] = Range(whole.start + skip, extent)
    return found
