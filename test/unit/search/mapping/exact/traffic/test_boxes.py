"""Words of sums as Timeloop counts them, against its model loop by loop.

Statement 17 of docs/exact-mapper.md.
"""

from __future__ import annotations

from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pytest

from tilewright.algebra.factors import divisors_of
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.costs.timeloop.spatial import Placement
from tilewright.costs.timeloop.traffic import level_traffic
from tilewright.search.mapping.exact.bounds.hops import Hops
from tilewright.search.mapping.exact.bounds.tables import Boundary, Tables
from tilewright.search.mapping.exact.space.model import EVERY, model_of
from tilewright.search.mapping.exact.traffic.boxes import sent_boxes, share_sent
from tilewright.search.mapping.exact.traffic.windows import Transfer
from tilewright.search.mapping.values import Space

BOUNDS = 8, 4, 2
"""Of p and r, terms of a sum, and of k, that moves another axis."""

LEVELS = Level("L1", 64, 1, 1, 1, 1.0), Level("DRAM", None, 1, 1, 1, 60.0)


def tables_with(stride: int, bounds: tuple[int, int, int] = BOUNDS) -> Tables:
    tensors = Tensor("I", ((stride, 1, 0), (0, 0, 1))), Tensor("O", ((1, 0, 0),), True)
    problem = Problem("sum", ("p", "r", "k"), bounds, tensors)
    arch = Architecture("two", LEVELS, "MAC", 1, 1, 1.0)
    return Tables(model_of(arch, problem, Space(factors="perfect"), "timeloop")[0])


def sizes(tile: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
    return tuple(np.array([size]) for size in tile)


def gaps_of(tables: Tables, mesh: tuple[int, int], spread: tuple[int, ...]) -> bytes:
    """How neighbours may differ in one memory's children."""
    return Hops(tables.model, [mesh], [0.0], split=True).gaps((spread,))[0].tobytes()


def loops_outside(tile: tuple[int, ...]) -> list[tuple[int, int]]:
    """One loop for each prime of p and r that is left, so that dimensions may have several, and one of k."""
    found: list[tuple[int, int]] = []
    for d, (bound, size) in enumerate(zip(BOUNDS, tile, strict=True)):
        left = bound // size
        found += [(d, 2)] * (left.bit_length() - 1)
    return found


def shifts_of(order: tuple[tuple[int, int], ...], begin: list[int], stride: int) -> list[tuple[int, tuple[int, int]]]:
    steps, found = list(begin), list[tuple[int, tuple[int, int]]]()
    for d, bound in order:
        found.append((bound, ((stride if d == 0 else 1) * steps[d], 0) if d < 2 else (0, steps[d])))
        steps[d] *= bound
    return found


def moved_by(order: tuple[tuple[int, int], ...], child: tuple[int, int, int], stride: int) -> float:
    """Words that arrive in a child, as the cost model counts them."""
    extents, shifts = ((child[0] - 1) * stride + child[1], 1), shifts_of(order, [*child], stride)
    return level_traffic(Placement((), (), 1, 1, 2), extents, shifts, resident=True, links=False).content


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_no_order_moves_fewer_words(stride: int):
    tables, tight = tables_with(stride), 0
    for p, r in product(*(divisors_of(bound) for bound in BOUNDS[:2])):
        child = p, r, 1
        box = Boundary(sizes(child), sizes(child), sizes(child))
        for order in set(permutations(loops_outside(child))):
            first = order[0][0]
            if first == 2:
                continue
            one_loop = (first, prod(n for d, n in order if d == first)), *(loop for loop in order if loop[0] != first)
            for loops, nest in (True, order), (False, one_loop):
                moved = moved_by(nest, child, stride)
                least = tables.sent(0, box, first, loops=loops).item()
                assert least <= moved * (1 + 1e-12)
                tight += least > moved * (1 - 1e-12)
            moved = moved_by(order, child, stride)
            size, bound = np.array(child), order[0][1]
            known = Transfer(size, size, size, size, first, bound, 0, EVERY, False)
            assert sent_boxes(tables.model, 0, known, False) <= moved * (1 + 1e-12)
    assert tight > 10


def test_boxes_that_no_strides_bring_back_come_as_a_whole():
    """With stride 2 and three places of a filter no loop makes what those inside of it have made."""
    tables, child = tables_with(2, (8, 3, 2)), (1, 1, 1)
    size = np.array(child)
    known = Transfer(size, size, size, size, 0, 2, 0, EVERY, False)
    orders = [((0, 2), *rest) for rest in permutations([(0, 2), (0, 2), (1, 3), (2, 2)])]
    assert sent_boxes(tables.model, 0, known, False) == min(moved_by(order, child, 2) for order in orders) == 48


@pytest.mark.parametrize("stride", [1, 2])
def test_neighbours_help_only_where_they_may(stride: int):
    tables, helped, tight = tables_with(stride), 0, 0
    for p, r, x, y in product([1, 2], [1, 2], [1, 2, 4], [1, 2]):
        base = p * x, r * y, 1
        if any(bound % size for bound, size in zip(BOUNDS, base, strict=True)) or x * y == 1:
            continue
        columns = tuple((n, (c * size, 0)) for n, c, size in ((x, stride, p), (y, 1, r)) if n > 1)
        box = Boundary(sizes(base), sizes((p, r, 1)), sizes(base))
        for order in set(permutations(loops_outside(base))):
            if order[0][0] == 2:
                continue
            extents, place = ((p - 1) * stride + r, 1), Placement(columns, (), 16, 1, 2)
            shifts = shifts_of(order, [*base], stride)
            alone, linked = (
                level_traffic(place, extents, shifts, resident=True, links=links).content for links in (False, True)
            )
            assert tables.sent(0, box, order[0][0], loops=True).item() <= alone * (1 + 1e-12)
            once = prod(n for d, n in order if d == order[0][0]) == order[0][1]
            known = box._replace(once=once, spread=(x, y, 1), gaps=gaps_of(tables, (16, 1), (x, y, 1)))
            share = tables.share_sent(0, known, order[0][0]).item()
            least = tables.surely(0, box).item()
            least += share * (alone - least)
            assert linked >= least * (1 - 1e-12)
            helped += linked < alone
            tight += linked < alone and linked <= least * (1 + 1e-12)
    assert helped > tight > 0


@pytest.mark.parametrize("stride", [1, 2, 3, 5])
def test_a_parent_sends_each_element_that_is_named(stride: int):
    """However loops fall back, and though neighbours help: at least as many words as there are elements."""
    tables, tight = tables_with(stride), 0
    named = len({stride * p + r for p, r in product(range(BOUNDS[0]), range(BOUNDS[1]))}) * BOUNDS[2]
    assert tables.model.named[0] == named
    for p, r, x, y in product([1, 2, 4], [1, 2, 4], [1, 2, 4], [1, 2]):
        base = p * x, r * y, 1
        if any(bound % size for bound, size in zip(BOUNDS, base, strict=True)):
            continue
        columns = tuple((n, (c * size, 0)) for n, c, size in ((x, stride, p), (y, 1, r)) if n > 1)
        for order in set(permutations(loops_outside(base))):
            extents, place = ((p - 1) * stride + r, 1), Placement(columns, (), 16, 1, 2)
            sent = level_traffic(place, extents, shifts_of(order, [*base], stride), resident=True, links=True).content
            assert sent >= named
            tight += sent == named
    assert tight


@pytest.mark.parametrize(("stride", "filters"), [(2, 3), (3, 3), (2, 5), (3, 5), (4, 3)])
def test_neighbours_leave_no_more_alike_than_there_are(stride: int, filters: int):
    """Children in one row or column, all places of a filter among them: the model's share of different boxes."""
    tables, tight = tables_with(stride, (8, filters, 2)), 0
    for p, x, k in product([1, 2], [2, 4], [1, 2]):
        child, tile = np.array([p, 1, 1]), np.array([p * x, filters, k])
        known = Transfer(tile, child, tile, tile, -1, 1, 0, EVERY, False)
        alone = Transfer(child, child, tile, tile, -1, 1, 0, EVERY, False)
        least = sent_boxes(tables.model, 0, known, True) / sent_boxes(tables.model, 0, alone, True)
        spatial = (x, (stride * p, 0)), (filters, (1, 0)), (k, (0, 1)), (2, (0, 0))
        temporal = [(2, (stride * p * x * n, 0)) for n in (1, 2, 4) if p * x * n < 8] + [(2, (0, k))] * (2 // k - 1)
        for children, loops in product(permutations(spatial), permutations(temporal)):
            columns, extents = tuple(loop for loop in children if loop[0] > 1), ((p - 1) * stride + 1, 1)
            for place in Placement(columns, (), 256, 1, 2), Placement((), columns, 1, 256, 2):
                found = level_traffic(place, extents, [*loops], resident=True, links=True)
                share = found.content / found.delivered
                assert share >= least / 2 * (1 - 1e-12)
                tight += share < least / 2 * 1.2
    assert tight


def test_neighbours_have_no_more_when_other_loops_go_on():
    """Two places of p are children, by four of q; when n goes on, boxes fall back along p + r by what r makes."""
    tensors = Tensor("I", ((1, 1, 0, 0), (0, 0, 2, 0))), Tensor("O", ((1, 0, 0, 1),), True)
    problem = Problem("sum", ("p", "r", "q", "n"), (2, 2, 4, 2), tensors)
    arch = Architecture("two", LEVELS, "MAC", 1, 1, 1.0)
    tables = Tables(model_of(arch, problem, Space(factors="perfect"), "timeloop")[0])
    base, child, spread = (2, 1, 4, 1), (1, 1, 1, 1), (2, 1, 4, 1)
    box = Boundary(sizes(base), sizes(child), sizes(base), spread=spread, gaps=gaps_of(tables, (4, 2), spread))
    place = Placement(((4, (0, 2)),), ((2, (1, 0)),), 4, 2, 2)
    sent = level_traffic(place, (1, 1), [(2, (1, 0)), (2, (0, 0))], resident=True, links=True).content
    every, sure = tables.sent(0, box, 1, loops=True).item(), tables.surely(0, box).item()
    assert (every, sure) == (4 * 8, 8)
    assert sure + (every - sure) * tables.share_sent(0, box, 1).item() == pytest.approx(sent) == pytest.approx(20)


def test_neighbours_have_nothing_outside_of_a_loop_in_no_sum():
    """Two places of p are children, and r goes on inside of k: neighbours have half of the steps of r, none of k."""
    tables, whole = tables_with(1), 2 * 1
    child, base = np.array([1, 1, 1]), np.array([2, 1, 1])
    box = Transfer(base, child, base, base, 1, 2, 0, EVERY, False)
    place, steps = Placement(((2, (1, 0)),), (), 2, 1, 2), [(2, (1, 0)), (2, (0, 1))]
    sent = level_traffic(place, (1, 1), steps, resident=True, links=True).content
    gaps = np.array([[1, 0, 0]])
    share = [share_sent(tables.model, 0, box, np.array([2, 1, 1]), gaps, inside) for inside in (np.inf, 2.0)]
    assert sent == 4 * whole * share[1] == 6
    assert share[0] <= share[1] / 1.5


def test_only_neighbours_on_the_mesh_help():
    """Two places of p by three of r: some lie two apart, as steps of p do, but none is beside another in a column."""
    tables, size, spread = tables_with(1, (4, 3, 2)), np.array([2, 3, 1]), (2, 3, 1)
    box = Transfer(size, np.ones(3, np.int64), size, size, 0, 2, 0, EVERY, False)
    steps, gaps = [(2, (2, 0)), (2, (0, 1))], np.frombuffer(gaps_of(tables, (1, 6), spread), np.int64).reshape(-1, 3)
    assert share_sent(tables.model, 0, box, np.array(spread), gaps.copy(), np.inf) == 1.0
    for rows in permutations([(2, (1, 0)), (3, (1, 0))]):
        place = Placement((), rows, 1, 6, 2)
        linked, alone = (level_traffic(place, (1, 1), steps, resident=True, links=links) for links in (True, False))
        assert linked.content == alone.content
    unknown = np.zeros((0, 3), np.int64)
    assert share_sent(tables.model, 0, box, np.array(spread), unknown, np.inf) < 1.0
