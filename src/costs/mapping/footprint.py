"""Which part of a tensor a tile touches, and how much of it is moved while loops run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra.affine import Affine, step_of
from ...algebra.element import Array

Ranges = Mapping[str, tuple[int, int]]
"""Dim -> (first, past the last)."""


@dataclass(frozen=True)
class Interval:
    """The indices `start + i * step` for `0 <= i < count`; `start` may be negative where reads are padded."""

    start: int
    step: int
    count: int

    def clip(self, size: int) -> "Interval":
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


Tiles = Mapping[str, tuple[Array, Array]]
"""Looped dim -> first iteration and number of iterations of each tile."""


def split(tiles: tuple[Array, Array], step: int) -> tuple[Array, Array]:
    """The tiles of a loop of `step` inside of each of `tiles`, in order."""
    starts: list[Array] = []
    sizes: list[Array] = []
    for start, size in zip(tiles[0].tolist(), tiles[1].tolist(), strict=True):
        first = np.arange(0, size, step)
        starts.append(start + first)
        sizes.append(np.minimum(step, size - first))
    return np.concatenate(starts), np.concatenate(sizes)


def sweep_elements(
    accesses: Sequence[Sequence[Affine]], shape: Sequence[int], tiles: Tiles, tile: Mapping[str, int]
) -> int:
    """The sum over all combinations of tiles of the elements inside the tensor that the accesses' box has.

    `tile` gives the full tile of every dim; a looped dim that indexes nothing multiplies the sum by its tiles.
    """
    coordinates = [tuple(forms) for forms in zip(*accesses, strict=True)]
    total = 1
    indexing: set[str] = set()
    for group in _connected(coordinates, tiles):
        dims = tuple(d for d in tiles if any(d in _names(coordinates[axis]) for axis in group))
        indexing.update(dims)
        inside: Any = np.ones((), np.int64)
        for axis in group:
            inside = inside * _inside(coordinates[axis], shape[axis], dims, tiles, tile)
        total *= int(inside.sum())
    for dim, (starts, _) in tiles.items():
        total *= 1 if dim in indexing else len(starts)
    return total


def _names(forms: Sequence[Affine]) -> set[str]:
    return {name for form in forms for name in form.names}


def _connected(coordinates: Sequence[tuple[Affine, ...]], tiles: Tiles) -> list[list[int]]:
    """Coordinates in groups that share looped dims."""
    groups: list[tuple[list[int], set[str]]] = []
    for axis, forms in enumerate(coordinates):
        dims = _names(forms) & set(tiles)
        merged: list[int] = []
        apart: list[tuple[list[int], set[str]]] = []
        for axes, names in groups:
            if names & dims:
                merged += axes
                dims = dims | names
            else:
                apart.append((axes, names))
        groups = [*apart, ([*merged, axis], dims)]
    return [axes for axes, _ in groups]


def _inside(forms: Sequence[Affine], size: int, dims: Sequence[str], tiles: Tiles, tile: Mapping[str, int]) -> Array:
    """The in-bounds indices of a coordinate's interval, as an array with one axis per dim of `dims`."""
    step = step_of(forms, tile)
    low, high = _bounds(forms[0], dims, tiles, tile)
    for form in forms[1:]:
        other_low, other_high = _bounds(form, dims, tiles, tile)
        low, high = np.minimum(low, other_low), np.maximum(high, other_high)
    counts = (high - low) // step + 1
    begin = np.maximum(0, -(low // step))
    end = np.minimum(counts, -((low - size) // step))
    return np.broadcast_to(np.maximum(0, end - begin), [len(tiles[d][0]) for d in dims])


def _bounds(form: Affine, dims: Sequence[str], tiles: Tiles, tile: Mapping[str, int]) -> tuple[Array, Array]:
    low: Any = np.full((1,) * len(dims), form.const, np.int64)
    high: Any = low
    for name, coefficient in form.terms:
        first: Any = 0
        last: Any = tile[name] - 1
        if name in tiles:
            starts, sizes = tiles[name]
            axes = [-1 if d == name else 1 for d in dims]
            first, last = starts.reshape(axes), (starts + sizes - 1).reshape(axes)
        low = low + np.minimum(coefficient * first, coefficient * last)
        high = high + np.maximum(coefficient * first, coefficient * last)
    return low, high
