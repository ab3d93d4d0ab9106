"""The least energy beyond the last memory before the outermost one, for every tile that it may hold.

Statements 10 and 17 of docs/exact-mapper.md.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from .....costs.compiled import bare, bare_entry
from .....remembered import remembered
from ..space.model import Floats, Model, one_way
from ..tree.state import Grid
from .grids import grid_of, sizes_of
from .outcomes import MOVED, Case, cases_of, outcomes_of
from .tables import EVERY, Boundary, Tables

MAX_CELLS = 1 << 14
"""Cells of a grid of imperfect tiles; neighbouring tiles share a cell where there are more."""

MAX_PERFECT = 1 << 16
"""Cells of a grid of perfect tiles, which nest."""


@bare
def ports_of(model: Model, sent: Floats, kept: int, children: int) -> float:
    """As `port_cycles`, for words `sent` (T,)."""
    last = model.capacity.shape[0] - 1
    near, far = model.bandwidth[last - 1], model.bandwidth[last]
    into, out, reads, writes = 0.0, 0.0, 0.0, 0.0
    for t in range(sent.shape[0]):
        words, full, least, back = sent[t], model.full[t], model.least[t], model.is_output[t]
        out += (max(0.0, words - full) if back else words) * model.weight[last, t]
        into += words * model.weight[last, t] if back else 0.0
        if (kept >> t) & 1:
            fills = max(0.0, words - full * children) + least if back else words
            if not (back and model.timeloop):
                reads += (words if back else least) * model.weight[last - 1, t]
            writes += fills * model.weight[last - 1, t]
    outside = max(out / far[0], into / far[1], (out + into) / far[2])
    inside = max(reads / near[0], writes / near[1], (reads + writes) / near[2]) / children
    return float(max(outside, inside) * (1 - 1e-11))


@bare_entry
def port_cycles(model: Model, sent: Floats, kept: int, children: int, found: Floats) -> None:
    """Fill `found` (K, N) with cycles of the two outermost memories' ports for words `sent` (K, T, N) of each tensor.

    The last memory before the outermost, of so many instances, has the set of tensors `kept`.
    """
    for k in range(found.shape[0]):
        for n in range(found.shape[1]):
            found[k, n] = ports_of(model, sent[k, :, n], kept, children)


class Outer:
    """Tables of one problem on one machine, made when they are first asked for.

    A tile is that of all `children` instances of the last memory together.
    """

    def __init__(self, model: Model, tables: Tables, children: int, grid: Grid | None = None) -> None:
        self._model, self.tables, self.children = model, tables, children
        self.last, self.perfect = len(model.capacity) - 1, model.perfect
        cells = MAX_PERFECT if model.perfect else MAX_CELLS
        if grid is None:
            grid = grid_of(tables.bounds, perfect=model.perfect, cells=cells, slides=tables.slides)
        self.grid, self.shape = grid, tuple[int, ...](grid.size.tolist())
        self.tiles, self._high = (sizes_of(self.grid, high=high) for high in (False, True))
        self._told = tables.told_apart(self.tiles, self._high, [1] * tables.dims)

    def multiples(self, begin: list[int], kept: int, cells: int) -> Outer:
        """The same for the multiples of a tile alone; of imperfect ones, those that fit for the tensors `kept`."""
        perfect, bounds = self._model.perfect, self.tables.bounds
        most = None if perfect else self.tables.most(kept, self.last - 1, tuple(begin), self.children)
        grid = grid_of(bounds, perfect=perfect, cells=cells, least=begin, most=most, slides=self.tables.slides)
        return Outer(self._model, self.tables, self.children, grid)

    @remembered
    def energies(self, kept: int) -> Floats:
        """Least energy by cell for a last memory that keeps the set `kept`; inf where that does not fit."""
        best = np.full(self.shape, np.inf)
        for outcome in self.outcomes(kept):
            np.minimum(best, self.energy(outcome, kept), out=best)
        best[np.broadcast_to(~self.tables.fit(kept, self.last - 1, self.tiles, self.children), best.shape)] = np.inf
        return best

    @remembered
    def outcomes(self, tensors: int) -> list[Case]:
        """What loops of the outermost memory may mean for a set of tensors."""
        return cases_of(self._model, outcomes_of(self._model, tensors))

    def energy(self, outcome: Case, kept: int) -> Floats:
        """Least energy by cell if loops mean that for the tensors `kept`."""
        total = np.zeros((1,) * self.tables.dims)
        for t, way in enumerate(outcome):
            if kept >> t & 1:
                total = total + self.term(t, *way)
        return total

    @remembered
    def words_sent(self, t: int, run: int, first: int, near: int = EVERY) -> Floats:
        """Words of tensor `t` that are sent if it rests in the loops `run` and the loop `first` moves it.

        Steps of loops that are not of the set `near` find nothing.
        """
        tables = self.tables
        tile = tuple(np.full_like(n, tables.bounds[d]) if run >> d & 1 else n for d, n in enumerate(self._high))
        box = Boundary(tile, self._high, self._high, self._told, free=EVERY, once=True, near=near)
        known = not self._model.timeloop or (self.children == 1 and self.grid.perfect)
        words = tables.sent(t, box, first, loops=False) if known else np.ones((1,) * tables.dims)
        if not self._model.perfect:
            words = words / self.children  # where two tiles are left, children without work may rest
        return np.maximum(words, self._model.named[t])

    @remembered
    def term(self, t: int, run: int, first: int, near: int = EVERY) -> Floats:
        """Energy by cell of the words of `words_sent`."""
        words = self.words_sent(t, run, first, near)
        owned = self._model.full[t], self._model.full[t] * self.children
        return self.tables.settled(t, self.last - 1, self.last, words, words, owned)

    def ports(self, outcome: Case, kept: int) -> Floats:
        """Least cycles of the ports of the outermost memory and the one inside of it; what it does not keep passes."""
        return self._ports(tuple(way if kept >> t & 1 else MOVED for t, way in enumerate(outcome)), kept)

    @remembered
    def _ports(self, outcome: Case, kept: int) -> Floats:
        once = [np.full((1,) * self.tables.dims, least) for least in self._model.least]
        ways = enumerate(outcome)
        sent = [self.words_sent(t, *way) if kept >> t & 1 else once[t] for t, way in ways]
        return self.busy(np.stack(np.broadcast_arrays(*sent))[None], kept)[0]

    def busy(self, sent: Floats, kept: int) -> Floats:
        """`ports` (K, ...) where words `sent` (K, T, ...) are those of each tensor."""
        shape = len(sent), *sent.shape[2:]
        found = np.empty((len(sent), prod(shape[1:])))
        port_cycles(self._model, sent.reshape(*sent.shape[:2], -1), kept, self.children, found)
        return found.reshape(shape)

    def least_busy(self, kept: int) -> float:
        """Least cycles of the ports for the words that a last memory with the tensors `kept` needs at least."""
        model = self._model
        words = [model.named[t] if kept >> t & 1 else least for t, least in enumerate(model.least)]
        return float(self.busy(np.array(words)[None, :, None], kept).item())

    def waiting(
        self, inmost: int, more: tuple[float, float], sizes: Callable[[int], Floats], *, inside: bool = True
    ) -> Floats:
        """Least cycles until the first tiles of the tensors `inmost` are there, and until the last ones are back.

        Tensors have `sizes`.  There are `more` words of the outermost memory on their way to others, and on the way
        back.  Ports `inside` of it may not count.
        """
        model, total = self._model, np.zeros((1,) * self.tables.dims)
        if model.timeloop or (self.children > 1 and not model.perfect):
            return total
        limits, into = model.bandwidth[self.last], model.bandwidth[self.last - 1]
        for back in (False, True):
            far, near = np.full_like(total, more[back]), np.zeros_like(total)
            for t in range(len(model.full)):
                if inmost >> t & 1 and bool(model.is_output[t]) == back:
                    far = far + sizes(t) * model.weight[self.last, t]
                    near = near + sizes(t) / self.children * model.weight[self.last - 1, t]
            rates = one_way(limits, back), min(into[0 if back else 1], into[2])
            slowest = np.maximum(far / rates[0], near / rates[1]) if inside else far / rates[0]
            total = total + np.ceil(slowest * (1 - 1e-11))
        return total

    def pace(self, t: int) -> float:
        """Cycles at least that all wait for each element of tensor `t` at the outermost memory, in its direction."""
        if self._model.timeloop:
            return 0.0
        rate = one_way(self._model.bandwidth[self.last], bool(self._model.is_output[t]))
        return float(self._model.weight[self.last, t] / rate)
