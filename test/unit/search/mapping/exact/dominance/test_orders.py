"""Orders of loops that a bound does not tell apart."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tilewright.costs.exact import price_batch
from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact import solve
from tilewright.search.mapping.exact.dominance.orders import blocks_of, orders_of
from tilewright.search.mapping.exact.space.model import Ints, Model, model_of
from tilewright.search.mapping.exact.tree.state import new_leaves
from tilewright.search.mapping.values import Factors, Request, Space

from ..enumerate import every_mapping


def plain(dims: int, factors: Factors = "perfect") -> Model:
    """Dimensions of 4 that each index the only tensor."""
    names = tuple("abcd"[:dims])
    rows = tuple(tuple(int(d == e) for e in range(dims)) for d in range(dims))
    problem = Problem("all", names, (4,) * dims, (Tensor("A", rows),))
    levels = tuple(Level(f"L{n}", None, 1, 1, 1, 1.0) for n in range(3))
    return model_of(Architecture("row", levels, "MAC", 1, 1, 1.0), problem, Space(factors=factors))[0]


def keeping(levels: int, first: int) -> Ints:
    """One tensor, kept from a memory on."""
    return (np.arange(levels) >= first).astype(np.int64)[:, None]


def test_loops_change_places_within_their_block_only():
    leaves = new_leaves(2, 2, 4)
    leaves.order[1] = np.array([[3, 1, 0, 2], [2, 0, 3, 1]])
    leaves.block[1] = np.array([[0, 0, 0, -1], [4, 4, 6, -1]])
    blocks = blocks_of(leaves, 1, plain(4), keeping(2, 0))
    assert list(product(*map(orders_of, blocks))) == [((3, 1, 0, 2), (2, 0, 3, 1)), ((3, 1, 0, 2), (0, 2, 3, 1))]


def test_blocks_of_several_memories_multiply():
    leaves = new_leaves(1, 3, 3)
    leaves.order[0] = np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    leaves.block[0] = np.array([[-1, -1, -1], [1, 1, 1], [3, 3, 5]])
    blocks = blocks_of(leaves, 0, plain(3), keeping(3, 0))
    found = list(product(*map(orders_of, blocks)))
    assert len(found) == len(set(found)) == 12
    assert {order[0] for order in found} == {(0, 1, 2)}
    assert all(order[2][2] == 0 for order in found)
    for first, many in (1, 2), (2, 1):
        blocks = blocks_of(leaves, 0, plain(3), keeping(3, first))
        assert len(list(product(*map(orders_of, blocks)))) == many


def test_all_loops_after_one_that_leaves_a_ragged_end_are_a_block():
    leaves = new_leaves(1, 3, 3)
    leaves.order[0] = np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    leaves.block[0] = np.array([[-1, -1, -1], [1, 2, -1], [3, 4, 5]])
    blocks = blocks_of(leaves, 0, plain(3, "imperfect"), keeping(3, 0))
    assert {(order[1], order[2]) for order in product(*map(orders_of, blocks))} == {
        ((a, b, 0), (c, d, e))
        for a, b in ((1, 2), (2, 1))
        for c, d, e in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    }


def test_a_loop_that_lets_a_tensor_rest_may_come_late_for_a_window():
    """Z would rest in the loop of c, but I finds what r left if the loop of p comes at once."""
    tensors = (
        Tensor("I", ((1, 0, 0), (0, 2, 1))),
        Tensor("W", ((1, 0, 0), (0, 0, 1)), word_bits=8),
        Tensor("Z", ((0, 1, 0),), is_output=True),
    )
    problem = Problem("strided", ("c", "p", "r"), (4, 2, 4), tensors)
    levels = (
        Level("L0", 32, 1, 1, 1, 0.3, holds=("O", "I")),
        Level("L1", 4, 1, 1, 1, 1.2),
        Level("L2", None, 1, 1, 1, 16.0, write_energy_pj=2.0),
    )
    arch, space = (
        Architecture("row", levels, "MAC", 1, 1, 1.0),
        Space(bypass=False, split_axes=False, factors="perfect"),
    )
    mappings = every_mapping(arch, problem, space, 20_000)
    assert mappings is not None
    prices = price_batch(arch, problem, mappings)
    found = solve(arch, problem, Request(objective="energy", space=space))
    assert found.proven
    assert found.energy == pytest.approx(float(prices.energy_pj[prices.valid].min()), rel=1e-12)
