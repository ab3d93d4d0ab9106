"""What the outermost memory sends at least, whatever the spread: all instances of a memory are taken for one.

Tables of the last memory know nothing of tensors that pass it by.  Which tensors rest while the outermost memory sends
others depends on the tiles of all instances together, which grow from memory to memory, on the orders of loops, and on
what all instances have room for; so the least energy of the outermost memory, by the innermost tile of all instances,
is that of a machine without arrays.  Tables of that are made once for all ways to keep tensors with the same outermost
memories.  Tensors with windows do not count: their tiles in several instances may lie apart.

Statement 9 of docs/exact-mapper.md.
"""

from __future__ import annotations

from math import inf, prod

import numpy as np

from .....costs.clock import processor_seconds
from ..space.model import Floats, Ints, Model
from ..space.skeleton import fill, new_skeleton
from ..tree.state import Grid
from .cost_to_go import Ahead
from .grids import sizes_of
from .outer import Outer
from .sections import Sections
from .tables import Tables

MAX_CELLS = 1 << 13
"""Tiles of each memory; with more it takes too long."""

MAX_IMPERFECT = 1 << 14
"""Cells of each memory for imperfect tiles."""

MAX_KNOWN = 1 << 16
"""Least energies by innermost tile that are kept."""


class _Whole(Ahead):
    """Tables of a machine without arrays."""

    def innermost(self) -> tuple[Grid, Floats]:
        """Tiles of the innermost memory, and the least energy with each."""
        return self._grids[0], self._layer(0, self._nobody)


class Pooled:
    """Least energy of the outermost memory, and least cycles of its ports; perfect factors only.

    `exact` tells whether that is to be had soon.  After processor time `until` nothing new is found out.
    """

    def __init__(self, model: Model, meshes: list[tuple[int, int]]) -> None:
        instances = [float(prod(x * y for x, y in meshes[level + 1 :])) for level in range(len(meshes))]
        read, write = np.zeros_like(model.read), np.zeros_like(model.write)
        read[-1], write[-1] = model.read[-1], model.write[-1]
        pool = model._replace(capacity=model.capacity * np.array(instances), read=read, write=write)
        self._model, self._pool, self.last = model, pool, len(meshes) - 1
        tables = Tables(pool, frozenset(level for level, n in enumerate(instances) if n > 1))
        outer = Outer(pool, tables, 1)
        self.exact = (
            not model.windows.any()
            if not model.perfect
            else (outer.grid.perfect and int(outer.grid.size.prod()) <= MAX_CELLS)
        )
        cells = 0 if model.perfect else MAX_IMPERFECT
        self._ahead = _Whole(pool, tables, outer, Sections(outer, cells), cells)
        self._skeleton = new_skeleton(len(meshes), len(model.bounds), len(model.full))
        self._counts = model.windows == 0
        self._once = np.where(model.is_output, model.write[-1], model.read[-1]) * model.full
        price = np.maximum(model.read[-1], model.write[-1]) / model.weight[-1]
        limits = model.bandwidth[-1]
        self._rate = float(min(limits[2], limits[0] + limits[1]))
        self._cycles_per_pj = 1 / float(price.max() * self._rate) if price.max() > 0 else 0.0
        self.until = inf
        self._tables: dict[tuple[int, ...], tuple[Grid, Floats]] = {}
        self._known: dict[tuple[tuple[int, ...], bytes], float] = {}

    def least(self, every: Ints, begin: Ints) -> Floats:
        """For ways to keep tensors (N, L, T) and instances by dimension (D,), (N, 3): the least energy of the outermost
        memory, less what is unavoidable for these tensors; least cycles of its ports for them; and cycles of a word.

        The energy is -inf where no tensor passes the last memory.
        """
        kept = every[:, :-1] * self._counts
        owners = np.where(kept.any(axis=1), self.last - 1 - kept[:, ::-1].argmax(axis=1), -1)
        found = np.full((len(every), 3), -inf)
        for n in np.flatnonzero(((owners >= 0) & (owners < self.last - 1)).any(axis=1)).tolist():
            own = tuple(owners[n].tolist())
            energy = self._energy(own, begin)
            cycles = energy * self._cycles_per_pj if self._cycles_per_pj > 0 else 0.0
            found[n] = energy - float(self._once[owners[n] >= 0].sum()), cycles, 1 / self._rate
        return found

    def _energy(self, own: tuple[int, ...], begin: Ints) -> float:
        """Least energy with tensors kept in the memories `own` alone, -1 for none, and an innermost tile (D,); -inf
        where it is too late to find out."""
        key = own, begin.tobytes()
        if key not in self._known:
            if own not in self._tables and processor_seconds() > self.until:
                return -inf
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            if own not in self._tables:
                self._tables[own] = self._table(own)
            grid, table = self._tables[own]
            perfect = self._pool.perfect
            tiles = zip(sizes_of(grid, high=not perfect), begin.tolist(), strict=True)
            multiples = [np.flatnonzero(size % n == 0 if perfect else size >= min(n, size[-1])) for size, n in tiles]
            self._known[key] = float(table[np.ix_(*multiples)].min(initial=inf))
        return self._known[key]

    def _table(self, own: tuple[int, ...]) -> tuple[Grid, Floats]:
        skeleton = self._skeleton
        skeleton.spread[:] = 1
        skeleton.kept[:-1], skeleton.kept[-1] = 0, 1
        for t, memory in enumerate(own):
            if memory >= 0:
                skeleton.kept[memory, t] = 1
        fill(self._pool, skeleton)
        self._ahead.take(skeleton)
        return self._ahead.innermost()
