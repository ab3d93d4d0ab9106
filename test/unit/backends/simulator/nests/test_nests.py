"""Mapped nests run word by word: outputs against NumPy, counts and cycles against the cost model."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from tilewright.algebra.affine import index_forms
from tilewright.algebra.evaluate import run_statement
from tilewright.algebra.expr import Access, accesses
from tilewright.arrays import Array
from tilewright.backends.simulator.nests import NestKernel, NestRun, simulate_nest
from tilewright.backends.simulator.nests import plan as plans
from tilewright.costs.exact import ExactPrices, TensorTotals, evaluate
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.hierarchy.statement import problem_of_statement, text_of_problem
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import parse_einsum

from ....costs.exact.walk import random_machine, random_mapping, random_problem, window

P, R, K = range(3)


def kernel_of(text: str, dtype: str = "float32", pads: dict[str, float] | None = None) -> tuple[NestKernel, Array]:
    """The kernel of einsum text with whole numbers as inputs, and its output by NumPy."""
    statement, extents = parse_einsum(text)
    target, *operands = [access for access in accesses(statement) if isinstance(access, Access)]
    random = np.random.default_rng(0)

    def shape(access: Access) -> tuple[int, ...]:
        return tuple(form.range(extents)[1] + 1 for form in index_forms(access))

    arrays = {access.tensor: random.integers(-5, 6, shape(access)).astype(dtype) for access in operands}
    out = np.zeros(shape(target), dtype)
    run_statement(statement, arrays, extents, out, pad=pads)
    return NestKernel(statement, arrays, out.shape, out.dtype, pads or {}), out


def words(prices: ExactPrices) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Reads, fills and updates of each tensor in each memory."""
    reports = [(name, tensor, t) for name, level in prices.levels.items() for tensor, t in level.tensors.items()]
    return {(name, tensor): t.totals for name, tensor, t in reports if isinstance(t, TensorTotals)}


def check(arch: Architecture, problem: Problem, mapping: LoopMapping, *, counts: bool = True) -> NestRun:
    """Run and compare; the output of a problem whose counts differ is compared all the same."""
    kernel, out = kernel_of(text_of_problem(problem))
    run, model = simulate_nest(arch, problem, mapping, kernel), evaluate(arch, problem, mapping)
    assert np.array_equal(np.nan_to_num(run.output), out)  # NaN where nothing is added
    assert (run.prices.macs, run.prices.compute_cycles) == (model.macs, model.compute_cycles)
    if counts:
        assert words(run.prices) == words(model)
        assert run.prices.network_words == model.network_words
        assert run.prices.energy_by_component_pj == pytest.approx(model.energy_by_component_pj)
        phases = "cycles", "steady_cycles", "fill_cycles", "drain_cycles"
        assert [getattr(run.prices, name) for name in phases] == [getattr(model, name) for name in phases]
        assert [level.cycles for level in run.prices.levels.values()] == [
            level.cycles for level in model.levels.values()
        ]
    return run


def machine(children: int = 4, middle: int = 0, **inner: float) -> Architecture:
    """A row of memories with a multiplier each, perhaps one of `middle` words above, then DRAM."""
    levels = [replace(Level("L1", 64, children, children, 1, 1.0, 1, 1), **inner)]
    levels += [Level("L2", middle, 1, 1, 1, 10.0, 2, 2)] * (middle > 0)
    return Architecture("small", (*levels, Level("DRAM", None, 1, 1, 1, 100.0, 1, 1)), "MAC", children, children, 2.0)


def level(*loops: tuple[int, int], x: tuple[tuple[int, int], ...] = (), bypass: str = "") -> LevelMapping:
    """Loops as (dimension, bound), inner to outer; `bypass` lists one-letter tensors."""
    temporal, spread = (tuple(Loop(*loop) for loop in part) for part in (loops, x))
    return LevelMapping(temporal, spread, (), frozenset(bypass))


@pytest.mark.parametrize("seed", range(150))
def test_random_mappings_count_as_the_model_does(seed: int):
    random = Random(seed)
    problem, count = random_problem(random), random.randint(2, 4)
    arch, mapping = random_machine(random, count), random_mapping(random, problem, count)
    check(arch, problem, mapping, counts=problem.name != "kind4")


@pytest.mark.parametrize("seed", [3636, 3662, 3818, 4018, 5322, 7427])
def test_sums_of_children_without_work_while_their_parent_moves_on(seed: int):
    random = Random(seed)
    problem, count = random_problem(random), random.randint(2, 4)
    arch, mapping = random_machine(random, count), random_mapping(random, problem, count)
    check(arch, problem, mapping)


@pytest.mark.parametrize(
    ("problem", "levels"),
    [
        (window(7, 3), (level((P, 2), (R, 3)), level((P, 4)))),  # a ragged end
        (window(16, 3, stride=2), (level((R, 3)), level((P, 4)), level((P, 4)))),  # halos, walked by two loops
        (window(9, 3, stride=2, dilation=2), (level((P, 2)), level((R, 2)), level((P, 5), (R, 2)))),
        (window(4, 3, stride=3), (level((R, 3), (P, 2)), level((P, 2)))),  # windows side by side
        (window(5, 3), (level((R, 3)), level((P, 2), x=((P, 4),)))),  # a spatial tail
        (window(6, 5), (level((P, 6)), level((R, 2), x=((R, 3),)))),  # sums of several children, one idle at the end
        (window(8, 3, k=5), (level((K, 2), bypass="I"), level((P, 3), x=((K, 3),)), level((R, 3), (P, 3)))),
        (window(8, 3, k=5), (level((K, 2)), level((P, 3), x=((K, 3),), bypass="IO"), level((P, 3), (R, 3)))),
        (window(8, 3, k=4), (level(bypass="IWO"), level((R, 3), (K, 4), x=((P, 4),), bypass="O"), level((P, 2)))),
        (window(12, 4, k=3), (level((R, 2)), level((P, 5), (K, 3)), level((R, 2), (P, 3)))),  # sums leave and come back
        (window(1, 1), (level(), level())),
    ],
)
def test_mappings_by_hand(problem: Problem, levels: tuple[LevelMapping, ...]):
    check(machine(middle=0 if len(levels) == 2 else 300), problem, LoopMapping(levels))


def test_words_of_a_small_run():
    run = check(machine(), window(4, 3), LoopMapping((level((R, 3)), level((P, 4)))))
    assert words(run.prices)["L1", "O"] == (12 - 4 + 4, 0, 12)
    assert words(run.prices)["DRAM", "I"] == (6, 0, 0)
    assert run.peak_bytes["L1"] == 2 * (3 + 3 + 1)


def test_results_that_tiles_of_several_children_share_come_back_one_by_one():
    """The model counts an update for each step at which children lack a result, the run one for each at which they give
    it back: with windows in the output these are not the same.  One child asks for 0, 1, then 2, 3, then 4, the other
    for 1, 2, then 3."""
    tensors = Tensor("A", ((1, 0),)), Tensor("B", ((0, 1),)), Tensor("O", ((1, 1),), is_output=True)
    problem = Problem("transposed", ("P", "R"), (3, 3), tensors)
    mapping = LoopMapping((level((R, 2)), level((P, 2), (R, 2), x=((P, 2),))))
    run = check(machine(), problem, mapping, counts=False)
    counted, modelled = words(run.prices), words(evaluate(machine(), problem, mapping))
    assert (counted.pop(("DRAM", "O")), modelled.pop(("DRAM", "O"))) == ((2, 0, 8), (2, 0, 7))
    assert counted == modelled


def test_results_that_nothing_is_added_to_are_undefined():
    kernel, _ = kernel_of("O[2*p] += A[p] * B[p]; p=3")
    problem = problem_of_statement(*parse_einsum("O[2*p] += A[p] * B[p]; p=3"))
    found = simulate_nest(machine(), problem, LoopMapping((level(), level((P, 3)))), kernel)
    assert np.isnan(found.output).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize(
    ("text", "dtype", "pads"),
    [
        ("O[m] += A[m] * A[m] * B[m,k]; m=5 k=4", "float32", {}),  # a square
        ("O[m] = A[m] * B[m]; m=5", "float64", {}),
        ("O[p] += I[2*p + r - 1] * W[r]; p=5 r=3", "float32", {"I": 0}),
        ("O[m,n] += A[m,k] * B[k,n]; m=3 n=4 k=600", "int8", {}),  # sums that wrap
        ("O[n] += A[k,2] * B[k,n]; n=3 k=4", "int32", {}),
    ],
)
def test_kernels(text: str, dtype: str, pads: dict[str, float]):
    kernel, out = kernel_of(text, dtype, pads)
    statement, extents = parse_einsum(text)
    problem = problem_of_statement(statement, extents)
    outside = level(*enumerate(problem.bounds))
    run = simulate_nest(machine(), problem, LoopMapping((level(), outside)), kernel)
    assert run.output.dtype == out.dtype
    assert np.array_equal(run.output, out)


@pytest.mark.parametrize("text", ["O[m] max= A[m]; m=4", "O[m] += A[m] + B[m]; m=4", "O[m] += 2 * A[m]; m=4"])
def test_what_units_cannot_compute(text: str):
    kernel, _ = kernel_of(text)
    statement, extents = parse_einsum(text)
    problem = problem_of_statement(statement, extents, "mine")
    with pytest.raises(TilewrightError) as error:
        simulate_nest(machine(), problem, LoopMapping((level(), level((0, 4)))), kernel)
    assert error.value.kind == "unsupported"
    assert "mine: expected a sum of products of tensors" in str(error.value)


@pytest.mark.parametrize(
    ("limit", "told"),
    [("MAX_WORK", "words that units take"), ("MAX_WORDS", "words in all memories"), ("MAX_MARKS", "sums of all")],
)
def test_runs_that_would_take_too_much(monkeypatch: pytest.MonkeyPatch, limit: str, told: str):
    monkeypatch.setattr(plans, limit, 3)
    with pytest.raises(TilewrightError) as error:
        check(machine(), window(4, 3), LoopMapping((level((R, 3)), level((P, 4)))))
    assert (error.value.kind, error.value.lever) == ("limit", "shrink a bound of the kernel: P=4 is the largest")
    assert told in str(error.value)
