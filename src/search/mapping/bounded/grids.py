"""Grids of tiles: cells of sizes by dimension that a bound treats alike."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..factors import divisors_of
from .model import Floats, Ints
from .walk import Grid

Scalar = TypeVar("Scalar", bound=np.generic)

Sizes = tuple[Ints, ...]
"""Tile sizes by dimension, one per cell along it."""


def grid_of(
    bounds: list[int], *, perfect: bool, cells: int, most: list[int] | None = None, least: list[int] | None = None
) -> Grid:
    """At most `cells` cells of tiles of up to `bounds`; of those, what is larger than `most` does not count.

    Perfect tiles divide the bound, and are multiples of `least`; others begin a cell where fewer tiles cover the bound.
    """
    if perfect:
        begin = least or [1] * len(bounds)
        lists = [[b * more for more in divisors_of(bound // b)] for b, bound in zip(begin, bounds, strict=True)]
    else:
        lists = [distinct_tiles(bound) for bound in bounds]
    ends = bounds if most is None else [min(*pair) for pair in zip(bounds, most, strict=True)]
    lists = [[tile for tile in found if tile <= end] or found[:1] for found, end in zip(lists, ends, strict=True)]
    whole = lists
    longest = max(len(found) for found in lists)
    while prod(len(found) for found in lists) > cells and longest > 2:
        longest -= 1
        lists = [_thin(found, longest) for found in lists]
        longest = min(longest, max(len(found) for found in lists))
    size = np.array([len(found) for found in lists], np.int64)
    low = np.zeros((len(lists), int(size.max())), np.int64)
    high = low.copy()
    for d, found in enumerate(lists):
        low[d, : len(found)] = found
        high[d, : len(found)] = [*(n - 1 for n in found[1:]), ends[d]]
    exact = perfect and lists == whole
    stride = np.array([prod(size[d + 1 :].tolist()) for d in range(len(lists))], np.int64)
    return Grid(size, low, low.copy() if exact else high, stride, exact)


class Part(NamedTuple):
    """Some cells of a grid: their numbers by dimension, and a grid of them alone; indices by shape are `known`."""

    grid: Grid
    places: Sizes
    known: dict[tuple[int, ...], tuple[Ints, ...]]

    def of(self, table: NDArray[Scalar]) -> NDArray[Scalar]:
        """The part of a table by cells, some axes of which may have length 1."""
        if table.shape not in self.known:
            none = np.zeros(1, np.int64)
            places = [none if n == 1 else found for n, found in zip(table.shape, self.places, strict=True)]
            self.known[table.shape] = np.ix_(*places)
        return table[self.known[table.shape]]

    @property
    def tiles(self) -> Sizes:
        """The smallest tiles of the cells by dimension."""
        return sizes_of(self.grid, high=False)


def part_of(grid: Grid, begin: Ints) -> Part:
    """The cells of tiles that are multiples of `begin` (D,); all cells, where tiles share some or do not nest."""
    lists = sizes_of(grid, high=False)
    if not grid.perfect:
        return Part(grid, tuple(np.arange(len(tiles)) for tiles in lists), {})
    places = tuple(np.flatnonzero(tiles % b == 0) for tiles, b in zip(lists, begin.tolist(), strict=True))
    size = np.array([len(found) for found in places], np.int64)
    low = np.zeros((len(size), int(size.max())), np.int64)
    for d, (tiles, found) in enumerate(zip(lists, places, strict=True)):
        low[d, : size[d]] = tiles[found]
    stride = np.array([prod(size[d + 1 :].tolist()) for d in range(len(size))], np.int64)
    return Part(Grid(size, low, low, stride, perfect=True), places, {})


def distinct_tiles(bound: int) -> list[int]:
    """The smallest tile for every number of tiles that may cover `bound`."""
    found = {1}
    times = 1
    while times <= bound:
        tile = -(-bound // times)
        found.add(tile)
        if tile == 1:
            break
        times = -(-bound // (tile - 1))
    return sorted(found)


def _thin(found: list[int], most: int) -> list[int]:
    """At most `most` of the tiles, evenly by their place; the first and the last stay."""
    if len(found) <= most:
        return found
    return sorted({found[round(i * (len(found) - 1) / (most - 1))] for i in range(most)})


def sizes_of(grid: Grid, *, high: bool) -> Sizes:
    """The smallest or the largest tiles of all cells, by dimension."""
    table = grid.high if high else grid.low
    return tuple(table[d, :n] for d, n in enumerate(grid.size.tolist()))


def cells_of(grid: Grid, d: int, tiles: Ints) -> Ints:
    """The cells of dimension `d` with these tiles; those above the last cell are in it."""
    return np.searchsorted(grid.low[d, : grid.size[d]], tiles, side="right") - 1


def grown(grid: Grid, table: Floats, fixed: int) -> Floats:
    """Per cell, the minimum of `table` (one axis per dimension) over tiles that contain the cell's and agree with it in
    the set `fixed`."""
    for d in range(table.ndim):
        if not fixed >> d & 1:
            table = swept(grid, table, d)
    return table


def swept(grid: Grid, table: Floats, d: int) -> Floats:
    """Per cell, the minimum over tiles that may only be larger along `d`."""
    if not grid.perfect:
        return np.flip(np.minimum.accumulate(np.flip(table, d), axis=d), d)
    found = table.copy()
    rows = np.moveaxis(found, d, 0)
    for place, more in _multiples(tuple(grid.low[d, : grid.size[d]].tolist())):
        rows[place] = np.minimum(rows[place], rows[more])
    return found


@lru_cache(1024)
def _multiples(tiles: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Places of tiles and of their prime multiples, one prime after the other, from the largest tile on."""
    where = {tile: place for place, tile in enumerate(tiles)}
    return tuple(
        (where[tile], where[tile * prime])
        for prime in primes_of(tuple(tile // tiles[0] for tile in tiles))
        for tile in reversed(tiles)
        if tile * prime in where
    )


def primes_of(numbers: tuple[int, ...]) -> list[int]:
    """The primes among these numbers, which have all divisors of each other."""
    return [n for n in numbers if n > 1 and not any(n % p == 0 for p in numbers if 1 < p < n)]
