"""Words of windows whose dimensions are spread at two memories, with loops between, against all steps of a nest."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from tilewright.costs.compiled import compiled
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds.tables import Boundary, Tables
from tilewright.search.mapping.exact.space.model import Ints, Model, model_of
from tilewright.search.mapping.exact.traffic.windows import Transfer
from tilewright.search.mapping.exact.traffic.words import sent
from tilewright.search.mapping.values import Space

P, R, S, K = range(4)
Nest = list[tuple[int, int]]
"""Loops (dimension, factor), the innermost first."""


class Case(NamedTuple):
    """A window `p c0 + r c1 + s`, children of `tile` each, so many `near` ones with a parent, loops `inner` outside of
    these, so many parents `far`, and loops `outer` outside of all."""

    bounds: list[int]
    coefficients: tuple[int, ...]
    tile: list[int]
    near: list[int]
    inner: Nest
    far: list[int]
    outer: Nest


def random_spread(random: Random, dims: list[int], factors: list[int], times: int) -> list[int]:
    found = [1] * 4
    for _ in range(times):
        found[random.choice(dims)] *= random.choice(factors)
    return found


def random_case(random: Random) -> Case:
    bounds = [random.randrange(2, 14), random.randrange(2, 5), random.choice([1, 1, 1, 2, 3]), random.randrange(2, 4)]
    coefficients = random.choice([1, 1, 1, 2, 3]), random.choice([1, 1, 1, 2, -1]), 1, 0
    near = random_spread(random, [P, P, P, R], [2, 3, 4], random.choice([0, 1, 1, 2]))
    far = random_spread(random, [P, P, R, R, K], [2, 3], random.choice([0, 1, 1, 2]))
    tile = [*(random.randrange(1, n + 1) for n in bounds[:K]), 1]
    inner, outer = Nest(), Nest()
    for d, size in enumerate(tile):
        left = -(-bounds[d] // (size * near[d]))
        one = random.randrange(1, left + 1)
        other = random.randrange(1, -(-left // one) + 1)
        left = -(-(-(-left // (one * other))) // far[d])
        third = random.randrange(1, left + 1)
        inner += [(d, one), (d, other)]
        outer += [(d, third), (d, -(-left // third))]
    for nest in (inner, outer):
        random.shuffle(nest)
        nest[:] = [(d, factor) for d, factor in nest if factor > 1]
    return Case(bounds, coefficients, tile, near, inner, far, outer)


def strides_of(case: Case) -> tuple[list[int], list[int]]:
    """How far each loop goes on, and instances further out lie apart."""
    full = [size * n for size, n in zip(case.tile, case.near, strict=True)]
    found, apart = list[int](), full
    for place, (d, factor) in enumerate([*case.inner, *case.outer]):
        if place == len(case.inner):
            apart = list(full)
            full = [size * n for size, n in zip(full, case.far, strict=True)]
        found.append(full[d])
        full[d] *= factor
    return found, apart if case.outer else full


def moved_words(case: Case) -> tuple[int, int, int]:
    """Words that leave the parents, those that reach the children, and those that leave what sends to all parents."""
    nest, (strides, apart) = [*case.inner, *case.outer], strides_of(case)
    parents, children = (list(product(*map(range, spread))) for spread in (case.far, case.near))
    has = {both: set[int]() for both in product(parents, children)}
    left = arrived = every = 0
    for step in product(*(range(factor) for _, factor in reversed(nest))):
        at, all_lack = [0] * 4, set[int]()
        for (d, _), stride, index in zip(nest, strides, reversed(step), strict=True):
            at[d] += stride * index
        for parent in parents:
            lacking = set[int]()
            for child in children:
                begin = [at[d] + parent[d] * apart[d] + child[d] * case.tile[d] for d in range(4)]
                ends = (min(a + size, n) for a, size, n in zip(begin, case.tile, case.bounds, strict=True))
                places = [range(a, end) for a, end in zip(begin, ends, strict=True)]
                if all(places):
                    needs = {
                        sum(c * i for c, i in zip(case.coefficients, place, strict=True)) for place in product(*places)
                    }
                    new, has[parent, child] = needs - has[parent, child], needs
                    lacking, arrived = lacking | new, arrived + len(new)
            left, all_lack = left + len(lacking), all_lack | lacking
        every += len(all_lack)
    return left, arrived, every


def tables_of(case: Case) -> Tables:
    tensors = Tensor("I", (case.coefficients,)), Tensor("W", ((0, 0, 0, 1),)), Tensor("Z", ((1, 0, 0, 0),), True)
    problem = Problem("window", ("p", "r", "s", "k"), tuple(case.bounds), tensors)
    levels = tuple(Level(name, size, 1, 1, 1, 1.0, None, None, None) for name, size in (("L0", 64), ("L1", None)))
    return Tables(model_of(Architecture("two", levels, "MAC", 1, 1, 1.0), problem, Space(factors="imperfect"))[0])


@compiled
def words_of(model: Model, tile: Ints, child: Ints, step: Ints, first: int, bound: int, free: int) -> float:
    return sent(model, 0, Transfer(tile, child, step, child, first, bound, free, -1, False), 0.0)


def bounds_of(case: Case, tile: list[int]) -> list[tuple[float, float]] | None:
    """By tables and for a walk, least words of cells with tiles up to that size, as `moved_words` answers; None for
    nests that say nothing of windows."""
    tables, nest = tables_of(case), [*case.inner, *case.outer]
    dims = [d for d, n in enumerate(case.bounds) if n > 1]
    d, bound = nest[0]
    first = dims.index(d)
    if d == K or tables.window[0][first] < 0 or (not case.inner and case.far[d] > 1):
        return None
    looping, found = {e for e, _ in nest}, list[tuple[float, float]]()
    near = [size * n for size, n in zip(tile, case.near, strict=True)]
    far = [size * n for size, n in zip(near, case.far, strict=True)]
    ends = zip(near, far, case.bounds, strict=True)
    step = [all_ if all_ >= n and e not in looping else own for e, (own, all_, n) in enumerate(ends)]
    free = sum(1 << place for place, e in enumerate(dims) if case.far[e] == 1)
    child, steps, least = (tuple(np.array([sizes[e]]) for e in dims) for sizes in (tile, step, case.tile))
    for parent in (near, tile, far):
        sizes = tuple(np.array([parent[e]]) for e in dims)
        box = Boundary(sizes, child, steps, least=least, free=free)
        inner, own, outer = (np.concatenate(one) for one in (sizes, child, steps))
        by_walk = words_of(tables.model, inner, own, outer, first, bound, free)
        found.append((tables.sent(0, box, first, loops=True).item(), by_walk))
    return found


@pytest.mark.parametrize("part", range(4))
def test_no_nest_moves_less(part: int):
    tight = checked = 0
    for seed in range(part * 400, part * 400 + 400):
        case = random_case(Random(seed))
        nest = [*case.inner, *case.outer]
        if not nest or prod(factor for _, factor in nest) * prod(case.near) * prod(case.far) > 300:
            continue
        found, largest = bounds_of(case, case.tile), [largest_alike(case, d) for d in range(4)]
        if found is None:
            continue
        words = moved_words(case)
        for bounds in (found, bounds_of(case, largest) or []):
            for (by_tables, _), moved in zip(bounds, words, strict=True):
                assert by_tables <= moved * (1 + 1e-9), seed
        for (_, by_walk), moved in zip(found, words, strict=True):
            assert by_walk <= moved * (1 + 1e-9), seed
            tight += by_walk > 0.5 * moved
        checked += 1
    assert checked > 100
    assert tight > checked / 2


def largest_alike(case: Case, d: int) -> int:
    """The largest tile with which as many steps cover the bound."""
    n, times = case.bounds[d], case.near[d]
    count = -(-n // (case.tile[d] * times))
    return max(size for size in range(1, n + 1) if -(-n // (size * times)) == count)


def test_what_begins_a_group_may_all_be_there():
    """Rows `p + r` of three instances side by side along `r`, each with two blocks of `p`, come back for each `k`."""
    case = Case([16, 3, 1, 4], (1, 1, 1, 0), [4, 1, 1, 1], [1] * 4, [(P, 2), (K, 4)], [2, 3, 1, 1], [])
    left, arrived, every = moved_words(case)
    found = bounds_of(case, case.tile)
    assert found is not None
    assert 0.5 * arrived <= found[1][0] <= arrived
    assert 0 < found[2][0] <= every
    assert left == arrived


def test_a_long_loop_finds_little():
    """Rows `p + r` of two instances side by side along `r`, one row each at a time: all are new but the first."""
    case = Case([1500, 4, 1, 1], (1, 1, 1, 0), [1] * 4, [1] * 4, [(P, 1500)], [1, 2, 1, 1], [(R, 2)])
    found = bounds_of(case, case.tile)
    assert found is not None
    for bounds, moved in zip(found, moved_words(case), strict=True):
        assert 0.9991 * moved < bounds[1] <= moved


def test_tiles_of_several_sizes_may_be_there_when_their_loop_begins_again():
    """Rows `2 p + r` of two children, two blocks of `p` for each `k`: 15 words at first, then 12 of 13 elements."""
    for k in (2, 4, 10):
        case = Case([4, 7, 1, k], (2, 1, 1, 0), [1, 7, 1, 1], [2, 1, 1, 1], [(P, 2), (K, k)], [1] * 4, [])
        child, tile = (tuple(np.array([sizes[d]]) for d in (P, R, K)) for sizes in (case.tile, [2, 7, 1, 1]))
        told = tuple(np.array([int(d != P)]) for d in (P, R, K))
        box = Boundary(tile, child, tile, told, least=child, free=7)
        assert 15 + 12 * (k - 1) == moved_words(case)[0] >= tables_of(case).sent(0, box, 0, loops=True).item() > 0
