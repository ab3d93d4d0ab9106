"""Words that must cross into a memory: known formulas, and every schedule of tiny problems."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from tilewright.costs.bounds import reuse
from tilewright.costs.bounds.reuse import least_costs, sharing, step_cost, touched
from tilewright.costs.hierarchy import Problem, Tensor


def gemm(m: int, n: int, k: int) -> Problem:
    rows = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    return Problem("gemm", ("M", "N", "K"), (m, n, k), tensors)


def layer(channels: int, size: int, kernel: int, stride: int) -> Problem:
    """A convolution: dimensions K, C, P, Q, R, S."""
    tensors = (
        Tensor("I", ((0, 1, 0, 0, 0, 0), (0, 0, stride, 0, 1, 0), (0, 0, 0, stride, 0, 1))),
        Tensor("W", ((1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 1))),
        Tensor("O", ((1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)), is_output=True),
    )
    return Problem("layer", tuple("KCPQRS"), (channels, channels, size, size, kernel, kernel), tensors)


def even(bits: float = 16.0, cost: float = 1.0) -> list[tuple[float, float]]:
    return [(bits, cost)] * 3


def least_cost(problem: Problem, crossings: list[tuple[float, float]], storage_bits: float) -> float:
    """Of one case: bits of an element inside, and the cost of one that crosses, for each tensor."""
    bits, costs = np.array(crossings).T
    return float(least_costs(problem, costs[None], bits[None], np.array([storage_bits]))[0])


@pytest.mark.parametrize("words", [1000, 92_760, 1_000_000])
def test_a_matrix_product_has_the_known_bound(words: int):
    problem = gemm(4096, 4096, 4096)
    known = 2 * problem.macs / sqrt(words) - 2 * words
    assert known * 0.995 < least_cost(problem, even(), 16.0 * words) <= known * (1 + 1e-9)


@pytest.mark.parametrize(("stride", "shared"), [(1, 9), (2, 4), (3, 1)])
def test_a_window_shares_elements_between_its_taps(stride: int, shared: int):
    problem, words = layer(256, 64, 3, stride), 10_000
    assert sharing(problem, problem.tensors[0]) == shared
    known = 2 * problem.macs / sqrt(shared * words) - 2 * words
    assert known * 0.99 < least_cost(problem, even(), 16.0 * words) <= known * (1 + 1e-9)


def test_widths_count_by_their_geometric_mean():
    problem = gemm(2048, 2048, 2048)
    crossings = [(bits, bits) for bits in (8.0, 8.0, 32.0)]
    bits = 8.0 * 65536
    known = 2 * problem.macs * sqrt(8 * 8 * 32) / sqrt(bits) - 2 * bits
    assert known * 0.995 < least_cost(problem, crossings, bits) <= known * (1 + 1e-9)


def test_a_short_dimension_lessens_what_can_be_shared():
    # with 4 columns a piece has at most 4 operations per element of A, however much fits
    problem, words = gemm(1 << 14, 4, 1 << 14), 1 << 12
    once_each = 2.0**28 * 0.9
    assert 2 * problem.macs / sqrt(words) < once_each < least_cost(problem, even(), 16.0 * words) <= 2.0**28 * 1.1


def test_tensors_that_cost_nothing_may_cross_freely():
    problem = gemm(256, 256, 256)
    paid = [(16.0, 1.0), (16.0, 0.0), (16.0, 0.0)]
    assert least_cost(problem, paid, 16.0 * 64) <= touched(problem, problem.tensors[0])
    assert least_cost(problem, even(cost=0.0), 1.0) == 0


def test_a_step_of_an_array_needs_its_operands():
    # 1024 units: 32 + 32 operands make 32 x 32 results; with results as dear as operands a cube is best; 512 operations
    # add to a result at most
    problem = gemm(512, 512, 512)
    assert step_cost(problem, ((0, 1.0), (1, 1.0)), 1024) == pytest.approx(64 / 1024)
    cube = 3 * 1024 ** (2 / 3) / 1024
    assert step_cost(problem, ((0, 1.0), (1, 1.0), (2, 1.0)), 1024) == pytest.approx(cube)
    assert step_cost(problem, ((2, 1.0),), 1024) == pytest.approx(1 / 512)
    assert step_cost(gemm(512, 4, 512), ((0, 1.0),), 1024) == pytest.approx(1 / 4)
    assert step_cost(problem, (), 1024) == 0


def test_many_cases_are_as_each_by_itself():
    problem = layer(64, 28, 3, 1)
    random = np.random.default_rng(0)
    costs = random.choice([0.0, 1.0, 2.5], (40, 3))
    bits, storage = random.choice([8.0, 16.0], (40, 3)), random.choice([0.0, 1e3, 1e6], 40)
    found = least_costs(problem, costs, bits, storage)
    each = [
        least_cost(problem, list(zip(b, c, strict=True)), s)
        for b, c, s in zip(bits, costs, storage.tolist(), strict=True)
    ]
    assert found.tolist() == pytest.approx(each)
    assert 0 < np.count_nonzero(found) < 40
    assert not found[(storage == 0) | (costs == 0).all(axis=1)].any()


@pytest.mark.parametrize("words", [100, 10_000])
def test_fractions_are_as_good_as_linear_programs(words: int, monkeypatch: pytest.MonkeyPatch):
    problem = layer(64, 28, 3, 1)
    simple = least_cost(problem, even(), 16.0 * words)
    monkeypatch.setattr(reuse, "MAX_GRID", 0)
    assert simple == pytest.approx(least_cost(replace(problem, name="again"), even(), 16.0 * words), rel=1e-6)


def test_elements_that_a_problem_touches():
    problem = layer(4, 8, 3, 2)
    assert [touched(problem, tensor) for tensor in problem.tensors] == [4 * 17 * 17, 16 * 9, 4 * 64]
