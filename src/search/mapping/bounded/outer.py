"""The least energy beyond the last memory before the outermost one, for every tile that it may hold."""

from __future__ import annotations

from math import prod

import numpy as np

from .grids import distinct_tiles, grid_of, sizes_of
from .model import Bools, Floats, Model
from .outcomes import Outcome, outcomes_of
from .tables import Boundary, Tables

MAX_CELLS = 1 << 19
"""Cells of a grid of imperfect tiles; neighbouring tiles share a cell where there are more."""


class Outer:
    """Tables of one problem on one machine, made when they are first asked for.

    A tile is that of all `children` instances of the last memory together.
    """

    def __init__(self, model: Model, tables: Tables, children: int) -> None:
        self._model, self._tables, self._children = model, tables, children
        self.last = len(model.capacity) - 1
        self.grid = grid_of(tables.bounds, perfect=model.perfect, cells=MAX_CELLS)
        self._low, self._high = (sizes_of(self.grid, high=high) for high in (False, True))
        thin = not model.perfect and int(self.grid.size.prod()) < prod(len(distinct_tiles(n)) for n in tables.bounds)
        self._free = 0 if thin else (1 << tables.dims) - 1
        self._energy: dict[int, Floats] = {}
        self._terms: dict[tuple[int, int, int], Floats] = {}

    def least(self, kept: int) -> float:
        """Least energy beyond a last memory that keeps the set `kept`, or inf if none of its tiles fit."""
        return float(self.energies(kept).min())

    def energies(self, kept: int) -> Floats:
        """Least energy by cell for a last memory that keeps the set `kept`; inf where that does not fit."""
        if kept not in self._energy:
            best = np.full(tuple(self.grid.size.tolist()), np.inf)
            for outcome in outcomes_of(self._model, kept):
                np.minimum(best, self._outcome(outcome, kept), out=best)
            best[np.broadcast_to(~self._fits(kept), best.shape)] = np.inf
            self._energy[kept] = best
        return self._energy[kept]

    def _outcome(self, outcome: Outcome, kept: int) -> Floats:
        total = np.zeros((1,) * self._tables.dims)
        for t, (run, first) in enumerate(outcome):
            if kept >> t & 1:
                total = total + self._term(t, run, first)
        return total

    def _term(self, t: int, run: int, first: int) -> Floats:
        """Energy of tensor `t` if it rests in the loops `run` and the loop `first` moves it."""
        if (t, run, first) not in self._terms:
            tables = self._tables
            tile = tuple(
                np.full_like(size, tables.bounds[d]) if run >> d & 1 else size for d, size in enumerate(self._high)
            )
            words = tables.sent(t, Boundary(tile, self._high, self._high, self._free, True), first, loops=False)
            if not self._model.perfect:
                words = words / self._children  # where two tiles are left, children without work may rest
            owned = self._model.full[t], self._model.full[t] * self._children
            self._terms[t, run, first] = tables.settled(t, self.last - 1, self.last, words, words, owned)
        return self._terms[t, run, first]

    def _fits(self, kept: int) -> Bools:
        used = np.zeros((1,) * self._tables.dims)
        for t in range(len(self._model.full)):
            if kept >> t & 1:
                used = used + self._tables.size(t, self._low) * self._model.weight[self.last - 1, t]
        return used <= self._model.capacity[self.last - 1] * self._children * (1 + 1e-12)
