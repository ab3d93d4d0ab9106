"""Shapes of a step: all boxes by hand, and never below what the inequality for any set says."""

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from tilewright.costs.bounds import steps
from tilewright.costs.bounds.reuse import step_cost
from tilewright.costs.bounds.steps import best_shapes
from tilewright.costs.hierarchy import Problem, Tensor


def window(random: Random, most: int) -> Problem:
    """O[x,z] += A[s*x + d*y, w] * B[y,z,w]"""
    bounds = tuple(random.randint(1, most) for _ in range(4))
    sliding = (random.randint(1, 3), random.randint(1, 2), 0, 0)
    rows = {"A": (sliding, (0, 0, 0, 1)), "B": ((0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))}
    rows["O"] = ((1, 0, 0, 0), (0, 0, 1, 0))
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    return Problem("window", tuple("XYZW"), bounds, tensors)


def elements(tensor: Tensor, box: tuple[int, ...]) -> int:
    """What a box touches, counted one by one."""
    points = product(*(range(size) for size in box))
    return len({tuple(sum(c * x for c, x in zip(row, p, strict=True)) for row in tensor.coefficients) for p in points})


@pytest.mark.parametrize("seed", range(8))
def test_no_box_brings_less_for_any_cost(seed: int):
    random = Random(seed)
    problem, units = window(random, 5), random.randint(1, 30)
    shapes = best_shapes(problem, units)
    assert shapes is not None
    boxes = [b for b in product(*(range(1, n + 1) for n in problem.bounds)) if prod(b) <= units]
    touched = np.array([[elements(tensor, box) / prod(box) for tensor in problem.tensors] for box in boxes])
    for _ in range(10):
        costs = np.array([random.choice((0.0, 1.0, random.random())) for _ in problem.tensors])
        least = (shapes @ costs).min()
        assert least <= (touched @ costs).min() + 1e-12
        paid = tuple(enumerate(costs.tolist()))
        assert least >= step_cost(problem, paid, units) * (1 - 1e-9)


def test_a_product_on_a_square_array():
    rows = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    shapes = best_shapes(Problem("gemm", ("M", "N", "K"), (512, 512, 512), tensors), 1024)
    assert shapes is not None
    assert shapes[:, :2].sum(axis=1).min() == 64 / 1024
    # three times 10 x 10 for 1000 operations is less than 64 + 128 + 128 for the 1024 of 8 x 8 x 16
    assert shapes.sum(axis=1).min() == pytest.approx(300 / 1000)


def test_too_many_shapes_are_not_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(steps, "MAX_SHAPES", 4)
    assert best_shapes(window(Random(1), 50), 997) is None
    assert best_shapes(Problem("point", ("X",), (1,), (Tensor("O", (), is_output=True),)), 8) is not None
