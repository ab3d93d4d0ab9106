"""The exact mapper on any hierarchy."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import inf

import pytest

from tilewright.costs import timeloop
from tilewright.costs.bounds import bounds_of
from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.costs.places import nothing_fits
from tilewright.errors import InfeasibleError
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.exact.tree.solve import Help, simplest
from tilewright.search.mapping.values import Factors, Mapped, Request, Space

GEMM = Problem(
    "gemm",
    ("m", "n", "k"),
    (12, 10, 8),
    (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), True),
    ),
)


def machine(inner: int) -> Architecture:
    levels = (Level("L1", inner, 4, 2, 1, 0.8), Level("L2", 60, 1, 1, 1, 7.0, 3, 2), Level("DRAM", None, 1, 1, 1, 60.0))
    return Architecture("test", levels, "MAC", 4, 2, 1.0)


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
def test_answers_are_valid_and_bounded(factors: str):
    space = Space(bypass=True, split_axes=True, factors="perfect" if factors == "perfect" else "imperfect")
    mapped = solve(machine(6), GEMM, Request(space=space))
    price = evaluate(machine(6), GEMM, mapped.mapping)
    assert price.valid
    assert (price.energy_pj, price.cycles) == (mapped.energy, mapped.cycles)
    assert 0 < mapped.lower_bound <= mapped.edp * (1 + 1e-9)


def test_nothing_fits():
    with pytest.raises(InfeasibleError, match="L1"):
        solve(machine(2), GEMM, Request(space=Space()))


@pytest.mark.parametrize(("near", "helps"), [(0.0, 1), (inf, 0)])
def test_help_comes_where_the_best_is_far_above_the_bound(near: float, helps: int, monkeypatch: pytest.MonkeyPatch):
    module = sys.modules["tilewright.search.mapping.exact.tree.solve"]
    limits: list[float | None] = []

    def nothing(arch: Architecture, problem: Problem, request: Request, starts: object) -> Mapped:
        limits.append(request.time_limit_s)
        raise nothing_fits(arch, problem, "refine")

    monkeypatch.setattr(module, "refine", nothing)
    monkeypatch.setattr(module, "HELP", (Help(0.0, 0.25, near),))
    mapped = solve(machine(6), GEMM, Request(space=Space(factors="perfect"), time_limit_s=4.0))
    assert limits == [1.0] * helps
    assert mapped.proven


def test_timeloops_model_on_more_than_three_memories():
    three = machine(6)
    deep = replace(three, levels=(Level("Reg", 3, 8, 4, 1, 0.2), *three.levels), mac_instances=8, mac_mesh_x=4)
    small = replace(GEMM, bounds=(6, 5, 8))
    mapped = solve(deep, small, Request(model="timeloop", space=Space(bypass=True, split_axes=True)))
    price = timeloop.evaluate(deep, small, mapped.mapping)
    assert price.valid
    assert (price.energy_pj, price.cycles) == (mapped.energy, mapped.cycles)
    assert mapped.proven


def test_a_chain_of_products_whose_operands_rest_in_the_same_loops_is_bounded():
    tensors = (
        Tensor("A", ((1, 0, 0, 0), (0, 1, 0, 0))),
        Tensor("B", ((0, 1, 0, 0), (0, 0, 1, 0))),
        Tensor("C", ((0, 0, 1, 0), (0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0), (0, 0, 0, 1)), True),
    )
    chain = Problem("mmc", ("i", "j", "k", "l"), (16, 8, 16, 8), tensors)
    levels = (Level("L1", 64, 4, 2, 1, 0.8), Level("L2", 1000, 1, 1, 1, 7.0, 3, 2), Level("DRAM", None, 1, 1, 1, 60.0))
    mapped = solve(Architecture("test", levels, "MAC", 4, 2, 1.0), chain, Request(time_limit_s=0.5))
    assert 0 < mapped.lower_bound <= mapped.edp * (1 + 1e-9)


@pytest.mark.parametrize("factors", ["perfect", "imperfect"])
def test_a_search_that_may_leave_a_gap_ends_sooner_and_says_how_far_it_may_be(factors: Factors):
    request = Request(space=Space(bypass=True, split_axes=True, factors=factors))
    best = solve(machine(6), GEMM, request)
    near = solve(machine(6), GEMM, replace(request, gap=0.3))
    assert best.proven
    assert near.lower_bound <= best.edp <= near.edp <= near.lower_bound * 1.3 * (1 + 1e-9)
    assert near.evaluated < best.evaluated


def test_the_simplest_mapping_fits_where_all_may_be_bypassed():
    request = Request(space=Space(bypass=True))
    search = Search(machine(2), GEMM, request, bounds_of(machine(2), GEMM))
    assert evaluate(machine(2), GEMM, simplest(search)).valid
    search = Search(machine(2), GEMM, replace(request, space=Space()), bounds_of(machine(2), GEMM))
    assert not evaluate(machine(2), GEMM, simplest(search)).valid
