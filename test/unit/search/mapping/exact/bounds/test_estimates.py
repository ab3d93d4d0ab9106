"""Bounds of skeletons against the best of all their mappings."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random

import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space

from ..enumerate import random_arrays, random_kernel, random_machine, random_problem
from ..skeletons import best_of_each, verdict_of_each

IMPERFECT = Space(bypass=True, factors="imperfect")


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


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_no_bound_of_a_skeleton_is_above_its_mappings(first: int):
    seen = 0
    for seed in range(first, first + 10):
        problem, arch = _slow(Random(seed))
        request = Request(space=Space(bypass=True, factors="perfect"))
        best = best_of_each(arch, problem, request, 4000) or {}
        estimates = Search(arch, problem, request, bounds_of(arch, problem)).estimates
        for (spread, kept), edp in best.items():
            assert estimates.by_tile(spread, kept, 0.0) <= edp * (1 + 1e-9)
            for most in (edp * (1 + 1e-6), inf):
                assert estimates.by_tables(spread, kept, 0.0, most) <= edp * (1 + 1e-9)
                estimates.forget(spread, kept)
            seen += 1
    assert seen


def test_loops_inside_of_ragged_ones_may_find_more():
    """A child without work in the second step of `r` keeps its row in the loop `k`, if that comes before `p`."""
    tensors = (
        Tensor("I", ((0, 1, 1),)),
        Tensor("W", ((1, 0, 0), (0, 0, 1)), word_bits=8),
        Tensor("Z", ((1, 0, 0), (0, 1, 0)), True),
    )
    problem = Problem("conv", ("k", "p", "r"), (4, 3, 3), tensors)
    levels = (
        Level("L0", 2, 8, 4, 1, 0.3, 1, None, 1, write_energy_pj=2.0, holds=("O", "I")),
        Level("L1", 32, 2, 1, 1, 4.0, 1, 2, 1, holds=("O", "I")),
        Level("L2", None, 1, 1, 1, 4.8, 2, 2, 2, latency_cycles=3),
    )
    arch = Architecture("ragged", levels, "MAC", 8, 4, 1.0)
    assert verdict_of_each(arch, problem, Request(space=replace(IMPERFECT, bypass=False)), 20_000) == "proven"


def test_loops_inside_may_leave_children_without_work_from_the_start():
    """Two of six `k` each for three children arrive sooner than four, then two, for four of them."""
    tensors = Tensor("A", ((1, 0), (0, 1))), Tensor("Z", ((1, 0),), True)
    levels = (
        Level("L0", 8, 4, 2, 1, 0.3, 1, 1, latency_cycles=3, write_energy_pj=2.0),
        Level("L1", 64, 4, 2, 1, 4.0, None, None, 2, holds=("O",)),
        Level("L2", 24, 2, 1, 1, 8.0, None, 1, 2, write_energy_pj=2.0, holds=("I", "W")),
        Level("L3", None, 1, 1, 1, 19.2, 2, 1, 1),
    )
    arch = Architecture("few", levels, "MAC", 4, 2, 1.0)
    problem = Problem("sum", ("m", "k"), (2, 6), tensors)
    assert verdict_of_each(arch, problem, Request(space=IMPERFECT), 20_000) == "proven"


def test_loops_put_between_two_of_a_dimension_let_a_ragged_end_rest():
    """Tiles of 3 `p`, then one: that stays while `r` goes on, if `r` is put between the loops of `p`."""
    tensors = Tensor("I", ((1, 1),)), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), True)
    levels = (
        Level("L0", 6, 12, 6, 1, 0.3, 1, None, 2, write_energy_pj=2.0, network_bandwidth=2, holds=("O", "W")),
        Level("L1", 12, 4, 2, 1, 20.0, 2, 1, 1, latency_cycles=3, holds=("I", "W")),
        Level("L2", None, 1, 1, 1, 80.0, None, 1, None, network_bandwidth=2),
    )
    arch, problem = Architecture("between", levels, "MAC", 12, 6, 1.0), Problem("line", ("p", "r"), (4, 3), tensors)
    assert verdict_of_each(arch, problem, Request("latency", space=IMPERFECT), 20_000) == "proven"


def test_all_instances_together_have_room_for_a_tensor_that_passes_the_last_memory():
    """Two instances of L0 with two results each keep all four while `r` goes on outside: none is sent again."""
    tensors = Tensor("I", ((1, 2),)), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), True)
    levels = (
        Level("L0", 2, 4, 1, 1, 0.3, 2, 1),
        Level("L1", 8, 2, 1, 1, 4.0, 1, 2, write_energy_pj=2.0, holds=("W",)),
        Level("L2", None, 1, 1, 1, 80.0, 1, 1, write_energy_pj=2.0),
    )
    arch, problem = Architecture("room", levels, "MAC", 4, 1, 1.0), Problem("dilated", ("p", "r"), (4, 4), tensors)
    space = Space(bypass=True, split_axes=False, factors="perfect")
    assert verdict_of_each(arch, problem, Request(space=space), 3000) == "proven"


def test_a_window_returns_where_one_term_advances_further_out_and_the_other_falls_back():
    """Of rows `p + 2r`, the last of `p = 2, 3` and `r = 3` are the first of `p = 0, 1` and `r = 4`."""
    tensors = Tensor("I", ((1, 2),), False, 8), Tensor("W", ((0, 1),), False, 8), Tensor("Z", ((1, 0),), True)
    levels = (
        Level("L0", 16, 8, 8, 1, 0.3, shared_bandwidth=2, holds=("O",)),
        Level("L1", 4, 8, 8, 1, 20.0, shared_bandwidth=1, write_energy_pj=2.0, latency_cycles=3),
        Level("L2", 12, 4, 4, 1, 4.8, 1, 1, 2, write_energy_pj=2.0),
        Level("L3", None, 1, 1, 1, 19.2),
    )
    arch, problem = Architecture("back", levels, "MAC", 8, 8, 1.0), Problem("dilated", ("p", "r"), (4, 8), tensors)
    space = Space(bypass=False, split_axes=True, factors="perfect")
    assert verdict_of_each(arch, problem, Request("energy", space=space), 3000) == "proven"
