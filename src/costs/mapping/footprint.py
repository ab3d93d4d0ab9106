"""Which part of a tensor a tile touches: one interval per coordinate, from affine indices and the dims' ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...algebra.affine import Affine
from ...algebra.window import step_of

Ranges = Mapping[str, tuple[int, int]]
"""Dim -> (first, past the last)."""


@dataclass(frozen=True)
class Interval:
    """The indices `start + i * step` for `0 <= i < count`; `start` may be negative where reads are padded."""

    start: int
    step: int
    count: int

    def clip(self, size: int) -> Interval:
        """The part inside `0 .. size - 1` (count 0 if there is none)."""
        first = max(0, -(self.start // self.step))
        last = min(self.count, -((self.start - size) // self.step))
        return Interval(self.start + first * self.step, self.step, max(0, last - first))


def coordinate_interval(forms: Sequence[Affine], ranges: Ranges, step: int) -> Interval:
    """What the accesses of a buffer, by these index forms, touch of one coordinate."""
    lows: list[int] = []
    highs: list[int] = []
    for form in forms:
        low = high = form.const
        for name, coefficient in form.terms:
            first, last = ranges[name]
            ends = coefficient * first, coefficient * (last - 1)
            low += min(ends)
            high += max(ends)
        lows.append(low)
        highs.append(high)
    return Interval(min(lows), step, (max(highs) - min(lows)) // step + 1)


def buffer_box(accesses: Sequence[Sequence[Affine]], ranges: Ranges, tile: Mapping[str, int]) -> tuple[Interval, ...]:
    """The box of a buffer that `accesses` (the index forms of each) touch while the dims run over `ranges`.

    `tile` gives the iterations of each dim in a full tile, which decide the step of each coordinate.
    """
    return tuple(coordinate_interval(forms, ranges, step_of(forms, tile)) for forms in zip(*accesses, strict=True))
