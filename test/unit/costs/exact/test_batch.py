"""Batches: the same numbers as one mapping at a time, also where compiled code gives up."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from tilewright.costs.exact import BatchTotals, TensorTotals, evaluate, price_batch
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor, pack
from tilewright.errors import TilewrightError

from .walk import random_machine, random_mapping, random_problem, window


def packable(random: Random, problem: Problem, levels: int) -> LoopMapping:
    """A random mapping with at most one loop per dimension in each group of loops."""
    while True:
        mapping = random_mapping(random, problem, levels)
        groups = [g for level in mapping.levels for g in (level.temporal, level.spatial_x, level.spatial_y)]
        if all(len({loop.dim for loop in group}) == len(group) for group in groups):
            return mapping


def check(arch: Architecture, problem: Problem, mappings: list[LoopMapping], prices: BatchTotals):
    for n, mapping in enumerate(mappings):
        one = evaluate(arch, problem, mapping)
        assert (prices.cycles[n], prices.valid[n]) == (one.cycles, one.valid)
        assert prices.energy_pj[n] == pytest.approx(one.energy_pj, rel=1e-12)
        for index, memory in enumerate(arch.levels):
            for t, tensor in enumerate(problem.tensors):
                report = one.levels[memory.name].tensors.get(tensor.name)
                counts = prices.reads[n, index, t], prices.fills[n, index, t], prices.updates[n, index, t]
                assert counts == (report.totals if isinstance(report, TensorTotals) else (0, 0, 0))


@pytest.mark.parametrize("seed", range(60))
def test_prices_equal_those_of_single_mappings(seed: int):
    random = Random(seed)
    problem, levels = random_problem(random), random.randint(2, 4)
    problem = replace(
        problem, tensors=tuple(replace(t, word_bits=random.choice((None, 8, 24))) for t in problem.tensors)
    )
    arch = random_machine(random, levels)
    holds = tuple(random.choice((None, ("O",), ("I", "W"))) for _ in range(levels - 1))
    memories = tuple(replace(memory, holds=held) for memory, held in zip(arch.levels, (*holds, None), strict=True))
    arch = replace(arch, levels=memories)
    mappings = [packable(random, problem, levels) for _ in range(6)]
    check(arch, problem, mappings, price_batch(arch, problem, mappings))


def test_validity_covers_factors_arrays_and_the_outermost_memory():
    problem = window(8, 3)
    arch = Architecture("two", (Level("L1", 20, 4, 4, 1, 1.0), Level("DRAM", None, 1, 1, 1, 9.0)), "MAC", 4, 4, 1.0)
    inner = LevelMapping((Loop(1, 3),))
    mappings = [
        LoopMapping((inner, LevelMapping((Loop(0, 2),), (Loop(0, 4),)))),
        LoopMapping((inner, LevelMapping((Loop(0, 1),), (Loop(0, 4),)))),
        LoopMapping((inner, LevelMapping((Loop(0, 1),), (Loop(0, 8),)))),
        LoopMapping((inner, LevelMapping((Loop(0, 8),), (), (), frozenset("I")))),
        LoopMapping((LevelMapping((Loop(1, 3), Loop(0, 8))), LevelMapping())),
    ]
    prices = price_batch(arch, problem, mappings)
    assert prices.valid.tolist() == [True, False, False, False, False]
    check(arch, problem, mappings, prices)


def test_axes_beyond_the_limits_of_compiled_code_are_priced_too():
    # a window over 40 000 elements, spread over 5000 children; nine dimensions in one sum
    long = window(40_000, 3)
    arch = Architecture(
        "wide", (Level("L1", 64, 5000, 5000, 1, 1.0), Level("DRAM", None, 1, 1, 1, 9.0)), "MAC", 5000, 5000, 1.0
    )
    nest = LoopMapping((LevelMapping((Loop(1, 3), Loop(0, 8))), LevelMapping((), (Loop(0, 5000),))))
    prices = price_batch(arch, long, [nest])
    assert prices.reads[0, 1].tolist() == [40_002, 3, 0]
    check(arch, long, [nest], prices)
    dims = tuple("abcdefghi")
    many = Problem("sum", dims, (2,) * 9, (Tensor("A", ((1,) * 9,)), Tensor("O", ((1,) + (0,) * 8,), is_output=True)))
    nest = LoopMapping((LevelMapping((Loop(0, 2),)), LevelMapping(tuple(Loop(d, 2) for d in range(1, 9)))))
    check(arch, many, [nest], price_batch(arch, many, [nest]))


def test_arrays_of_another_machine_and_huge_problems_are_refused():
    problem = window(4, 1)
    arch = Architecture("two", (Level("L1", 9, 1, 1, 1, 1.0), Level("DRAM", None, 1, 1, 1, 9.0)), "MAC", 1, 1, 0.0)
    nest = LoopMapping((LevelMapping(), LevelMapping((Loop(0, 4),))))
    one_level = replace(arch, levels=arch.levels[1:])
    with pytest.raises(TilewrightError, match=r"expected factors of shape \(N, 1, 3\)"):
        price_batch(one_level, problem, pack(arch, problem, [nest]))
    with pytest.raises(TilewrightError, match="at most 4503599627370496 operations"):
        price_batch(arch, replace(problem, bounds=(1 << 30, 1 << 12, 1 << 12)), [nest])
    assert len(price_batch(arch, problem, []).cycles) == 0
    assert price_batch(arch, problem, [nest]).edp_j_cycle.dtype == np.float64
