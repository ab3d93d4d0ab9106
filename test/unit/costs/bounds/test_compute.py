"""Fewest steps on an array, against every unrolling."""

from itertools import product
from math import ceil, prod
from random import Random

import pytest

from tilewright.costs.bounds.bound import MAX_UNITS, fewest_steps
from tilewright.costs.hierarchy import Architecture, Level, Problem


def array(columns: int, rows: int) -> Architecture:
    return Architecture("array", (Level("DRAM", None, 1, 1, 1, 1.0),), "MAC", columns * rows, columns, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_steps_equal_the_best_of_all_unrollings(seed: int):
    random = Random(seed)
    for _ in range(10):
        bounds = tuple(random.randint(1, 20) for _ in range(3))
        columns, rows = random.randint(1, 6), random.randint(1, 6)
        unrollings = product(*(range(1, bound + 1) for bound in bounds))
        best = min(
            prod(ceil(n / f) for n, f in zip(bounds, factors, strict=True))
            for factors in unrollings
            if prod(factors) <= columns * rows
        )
        assert fewest_steps(array(columns, rows), Problem("p", ("A", "B", "C"), bounds, ())) == best


def test_awkward_bounds_leave_units_idle():
    # 13 x 13 on 12 units: 4 at a time take 4 steps, 3 at a time 5; busy units would need 15 steps
    assert fewest_steps(array(4, 3), Problem("p", ("A", "B"), (13, 13), ())) == 4 * 5


def test_large_arrays_are_taken_as_busy():
    problem = Problem("p", ("A",), (3 * MAX_UNITS,), ())
    assert fewest_steps(array(MAX_UNITS, 2), problem) == 2
