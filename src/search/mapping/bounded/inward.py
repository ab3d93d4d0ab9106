"""One step inwards: the least energy from a memory on, given that of the next memory outwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .grids import cells_of, grown, sizes_of
from .model import PLAIN, Floats, Ints, Model
from .outcomes import Outcome
from .tables import Boundary, Tables, along
from .walk import Grid, Skeleton


class Layer(NamedTuple):
    """A memory's grid and the least energy from there on, by cell."""

    grid: Grid
    energy: Floats


def kept_at(skeleton: Skeleton, level: int) -> int:
    """The set of tensors that a memory keeps."""
    return sum(1 << t for t, keeps in enumerate(skeleton.kept[level].tolist()) if keeps)


class Step:
    """From memory `level`, with tiles of `grid`, to the one outside it, whose table is `after`."""

    def __init__(self, model: Model, tables: Tables, skeleton: Skeleton, level: int, grid: Grid, after: Layer) -> None:
        self.model, self.tables, self.skeleton, self.level, self.grid, self.after = (
            model, tables, skeleton, level, grid, after,
        )  # fmt: skip
        self.dims, self.last = tables.dims, len(skeleton.kept) - 1
        self.low, self.high = (sizes_of(grid, high=high) for high in (False, True))
        self.spread = skeleton.spread[level + 1]
        self.scale = skeleton.spread[self.last] if level + 1 == self.last - 1 else np.ones(self.dims, np.int64)
        maps = [
            [cells_of(after.grid, d, sizes[d] * self.spread[d] * self.scale[d]) for d in range(self.dims)]
            for sizes in (self.low, self.high)
        ]
        self.map_low, self.map_high = maps
        outside = skeleton.inside[-1] // skeleton.inside[level + 2]
        self.free = sum(1 << d for d in range(self.dims) if outside[d] == 1)
        self._grown: dict[int, Floats] = {}
        self._terms: dict[tuple[int, int, int, bool], Floats] = {}

    def least(self, outcome: Outcome, kept: int) -> Floats:
        """Least energy by cell if loops of this outcome come next."""
        mine = [(t, run, first) for t, (run, first) in enumerate(outcome) if kept >> t & 1]
        resting = 0
        fixed: Floats = np.zeros((1,) * self.dims)
        for t, run, first in mine:
            resting |= run
            if not run:
                fixed = fixed + self.term(t, 0, first, "tile")
        if not resting:
            found = self.table(0)[np.ix_(*self.map_low)] + fixed
        else:
            running = [(t, run, first) for t, run, first in mine if run]
            found = np.minimum(self._here(running, resting), self._through(running, resting)) + fixed
        return found

    def _here(self, running: list[tuple[int, int, int]], resting: int) -> Floats:
        """Loops of the next memory end the rest."""
        after = self.after.grid
        places = [np.arange(after.size[d]) if resting >> d & 1 else self.map_low[d] for d in range(self.dims)]
        total = self.table(resting)[np.ix_(*places)]
        for t, run, first in running:
            total = total + self.term(t, run, first, "next", resting)
        mixed = self._mixed(resting)
        swept = grown(mixed, total, (1 << self.dims) - 1 & ~resting)
        back = [self.map_low[d] if resting >> d & 1 else np.arange(self.grid.size[d]) for d in range(self.dims)]
        return swept[np.ix_(*back)]

    def _through(self, running: list[tuple[int, int, int]], resting: int) -> Floats:
        """The next memory has no loops but those of `resting`, and the rest goes on outside."""
        every = (1 << self.dims) - 1
        table = self.table(every & ~resting)
        for d in range(self.dims):
            low, high = self.map_low[d], self.map_high[d]
            found = np.take(table, low, axis=d)
            if not resting >> d & 1:
                for more in range(1, int((high - low).max()) + 1):
                    found = np.minimum(found, np.take(table, np.minimum(low + more, high), axis=d))
            table = found
        for t, run, first in running:
            table = table + self.term(t, run, first, "all")
        return table

    def table(self, fixed: int) -> Floats:
        """The next memory's least energy over tiles that contain a cell's and agree with it in `fixed`."""
        if fixed not in self._grown:
            self._grown[fixed] = grown(self.after.grid, self.after.energy, fixed)
        return self._grown[fixed]

    def _mixed(self, resting: int) -> Grid:
        """A grid of this memory's tiles, but for dimensions of `resting`: of the next one's."""
        chosen = [self.after.grid if resting >> d & 1 else self.grid for d in range(self.dims)]
        size = np.array([grid.size[d] for d, grid in enumerate(chosen)], np.int64)
        low = np.zeros((self.dims, int(size.max())), np.int64)
        for d, grid in enumerate(chosen):
            low[d, : size[d]] = grid.low[d, : size[d]]
        stride = np.array([int(np.prod(size[d + 1 :])) for d in range(self.dims)], np.int64)
        return Grid(size, low, low, stride, self.after.grid.perfect)

    def term(self, t: int, run: int, first: int, where: str, resting: int = 0) -> Floats:
        """Energy of tensor `t` between this memory and its parent if it rests in the loops `run`.

        `where` tells the tile that ends the rest: this memory's own (`tile`), any of the next one (`next`, by its cell
        along `resting`), or the whole (`all`), where the loop that moves it is anywhere further out.
        """
        key = t, run if where != "next" else run | resting << self.dims, first, where == "all"
        if key not in self._terms:
            inside, level = self.skeleton.inside, self.level
            parent = int(self.skeleton.parent[level + 1, t])
            up, down, step = list[Ints](), list[Ints](), list[Ints]()
            for d in range(self.dims):
                size = self.high[d]
                if where == "next" and resting >> d & 1:
                    size = np.maximum(1, self._next(d) // self.spread[d])
                elif where == "all" and run >> d & 1:
                    size = np.full_like(size, self.tables.bounds[d])
                up.append(size * (inside[parent + 1, d] // inside[level + 1, d]))
                down.append(size)
                step.append(size * self.spread[d])
            steps = [step]
            if where == "all":
                factors = [inside[m + 1] // inside[level + 2] for m in range(level + 2, self.last + 1)]
                steps += [[size * int(f[d]) for d, size in enumerate(step)] for f in factors if (f > 1).any()]
            owned = float(self.skeleton.owned[parent, t]), float(self.skeleton.owned[level, t])
            best: Floats | None = None
            for chosen in steps:
                there = 1.0 - self._ragged(t, run, down, chosen)
                boxes = [Boundary(tuple(tile), tuple(down), tuple(chosen), self.free) for tile in (up, down)]
                words = [self.tables.sent(t, box, first, loops=True) * there for box in boxes]
                energy = self.tables.settled(t, level, parent, words[0], words[1], owned)
                best = energy if best is None else np.minimum(best, energy)
            assert best is not None
            self._terms[key] = best
        return self._terms[key]

    def _next(self, d: int) -> Ints:
        """The largest tiles of the next memory's cells."""
        return sizes_of(self.after.grid, high=True)[d] // self.scale[d]

    def _ragged(self, t: int, run: int, tile: list[Ints], step: list[Ints]) -> Floats | float:
        """Most of the words that ragged ends may leave in place, as a share: see `words.ragged_share`."""
        if self.model.perfect:
            return 0.0
        most: Floats = np.zeros((1,) * self.dims)
        for d, n in enumerate(self.tables.bounds):
            if self.model.kind[t, d] != PLAIN or run >> d & 1:
                continue
            blocks = -(-n // step[d])
            more = np.maximum(blocks - 1, 1)
            # a cell's smallest tile leaves most at the end
            rest = (n - more * (step[d] // tile[d]) * self.low[d]) / n
            alone = np.where(blocks > 2, np.minimum(1.0 / more, np.maximum(rest, 0.0)), 0.0)
            idle = np.where(blocks > 1, (1.0 - tile[d] / step[d]) / more, 0.0)
            most = np.maximum(most, along(np.maximum(alone, idle), d, self.dims))
        return most
