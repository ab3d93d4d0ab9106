"""Timeloop's model against enumeration, on machines of two to five memories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product
from math import inf, prod
from random import Random

import pytest

from tilewright.costs.bounds import timeloop_bounds
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.timeloop import evaluate, price_batch
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.tree.leaves import Incumbent
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import OBJECTIVES, Objective, Request, Space

from ..enumerate import (
    random_arrays,
    random_deep,
    random_few,
    random_kernel,
    random_machine,
    random_meshes,
    random_problem,
    random_shipped,
    random_sliding_problem,
    random_three,
    verdict,
)
from ..skeletons import best_of_each


def problem_of(bounds: dict[str, int], **tensors: str) -> Problem:
    """Tensors as text: axes by commas, each a sum of terms like `2*p`; the last tensor is the output."""
    names = list(bounds)
    values: list[Tensor] = []
    for name, text in tensors.items():
        rows: list[tuple[int, ...]] = []
        for axis in text.split(","):
            row = [0] * len(names)
            for term in axis.split("+"):
                factor, _, dim = term.rpartition("*")
                row[names.index(dim)] += int(factor or 1)
            rows.append(tuple(row))
        values.append(Tensor(name, tuple(rows), name == list(tensors)[-1]))
    return Problem("test", tuple(bounds), tuple(bounds.values()), tuple(values))


def machine(inner: int, middle: int, mesh: tuple[int, int], macs: int = 1, *, narrow: bool = False) -> Architecture:
    count = mesh[0] * mesh[1]
    levels = (
        Level("L1", inner, count, mesh[0], 1, 0.8, 3 if narrow else None, 2 if narrow else None),
        Level("L2", middle, 1, 1, 2, 7.0, 3 if narrow else None, 2 if narrow else None),
        Level("DRAM", None, 1, 1, 4, 60.0, None, None, 2 if narrow else None),
    )
    return Architecture("test", levels, "MAC", count * macs, mesh[0] * macs, 1.0)


def factorisations(bound: int, slots: int) -> Iterator[tuple[int, ...]]:
    if slots == 1:
        yield (bound,)
        return
    for factor in range(1, bound + 1):
        if bound % factor == 0:
            for rest in factorisations(bound // factor, slots - 1):
                yield (factor, *rest)


def orders(factors: list[int]) -> list[tuple[Loop, ...]]:
    loops = [Loop(d, f) for d, f in enumerate(factors) if f > 1]
    return list(permutations(loops))


def every_mapping(arch: Architecture, problem: Problem, space: Space) -> Iterator[LoopMapping]:
    """Seven slots per dimension: temporal of three levels, X and Y of the two inner ones."""
    names = [tensor.name for tensor in problem.tensors]
    away = product((False, True), repeat=len(names))
    subsets = [frozenset(n for n, gone in zip(names, bits, strict=True) if gone) for bits in away]
    bypasses = subsets if space.bypass else [frozenset[str]()]
    for factors in product(*(factorisations(bound, 7) for bound in problem.bounds)):
        slots = [[row[slot] for row in factors] for slot in range(7)]
        if not space.split_axes and any((f[1] > 1 and f[2] > 1) or (f[4] > 1 and f[5] > 1) for f in factors):
            continue
        fits = all(
            prod(slots[s]) <= arch.fan_out(level)[axis]
            for s, level, axis in ((1, 0, 0), (2, 0, 1), (4, 1, 0), (5, 1, 1))
        )
        if not fits:
            continue
        for t0, x0, y0, t1, x1, y1, t2 in product(*(orders(slots[s]) for s in (0, 1, 2, 3, 4, 5, 6))):
            for away0, away1 in product(bypasses, bypasses):
                levels = LevelMapping(t0, x0, y0, away0), LevelMapping(t1, x1, y1, away1), LevelMapping(t2)
                yield LoopMapping(levels)


GEMM = {"A": "m,k", "B": "k,n", "Z": "m,n"}
CONV = {"I": "c,p+r", "W": "c,r", "O": "p"}
STRIDED = {"I": "2*p+r", "W": "k,r", "O": "k,p"}
DEPTHWISE = {"I": "c,p+r", "W": "c,r", "O": "c,p"}
CASES = [
    ({"m": 4, "k": 3, "n": 2}, GEMM, machine(6, 12, (2, 1)), Space(bypass=True)),
    ({"m": 4, "k": 4, "n": 2}, GEMM, machine(6, 20, (2, 2), narrow=True), Space()),
    ({"m": 4, "k": 4, "n": 1}, GEMM, machine(5, 20, (2, 2), narrow=True), Space(split_axes=True)),
    ({"m": 4, "k": 2, "n": 2}, GEMM, machine(6, 12, (2, 1), 2), Space()),
    ({"c": 2, "p": 4, "r": 3}, CONV, machine(8, 24, (2, 2)), Space()),
    ({"c": 1, "p": 4, "r": 4}, CONV, machine(8, 24, (4, 1), narrow=True), Space(split_axes=True)),
    ({"c": 2, "p": 4, "r": 2}, CONV, machine(6, 12, (4, 1)), Space(bypass=True)),
    ({"c": 2, "p": 4, "r": 2}, CONV, machine(6, 12, (2, 1), 2), Space()),
    ({"k": 2, "p": 4, "r": 3}, STRIDED, machine(9, 20, (2, 2), narrow=True), Space()),
    ({"k": 1, "p": 6, "r": 2}, STRIDED, machine(6, 12, (3, 1)), Space(bypass=True)),
    ({"c": 2, "p": 4, "r": 2}, DEPTHWISE, machine(7, 18, (2, 2)), Space()),
    ({"c": 2, "p": 4, "r": 3}, CONV, machine(4, 8, (4, 1), narrow=True), Space()),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_equals_exhaustive_enumeration(number: int):
    bounds, tensors, arch, space = CASES[number]
    problem = problem_of(bounds, **tensors)
    mappings = list(every_mapping(arch, problem, space))
    if len(mappings) > 4000:
        mappings = Random(number).sample(mappings, 4000)
    prices = price_batch(arch, problem, mappings)
    best: dict[Objective, float] = {
        "edp": float(prices.edp_j_cycle[prices.valid].min()),
        "energy": float(prices.energy_pj[prices.valid].min()),
        "latency": float(prices.cycles[prices.valid].min()),
    }
    for objective, found in best.items():
        mapped = solve(arch, problem, Request(objective, "timeloop", space))
        assert mapped.proven
        price = evaluate(arch, problem, mapped.mapping)
        assert price.valid
        value = {"edp": price.edp_j_cycle, "energy": price.energy_pj, "latency": price.cycles}[objective]
        assert value == pytest.approx(mapped.lower_bound, rel=1e-9)
        assert value <= found * (1 + 1e-9)


PROBLEMS = random_problem, random_sliding_problem, random_kernel, random_few
MACHINES = random_machine, random_arrays, random_meshes, random_deep, random_shipped, random_three


@pytest.mark.parametrize("machine", MACHINES)
def test_random_spaces(machine: Callable[[Random], Architecture]):
    random, proven = Random(machine.__name__), 0
    for _ in range(30):
        problem, arch = random.choice(PROBLEMS)(random), machine(random)
        space = Space(random.random() < 0.6, random.random() < 0.5)
        found = verdict(arch, problem, Request(random.choice(OBJECTIVES), "timeloop", space), 1000)
        assert found in ("many", "proven", "nothing", "open")
        proven += found == "proven"
    assert proven >= 2


def test_units_of_a_memory_share_words_that_pass_it():
    """Inputs come from far away for all units at once, whatever memories they pass."""
    tensors = Tensor("I", ((1, 1),)), Tensor("W", ((0, 1),)), Tensor("Z", ((1, 0),), is_output=True)
    levels = Level("L0", 8, 2, 1, 1, 1.0, holds=("O", "W")), Level("far", None, 1, 1, 1, 4.8)
    arch = Architecture("units", levels, "MAC", 8, 4, 1.0)
    problem = Problem("line", ("p", "r"), (11, 4), tensors)
    assert verdict(arch, problem, Request("energy", "timeloop", Space(True, True)), 3000) == "proven"


def test_walks_count_whole_blocks():
    """None is priced of 3 rows and 5 columns of results in blocks of 4, once a mapping as good is known."""
    problem = problem_of({"m": 3, "n": 5, "k": 7}, A="m,k", B="k,n", Z="m,n")
    levels = Level("L1", 9, 1, 1, 1, 1.0), Level("L2", 40, 1, 1, 4, 30.0), Level("DRAM", None, 1, 1, 8, 400.0)
    arch, request = Architecture("blocks", levels, "MAC", 1, 1, 1.0), Request("energy", "timeloop", Space())
    best = best_of_each(arch, problem, request, 100_000)
    assert best is not None
    search, least = Search(arch, problem, request, timeloop_bounds(arch, problem)), min(best.values())
    search.best = search.settling.best = Incumbent(0.0, least)
    for spread, kept in best:
        search.estimates.by_tables(spread, kept, 0.0, inf)
        search.explore(spread, kept, least)
    assert search.settling.evaluated == 0


def test_walks_know_what_neighbours_lack_once_a_memory_s_loops_are_known():
    """Results rest in loops of k, or neighbours help with inputs until k comes, further out than n: not both."""
    problem = problem_of({"p": 2, "r": 2, "k": 2, "n": 2}, I="p+r,k", O="p,n")
    levels = Level("L1", 64, 2, 2, 1, 1.0), Level("DRAM", None, 1, 1, 1, 60.0)
    arch, request = Architecture("row", levels, "MAC", 2, 2, 1.0), Request("energy", "timeloop", Space(True))
    search, bounds = Search(arch, problem, request, timeloop_bounds(arch, problem)), list[float]()
    spread, kept = ((1, 1, 1, 1), (2, 1, 1, 1)), ((1,), (1,))
    search.estimates.by_tables(spread, kept, 0.0, inf)

    def note(*_: object) -> float:
        leaves = search.settling.leaves
        for n in range(int(leaves.number[0])):
            if leaves.temporal[n].tolist() == [[1, 1, 1, 1], [1, 2, 2, 2]]:
                bounds.append(float(leaves.bound[n, 1]))
        leaves.number[0] = 0
        return inf

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search.settling, "price_leaves", note)
        search.explore(spread, kept, inf)
    inner = LevelMapping((), (), ())
    outer = [LevelMapping(order, (Loop(0, 2),), ()) for order in permutations([Loop(d, 2) for d in (1, 2, 3)])]
    least = min(evaluate(arch, problem, LoopMapping((inner, level))).energy_pj for level in outer)
    assert least - 30 < min(bounds) <= least  # less than a word of the far memory


def test_same_answer_twice():
    bounds, tensors, arch, space = CASES[4]
    problem = problem_of(bounds, **tensors)
    first, second = (solve(arch, problem, Request("edp", "timeloop", space)) for _ in range(2))
    assert (first.mapping, first.evaluated) == (second.mapping, second.evaluated)


def test_time_limit_leaves_a_bound():
    bounds, tensors, arch, _ = CASES[4]
    mapped = solve(arch, problem_of(bounds, **tensors), Request("edp", "timeloop", Space(), time_limit_s=0.0))
    assert mapped.lower_bound <= mapped.edp * (1 + 1e-9)


def test_what_compiled_code_does_not_know_is_left_to_other_searches():
    mapped = solve(machine(6, 12, (2, 1)), problem_of({"m": 2}, A="m,m", Z="m"), Request("edp", "timeloop", Space()))
    assert not mapped.proven
    assert mapped.lower_bound == 0.0
