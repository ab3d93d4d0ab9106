"""Windows: the part of a tensor that accesses touch while their dims run over ranges, kept as a dense row-major box."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from .affine import Affine


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
