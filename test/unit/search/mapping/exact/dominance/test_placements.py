"""Placements of children that Timeloop's model tells apart: all prices are among theirs.

Statement 17 of docs/exact-mapper.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, permutations, product
from random import Random

import numpy as np
import pytest

from tilewright.algebra.factors import divisors_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds.hops import Placement
from tilewright.search.mapping.exact.dominance.placements import coordinates, distinct_placements, sides
from tilewright.search.mapping.exact.space.model import Ints
from tilewright.search.mapping.exact.tree.leaves import Site
from tilewright.search.mapping.exact.tree.search import Search
from tilewright.search.mapping.exact.tree.solve import timeloop_bounds
from tilewright.search.mapping.values import Request, Space

DIMS = "k", "c", "p", "r"
BOUNDS = 2, 2, 4, 4
KEPT = ((1, 1), (0, 1), (1, 1)), ((1, 0), (1, 1), (0, 1)), ((1, 1), (1, 1), (1, 0))
"""Of I, W and O, in L1 and L2."""


def search_of(stride: int) -> Search:
    """A row of convolutions on 2 x 4 children."""
    tensors = (
        Tensor("I", ((0, 1, 0, 0), (0, 0, stride, 1))),
        Tensor("W", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("O", ((1, 0, 0, 0), (0, 0, 1, 0)), is_output=True),
    )
    levels = (
        Level("L1", None, 8, 4, 1, 1.0, 3),
        Level("L2", None, 1, 1, 1, 7.0, 5),
        Level("DRAM", None, 1, 1, 1, 60.0),
    )
    arch, problem = Architecture("row", levels, "MAC", 8, 4, 1.0), Problem("row", DIMS, BOUNDS, tensors)
    return Search(
        arch, problem, Request("edp", "timeloop", Space(True, True, "perfect")), timeloop_bounds(arch, problem)
    )


def random_nest(random: Random) -> tuple[tuple[tuple[int, ...], ...], Ints]:
    """A spread over L1 and factors in time (3, 4) that multiply to the bounds."""
    while True:
        spread = tuple(random.choice(divisors_of(bound)) for bound in BOUNDS)
        if 1 < np.prod(spread) <= 8:
            break
    factors = np.ones((3, 4), np.int64)
    for d, bound in enumerate(BOUNDS):
        left = bound // spread[d]
        factors[1, d] = random.choice(divisors_of(left))
        factors[2, d] = left // factors[1, d]
    return ((1,) * 4, spread, (1,) * 4), factors


def prices(search: Search, factors: Ints, orders: Ints, layout: Sequence[Placement]) -> set[tuple[float, int]]:
    """Energies and cycles of some orders (N, L, D)."""
    found = search.settling.answers(search.settling.rows(layout, np.repeat(factors[None], len(orders), 0), orders))
    return set(zip(np.round(found.energy[: len(orders)], 6).tolist(), found.cycles.tolist(), strict=False))


@pytest.mark.parametrize("stride", [1, 2])
def test_all_prices_are_among_those_of_placements_that_differ(stride: int):
    search, fewer, helped, random = search_of(stride), 0, 0, Random(stride)
    for kept in KEPT * 8:
        spread, factors = random_nest(random)
        search.set_up(spread, kept)
        site: Site = search.site(spread, kept)
        some = distinct_placements(search.model, site.layouts)
        orders = list(islice(permutations(range(4)), random.randrange(24), None))[:6]
        chosen = np.array([(tuple(range(4)), *two) for two in product(orders, orders)])
        of_each = [frozenset(prices(search, factors, chosen, layout)) for layout in site.layouts]
        assert {frozenset(prices(search, factors, chosen, layout)) for layout in some} == set(of_each)
        fewer += len(some) < len(site.layouts)
        helped += len(set(of_each)) > 1
    assert fewer > 10
    assert helped > 0


def test_children_stand_row_by_row():
    placement = Placement((2, 1), (1, 3), (0, 1), (1, 0))
    assert coordinates(placement).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]
    assert sides(6, 2).tolist()[2:4] == [[3, -1, 4, 0], [-1, 2, 5, 1]]
    assert sides(6, 4).tolist()[3] == [-1, 2, -1, -1]  # rows are filled to the mesh's width, as in Timeloop
