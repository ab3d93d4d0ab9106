"""What a window finds there with imperfect factors, against all its steps one after the other."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds.tables import Boundary, Tables
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.values import Space

P, R, K = range(3)
Nest = list[tuple[int, int]]
"""Loops (dimension, factor) outside of a tile, the innermost first."""

Case = tuple[Problem, int, list[int], Nest]
"""A problem, children along P, the tile of each, and the loops outside."""


def tables_of(problem: Problem) -> Tables:
    levels = tuple(Level(name, size, 1, 1, 1, 1.0, None, None, None) for name, size in (("L0", 64), ("L1", None)))
    return Tables(model_of(Architecture("two", levels, "MAC", 1, 1, 1.0), problem, Space(factors="imperfect"))[0])


def random_case(random: Random) -> Case:
    bounds = random.randrange(2, 20), random.randrange(2, 5), random.randrange(2, 4)
    across, down = random.choice([1, 1, 1, 2, 3]), random.choice([1, 1, 1, 2, -1])
    rows = (across, down, 0), (0, 0, 1), (1, 0, 0)
    children = random.randrange(1, 6)
    tile = [random.randrange(1, bounds[P]), random.randrange(1, bounds[R] + 1), 1]
    tensors = tuple(Tensor(name, (row,), name == "Z") for name, row in zip("IWZ", rows, strict=True))
    nest = list[tuple[int, int]]()
    for d, step in enumerate((tile[P] * children, *tile[1:])):
        left = -(-bounds[d] // step)
        inner = random.randrange(1, left + 1)
        middle = random.randrange(1, -(-left // inner) + 1)
        nest += [(d, inner), (d, middle), (d, -(-left // (inner * middle)))]
    random.shuffle(nest)
    nest = [(d, factor) for d, factor in nest if factor > 1]
    first = next((n for n, (d, _) in enumerate(nest) if d == P), None)
    nest = [] if first is None else [nest.pop(first), *nest]
    return Problem("window", ("p", "r", "k"), bounds, tensors), children, tile, nest


def moved_words(case: Case) -> tuple[int, int]:
    """Words that leave the parent, and those that reach the children."""
    problem, children, tile, nest = case
    coefficients = problem.tensors[0].coefficients[0]
    strides, full = list[int](), [tile[P] * children, *tile[1:]]
    for d, factor in nest:
        strides.append(full[d])
        full[d] *= factor
    has = [set[int]() for _ in range(children)]
    sent = arrived = 0
    for step in product(*(range(factor) for _, factor in reversed(nest))):
        at = [0, 0, 0]
        for (d, _), stride, index in zip(nest, strides, reversed(step), strict=True):
            at[d] += stride * index
        if at[R] >= problem.bounds[R] or at[K] >= problem.bounds[K]:
            continue
        lacking = set[int]()
        for n in range(children):
            begin = at[P] + n * tile[P]
            if begin < problem.bounds[P]:
                across = range(begin, min(begin + tile[P], problem.bounds[P]))
                down = range(at[R], min(at[R] + tile[R], problem.bounds[R]))
                needs = {coefficients[P] * p + coefficients[R] * r for p in across for r in down}
                lacking |= needs - has[n]
                arrived += len(needs - has[n])
                has[n] = needs
        sent += len(lacking)
    return sent, arrived


def alike(bound: int, size: int, times: int) -> tuple[int, int]:
    """The smallest and largest size such that as many steps of so many times cover the bound."""
    count = -(-bound // (size * times))
    sizes = [n for n in range(1, bound + 1) if -(-bound // (n * times)) == count]
    return min(sizes), max(sizes)


def bounds_of(case: Case, tile: list[int]) -> tuple[float, float]:
    """Least words for cells with tiles up to some, from the case's own or that one."""
    problem, children, own, nest = case
    tables = tables_of(problem)
    child, step = ([np.array([size]) for size in sizes] for sizes in (tile, [tile[P] * children, *tile[1:]]))
    least = tuple(np.array([min(sizes)]) for sizes in zip(own, tile, strict=True))
    alone = all(d != P for d, _ in nest[1:])
    found = list[float]()
    for outer in (step, child):
        box = Boundary(tuple(outer), tuple(child), tuple(step), least=least, free=0b111)
        found.append(max(tables.sent(0, box, P, loops=loops).item() for loops in {True, not alone}))
    return found[0], found[1]


@pytest.mark.parametrize("part", range(3))
def test_no_order_of_loops_moves_less(part: int):
    tight = 0
    for seed in range(part * 100, part * 100 + 100):
        case = random_case(Random(seed))
        problem, children, tile, nest = case
        if not nest or prod(factor for _, factor in nest) > 300 or tables_of(problem).window[0][P] < 0:
            continue
        words = moved_words(case)
        ranges = [alike(problem.bounds[d], tile[d], children if d == P else 1) for d in (P, R)]
        for size in {(tile[P], tile[R]), tuple(high for _, high in ranges)}:
            bounds = bounds_of(case, [*size, 1])
            assert bounds[0] <= words[0] * (1 + 1e-9), (seed, size)
            assert bounds[1] <= words[1] * (1 + 1e-9), (seed, size)
            tight += bounds[0] > 0.5 * words[0]
    assert tight >= 14


def test_a_stride_that_leaves_nothing():
    """Rows that are two apart, one at a time: a step of either dimension moves to a row of the other parity."""
    tensors = Tensor("I", ((2, 1, 0),), False), Tensor("W", ((0, 0, 1),), False), Tensor("Z", ((1, 0, 0),), True)
    problem = Problem("strided", ("p", "r", "k"), (14, 3, 2), tensors)
    case = problem, 1, [1, 1, 1], [(P, 14), (R, 3), (K, 2)]
    assert moved_words(case) == (84, 84)
    assert bounds_of(case, [1, 1, 1]) == (84, 84)


def test_idle_children_keep_their_tiles():
    tensors = Tensor("I", ((1, 1, 0),), False), Tensor("W", ((0, 0, 1),), False), Tensor("Z", ((1, 0, 0),), True)
    problem = Problem("window", ("p", "r", "k"), (17, 3, 7), tensors)
    case = problem, 8, [2, 3, 1], [(P, 2), (K, 7)]
    # All 19 at first, then 4 for the first child, and 3 where it alone has work.
    words = moved_words(case)[0]
    assert words == 18 + 3 + 6 * (4 + 3)
    assert bounds_of(case, [2, 3, 1])[0] <= words


def test_children_of_smaller_tiles_may_leave_gaps():
    """Two children with rows `2 p + r`, 3 p and one r at a time have 4 each in all, as r goes on by 2, not 6."""
    problem = Problem("rows", ("p", "r", "k"), (3, 4, 1), (Tensor("I", ((2, 1, 0),)), Tensor("Z", ((1, 0, 0),), True)))
    tables = tables_of(problem)
    tile, step = (tuple(np.array([size]) for size in sizes) for sizes in ((3, 2, 1), (3, 4, 1)))
    told = tuple(np.array([int(d != R)]) for d in range(3))
    words = [tables.sent(0, Boundary(tile, tile, step, apart), R, loops=False).item() for apart in ((), told)]
    assert words[0] > 2 * 4 >= words[1] > 0


def sliding(bounds: tuple[int, int, int], down: int = 1) -> Problem:
    tensors = Tensor("I", ((1, down, 0),), False), Tensor("W", ((0, 0, 1),), False), Tensor("Z", ((1, 0, 0),), True)
    return Problem("window", ("p", "r", "k"), bounds, tensors)


def test_idle_children_keep_windows_with_terms_of_both_signs():
    """Rows `p - r` of twelve children: all but the first have no work in the second block and keep theirs."""
    case = sliding((13, 2, 3), down=-1), 12, [1, 2, 1], [(P, 2), (K, 3)]
    words = moved_words(case)[1]
    assert words == 11 * 2 + 3 * 4
    assert 0 < bounds_of(case, [1, 2, 1])[1] <= words


def test_cells_of_several_sizes_say_nothing_of_others():
    """Tiles of 5 rows lead to 4 steps, tiles of 6 to 9 to 3 or 2, and 10 or more to 2."""
    tables = tables_of(sliding((19, 3, 2)))
    least, most = ((np.array(rows), np.ones(3, np.int64), np.ones(3, np.int64)) for rows in ([5, 6, 10], [5, 9, 18]))
    assert tables.told_apart(least, most, [1, 1, 1])[P].tolist() == [1, 0, 1]
    step = np.array([5]), np.array([1]), np.array([1])
    both = tuple(np.array([*size, *more]) for size, more in zip(step, ([9], [], []), strict=True))
    one = tables.sent(0, Boundary(step, step, step, free=0b111), P, loops=True)
    told = np.array([1, 0]), np.array([1]), np.array([1])
    found = tables.sent(0, Boundary(both, both, both, told, free=0b111), P, loops=True)
    assert (
        found[0].item()
        == one.item()
        > tables.sent(0, Boundary(step, step, step, (np.array([0]), *told[1:]), free=0b111), P, loops=True).item()
    )
