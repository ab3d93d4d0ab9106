"""Windows: the part of a tensor that an access touches while its dims run over ranges, kept as a dense row-major box."""

from __future__ import annotations

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

    `step` is the greatest common divisor of the coefficients of the dims that vary inside the window, so that the holes
    of a strided access are not kept; sums such as `2 * p + r` keep their hull.
    """

    form: Affine
    step: int
    size: int

    def low(self, ranges: Mapping[str, Range]) -> int:
        """The smallest coordinate that the access reaches."""
        total = self.form.const
        for dim, coefficient in self.form.terms:
            current = ranges[dim]
            total += coefficient * (current.start if coefficient > 0 else current.start + current.extent - 1)
        return total

    def count(self, ranges: Mapping[str, Range]) -> int:
        """Elements between the smallest and the largest coordinate, both included, in steps."""
        return sum(abs(c) * (ranges[dim].extent - 1) for dim, c in self.form.terms) // self.step + 1


def window(forms: Sequence[Affine], extents: Mapping[str, int]) -> tuple[Axis, ...]:
    """The axes of the window of an access whose dims vary over full tiles of `extents` iterations."""
    return tuple(_axis(form, extents) for form in forms)


def _axis(form: Affine, extents: Mapping[str, int]) -> Axis:
    varying = [(abs(c), extents[dim] - 1) for dim, c in form.terms if extents[dim] > 1]
    step = gcd(*(c for c, _ in varying)) or 1
    return Axis(form, step, sum(c * span for c, span in varying) // step + 1)
