"""Lower bounds of one skeleton after another, from those that cost little to those by tables of all memories."""

from __future__ import annotations

from math import ceil, inf, prod

import numpy as np

from .....costs.bounds import Bounds
from ...remembered import remembered
from ..dominance.symmetries import Kept, Spread
from ..space.model import Ints, Model
from ..space.skeleton import fill, new_skeleton
from ..space.ways import Ways
from ..tree.state import Beyond
from .bypassing import Past
from .cost_to_go import Ahead
from .delays import Delays
from .hops import Hops
from .nodes import expand, steady_and_far
from .outer import Outer
from .sections import Sections
from .tables import Tables

ROUNDING = 1e-9
"""Relative slack of bounds, for rounding in sums."""

KNOWN, KNOWN_CELLS = 48, 1 << 20
"""Skeletons whose tables are kept until they are searched again, and cells of each at most."""

TURNS, GAIN = 3, 1.005
"""How often a bound of energy times delay is made better by itself at most, as long as it grows by this factor."""

COARSE_CELLS, FINE_CELLS = 1 << 13, 1 << 14
"""Cells of each memory's grid for skeletons, and for those that coarse tables do not rule out; imperfect factors, no
windows."""

WINDOW_CELLS = 1 << 16
"""The latter with windows, of which little is known where sizes of a cell lead to different numbers of steps."""

CLOSE = 1e-3
"""Relative distance to what is enough within which coarse tables do: finer ones hardly tell mappings apart there."""

MAX_CELLS = 1 << 17
"""Cells of the last memory's grid with which cycles are told apart by tile."""


class Estimates:
    """Bounds of the skeletons of one problem on one machine; `objective` as in `nodes.Task`."""

    def __init__(self, model: Model, children: int, objective: int, limits: Bounds, hops: Hops) -> None:
        self.model, self.objective, self.limits, self.hops = (model, objective, limits, hops)
        self.bounds: list[int] = model.bounds.tolist()
        tables = Tables(model)
        self.outer = Outer(model, tables, children)
        self.sections = Sections(self.outer)
        coarse, fine = (0, WINDOW_CELLS) if model.windows.any() else (COARSE_CELLS, FINE_CELLS)
        self.coarse = Ahead(model, tables, self.outer, self.sections, 0 if model.perfect else coarse)
        self.ahead = self.coarse
        if not model.perfect:
            self.ahead = Ahead(model, tables, self.outer, Sections(self.outer, fine), fine)
        self.skeleton = new_skeleton(len(model.capacity), len(model.bounds), len(model.full))
        self.timed = bool(np.isfinite(model.bandwidth).any())
        self._by_tile = self.timed and int(self.outer.grid.size.prod()) <= MAX_CELLS
        self._known: dict[tuple[Spread, Kept], tuple[float, Beyond]] = {}
        self._bounded: dict[tuple[Spread, Kept], tuple[float, Ahead]] = {}
        self._past = Past(model)
        self._used = self.ahead
        self._timing: tuple[tuple[Spread, Kept, bool], Delays] | None = None
        self._latest = 0.0

    def value(self, energy: float, cycles: float) -> float:
        """What is minimised."""
        return (energy * cycles, energy, cycles)[self.objective]

    def cycles(self, spread: Spread) -> int:
        """Least steps with these spatial loops."""
        steps = prod(ceil(n / prod(factors[d] for factors in spread)) for d, n in enumerate(self.bounds))
        return max(steps, self.limits.cycles)

    def set_up(self, spread: Spread, kept: Kept) -> tuple[float, float]:
        """Make the skeleton; its energy of the arithmetic, and that with the least of the inner memories."""
        skeleton = self.skeleton
        skeleton.spread[:] = spread
        skeleton.kept[-1] = 1
        for t, chain in enumerate(kept):
            skeleton.kept[:-1, t] = chain
        first, both = fill(self.model, skeleton)
        return first, both

    def with_hops(self, spread: Spread, kept: Kept) -> tuple[float, float]:
        """`set_up` with the energy of hops, at least."""
        first, both = self.set_up(spread, kept)
        more = self.hops.least(self.skeleton) if self.hops.some else 0.0
        return first + more, both + more

    def all_at_once(self, spread: Spread, ways: Ways, every: Ints, masks: Ints) -> list[float]:
        """Bounds of all ways to keep tensors, `every` (N, L, T) with `masks` (N,) of those in the last memory.

        They are by what is unavoidable inside and what tiles of the last memory may cost.
        """
        self.skeleton.spread[:] = spread
        bounds = np.empty(len(every))
        expand(self.model, self.skeleton, ways, every, masks, bounds)
        found: list[float] = bounds.tolist()
        return found

    def by_tile(self, spread: Spread, kept: Kept, bound: float) -> float:
        """A better bound of a skeleton than `bound`, by what each tile of the last memory costs and takes.

        Where tensors pass that memory; else tables say it as well.
        """
        if self.objective or not self._by_tile or not self._past.any(kept):
            return bound
        if (spread, kept) in self._known or (spread, kept) in self._bounded:
            return bound
        return max(bound, self._least_by_tile(spread, kept))

    @remembered
    def _least_by_tile(self, spread: Spread, kept: Kept) -> float:
        energy, section = self.with_hops(spread, kept)[1], self.coarse.section_of(self.skeleton)
        return self._past.product(section, self.skeleton, kept, energy, float(self.limits.cycles))

    def by_tables(self, spread: Spread, kept: Kept, bound: float, most: float) -> float:
        """A better bound of a skeleton than `bound`, by tables of all its memories; `most` is as good as more."""
        base, inner = self.with_hops(spread, kept)
        if (spread, kept) in self._known:
            return self._known[spread, kept][0]
        if (spread, kept) in self._bounded:
            self._latest, self._used = self._bounded[spread, kept]
            self._used.take(self.skeleton)
        else:
            self._used = self.coarse
            self._latest = self._by_tables(self.coarse, (spread, kept), base, inner, bound, most)
            if self._latest < most * (1 - CLOSE) and self.ahead != self.coarse:
                self._used = self.ahead
                self._latest = self._by_tables(self.ahead, (spread, kept), base, inner, self._latest, most)
            if self._latest < most:
                self._bounded[spread, kept] = self._latest, self._used
        return self._latest

    def _by_tables(
        self, ahead: Ahead, which: tuple[Spread, Kept], base: float, inner: float, bound: float, most: float
    ) -> float:
        ahead.take(self.skeleton)
        delays = self._delays(*which, ahead) if self.objective != 1 and self._by_tile else None
        if delays is not None and not self.objective and delays.vary and most < inf:
            if self._weighed(ahead, delays, most, inner + delays.lightest, base, most) >= most:
                return most
        energy = base + ahead.least()
        if delays is not None:
            least = delays.least
        else:
            least = max(float(steady_and_far(self.model, self.skeleton, np.empty(2))), self.limits.cycles)
        bound = max(bound, self.value(energy, least))
        if delays is None or self.objective or energy == inf:
            return bound
        for _ in range(TURNS if delays.vary else 0):
            more = self._weighed(ahead, delays, bound, energy, base)
            if bound >= most or more <= bound * GAIN:
                break
            bound = more
        return bound

    def beyond(self, spread: Spread, kept: Kept) -> Beyond:
        """Tables for a walk of the skeleton that was bounded by tables just now."""
        if (spread, kept) in self._known:
            return self._known[spread, kept][1]
        beyond = self._used.beyond()
        if beyond.inner.size + beyond.outer.size < KNOWN_CELLS and len(self._known) < KNOWN:
            self._known[spread, kept] = self._latest, beyond
        return beyond

    def forget(self, spread: Spread, kept: Kept) -> None:
        """No walk of this skeleton comes any more."""
        self._known.pop((spread, kept), None)
        self._bounded.pop((spread, kept), None)

    def _weighed(
        self, ahead: Ahead, delays: Delays, bound: float, energy: float, base: float, most: float = inf
    ) -> float:
        """The larger bound that a smaller one leads to; `most` is as good as more."""
        least = delays.least * (1 - ROUNDING)
        return least * (base + ahead.weighed(delays, bound, energy, most / least * (1 + ROUNDING) - base))

    def _delays(self, spread: Spread, kept: Kept, ahead: Ahead) -> Delays:
        """Cycles by tile in the skeleton, which is set up."""
        key = spread, kept, ahead is self.coarse
        if self._timing is None or self._timing[0] != key:
            far = np.empty(2)
            steady = float(steady_and_far(self.model, self.skeleton, far))
            limits = steady, float(self.limits.cycles)
            section = ahead.section_of(self.skeleton)
            found = Delays(self.outer, section, self.model, self.skeleton, limits, (float(far[0]), float(far[1])))
            self._timing = key, found
        return self._timing[1]
