"""Arrays for intermediate results of compiled code, which makes none itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....costs.exact.compiled import bare
from ....costs.timeloop.batch_arrays import Floats, Ints
from ....costs.timeloop.batch_words import BOUNDS, DIMS, STRIDES

LEVELS = 3


class Room(NamedTuple):
    """`words` and `energy` (T,) per tensor, its `box` (A,), and the words that each memory reads and writes, `flows`
    (2, 3); `middle`, `rest`, `outer` (D,) are the bounds of loops at a memory, `listed` (3, D) those of an order as
    `batch_words` has them; `turns` (2, D) are numbers of multiples, `keys` (2, 4 P) offsets of at most P children."""

    words: Ints
    energy: Floats
    box: Ints
    flows: Floats
    middle: Ints
    rest: Ints
    outer: Ints
    listed: Ints
    turns: Ints
    keys: Ints


def new_room(tensors: int, dims: int, axes: int, children: int) -> Room:
    """Room for a problem that is spread over at most so many `children`."""
    middle, rest, outer = (np.zeros(dims, np.int64) for _ in range(3))
    return Room(
        np.zeros(tensors, np.int64),
        np.zeros(tensors),
        np.zeros(axes, np.int64),
        np.zeros((2, LEVELS)),
        middle,
        rest,
        outer,
        np.zeros((3, dims), np.int64),
        np.zeros((2, dims), np.int64),
        np.zeros((2, 4 * children), np.int64),
    )


@bare
def list_loops(order: Ints, length: int, bounds: Ints, strides: Ints, listed: Ints) -> None:
    """List the first loops of an `order` (D,), inner to outer, with bounds and strides (D,) by dimension."""
    for i in range(length):
        d = order[i]
        listed[DIMS, i], listed[BOUNDS, i], listed[STRIDES, i] = d, bounds[d], strides[d]
