"""Steps of tiles that do not share the work evenly, against all of them one after the other."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest

from tilewright.costs.bounds import bounds_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds import inner_grids
from tilewright.search.mapping.exact.bounds.uneven import steps_by_cell, steps_of
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.values import Request, Space


def steps_of_nest(bound: int, tile: int, inside: int, loop: int, outside: int) -> int:
    """Steps of `outside` instances side by side, each with `loop` tiles one after the other, until all is done."""
    found, chunk = 0, tile * loop
    for begin in range(0, bound, chunk * outside):
        for at in range(begin, begin + chunk, tile):
            ends = [min(tile, max(0, bound - at - n * chunk)) for n in range(outside)]
            found += -(-max(ends) // inside)
    return found


@pytest.mark.parametrize("inside", [1, 3])
def test_no_nest_takes_fewer_steps(inside: int):
    equal = 0
    for bound, times, outside in product(range(1, 24), range(1, 8), range(1, 5)):
        tile = times * inside
        least = int(steps_of(np.array([tile]), bound, inside, outside)[0])
        every = [steps_of_nest(bound, tile, inside, loop, outside) for loop in range(1, bound + 1)]
        assert least <= min(every), (bound, tile, outside)
        equal += least == min(every)
    assert equal > 550


def test_cells_take_the_steps_of_their_best_tile():
    """Ten rows for two instances: tiles of 4 take 8 steps or 6, tiles of 5 take 5; columns are alone."""
    low, high = (np.array([1, 4, 6]), np.array([2])), (np.array([3, 5, 9]), np.array([2]))
    found = steps_by_cell((low, high), [10, 3], np.array([1, 1]), np.array([2, 1]))
    assert found.tolist() == [[15.0], [15.0], [18.0]]


def test_cells_of_few_are_bounded_by_their_best_tile(monkeypatch: pytest.MonkeyPatch):
    """Two instances with tiles of 10 of 40 rows have 20 each; with tiles of 11, which lie in the same cell, 22."""
    monkeypatch.setattr(inner_grids, "MAX_INNER", 6)
    tensors = Tensor("A", ((1, 0),)), Tensor("B", ((0, 1),)), Tensor("Z", ((1, 0), (0, 1)), True)
    levels = (
        Level("L0", 13, 2, 2, 1, 0.1, holds=("I", "W")),
        Level("L1", 4096, 1, 1, 1, 20.0),
        Level("D", None, 1, 1, 1, 1.0),
    )
    arch, problem = Architecture("pair", levels, "MAC", 2, 2, 0.0), Problem("outer", ("m", "n"), (40, 64), tensors)
    request = Request("edp", space=Space(True, False, "imperfect"))
    search = Search(arch, problem, request, bounds_of(arch, problem))
    spread, kept = ((1, 1), (2, 1), (1, 1)), ((1, 1), (1, 1), (0, 1))
    bound = search.estimates.by_tables(spread, kept, 0.0, inf)
    search.explore(spread, kept, inf)
    assert search.best.cycles == 20 * 64
    assert 0.99 * search.best.value < bound <= search.best.value * (1 + 1e-9)
