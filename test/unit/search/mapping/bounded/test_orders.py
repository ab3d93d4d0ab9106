"""Orders of loops that a bound does not tell apart."""

from __future__ import annotations

import numpy as np

from tilewright.search.mapping.bounded.orders import blocks_of, count_of, orders_of
from tilewright.search.mapping.bounded.walk import new_leaves


def test_loops_change_places_within_their_block_only():
    leaves = new_leaves(2, 2, 4)
    leaves.order[1] = np.array([[3, 1, 0, 2], [2, 0, 3, 1]])
    leaves.block[1] = np.array([[0, 0, 0, -1], [4, 4, 6, -1]])
    blocks = blocks_of(leaves, 1, 0)
    assert count_of(blocks) == 2
    assert list(orders_of(blocks)) == [((3, 1, 0, 2), (2, 0, 3, 1)), ((3, 1, 0, 2), (0, 2, 3, 1))]


def test_blocks_of_several_memories_multiply():
    leaves = new_leaves(1, 3, 3)
    leaves.order[0] = np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    leaves.block[0] = np.array([[-1, -1, -1], [1, 1, 1], [3, 3, 5]])
    blocks = blocks_of(leaves, 0, 0)
    found = list(orders_of(blocks))
    assert count_of(blocks) == len(found) == len(set(found)) == 12
    assert {order[0] for order in found} == {(0, 1, 2)}
    assert all(order[2][2] == 0 for order in found)
    assert count_of(blocks_of(leaves, 0, 1)) == 2
    assert count_of(blocks_of(leaves, 0, 2)) == 1
