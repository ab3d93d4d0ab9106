"""Fewest steps on an array of a given size: dimensions that do not divide it leave units idle."""

from __future__ import annotations

from math import prod

from ..hierarchy.values import Architecture, Problem
from ..pareto import each_lower

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
