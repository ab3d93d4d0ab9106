"""Refinement: never worse than its starts, locally optimal, and inside the space that was asked for."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor, pack, parse_mapping
from tilewright.errors import InfeasibleError
from tilewright.search.mapping import exact, refine, sunstone
from tilewright.search.mapping.pricing import Pricer
from tilewright.search.mapping.refine import Guess
from tilewright.search.mapping.refine.anneal import Annealer
from tilewright.search.mapping.values import Objective, Request, Space


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["tilewright.search.mapping.refine.solve"], "STEPS", 1000)


def machine(inner: int = 12) -> Architecture:
    levels = (
        Level("L1", inner, 4, 2, 1, 1.0),
        Level("L2", 40, 1, 1, 1, 6.0),
        Level("DRAM", None, 1, 1, 1, 60.0, read_bandwidth=2.0),
    )
    return Architecture("small", levels, "MAC", 4, 2, 0.5)


def conv(p: int = 7, k: int = 5) -> Problem:
    tensors = (
        Tensor("I", ((1, 1, 0),)),
        Tensor("W", ((0, 1, 0), (0, 0, 1))),
        Tensor("O", ((1, 0, 0), (0, 0, 1)), is_output=True),
    )
    return Problem("conv", ("P", "R", "K"), (p, 3, k), tensors)


@pytest.mark.parametrize("objective", ["edp", "energy", "latency"])
def test_no_worse_than_sunstone_and_no_neighbour_is_better(objective: Objective):
    request = Request(objective, "exact")
    found = refine.solve(machine(), conv(), request)
    start = sunstone.solve(machine(), conv(), request)
    values = {"edp": "edp", "energy": "energy", "latency": "cycles"}
    assert getattr(found, values[objective]) <= getattr(start, values[objective])
    prices = evaluate(machine(), conv(), found.mapping)
    assert prices.valid
    assert (prices.energy_pj, prices.cycles) == (pytest.approx(found.energy), found.cycles)
    pricer, one = Pricer(machine(), conv(), request), pack(machine(), conv(), [found.mapping])
    around = Annealer(machine(), conv(), request, Guess(machine(), conv(), objective)).around(one, 4096)
    assert float(pricer.values(around).min()) >= float(pricer.values(one)[0]) * (1 - 1e-9)


def test_imperfect_factors_and_bypass_are_used_where_they_are_allowed():
    whole = refine.solve(machine(), conv(), Request())
    perfect = refine.solve(machine(), conv(), Request(space=Space(bypass=False, split_axes=True)))
    assert perfect.mapping.tiles(3)[-1][1] == conv().bounds
    assert not any(level.bypass for level in perfect.mapping.levels)
    assert whole.edp < perfect.edp


def test_a_start_with_all_loops_in_one_memory_has_neighbours():
    alone = parse_mapping([{"target": "DRAM", "temporal": {"P": 7, "R": 3, "K": 5}}], machine(), conv())
    found = refine.solve(machine(), conv(), Request(), [alone])
    assert found.edp < evaluate(machine(), conv(), alone).edp_j_cycle


def test_timeloops_model_keeps_factors_perfect():
    found = refine.solve(machine(), conv(6, 4), Request(model="timeloop"))
    assert found.mapping.tiles(3)[-1][1] == conv(6, 4).bounds


@pytest.mark.parametrize(("p", "k"), [(4, 2), (6, 4)])
def test_the_proven_optimum_is_found_in_small_spaces(p: int, k: int):
    space = Space(bypass=True, split_axes=True)
    best = exact.solve(machine(), conv(p, k), Request("edp", "timeloop", space))
    assert best.proven
    assert refine.solve(machine(), conv(p, k), Request("edp", "timeloop", space)).edp <= best.edp * 1.001


def test_a_dimension_stays_on_one_axis_where_it_must():
    found = refine.solve(machine(), conv(8, 2), Request(space=Space(bypass=True, factors="imperfect")))
    for level in found.mapping.levels:
        assert not {loop.dim for loop in level.spatial_x} & {loop.dim for loop in level.spatial_y}


def test_answers_depend_on_nothing_but_the_request():
    request = Request(seed=3)
    assert refine.solve(machine(), conv(), request).mapping == refine.solve(machine(), conv(), request).mapping
    other = replace(request, time_limit_s=0.0)
    assert evaluate(machine(), conv(), refine.solve(machine(), conv(), other).mapping).valid


def test_where_nothing_fits_the_memory_is_named():
    with pytest.raises(InfeasibleError, match="L1"):
        refine.solve(machine(2), conv(), Request(space=Space()))
