"""Spreads and factors that stand for others."""

from __future__ import annotations

from itertools import product
from math import ceil

import numpy as np

from tilewright.costs.hierarchy import Problem, Tensor
from tilewright.search.mapping.bounded.alike import first_of_its_kind, members, symmetries

CONV = Problem(
    "conv",
    ("k", "p", "q", "r", "s"),
    (4, 6, 6, 3, 3),
    (
        Tensor("I", ((0, 1, 0, 1, 0), (0, 0, 1, 0, 1))),
        Tensor("W", ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1))),
        Tensor("O", ((1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0)), is_output=True),
    ),
)


def test_rows_and_columns_of_a_square_convolution_change_places():
    (order,) = symmetries(CONV)
    assert order == (0, 2, 1, 4, 3)
    spreads = [((1, p, q, r, s),) for p, q, r, s in product((1, 2), repeat=4)]
    kept = [spread for spread in spreads if first_of_its_kind(spread, [order])]
    assert {tuple(spread[0][d] for d in order) for spread in kept} | {spread[0] for spread in kept} == {
        spread[0] for spread in spreads
    }
    assert len(kept) == 10  # 4 are their own image, 12 come in pairs


def test_other_bounds_break_the_symmetry():
    assert symmetries(Problem("conv", CONV.dims, (4, 6, 5, 3, 3), CONV.tensors)) == []


def test_members_are_all_factors_with_as_many_tiles():
    bound, spread = 13, np.array([[1], [2], [1], [1]])
    counts = {}
    for chain in product(range(1, 14), repeat=3):
        sizes = np.cumprod([chain[0], 2 * chain[1], chain[2]])
        last = ceil(bound / sizes[-1])
        smallest = all(size == 1 or size < bound or chain[i] == 1 for i, size in enumerate(sizes.tolist()))
        if smallest:
            counts.setdefault((chain[0], *(ceil(bound / int(size)) for size in sizes)), set()).add((*chain, last))
    for factors in ((1, 2, 2, 2), (2, 1, 2, 2), (1, 1, 3, 3)):
        sizes = np.cumprod([factors[0], 2 * factors[1], factors[2]])
        same = counts[(factors[0], *(ceil(bound / int(size)) for size in sizes))]
        found = members((bound,), spread, np.array(factors)[:, None], 100)
        assert found is not None
        assert {tuple(one[:, 0].tolist()) for one in found} == same
    assert members((bound,), spread, np.array([[1], [2], [2], [2]]), 0) is None
