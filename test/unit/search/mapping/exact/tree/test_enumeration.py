"""The exact mapper against exhaustive enumeration: random tiny problems on random tiny machines."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds import cost_to_go, estimates, outer
from tilewright.search.mapping.values import OBJECTIVES, Factors, Request, Space

from ..enumerate import random_arrays, random_kernel, random_machine, random_problem, random_sliding_problem, verdict

PAIRS = 110
"""Pairs per kind of factors that are small enough to enumerate."""

FEW = 8
"""Pairs with tables that are coarser than they need to be."""

MOST = 400
"""Mappings of a pair at most."""


def check(seed: int, factors: Factors) -> bool | None:
    """Solve one pair and compare; whether it was proven, or None where there are too many mappings."""
    random = Random(seed)
    problem, arch = random_problem(random), random_machine(random)
    space = Space(random.random() < 0.5, random.random() < 0.5, factors)
    return compare(arch, problem, space, seed, MOST)


def compare(arch: Architecture, problem: Problem, space: Space, seed: int, most: int) -> bool | None:
    found = verdict(arch, problem, Request(objective=OBJECTIVES[seed % 3], space=space), most)
    assert found in ("many", "nothing", "proven", "open"), (seed, found)
    return None if found == "many" else found != "open"


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
    monkeypatch.setattr(cost_to_go, "MAX_INNER", 4)
    monkeypatch.setattr(estimates, "CELLS", 12)
    found = [check(seed, "imperfect") for seed in range(1000, 1000 + 5 * FEW)]
    assert sum(proven is not None for proven in found) >= FEW


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
def test_sums_that_are_not_spread(factors: Factors):
    """Machines whose instances add to no common sum."""
    found: list[bool | None] = []
    for seed in range(2000, 2012):
        random = Random(seed)
        problem, arch = random_problem(random), replace(random_machine(random), sums_apart=True)
        space = Space(random.random() < 0.5, random.random() < 0.5, factors)
        found.append(compare(arch, problem, space, seed, MOST))
    assert sum(proven is True for proven in found) >= 3


@pytest.mark.parametrize("seed", [20, 40, 79])
def test_strided_windows_of_children_that_lie_apart(seed: int):
    random = Random(seed)
    problem, arch = random_sliding_problem(random), random_arrays(random)
    assert compare(arch, problem, Space(random.random() < 0.7, random.random() < 0.5), seed, 3000)


@pytest.mark.parametrize("coarse", [False, True])
def test_children_with_every_other_row_keep_more_than_those_with_larger_tiles(
    coarse: bool, monkeypatch: pytest.MonkeyPatch
):
    """Rows 2 p + r of one r, then of r + 2, are 4 for 3 p; those of two neighbours are 6."""
    if coarse:
        monkeypatch.setattr(outer, "MAX_CELLS", 6)
        monkeypatch.setattr(cost_to_go, "MAX_INNER", 4)
    tensors = (
        Tensor("I", ((1, 0, 0), (0, 2, 1)), word_bits=8),
        Tensor("W", ((1, 0, 0), (0, 0, 1))),
        Tensor("Z", ((0, 1, 0),), True, 8),
    )
    levels = (
        Level("L0", 4, 2, 1, 1, 1.0, write_energy_pj=2.0),
        Level("L1", 64, 2, 1, 1, 4.0, write_energy_pj=2.0, holds=("W",)),
        Level("L2", None, 1, 1, 1, 4.8),
    )
    arch = Architecture("rows", levels, "MAC", 4, 2, 1.0)
    problem, space = Problem("strided", ("c", "p", "r"), (3, 3, 4), tensors), Space(False, False, "imperfect")
    assert compare(arch, problem, space, 1, 6000)  # seed 1: energy


def test_children_may_share_unequally():
    """Windows of 3 and 1 rows take 5 + 2 words, those of 2 and 2 rows 4 + 4."""
    tensors = (Tensor("I", ((1, 2),), word_bits=8), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), True))
    levels = (Level("L0", 8, 12, 6, 1, 0.3), Level("L1", 64, 4, 2, 1, 20.0), Level("L2", None, 1, 1, 1, 16.0))
    arch = Architecture("rows", levels, "MAC", 12, 6, 1.0)
    problem, space = Problem("dilated", ("p", "r"), (4, 4), tensors), Space(False, True, "imperfect")
    assert compare(arch, problem, space, 0, 4000)  # seed 0: energy times delay


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("seed", [19, 20, 25, 35, 40, 47, 48, 49, 50, 51, 52, 58])
def test_products_of_several_tensors(seed: int, coarse: bool, monkeypatch: pytest.MonkeyPatch):
    if coarse:
        monkeypatch.setattr(outer, "MAX_PERFECT", 6)
        monkeypatch.setattr(cost_to_go, "MAX_INNER", 6)
    random = Random(seed)
    problem = random_kernel(random)
    arch = random_arrays(random) if seed % 3 else random_machine(random)
    assert compare(arch, problem, Space(random.random() < 0.7, random.random() < 0.5), seed, 2000) is not None
