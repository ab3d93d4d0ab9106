"""What a tensor with windows finds there, against all its tiles one after the other."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds.tables import EVERY, Boundary, Tables
from tilewright.search.mapping.exact.space.model import model_of
from tilewright.search.mapping.values import Space

K, C, P, R, Q, S = range(6)
ARCH = Architecture(
    "two",
    (Level("L0", 64, 1, 1, 1, 1.0, None, None, None), Level("L1", None, 1, 1, 1, 9.0, None, None, None)),
    "MAC",
    1,
    1,
    1.0,
)

Nest = list[tuple[int, int]]
"""Loops (dimension, factor) outside of a tile, the innermost first."""


def convolution(stride: int, bounds: tuple[int, ...], sign: int = 1) -> Problem:
    one = np.eye(6, dtype=int)
    images = (tuple(one[C]), tuple(stride * one[P] + sign * one[R]), tuple(one[Q] + one[S]))
    weights = tuple(tuple(one[d]) for d in (K, C, R, S))
    results = tuple(tuple(one[d]) for d in (K, P, Q))
    tensors = Tensor("I", images, False), Tensor("W", weights, False), Tensor("Z", results, True)
    return Problem("conv", tuple("kcprqs"), bounds, tensors)


def random_nest(random: Random, bounds: tuple[int, ...], tile: list[int]) -> Nest:
    """All loops that are left, some dimensions with two; one that slides is the first."""
    loops: Nest = []
    for d, bound in enumerate(bounds):
        left = bound // tile[d]
        inner = random.choice([f for f in range(1, left + 1) if left % f == 0])
        loops += [(d, factor) for factor in (inner, left // inner) if factor > 1]
    random.shuffle(loops)
    first = next((n for n, (d, _) in enumerate(loops) if d in (P, R, Q, S)), None)
    return [] if first is None else [loops.pop(first), *loops]


def fresh_words(stride: int, tile: list[int], nest: Nest, sign: int = 1) -> int:
    """Elements of the images that are not in the tile before."""
    paces, size = list[int](), list(tile)
    for d, factor in nest:
        paces.append(size[d])
        size[d] *= factor
    found, before = 0, set[tuple[int, ...]]()
    for step in product(*(range(factor) for _, factor in reversed(nest))):
        at = [0] * 6
        for (d, _), pace, index in zip(nest, paces, reversed(step), strict=True):
            at[d] += index * pace
        rows = {stride * (at[P] + p) + sign * (at[R] + r) for p in range(tile[P]) for r in range(tile[R])}
        columns = {at[Q] + q + at[S] + s for q in range(tile[Q]) for s in range(tile[S])}
        now = {(at[C] + c, row, column) for c in range(tile[C]) for row in rows for column in columns}
        found += len(now - before)
        before = now
    return found


def near_of(nest: Nest) -> int:
    """Dimensions that loop before any loop of the plain dimension."""
    found = 0
    for d, _ in nest:
        if d == C:
            return found
        found |= 1 << d
    return EVERY


@pytest.mark.parametrize("stride", [1, 2])
def test_words_are_no_more_than_those_of_any_nest(stride: int) -> None:
    random, tight = Random(stride), 0
    bounds = 2, 2, 4, 3, 4, 2
    model, _ = model_of(ARCH, convolution(stride, bounds), Space(factors="perfect"))
    tables = Tables(model)
    for _ in range(150):
        tile = [random.choice([f for f in range(1, n + 1) if n % f == 0]) for n in bounds]
        nest = random_nest(random, bounds, tile)
        if not nest:
            continue
        words = fresh_words(stride, tile, nest)
        sizes = tuple(np.array([size]) for size in tile)
        least = [
            float(tables.sent(0, Boundary(sizes, sizes, sizes, free=63, near=near), nest[0][0], loops=True).item())
            for near in {EVERY, near_of(nest)}
        ]
        assert max(least) <= words * (1 + 1e-9), (tile, nest, least, words)
        tight += max(least) > 0.9 * words
    assert tight > 30


def test_terms_of_both_signs_may_bring_a_window_back() -> None:
    bounds = 2, 2, 4, 3, 4, 2
    tables = Tables(model_of(ARCH, convolution(2, bounds, -1), Space(factors="perfect"))[0])
    tile, nest = [2, 2, 2, 1, 2, 2], [(P, 2), (R, 3), (Q, 2)]
    sizes = tuple(np.array([size]) for size in tile)
    least = tables.sent(0, Boundary(sizes, sizes, sizes, free=63), P, loops=True).item()
    assert least <= fresh_words(2, tile, nest, -1) == 142
