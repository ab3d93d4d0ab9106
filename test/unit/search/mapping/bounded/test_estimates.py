"""Bounds of skeletons against the best of all their mappings."""

from __future__ import annotations

from dataclasses import replace
from math import inf, prod
from random import Random

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, LoopMapping, Problem
from tilewright.search.mapping.bounded.alike import Kept, Spread
from tilewright.search.mapping.bounded.search import Search
from tilewright.search.mapping.values import Request, Space

from .enumerate import every_mapping, random_arrays, random_kernel, random_machine, random_problem

SPACE = Space(bypass=True, factors="perfect")


def _slow(random: Random) -> tuple[Problem, Architecture]:
    """Something on a machine whose outermost memory takes long."""
    kernel = random.random() < 0.5
    problem, arch = (
        (random_kernel if kernel else random_problem)(random),
        (random_arrays, random_machine)[kernel](random),
    )
    last = replace(
        arch.levels[-1], read_bandwidth=None, write_bandwidth=None, shared_bandwidth=1, network_bandwidth=None
    )
    inner = [replace(level, hop_energy_pj=0.0) for level in arch.levels[:-1]]
    return problem, replace(
        arch, levels=(*inner, replace(last, hop_energy_pj=0.0, energy_pj=random.choice([1, 4, 16])))
    )


def _skeleton(mapping: LoopMapping, names: list[str], dims: tuple[int, ...]) -> tuple[Spread, Kept]:
    spread = tuple(
        tuple(prod(loop.bound for loop in (*level.spatial_x, *level.spatial_y) if loop.dim == d) for d in dims)
        for level in mapping.levels
    )
    return spread, tuple(tuple(int(name not in level.bypass) for level in mapping.levels[:-1]) for name in names)


def _skeletons(problem: Problem, arch: Architecture) -> dict[tuple[Spread, Kept], float]:
    """The least energy times delay of each, by enumeration; empty if there are many mappings."""
    mappings = every_mapping(arch, problem, SPACE, 4000)
    names, best = [tensor.name for tensor in problem.tensors], dict[tuple[Spread, Kept], float]()
    dims = tuple(d for d, bound in enumerate(problem.bounds) if bound > 1) or (0,)
    prices = price_batch(arch, problem, mappings or [])
    for mapping, edp, valid in zip(mappings or [], prices.edp_j_cycle, prices.valid, strict=True):
        if valid:
            key = _skeleton(mapping, names, dims)
            best[key] = min(best.get(key, inf), float(edp) * 1e12)
    return best


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_no_bound_of_a_skeleton_is_above_its_mappings(first: int):
    seen = 0
    for seed in range(first, first + 10):
        problem, arch = _slow(Random(seed))
        for (spread, kept), edp in _skeletons(problem, arch).items():
            estimates = Search(arch, problem, Request(space=SPACE), bounds_of(arch, problem)).estimates
            assert estimates.by_tile(spread, kept, 0.0) <= edp * (1 + 1e-9)
            assert estimates.by_tables(spread, kept, 0.0, inf) <= edp * (1 + 1e-9)
            seen += 1
    assert seen
