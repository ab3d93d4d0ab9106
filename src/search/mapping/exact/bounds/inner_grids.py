"""The tiles that an inner memory may hold, in one skeleton after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..space.model import Bools, Model
from ..traffic.busy import full_children
from ..tree.state import Grid, Skeleton, kept_at
from .grids import grid_of, largest_that, sizes_of
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
        self._largest: dict[tuple[int, int, int, int], int] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    def clear(self) -> None:
        """Forget all."""
        self._rooms = {}

    def all_of(self, skeleton: Skeleton, outer: Grid) -> list[Room]:
        """Those of all memories inside of the last one, which has a grid itself."""
        self._skeleton, self._outer = skeleton, outer
        return [self._room(level) for level in range(len(skeleton.kept) - 2)]

    def _room(self, level: int) -> Room:
        """A memory's tiles, which are those of other skeletons with the same instances inside and outside."""
        skeleton, model, kept = (self._skeleton, self._model, kept_at(self._skeleton, level))
        inside, every = skeleton.inside[level + 1], skeleton.inside[-1]
        reach, most = self._limits(level)
        key = level, kept, inside.tobytes(), every.tobytes(), tuple(most)
        if key not in self._rooms:
            begin: list[int] = inside.tolist()
            ends = reach if model.perfect else self._tables.bounds
            cells, slides = self._cells, self._tables.slides
            grid = grid_of(ends, perfect=model.perfect, cells=cells, most=most, least=begin, slides=slides)
            full = ~self._tables.fit(kept, level, sizes_of(grid, high=False))
            self._rooms[key] = Room(grid, np.broadcast_to(full, tuple(grid.size.tolist())))
        return self._rooms[key]

    def _limits(self, level: int) -> tuple[list[int], list[int]]:
        """The largest tiles of a memory by dimension that may matter, and of those the largest that fit.

        Tiles of all memories further out must have room for them: cells of these stand for no larger ones.
        """
        skeleton, inside = self._skeleton, self._skeleton.inside
        reach = self._reach(level)
        most = [self._most(kept_at(skeleton, level), level, d, end) for d, end in enumerate(reach)]
        for outer in range(level + 1, len(skeleton.kept) - 2):
            kept = kept_at(skeleton, outer)
            for d, end in enumerate(self._reach(outer)):
                fitting = self._most(kept, outer, d, end)
                if fitting < end:
                    most[d] = min(most[d], max(1, fitting // int(inside[outer + 1, d] // inside[level + 1, d])))
        if not self._model.perfect:
            grid = self._outer
            for d, n in enumerate(self._tables.bounds):
                end = int(grid.high[d, grid.size[d] - 1])
                if end < n:
                    most[d] = min(most[d], max(1, end // int(inside[-1, d] // inside[level + 1, d])))
        return reach, most

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

    def _most(self, kept: int, level: int, d: int, end: int) -> int:
        """The largest tile along `d` that fits with tiles of one elsewhere."""
        key = kept, level, d, end

        def fits(size: int) -> bool:
            return bool(self._tables.fit(kept, level, tuple(np.array([size if e == d else 1]) for e in every)).all())

        every = range(self._dims)
        if key not in self._largest:
            self._largest[key] = largest_that(fits, end)
        return self._largest[key]
