"""Children with work, counted for every bound that needs as many children."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.space.model import Model, model_of
from tilewright.search.mapping.exact.traffic.busy import busy_along, full_children
from tilewright.search.mapping.values import Factors, Space


def model(factors: Factors = "imperfect") -> Model:
    """Three memories with children along one axis."""
    levels = tuple(Level(name, None, 1, 1, 1, 1.0) for name in ("L0", "L1", "L2"))
    problem = Problem("sum", ("n",), (7,), (Tensor("A", ((1,),)), Tensor("Z", ((1,),), True)))
    return model_of(Architecture("line", levels, "MAC", 1, 1, 1.0), problem, Space(factors=factors))[0]


@pytest.mark.parametrize("tile", [1, 2, 3])
def test_as_many_instances_as_the_smallest_bound_keeps_busy(tile: int):
    """Of two spreads, all outer children but the last have all their work; bounds of fewer are another skeleton's."""
    for inner, outer in product(range(1, 5), range(1, 5)):
        group = tile * inner
        bounds = [n for n in range(1, group * outer + 1) if n > group * (outer - 1) and n > tile * (inner - 1)]
        spread = np.array([[1], [inner], [outer]], np.int64)
        assert busy_along(False, model().halves, spread, 0, 0, 2) == min(-(-n // tile) for n in bounds)
        assert busy_along(False, model().halves, spread, 0, 0, 2, tile) == min(max(n, tile) for n in bounds)


def test_under_an_instance_further_in_there_are_fewer():
    spread = np.array([[2], [3], [5]], np.int64)
    assert [busy_along(False, model().halves, spread, -1, 0, outer) for outer in range(3)] == [2, 5, 25]
    assert [busy_along(True, model("perfect").halves, spread, -1, 0, outer) for outer in range(3)] == [2, 6, 30]


def test_over_two_axes_half_of_the_children_may_be_idle():
    """A row or a column without work would make it one of a smaller mesh; 2 x 2 children need three with work."""
    needed = {
        factor: min(
            max((x - 1) * y, x * (y - 1)) for x, y in product(range(1, factor + 1), repeat=2) if x * y == factor
        )
        for factor in range(2, 40)
    }
    assert all(full_children(factor, True) <= found for factor, found in needed.items())
    assert full_children(4, True) == needed[4] == 2
    assert full_children(4, False) == 3
