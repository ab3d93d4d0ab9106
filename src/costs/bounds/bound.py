"""Bounds of a problem on a machine."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, gcd

from ..exact.validity import bits_of_word
from ..hierarchy.values import Architecture, Problem
from .compute import fewest_steps
from .keeping import Counter, choices, everything
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
    found = choices(arch, problem, MAX_CHOICES)
    kept = everything(arch, problem) if found is None else found
    demands = Counter(arch, problem, fewest_steps(arch, problem), kept, streams=found is None).demands()
    energy, cycles, bits = demands.energy_pj, demands.cycles, demands.dram_bits
    least, fastest, fewest = int((energy * cycles).argmin()), int(cycles.argmin()), int(bits.argmin())
    return Bounds(
        float(energy[least]) * 1e-12 * ceil(cycles[least]),
        float(energy.min()),
        ceil(cycles[fastest]),
        _words(arch, problem, float(bits[fewest])),
        {
            "cycles": demands.terms[int(demands.slowest[fastest])],
            "dram_words": "every element once" if demands.once[fewest] else "reuse in the memories inside",
        },
    )


def timeloop_bounds(arch: Architecture, problem: Problem) -> Bounds:
    """What no mapping can go below in Timeloop's model: operations one by one on all units."""
    energy, cycles = problem.macs * arch.mac_energy_pj, ceil(problem.macs / arch.mac_instances)
    return Bounds(energy * cycles * 1e-12, energy, cycles, 0.0, {})


def _words(arch: Architecture, problem: Problem, bits: float) -> float:
    """Words of the outermost level at least, of so many bits in whole elements."""
    level = arch.levels[-1]
    element = gcd(*(bits_of_word(tensor, level) for tensor in problem.tensors))
    return level.words_of(ceil(bits / element) * element)
