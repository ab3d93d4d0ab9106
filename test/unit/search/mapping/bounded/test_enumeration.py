"""The exact mapper against exhaustive enumeration: random tiny problems on random tiny machines."""

from __future__ import annotations

from random import Random

import pytest

from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.errors import InfeasibleError
from tilewright.search.mapping.bounded import ahead, estimates, outer, solve
from tilewright.search.mapping.values import OBJECTIVES, Factors, Mapped, Objective, Request, Space

from .enumerate import (
    every_mapping,
    random_arrays,
    random_kernel,
    random_machine,
    random_problem,
    random_sliding_problem,
)

PAIRS = 110
"""Pairs per kind of factors that are small enough to enumerate."""

FEW = 8
"""Pairs with tables that are coarser than they need to be."""

MOST = 400
"""Mappings of a pair at most."""


def value_of(mapped: Mapped, objective: Objective) -> float:
    return {"edp": mapped.edp, "energy": mapped.energy, "latency": mapped.cycles}[objective]


def check(seed: int, factors: Factors) -> bool | None:
    """Solve one pair and compare; whether it was proven, or None where there are too many mappings."""
    random = Random(seed)
    problem, arch = random_problem(random), random_machine(random)
    space = Space(random.random() < 0.5, random.random() < 0.5, factors)
    return compare(arch, problem, space, seed, MOST)


def compare(arch: Architecture, problem: Problem, space: Space, seed: int, most: int) -> bool | None:
    mappings = every_mapping(arch, problem, space, most)
    if mappings is None:
        return None
    prices = price_batch(arch, problem, mappings)
    objective = OBJECTIVES[seed % 3]
    values = {"edp": prices.edp_j_cycle, "energy": prices.energy_pj, "latency": prices.cycles}[objective][prices.valid]
    if not len(values):
        with pytest.raises(InfeasibleError):
            solve(arch, problem, Request(objective=objective, space=space))
        return True
    mapped = solve(arch, problem, Request(objective=objective, space=space))
    best = float(values.min())
    assert mapped.lower_bound <= best * (1 + 1e-9), seed
    assert value_of(mapped, objective) >= best * (1 - 1e-9), seed
    if mapped.proven:
        assert value_of(mapped, objective) == pytest.approx(best, rel=1e-9), seed
    return mapped.proven


@pytest.mark.parametrize(("factors", "share"), [("perfect", 0.8), ("imperfect", 0.5)])
def test_equals_enumeration(factors: Factors, share: float):
    proven: list[bool] = []
    seed = 0
    while len(proven) < PAIRS:
        found = check(seed, factors)
        seed += 1
        if found is not None:
            proven.append(found)
    assert sum(proven) >= share * len(proven)


def test_coarse_tables_leave_nothing_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outer, "MAX_CELLS", 6)
    monkeypatch.setattr(outer, "MAX_BEST", 6)
    monkeypatch.setattr(ahead, "MAX_INNER", 4)
    monkeypatch.setattr(estimates, "FINE_CELLS", 12)
    found = [check(seed, "imperfect") for seed in range(1000, 1000 + 5 * FEW)]
    assert sum(proven is not None for proven in found) >= FEW


@pytest.mark.parametrize("seed", [20, 40, 79])
def test_strided_windows_of_children_that_lie_apart(seed: int):
    random = Random(seed)
    problem, arch = random_sliding_problem(random), random_arrays(random)
    assert compare(arch, problem, Space(random.random() < 0.7, random.random() < 0.5), seed, 3000)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("seed", [19, 20, 25, 35, 40, 47, 48, 49, 50, 51, 52, 58])
def test_products_of_several_tensors(seed: int, coarse: bool, monkeypatch: pytest.MonkeyPatch):
    if coarse:
        monkeypatch.setattr(outer, "MAX_PERFECT", 6)
        monkeypatch.setattr(ahead, "MAX_INNER", 6)
    random = Random(seed)
    problem = random_kernel(random)
    arch = random_arrays(random) if seed % 3 else random_machine(random)
    assert compare(arch, problem, Space(random.random() < 0.7, random.random() < 0.5), seed, 2000) is not None
