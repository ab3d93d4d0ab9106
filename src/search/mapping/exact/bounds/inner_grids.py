"""The tiles that an inner memory may hold, in one skeleton after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..space.model import Bools, Model
from ..traffic.busy import full_children
from ..tree.state import Grid, Skeleton
from .grids import grid_of, sizes_of
from .tables import Tables

MAX_INNER = 1 << 15
"""Cells of the grid of an inner memory."""


class Room(NamedTuple):
    """An inner memory's tiles, and those of them that are too large (full)."""

    grid: Grid
    full: Bools


class Rooms:
    """Makes grids of at most so many `cells`, and keeps them for other skeletons."""

    def __init__(self, model: Model, tables: Tables, cells: int) -> None:
        self._model, self._tables, self._cells = model, tables, cells or MAX_INNER
        self._dims = tables.dims
        self._rooms: dict[tuple[int, int, bytes, bytes, tuple[int, ...]], Room] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def clear(self) -> None:
        """Forget all."""
        self._rooms = {}

    def all_of(self, skeleton: Skeleton) -> list[Room]:
        """Those of all memories inside of the last one."""
        self._skeleton = skeleton
        return [self._room(level) for level in range(len(skeleton.kept) - 2)]

    def _room(self, level: int) -> Room:
        """A memory's tiles, which are those of other skeletons with the same instances inside and outside."""
        skeleton, model, kept = self._skeleton, self._model, int(self._skeleton.held[level])
        inside, every = skeleton.inside[level + 1], skeleton.inside[-1]
        reach = self._reach(level)
        key = level, kept, inside.tobytes(), every.tobytes(), tuple(reach)
        if key not in self._rooms:
            begin: list[int] = inside.tolist()
            ends = reach if model.perfect else self._tables.bounds
            cells, slides = self._cells, self._tables.slides
            grid = grid_of(ends, perfect=model.perfect, cells=cells, most=reach, least=begin, slides=slides)
            full = ~self._tables.fit(kept, level, sizes_of(grid, high=False))
            self._rooms[key] = Room(grid, np.broadcast_to(full, tuple(grid.size.tolist())))
        return self._rooms[key]

    def _reach(self, level: int) -> list[int]:
        """The largest tiles of a memory by dimension; see `factors.most_steps`."""
        skeleton, model, found = self._skeleton, self._model, list(self._tables.bounds)
        if model.perfect:
            return (model.bounds // (skeleton.inside[-1] // skeleton.inside[level + 1])).tolist()
        full = np.ones(self._dims, np.int64)
        for outer in range(level + 1, len(skeleton.spread)):
            for d, n in enumerate(self._tables.bounds):
                factor = int(skeleton.spread[outer, d])
                if factor > 1:
                    busy = full_children(factor, bool(model.halves[outer]))
                    found[d] = min(found[d], max(1, (n - 1) // int(full[d] * busy)))
            full *= skeleton.spread[outer]
        return found
