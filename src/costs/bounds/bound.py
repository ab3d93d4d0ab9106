"""Bounds of a problem on a machine."""

from functools import lru_cache
from math import ceil, gcd, prod

from ..exact.validity import bits_of_word
from ..hierarchy.values import Architecture, Problem
from ..pareto import each_lower
from .keeping import Counter, choices, everything
from .values import Bounds

MAX_UNITS = 1 << 13
"""Largest array whose best unrolling is looked for; above, units are taken as always busy."""


def fewest_steps(arch: Architecture, problem: Problem) -> int:
    """Steps that any unrolling of `problem` over the children of all levels needs.

    With `f_d` iterations of dimension `d` at a time, there are at least `ceil(N_d / f_d)` steps along it, and the
    product of all `f_d` is at most the number of units.  Columns and rows of each level are taken together.
    """
    units = prod(prod(arch.fan_out(level)) for level in range(len(arch.levels)))
    if units > MAX_UNITS:
        return -(-problem.macs // units)
    least = {units: 1}
    for bound in sorted(problem.bounds):
        least = _unroll(least, bound)
    return max(min(least.values()), -(-problem.macs // units))


def _unroll(least: dict[int, int], bound: int) -> dict[int, int]:
    """Fewest steps by units left, with one more dimension; only units that no other beats are kept."""
    found: dict[int, int] = {}
    for units, steps in least.items():
        along = bound
        factor = 1
        while True:
            left = units // factor
            total = steps * along
            if found.get(left, total + 1) > total:
                found[left] = total
            if along == 1:
                break
            factor = -(-bound // (along - 1)) if along > 1 else bound
            along = -(-bound // factor)
            if factor > units:
                break
    return {left: found[left] for left in each_lower(sorted(found, reverse=True), found.__getitem__)}


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
