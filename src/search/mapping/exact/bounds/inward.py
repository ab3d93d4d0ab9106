"""One step inwards: the least energy from a memory on, given that of the next memory outwards.

Tensors that rest when a memory's loops are over are pending: their words are known when a loop outside moves them, and
depend on nothing but the tile at that moment.  So tables are kept by pending tensors, each with the innermost memory
whose tile of it rests.

Statement 10 of docs/exact-mapper.md.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import combinations

import numpy as np

from .....remembered import Store
from ..space.model import Floats, Ints, Model
from ..tree.state import Grid, Skeleton
from .grids import Sizes, cells_of, grown, places_in, sizes_of
from .outcomes import Case
from .resting import Terms, parts_of
from .tables import EVERY, Tables

Pending = tuple[int, ...]
"""For each tensor the innermost memory whose tile of it rests, -1 if none does."""

MAX_TOGETHER = 4
"""Tensors that are looked at together; if more may rest, their words count nothing."""


class Passage:
    """Which cells of a memory's `grid` and of one further out, `outer`, belong together, if tiles count `times`."""

    def __init__(
        self, grid: Grid, outer: Grid, times: Ints, store: Store[np.int64], bounds: list[int], busy: tuple[int, ...]
    ) -> None:
        """Of `times` as many tiles, so many are `busy` along each dimension where one of the `bounds` is covered."""
        self.grid, self.outer, self.dims = grid, outer, len(times)
        self.low, self.high = sizes_of(grid, high=False), sizes_of(grid, high=True)
        self.map_low = self.map_high = self._map(self.low, times)
        if not grid.perfect:
            self.map_high = self._map(self.high, times)
        self.alone = grid.perfect or all(map(np.array_equal, self.map_low, self.map_high))
        self.by: list[int] = times.tolist()
        self._largest, self._bounds, self._busy = sizes_of(outer, high=True), bounds, busy
        self.tops = [int(tiles[-1]) for tiles in self._largest]
        self._ends: dict[int, Ints] = {}
        self.nested = outer._replace(perfect=grid.perfect and outer.perfect)
        self._store, self._key = store, (id(grid), id(outer), times.tobytes())

    def _map(self, sizes: Sizes, times: Ints) -> list[Ints]:
        return [cells_of(self.outer, d, sizes[d] * int(times[d])) for d in range(self.dims)]

    def ends(self, dims: int) -> dict[int, Ints]:
        """The largest parts of the outer memory's tiles, for dimensions of a set."""
        for d in range(self.dims):
            if dims >> d & 1 and d not in self._ends:
                self._ends[d] = parts_of(self._largest[d], self.by[d], self._bounds[d], self._busy[d])
        return {d: self._ends[d] for d in range(self.dims) if dims >> d & 1}

    def inwards(self, table: Floats, resting: int) -> Floats:
        """From the outer memory's cells to this one's, but for dimensions that are `resting`."""
        return table.reshape(-1)[self._places(table.shape, resting, back=False)]

    def back(self, table: Floats, dims: int) -> Floats:
        """The same along some of the dimensions `dims` that were resting."""
        return table.reshape(-1)[self._places(table.shape, dims, back=True)]

    def _places(self, shape: tuple[int, ...], resting: int, *, back: bool) -> Ints:
        key = self._key, resting, back, shape
        found = self._store.get(key)
        if found is None:
            same = [np.arange(size) for size in shape]
            mapped = [bool(resting >> d & 1) == back for d in range(self.dims)]
            found = places_in(shape, [self.map_low[d] if moves else same[d] for d, moves in enumerate(mapped)])
            full = [len(self.map_low[d]) if moves else shape[d] for d, moves in enumerate(mapped)]
            found = found if found.shape == tuple(full) else np.ascontiguousarray(np.broadcast_to(found, full))
            self._store.put(key, found)
        return found

    def nearby(self, table: Floats, dims: int) -> Floats:
        """For each of the outer memory's cells, the least of those in which tiles of a cell that begins there may lie,
        along the dimensions `dims`."""
        for d in range(0 if self.alone else self.dims):
            width = int((self.map_high[d] - self.map_low[d]).max()) if dims >> d & 1 else 0
            if width:
                last = table.shape[d] - 1
                places = np.minimum(np.arange(last + 1) + np.arange(width + 1)[:, None], last)
                table = np.stack([np.take(table, row, axis=d) for row in places]).min(axis=0)
        return table

    def exactly(self, table: Floats, looping: int) -> Floats:
        """By cell, the least over the outer memory's cells where a tile of the cell may lie."""
        if self.alone:
            return self.inwards(table, 0)
        for d in range(self.dims):
            low, high = self.map_low[d], self.map_high[d]
            found = np.take(table, low, axis=d)
            if not looping >> d & 1:
                for more in range(1, int((high - low).max()) + 1):
                    found = np.minimum(found, np.take(table, np.minimum(low + more, high), axis=d))
            table = found
        return table


class Step:
    """From memory `level` to one outside it, by a `passage`; its layers are `after` by pending tensors.

    That is the next one, or, where that has no loops of its own, one further out.  It has none of the dimensions
    `still`.
    """

    def __init__(
        self,
        model: Model,
        tables: Tables,
        skeleton: Skeleton,
        level: int,
        passage: Passage,
        after: Callable[[Pending], Floats],
        outcomes: Callable[[int, int], list[Case]],
        still: int,
    ) -> None:
        self._every, self._still = (1 << tables.dims) - 1, still
        self.model, self.skeleton, self.level, self.passage = (model, skeleton, level, passage)
        self.after, self.outcomes, self.dims = after, outcomes, tables.dims
        tops = zip(tables.bounds, passage.tops, passage.by, strict=True)
        most = [n if top >= n else -(-top // by) for n, top, by in tops]
        self.terms = Terms(tables, skeleton, level, (passage.low, passage.high), most)
        self._grown: dict[tuple[Pending, int], Floats] = {}

    def afresh(self) -> Step:
        """The same step where `after` is about to answer something else."""
        other = copy(self)
        other._grown = {}
        return other

    def least(self, pending: Pending) -> Floats:
        """Least energy by cell of all that is not settled when this memory's loops are over."""
        kept = self.skeleton.kept[self.level].tolist()
        alive = {t: low if low >= 0 else self.level for t, low in enumerate(pending) if low >= 0 or kept[t]}
        nobody: Pending = (-1,) * len(pending)
        if len(alive) > MAX_TOGETHER:
            return self._at_least(nobody)
        found = np.full(tuple(self.passage.grid.size.tolist()), np.inf)
        for outcome in self.outcomes(sum(1 << t for t in alive), self._every & ~self._still):
            np.minimum(found, self._moved(alive, outcome, nobody), out=found)
        for size in range(1, len(alive) + 1):
            for some in combinations(alive, size):
                surviving = tuple(alive[t] if t in some else -1 for t in range(len(pending)))
                np.minimum(found, self._surviving(alive, some, surviving), out=found)
        return found

    def _moved(self, alive: dict[int, int], outcome: Case, nobody: Pending) -> Floats:
        """All tensors are moved by loops of the next memory, which mean that for them."""
        resting, fixed = 0, np.zeros((1,) * self.dims)
        running: list[tuple[int, int]] = []
        for t, low in alive.items():
            run, first, _ = outcome[t]
            resting |= run
            if run:
                running.append((t, low))
            else:
                fixed = fixed + self.terms.energy(t, low, (0, first, EVERY), {}, whole=False)
        return (self._run(running, outcome, resting, nobody) if resting else self._at_least(nobody)) + fixed

    def _run(self, running: list[tuple[int, int]], outcome: Case, resting: int, nobody: Pending) -> Floats:
        """Tensors, each from a memory on, rest in loops of the next memory along `resting`, whose tiles matter for what
        follows.

        What a tensor costs depends on the next memory's tile where it rests, on this one's elsewhere.  So the least
        over the former comes first along dimensions in which the fewest tensors rest.
        """
        table = self.passage.nearby(self._table(nobody, resting | self._still), self._still)
        total = self.passage.inwards(table, resting)
        ends = self.passage.ends(resting)
        open_dims = resting
        waiting = [(outcome[t][0] | resting & self._unrelated(t), t, low) for t, low in running]
        for rests, t, low in sorted(waiting, key=lambda one: -one[0].bit_count()):
            if rests & ~open_dims == 0:
                total, open_dims = self._closed(total, open_dims & ~rests), rests
            found = self.terms.energy(t, low, (rests, outcome[t][1], EVERY), ends, whole=False)
            others = tuple(d for d in range(self.dims) if (rests ^ open_dims) >> d & 1)
            total = total + (found.min(axis=others, keepdims=True) if others else found)
        return self._closed(total, open_dims)

    def _closed(self, total: Floats, dims: int) -> Floats:
        """By this memory's cells along `dims`, the least over the next one's that contain them."""
        if not dims:
            return total
        return self.passage.back(grown(self.passage.nested, total, self._every & ~dims), dims)

    def _surviving(self, alive: dict[int, int], some: tuple[int, ...], pending: Pending) -> Floats | float:
        """The tensors `some` rest in all loops of the next memory, which move the others."""
        looping = self._every & ~self._still
        for t in some:
            looping &= self._unrelated(t)
        if looping == 0 and len(some) < len(alive):
            return np.inf
        total = self.passage.exactly(self._table(pending, self._every & ~looping), looping)
        moved = {t: low for t, low in alive.items() if t not in some}
        if not moved:
            return total
        ways = list[Floats]()
        for outcome in self.outcomes(sum(1 << t for t in moved), looping):
            way: Floats = np.zeros((1,) * self.dims)
            for t, low in moved.items():
                way = way + self.terms.energy(t, low, outcome[t], {}, whole=False)
            ways.append(way)
        return total + np.minimum.reduce(np.broadcast_arrays(*ways))

    def _unrelated(self, t: int) -> int:
        return self.terms.tables.unrelated[t]

    def _at_least(self, pending: Pending) -> Floats:
        """By cell, the least of the next memory's tiles that contain one."""
        return self.passage.exactly(self._table(pending, self._still), self._every & ~self._still)

    def _table(self, pending: Pending, fixed: int) -> Floats:
        """The next memory's least energy over tiles that contain a cell's and agree with it in `fixed`."""
        if (pending, fixed) not in self._grown:
            self._grown[pending, fixed] = grown(self.passage.outer, self.after(pending), fixed)
        return self._grown[pending, fixed]
