"""The words of all tiles of a mapping, whole ones and those that are cut off, as lists of places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....costs.exact.nest import Nest
from ....errors import TilewrightError

if TYPE_CHECKING:
    from .plan import Operand

Ints = NDArray[np.int64]

MAX_TILE_WORDS = 1 << 26
"""Words of all different tiles."""


def tile_tables(
    nest: Nest, operands: Sequence[Operand], parents: Ints, strides: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """`size_at`, `size_index`, `radix`, `shape_at`, `shapes` and `tiles` of a `Plan`."""
    levels, dims = parents.shape[1], len(nest.bounds)
    sizes = [[_sizes(nest, level - 1, dim) for dim in range(dims)] for level in range(levels)]
    size_at, size_index = _indices(nest, sizes)
    radix, shape_at = np.zeros((len(operands), levels, dims), np.int64), np.zeros((len(operands), levels), np.int64)
    shapes: list[tuple[int, int]] = []
    found: list[Ints] = []
    total = 0
    for t, operand in enumerate(operands):
        for level in range(1, levels - 1):
            if parents[t, level] < 0:
                continue
            moved = [dim for dim in range(dims) if any(row[dim] for row in operand.rows)]
            choices = [sizes[level][dim] for dim in moved]
            radix[t, level, moved] = [int(np.prod([len(c) for c in choices[i + 1 :]])) for i in range(len(moved))]
            shape_at[t, level] = len(shapes)
            ways = strides[t][[levels - 1, level, parents[t, level]]][:, moved]
            for shape in product(*choices):
                words = _places(ways, shape)
                shapes.append((total, len(words)))
                found.append(words)
                total += len(words)
                if total > MAX_TILE_WORDS:
                    expected = f"at most {MAX_TILE_WORDS} words in all different tiles"
                    raise TilewrightError("limit", operand.name, expected, "more", "shrink the kernel, or its tiles")
    tiles = np.concatenate(found) if found else np.zeros((0, 3), np.int64)
    return size_at, size_index, radix, shape_at, np.array(shapes, np.int64).reshape(-1, 2), tiles


def _sizes(nest: Nest, level: int, dim: int) -> list[int]:
    """The iterations that tiles of a level have along a dim, the whole tile's first."""
    bound, begins = nest.bounds[dim], np.zeros(1, np.int64)
    for place in nest.outside(level, dim):
        begins = np.unique(begins[:, None] + place.pitch * np.arange(place.bound))
        begins = begins[begins < bound]
    return [int(size) for size in np.unique(np.minimum(nest.tile(level, dim), bound - begins))[::-1]]


def _indices(nest: Nest, sizes: list[list[list[int]]]) -> tuple[Ints, Ints]:
    """For each level and dim where its part of the list begins, and the list of the numbers of sizes."""
    parts: list[Ints] = []
    at, starts = 0, np.zeros((len(sizes), len(nest.bounds)), np.int64)
    for level, of_level in enumerate(sizes):
        for dim, different in enumerate(of_level):
            part = np.full(different[0] + 1, -1)
            part[different] = np.arange(len(different))
            parts.append(part)
            starts[level, dim], at = at, at + len(part)
    return starts, np.concatenate(parts)


def _places(strides: Ints, shape: Sequence[int]) -> Ints:
    """Rows of one word each: its place by each row of strides, ascending by the first; every word once."""
    places = np.zeros((len(strides), 1), np.int64)
    for dim, size in enumerate(shape):
        steps = strides[:, dim, None] * np.arange(size)
        places = (places[:, :, None] + steps[:, None, :]).reshape(len(strides), -1)
        _, kept = np.unique(places[0], return_index=True)
        places = places[:, kept]
    return np.ascontiguousarray(places.T)
