"""Bounds of a problem on a machine."""

from __future__ import annotations

from functools import lru_cache
from math import ceil

from ..hierarchy.values import Architecture, Problem
from .compute import fewest_steps
from .keeping import Counter, Demand, choices
from .values import Bounds

MAX_CHOICES = 4096
"""Choices of levels for tensors that are looked at one by one."""


@lru_cache(maxsize=1024)
def bounds_of(arch: Architecture, problem: Problem) -> Bounds:
    """Lower bounds over all mappings of `problem` that `arch` can run, of any tiles, order, unrolling and bypass.

    They hold for `costs.exact`.  Timeloop's model may go below: it neither counts reads of results that leave a memory,
    nor words that neighbours pass on.  Each choice of the levels that keep each tensor is bounded by itself; where
    there are more than `MAX_CHOICES`, levels inside the outermost are taken to cost nothing.
    """
    counter = Counter(arch, problem, fewest_steps(arch, problem))
    found = choices(arch, problem, MAX_CHOICES)
    if found is None:
        return _least([counter.outermost()])
    return _least([counter.demand(kept) for kept in found])


def _least(demands: list[Demand]) -> Bounds:
    least = min(demands, key=lambda demand: demand.energy_pj * demand.cycles)
    fastest = min(demands, key=lambda demand: demand.cycles)
    fewest = min(demands, key=lambda demand: demand.dram_words)
    return Bounds(
        least.energy_pj * 1e-12 * ceil(least.cycles),
        min(demand.energy_pj for demand in demands),
        ceil(fastest.cycles),
        ceil(fewest.dram_words),
        {"cycles": fastest.slowest, "dram_words": fewest.scarcest},
    )
