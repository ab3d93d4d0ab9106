"""Cycles that a tile of the last memory takes, and what they are worth in energy.

Energy times delay is not a sum over memories, as tables of energies are; least cycles C0 times the least sum of
E + V (1 / C0 - 1 / C) is a bound of it, and so is that of E + E0 (C / C0 - 1), with least energy E0.

The last sum is linear in cycles.  So those that it takes the first tiles of inner memories to arrive from the outermost
one, and the last ones to get back, may be added in the tables of these memories.

Statement 12 of docs/exact-mapper.md.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare, bare_entry
from ..space.model import Bools, Floats, Model
from ..tree.state import Skeleton
from .nodes import latencies_of
from .outer import Outer
from .sections import Section

VARIETY = 1.001
"""Tiles whose cycles differ by less do not differ."""


class Worth(NamedTuple):
    """What cycles are worth in energy, as this module's text says: `bound` is V, `energy` E0, `least` C0."""

    bound: float
    energy: float
    least: float


@bare
def cycles_with(ports: float, waiting: float, steady: float, fewest: float) -> float:
    """Least cycles of a mapping whose ports are busy for so long."""
    return max(max(ports, steady) + waiting, fewest)


@bare_entry
def weigh(
    energies: Floats,
    ports: Floats,
    waiting: Floats,
    fits: Bools,
    limits: tuple[float, float],
    worth: Worth,
    out: Floats,
) -> None:
    """Fill `out` (N,) with the least of `energies` (K, N) and what cycles are worth; inf for tiles that do not fit."""
    steady, fewest = limits
    least = worth.least
    for n in range(out.shape[0]):
        best = np.inf
        for way in range(energies.shape[0] if fits[n] else 0):
            if energies[way, n] < best:
                cycles = cycles_with(ports[way, n], waiting[n], steady, fewest)
                curve = worth.bound * (1.0 / least - 1.0 / max(cycles, least))
                more = max(curve, worth.energy * max(0.0, cycles / least - 1.0))
                best = min(best, energies[way, n] + more)
        out[n] = best


class Delays:
    """Least cycles by tile of the last memory (all children together), in one skeleton.

    Its `limits` are the least cycles but for filling and draining, and those of any mapping; `far` words of the
    outermost memory go to first tiles, and come from the last ones.
    """

    def __init__(
        self,
        outer: Outer,
        section: Section,
        model: Model,
        skeleton: Skeleton,
        limits: tuple[float, float],
        far: tuple[float, float],
    ) -> None:
        self._outer, self._section, self.limits, self._far = outer, section, limits, far
        self._kept = int(skeleton.held[-2])
        own: list[int] = skeleton.parent[0].tolist()
        self._inmost = sum(1 << t for t, memory in enumerate(own) if memory == len(skeleton.kept) - 2)
        self._latencies = latencies_of(model, skeleton)

    @cached_property
    def _fits(self) -> Bools:
        return self._section.fits(self._kept).reshape(-1)

    @cached_property
    def _waiting(self) -> Floats:
        """Cycles to fill and drain by tile."""
        found = self._outer.waiting(self._inmost, self._far, self._section.size) + self._latencies
        return self._section.flat(found)

    @cached_property
    def _together(self) -> Floats:
        """Cycles by tile, but for bounds that hold for any."""
        ports = _rows(self._section.ports(self._outer.outcomes(self._kept), self._kept, self._kept)).min(axis=0)
        found: Floats = (np.maximum(ports, self.limits[0]) + self._waiting)[self._fits]
        return found

    @cached_property
    def least(self) -> float:
        """Least cycles of all tiles."""
        return max(float(self._together.min(initial=np.inf)), self.limits[1])

    @cached_property
    def lightest(self) -> float:
        """Least energy of the tensors that the last memory keeps, beyond it."""
        return float(self._section.energies(self._kept).reshape(-1)[self._fits].min(initial=np.inf)) * (1 - 1e-9)

    @cached_property
    def vary(self) -> bool:
        """Whether cycles of tiles differ."""
        return max(float(self._together.max(initial=0.0)), self.limits[1]) > self.least * VARIETY

    @cached_property
    def hidden(self) -> float:
        """Cycles that may go by anyway while words of inner memories arrive: in rounding, at ports further in, or by
        other bounds."""
        alone = self._outer.waiting(self._inmost, self._far, self._section.size, inside=False)
        port = self._outer.waiting(self._inmost, self._far, self._section.size)
        return 4.0 + float((port - alone).max()) + max(0.0, self.limits[1] - float(self._together.min(initial=np.inf)))

    def weighed(self, energies: Floats, ports: Floats, worth: tuple[float, float]) -> Floats:
        """By tile the least of some `energies` and what the cycles are worth with `ports`, one by one; `worth` are a
        bound of the product and the least energy.
        """
        out = np.empty(self._waiting.shape)
        weigh(_rows(energies), _rows(ports), self._waiting, self._fits, self.limits, Worth(*worth, self.least), out)
        return out.reshape(self._section.shape)


def _rows(tables: Floats) -> Floats:
    return tables.reshape(len(tables), -1)
