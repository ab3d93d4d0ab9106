"""Which part of a tensor a tile touches: one interval per coordinate, from affine indices and the dims' ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...algebra.affine import Affine

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


def is_single(forms: Sequence[Affine], extents: Mapping[str, int]) -> str | None:
    """The dim that indexes a coordinate alone, if there is just one of extent > 1 in the one form of all accesses."""
    if len(set(forms)) != 1:
        return None
    names = [name for name in forms[0].names if extents[name] > 1]
    return names[0] if len(names) == 1 else None


def coordinate_interval(forms: Sequence[Affine], ranges: Ranges, extents: Mapping[str, int]) -> Interval:
    """What the accesses of a buffer touch of one coordinate.

    `forms` are the index forms of all accesses.  Where one dim alone indexes the coordinate (`is_single`, by the full
    `extents`), the interval steps with its coefficient, so that what a strided access skips is not moved; else it is the
    dense hull of all forms.
    """
    single = is_single(forms, extents)
    low, high = _hull(forms, ranges)
    if single is None:
        return Interval(low, 1, high - low + 1)
    first, last = ranges[single]
    return Interval(low, abs(forms[0].coefficient(single)), last - first)


def _hull(forms: Sequence[Affine], ranges: Ranges) -> tuple[int, int]:
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
    return min(lows), max(highs)


def buffer_box(
    accesses: Sequence[Sequence[Affine]], ranges: Ranges, extents: Mapping[str, int]
) -> tuple[Interval, ...]:
    """The box of a buffer: for each coordinate the interval that `accesses` (index forms of each) touch."""
    return tuple(coordinate_interval(forms, ranges, extents) for forms in zip(*accesses, strict=True))


def box_elements(box: Sequence[Interval], shape: Sequence[int] | None = None) -> int:
    """Elements of a box; with `shape`, only those inside of the tensor."""
    elements = 1
    for i, interval in enumerate(box):
        elements *= interval.count if shape is None else interval.clip(shape[i]).count
    return elements
