"""Grids of tiles: cells of sizes by dimension that a bound treats alike.

Statement 11 of docs/exact-mapper.md.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from math import exp, lcm, log, prod

import numpy as np

from .....algebra.factors import distinct_tiles, divisors_of, primes_of
from .....costs.compiled import bare_entry
from ..space.model import Bools, Floats, Ints
from ..tree.state import Grid

HALVINGS = 10
"""Steps to find how far the sizes of a cell may differ."""

FINER = 0.3
"""How far, next to other dimensions, those of a window do in a cell; logarithms."""

Sizes = tuple[Ints, ...]
"""Tile sizes by dimension, one per cell along it."""


def grid_of(
    bounds: list[int],
    *,
    perfect: bool,
    cells: int,
    most: list[int] | None = None,
    least: list[int] | None = None,
    slides: Bools | None = None,
) -> Grid:
    """At most `cells` cells of tiles of up to `bounds`; of those, what is larger than `most` does not count.

    Tiles are multiples of `least`.  Perfect ones divide the bound; others begin a cell where fewer tiles cover it.
    Along dimensions that `slides` tells the sizes of an imperfect cell are closer to each other.
    """
    begin = least or [1] * len(bounds)
    ends = bounds if most is None else [min(*pair) for pair in zip(bounds, most, strict=True)]
    if not perfect:
        finer = [1.0] * len(bounds) if slides is None else np.where(slides, FINER, 1.0).tolist()
        return _imperfect(tuple(bounds), tuple(begin), tuple(ends), cells, tuple(finer))
    lists = [[b * more for more in divisors_of(bound // b)] for b, bound in zip(begin, bounds, strict=True)]
    whole = [[tile for tile in found if tile <= end] or found[:1] for found, end in zip(lists, ends, strict=True)]
    lists = _spaced(whole, [1.0] * len(whole), cells)
    highs = [
        [*(every[bisect_left(every, n) - 1] for n in found[1:]), every[-1]]
        for found, every in zip(lists, whole, strict=True)
    ]
    return _grid(lists, lists if lists == whole else highs, exact=lists == whole)


@lru_cache(1024)
def _imperfect(
    bounds: tuple[int, ...], begin: tuple[int, ...], ends: tuple[int, ...], cells: int, finer: tuple[float, ...]
) -> Grid:
    """`grid_of` for imperfect factors, `finer` as for `_spaced`."""
    # What covers the bound counts as much as the bound itself.
    every = [[min(b * more, n) for more in distinct_tiles(-(-n // b))] for n, b in zip(bounds, begin, strict=True)]
    every = [[tile for tile in found if tile <= end] or found[:1] for found, end in zip(every, ends, strict=True)]
    lists = _spaced(every, finer, cells)
    highs = [
        [*((tile - 1) // b * b for tile in found[1:]), max(found[-1], end // b * b if end < n else -(-n // b) * b)]
        for found, n, b, end in zip(lists, bounds, begin, ends, strict=True)
    ]
    return _grid(lists, highs, exact=False)


def _spaced(every: list[list[int]], finer: Sequence[float], cells: int) -> list[list[int]]:
    """Some of the tiles, at most so many `cells`, the smallest and the largest among them.

    Those left out are as close to the one before by the same factor along all dimensions, but for the power `finer`.
    """
    low, high, lists = 0.0, log(max(found[-1] for found in every) + 1.0), every
    for _ in range(HALVINGS if prod(map(len, every)) > cells else 0):
        middle = (low + high) / 2
        lists = [_apart(found, exp(middle * f)) for found, f in zip(every, finer, strict=True)]
        low, high = (middle, high) if prod(map(len, lists)) > cells else (low, middle)
    return every if lists is every else [_apart(found, exp(high * f)) for found, f in zip(every, finer, strict=True)]


def _apart(found: list[int], ratio: float) -> list[int]:
    """Tiles of which none is less than `ratio` times the one before, but for the next and the last."""
    chosen, at = [found[0]], 0
    while at < len(found) - 1:
        at = min(max(at + 1, bisect_left(found, found[at] * ratio)), len(found) - 1)
        chosen.append(found[at])
    return chosen


def _grid(lows: list[list[int]], highs: list[list[int]], *, exact: bool) -> Grid:
    size = np.array([len(found) for found in lows], np.int64)
    low = np.zeros((len(lows), int(size.max())), np.int64)
    high = low.copy()
    for d, (smallest, largest) in enumerate(zip(lows, highs, strict=True)):
        low[d, : len(smallest)], high[d, : len(smallest)] = smallest, largest
    stride = np.array([prod(size[d + 1 :].tolist()) for d in range(len(lows))], np.int64)
    return Grid(size, low, high, stride, exact)


def places_in(shape: tuple[int, ...], places: Sequence[Ints]) -> Ints:
    """For cells at `places` by axis, where they are in a table of that shape; at 0, where an axis has length 1."""
    found, stride = np.zeros((), np.int64), 1
    for size, mine in zip(reversed(shape), reversed(places), strict=True):
        found = np.add.outer(mine * stride, found) if size > 1 else found[None]
        stride *= size
    return found


def part_of(grid: Grid, begin: Ints) -> tuple[Grid, Sizes]:
    """A grid of the tiles that are multiples of `begin` (D,) alone, and the numbers of their cells by dimension; all
    cells, where tiles share some or do not nest."""
    lists = sizes_of(grid, high=False)
    if not grid.perfect:
        return grid, tuple(np.arange(len(tiles)) for tiles in lists)
    places = tuple(np.flatnonzero(tiles % b == 0) for tiles, b in zip(lists, begin.tolist(), strict=True))
    own = [tiles[found].tolist() for tiles, found in zip(lists, places, strict=True)]
    return _grid(own, own, exact=True), places


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
    found = np.array(table, np.float64, order="C")
    flat, inner = found.reshape(-1), found.size
    for d, size in enumerate(table.shape):
        inner //= size
        if size > 1 and not fixed >> d & 1:
            sweep(flat, inner, size, _larger(tuple(grid.low[d, :size].tolist()), grid.perfect))
    return found


@bare_entry
def sweep(table: Floats, inner: int, size: int, larger: Ints) -> None:
    """Give cells of `table` (N,) the minimum with `larger` ones (P, 2) of an axis of length `size`, one pair after the
    other; `inner` cells have the same place along it."""
    for begin in range(0, table.shape[0], inner * size):
        for pair in range(larger.shape[0]):
            mine, other = (begin + larger[pair, 0] * inner, begin + larger[pair, 1] * inner)
            for cell in range(inner):
                if table[other + cell] < table[mine + cell]:
                    table[mine + cell] = table[other + cell]


@lru_cache(1024)
def _larger(tiles: tuple[int, ...], perfect: bool) -> Ints:
    """Places of tiles and of larger ones (P, 2), from the largest tile on: the next, or, for perfect tiles, the
    multiples by each prime, one prime after the other."""
    last = len(tiles) - 1
    if not perfect:
        return np.array([(place, place + 1) for place in range(last - 1, -1, -1)], np.int64).reshape(-1, 2)
    where = {tile: place for place, tile in enumerate(tiles)}
    pairs = [
        (where[tile], where[tile * prime])
        for prime, _ in primes_of(lcm(*tiles) // tiles[0])
        for tile in reversed(tiles)
        if tile * prime in where
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)
