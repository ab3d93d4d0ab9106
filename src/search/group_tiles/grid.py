"""Tile sizes of several dims as the axes of one NumPy grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...algebra.element import Array

MAX_PARTS = 1 << 16


def sizes(extent: int, dims: int, budget: int) -> tuple[int, ...]:
    """Tile sizes to try for one of `dims` dims, descending: about `budget ** (1 / dims)` of `ceil(extent / parts)`.

    Few parts are all tried, many parts in growing steps; the smallest is 1, or what makes `MAX_PARTS` tiles.
    """
    wanted = max(3, int(budget ** (1 / max(1, dims))))
    every: list[int] = []
    parts = 1
    while parts < min(extent, MAX_PARTS):
        every.append(-(-extent // parts))
        parts += max(1, parts // 8)
    every.append(-(-extent // MAX_PARTS))
    unique = list(dict.fromkeys(every))
    if len(unique) <= wanted:
        return tuple(unique)
    picked = np.unique(np.round((np.linspace(0, 1, wanted) ** 1.5) * (len(unique) - 1)).astype(int))
    return tuple(unique[i] for i in picked)


@dataclass(frozen=True)
class Grid:
    """One axis per dim; `tiles[d]` are sizes, `counts[d]` numbers of tiles, each along the dim's own axis."""

    dims: tuple[str, ...]
    tiles: Mapping[str, Array]
    counts: Mapping[str, Array]
    shape: tuple[int, ...]
    extents: Mapping[str, int]

    @staticmethod
    def of(candidates: Mapping[str, tuple[int, ...]], extents: Mapping[str, int]) -> Grid:
        """The grid of tile sizes per dim."""
        dims = tuple(candidates)
        tiles: dict[str, Array] = {}
        for i, dim in enumerate(dims):
            shape = [1] * len(dims)
            shape[i] = -1
            tiles[dim] = np.array(candidates[dim], np.int64).reshape(shape)
        counts = {dim: -(-extents[dim] // tiles[dim]) for dim in dims}
        return Grid(dims, tiles, counts, tuple(len(c) for c in candidates.values()), extents)

    @property
    def ones(self) -> tuple[int, ...]:
        """The shape of an array that is the same everywhere."""
        return (1,) * len(self.dims)

    def table(self, dims: tuple[str, ...], function: Callable[[Mapping[str, int]], int]) -> Array:
        """`function` of the tile (other dims uncut) at every combination of the sizes of `dims`, as floats (exact below
        2 ** 53, and never wrapping)."""
        shape = [len(self.tiles[d].reshape(-1)) if d in dims else 1 for d in self.dims]
        choices = [self.tiles[d].reshape(-1).tolist() for d in self.dims if d in dims]
        named = [d for d in self.dims if d in dims]
        values = [function({**self.extents, **dict(zip(named, tile, strict=True))}) for tile in product(*choices)]
        return np.array(values, np.float64).reshape(shape)

    def at(self, flat: int, shape: tuple[int, ...]) -> dict[str, int]:
        """The tile at a flat position of an array of `shape`; dims that the grid does not have are uncut."""
        place = np.unravel_index(flat, shape)
        chosen = {d: int(self.tiles[d].reshape(-1)[place[i]]) for i, d in enumerate(self.dims)}
        return {**self.extents, **chosen}
