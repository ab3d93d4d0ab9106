"""Arrays for intermediate results of compiled code, which makes none itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .model import LEVELS, Floats, Ints


class Room(NamedTuple):
    """`words` and `energy` (T,) per tensor, its `box` (A,), its `counts` (3, 3), and the words that each memory reads
    and writes, `flows` (2, 3).  `loops` (3, 3 D) are dimensions, bounds and strides, from `starts` (4,) on per memory;
    `middle`, `rest`, `outer` (D,) the bounds at a memory, `ordered` (2, D) bounds and strides by order, `turns` (2, D)
    numbers of multiples, `ones` (D,) a tile of one point.  `keys` (2, 4 P) are offsets of at most P children."""

    words: Ints
    energy: Floats
    box: Ints
    counts: Ints
    flows: Floats
    loops: Ints
    starts: Ints
    middle: Ints
    rest: Ints
    outer: Ints
    ordered: Ints
    turns: Ints
    ones: Ints
    keys: Ints


def new_room(tensors: int, dims: int, axes: int, children: int) -> Room:
    """Room for a problem that is spread over at most so many `children`."""
    middle, rest, outer = (np.zeros(dims, np.int64) for _ in range(3))
    return Room(
        np.zeros(tensors, np.int64),
        np.zeros(tensors),
        np.zeros(axes, np.int64),
        np.zeros((LEVELS, 3), np.int64),
        np.zeros((2, LEVELS)),
        np.zeros((3, LEVELS * dims), np.int64),
        np.zeros(LEVELS + 1, np.int64),
        middle,
        rest,
        outer,
        np.zeros((2, dims), np.int64),
        np.zeros((2, dims), np.int64),
        np.ones(dims, np.int64),
        np.zeros((2, 4 * children), np.int64),
    )
