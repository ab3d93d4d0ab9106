"""Cycles that a tile of the last memory takes, and what they are worth in energy.

Energy times delay is not a sum over memories, as tables of energies are.  With least cycles C0, a lower bound V of
the product, and cycles C of a tile, E C >= V means E >= V / C, or E + V (1 / C0 - 1 / C) >= V / C0; and where E C >= V
that sum times C0 is at most E C.  So C0 times the least of such sums is a bound again, at least as large as V, and
larger where all tiles of little energy take long.  The same holds for E + E0 (C / C0 - 1), with least energy E0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .grids import part_of
from .model import Floats, Model
from .outcomes import Outcome
from .outer import Outer
from .walk import Skeleton

VARIETY = 1.001
"""Tiles whose cycles differ by less do not differ."""


class Delays:
    """Least cycles by tile of the last memory (all children together), in one skeleton.

    Its `limits` are the least cycles but for filling and draining, and those of any mapping; `far` words of the
    outermost memory go to first tiles, and come from the last ones.
    """

    def __init__(
        self, outer: Outer, model: Model, skeleton: Skeleton, limits: tuple[float, float], far: tuple[float, float]
    ) -> None:
        self._outer, self._last = outer, outer.last
        self._steady, self._fewest = limits
        self._cycles: dict[Outcome, Floats] = {}
        self._kept = sum(1 << t for t, keeps in enumerate(skeleton.kept[outer.last - 1].tolist()) if keeps)
        own: list[int] = skeleton.parent[0].tolist()
        inmost = sum(1 << t for t, memory in enumerate(own) if memory == outer.last - 1)
        self._part = part_of(outer.grid, skeleton.inside[-1])
        self.waiting = outer.waiting(inmost, far, self._part.tiles) + sum(
            float(model.latency[min(mine) :].sum())
            for back in (False, True)
            if (mine := [memory for t, memory in enumerate(own) if bool(model.is_output[t]) == back])
        )
        self._fits = np.isfinite(self._part.of(outer.energies(self._kept)))
        fewest = np.where(self._fits, self._total(self._part.of(outer.fewest(self._kept))), np.inf)
        self.least = float(fewest.min(initial=np.inf))
        self.vary = bool(fewest[self._fits].max(initial=0.0) > self.least * VARIETY)

    def product(self, energy: float) -> float:
        """The least energy times delay, with that much energy inside at least."""
        found = np.inf
        for more, ports in self._outer.ways(self._kept):
            values = ((energy + self._part.of(more)) * self._total(self._part.of(ports)))[self._fits]
            found = min(found, float(values.min(initial=np.inf)))
        return found * (1 - 1e-9)

    def cycles(self, outcome: Outcome) -> Floats:
        """Least cycles by tile if loops mean that for tensors."""
        if outcome not in self._cycles:
            self._cycles[outcome] = self._total(self._part.of(self._outer.ports(outcome, self._kept)))
        return self._cycles[outcome]

    def _total(self, ports: Floats) -> Floats:
        return np.maximum(np.maximum(ports, self._steady) + self.waiting, self._fewest)


class Worth(NamedTuple):
    """What cycles are worth in energy, as this module's text says: `bound` is V, `energy` E0."""

    delays: Delays
    bound: float
    energy: float

    def of(self, outcome: Outcome) -> Floats:
        """Energy by tile if loops mean that for tensors."""
        cycles, least = self.delays.cycles(outcome), self.delays.least
        curve = self.bound * (1.0 / least - 1.0 / np.maximum(cycles, least))
        return np.maximum(curve, self.energy * np.maximum(0.0, cycles / least - 1.0))
