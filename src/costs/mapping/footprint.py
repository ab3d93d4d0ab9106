"""Which part of a tensor a tile touches, and how much of it is moved while loops run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
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
    ends = [_ends(form, ranges) for form in forms]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return Interval(low, step, (high - low) // step + 1)


def _ends(form: Affine, ranges: Mapping[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    """The least and the greatest value of a form; of arrays of ranges arrays."""
    low = high = form.const
    for name, coefficient in form.terms:
        first, past = ranges[name]
        ends = (first, past - 1) if coefficient > 0 else (past - 1, first)
        low, high = low + coefficient * ends[0], high + coefficient * ends[1]
    return low, high


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
    ranges: dict[str, tuple[Any, Any]] = {name: (0, extent) for name, extent in tile.items()}
    for axis, dim in enumerate(dims):
        starts, sizes = (each.reshape([-1 if at == axis else 1 for at in range(len(dims))]) for each in tiles[dim])
        ranges[dim] = starts, starts + sizes
    lows, highs = zip(*(_ends(form, ranges) for form in forms), strict=True)
    low, high = reduce(np.minimum, lows), reduce(np.maximum, highs)
    counts = (high - low) // step + 1
    begin = np.maximum(0, -(low // step))
    end = np.minimum(counts, -((low - size) // step))
    return np.broadcast_to(np.maximum(0, end - begin), [len(tiles[d][0]) for d in dims])
