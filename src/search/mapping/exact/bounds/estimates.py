"""Lower bounds of one skeleton after another, from those that cost little to those by tables of all memories."""

from math import ceil, inf, prod

import numpy as np

from .....costs.bounds import Bounds
from ...pricing import ROUNDING
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

KNOWN, KNOWN_CELLS = 48, 1 << 20
"""Skeletons whose tables are kept until they are searched again, and cells of each at most."""

TURNS, GAIN = 3, 1.005
"""How often a bound of energy times delay is made better by itself at most, as long as it grows by this factor."""

CELLS, WINDOW_CELLS = 1 << 14, 1 << 16
"""Cells of each memory's grid with imperfect factors, without windows and with them, of which little is known where
sizes of a cell lead to different numbers of steps."""

MAX_CELLS = 1 << 17
"""Cells of the last memory's grid with which cycles are told apart by tile."""


class Estimates:
    """Bounds of the skeletons of one problem on one machine; `objective` as in `nodes.Task`."""

    def __init__(self, model: Model, children: int, objective: int, limits: Bounds, hops: Hops) -> None:
        self.model, self.objective, self.limits, self.hops = (model, objective, limits, hops)
        self.bounds: list[int] = model.bounds.tolist()
        tables = Tables(model)
        self.outer = Outer(model, tables, children)
        cells = 0 if model.perfect else WINDOW_CELLS if model.windows.any() else CELLS
        self.ahead = Ahead(model, tables, self.outer, Sections(self.outer, cells), cells)
        self.skeleton = new_skeleton(len(model.capacity), len(model.bounds), len(model.full))
        self.timed = bool(np.isfinite(model.bandwidth).any())
        self._by_tile = self.timed and int(self.outer.grid.size.prod()) <= MAX_CELLS
        self._known: dict[tuple[Spread, Kept], tuple[float, Beyond]] = {}
        self._bounded: dict[tuple[Spread, Kept], float] = {}
        self._tiled: dict[tuple[Spread, Kept], float] = {}
        self._past = Past(model)
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
        skeleton.gaps[:] = self.hops.gaps(spread)
        skeleton.kept[-1] = 1
        for t, chain in enumerate(kept):
            skeleton.kept[:-1, t] = chain
        return fill(self.model, skeleton)

    def with_hops(self, spread: Spread, kept: Kept) -> tuple[float, float]:
        """`set_up` with the energy of hops, at least."""
        first, both = self.set_up(spread, kept)
        more = self.hops.least(self.skeleton) if self.hops.some else 0.0
        return first + more, both + more

    def all_at_once(self, spread: Spread, ways: Ways, every: Ints, masks: Ints, most: float) -> list[float]:
        """Bounds of all ways to keep tensors, `every` (N, L, T) with `masks` (N,) of those in the last memory.

        They are by what is unavoidable inside and what tiles of the last memory may cost; inf from `most` on.
        """
        self.skeleton.spread[:] = spread
        bounds = np.empty(len(every))
        expand(self.model, self.skeleton, ways, every, masks, bounds, most)
        return bounds.tolist()

    def by_tile(self, spread: Spread, kept: Kept, bound: float, most: float = inf) -> float:
        """A better bound of a skeleton than `bound`, by what each tile of the last memory costs and takes.

        Where tensors pass that memory; else tables say it as well.  `most` is as good as more, now and later.
        """
        if self.objective or not self._by_tile or not self._past.any(kept):
            return bound
        if (spread, kept) in self._known or (spread, kept) in self._bounded:
            return bound
        if (spread, kept) not in self._tiled:
            energy, section = self.with_hops(spread, kept)[1], self.ahead.section_of(self.skeleton)
            known = energy, float(self.limits.cycles), most
            self._tiled[spread, kept] = self._past.product(section, self.skeleton, kept, known)
        return max(bound, self._tiled[spread, kept])

    def by_tables(self, spread: Spread, kept: Kept, bound: float, most: float) -> float:
        """A better bound of a skeleton than `bound`, by tables of all its memories; `most` is as good as more."""
        base, inner = self.with_hops(spread, kept)
        if (spread, kept) in self._known:
            return self._known[spread, kept][0]
        self.ahead.take(self.skeleton)
        if (spread, kept) in self._bounded:
            self._latest = self._bounded[spread, kept]
        else:
            self._latest = self._by_tables(base, inner, bound, most)
            if self._latest < most:
                self._bounded[spread, kept] = self._latest
        return self._latest

    def _by_tables(self, base: float, inner: float, bound: float, most: float) -> float:
        """`by_tables` of the skeleton that was taken up, with the energies of `with_hops`."""
        far = np.empty(2)
        steady, delays = float(steady_and_far(self.model, self.skeleton, far)), None
        least = max(steady, self.limits.cycles)
        if self.objective != 1 and self._by_tile:
            limits, section = (steady, float(self.limits.cycles)), self.ahead.section_of(self.skeleton)
            delays = Delays(self.outer, section, self.model, self.skeleton, limits, (float(far[0]), float(far[1])))
            least = delays.least
            if not self.objective and delays.vary and most < inf:
                if self._weighed(delays, most, inner + delays.lightest, base, most) >= most:
                    return most
        energy = base + self.ahead.least()
        bound = max(bound, self.value(energy, least))
        if delays is None or self.objective or energy == inf:
            return bound
        for _ in range(TURNS if delays.vary else 0):
            more = self._weighed(delays, bound, energy, base)
            if bound >= most or more <= bound * GAIN:
                break
            bound = more
        return bound

    def beyond(self, spread: Spread, kept: Kept) -> Beyond:
        """Tables for a walk of the skeleton that was bounded by tables just now."""
        if (spread, kept) in self._known:
            return self._known[spread, kept][1]
        beyond = self.ahead.beyond()
        if beyond.inner.size + beyond.outer.size + beyond.closing.size < KNOWN_CELLS and len(self._known) < KNOWN:
            self._known[spread, kept] = self._latest, beyond
        return beyond

    def forget(self, spread: Spread, kept: Kept) -> None:
        """No walk of this skeleton comes any more."""
        self._known.pop((spread, kept), None)
        self._bounded.pop((spread, kept), None)

    def _weighed(self, delays: Delays, bound: float, energy: float, base: float, most: float = inf) -> float:
        """The larger bound that a smaller one leads to; `most` is as good as more."""
        least = delays.least * (1 - ROUNDING)
        return least * (base + self.ahead.weighed(delays, bound, energy, most / least * (1 + ROUNDING) - base))
