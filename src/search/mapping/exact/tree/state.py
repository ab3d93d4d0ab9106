"""What a walk over the mappings of one skeleton (what is kept, spatial loops) reads and writes."""

from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare
from ..space.model import Floats, Ints

MOST_LOOPS = 8
"""Loops of one memory of which all orders are looked at."""


class Skeleton(NamedTuple):
    """What is kept where, and the loops over instances.

    `kept` (L, T), as sets `held` (L,), and `within` (L,) with those of memories further in; `spread` (L, D) children
    per dimension; `inside` (L + 1, D) all children below a memory; `parent` (L + 1, T) the next memory outwards that
    keeps a tensor, by memory + 1; `owned` (L, T) elements that the instances of a memory ever hold; `least` (L, T)
    energy of the unavoidable words into a memory, `least_words` (L, T, L, 2) those words, `operands` (T, L, 2) those of
    the arithmetic, `floor` (L, 2) all of them; `used` (L,) instances.  Memories need no loops of the sets `still` (L,)
    of dimensions.  With `loose` (1,) words depend on all loops.  Children that are neighbours on the mesh of a memory
    differ by `gaps` (L, G, D), or the opposite, along dimensions of sums, in Timeloop's model; zeros come last.
    """

    kept: Ints
    held: Ints
    within: Ints
    spread: Ints
    inside: Ints
    parent: Ints
    owned: Floats
    least: Floats
    least_words: Floats
    operands: Floats
    floor: Floats
    used: Ints
    still: Ints
    loose: Ints
    gaps: Ints


class Grid(NamedTuple):
    """Tiles of a memory, by dimension: `size` (D,) cells, `low` and `high` (D, M) the smallest and largest tile of a
    cell, `stride` (D,) of the cell numbers; `perfect` tells whether tiles nest by divisibility, one in each cell."""

    size: Ints
    low: Ints
    high: Ints
    stride: Ints
    perfect: bool


class Beyond(NamedTuple):
    """Least energy from each memory outwards (but for what it keeps no longer): by set of dimensions that keep
    their tile and cell; other dimensions may grow.  `inner` (K,) for memories but the last one, `outer` (M,) for that.

    `which` (L - 1, 2 ** D) finds where the cells begin for a memory and such a set.  Cells of a memory are as in a
    `Grid`: `size` (L - 1, D), `low` (L - 1, D, M), `stride` (L - 1, D); tiles count times `scale` (L - 1, D).
    `closing` (N,) is the energy of all that is not settled when a memory's loops are over, tensors that rest included;
    `where` (L - 1, codes) finds it (-1: not there), the code having a digit for each tensor: the innermost memory whose
    tile of it rests, from 1.
    """

    inner: Floats
    outer: Floats
    which: Ints
    size: Ints
    low: Ints
    stride: Ints
    scale: Ints
    closing: Floats
    where: Ints


class State(NamedTuple):
    """The mapping under construction: `tile` (L, D) with the loops so far, `base` (L, D) before them; `low` (L + 1, T)
    the innermost memory whose tile of a tensor still rests; `loops` (K, 4) as (memory, dimension, bound, block), inner
    to outer, `length` of them; `words`
    (K, L, 2) read and written so far and `marks` (K, D) tiles, by depth; `room` (5, D) is for tiles on the way,
    `orders` for energies of sets of loops."""

    tile: Ints
    base: Ints
    low: Ints
    loops: Ints
    length: Ints
    words: Floats
    marks: Ints
    room: Ints
    orders: Floats


class Best(NamedTuple):
    """`value` (1,) of the best mapping so far; `counted` (1,) nodes."""

    value: Floats
    counted: Ints


class Leaves(NamedTuple):
    """Complete mappings that may be better than the best: `temporal` factors and `order` (R, L, D), and `bound` (R, 2)
    of the objective and the energy; `number` (1,) of them.

    The bound is that of all orders of loops within the blocks of a memory, `block` (R, L, D) by place in the order; -1
    where there is no loop.
    """

    temporal: Ints
    order: Ints
    block: Ints
    bound: Floats
    number: Ints


def new_leaves(rows: int, levels: int, dims: int) -> Leaves:
    """Room for `rows` mappings."""
    shape = rows, levels, dims
    order, block = np.zeros((2, *shape), np.int64)
    return Leaves(np.ones(shape, np.int64), order, block, np.zeros((rows, 2)), np.zeros(1, np.int64))


def new_state(levels: int, dims: int, tensors: int) -> State:
    """Room for one mapping."""
    loops = levels * dims + 1
    return State(
        np.ones((levels, dims), np.int64),
        np.ones((levels, dims), np.int64),
        np.zeros((levels + 1, tensors), np.int64),
        np.zeros((loops, 4), np.int64),
        np.zeros(1, np.int64),
        np.zeros((2 * loops + 4, levels, 2)),
        np.ones((2 * loops + 2, dims), np.int64),
        np.zeros((5, dims), np.int64),
        np.zeros((MOST_LOOPS + 1, 1 << MOST_LOOPS)),
    )


class Frames(NamedTuple):
    """A stack of frames, `top` the number of the topmost: `ints` (K, 11), `energy` (K, 3) settled, pending and where
    the memory began, and the `options` (K, D + 1, 4) of what may come next."""

    ints: Ints
    energy: Floats
    options: Ints
    top: Ints


def new_frames(levels: int, dims: int) -> Frames:
    """Room for the deepest stack."""
    most = levels * (3 * dims + 4) + 4
    return Frames(
        np.zeros((most, 11), np.int64),
        np.zeros((most, 3)),
        np.zeros((most, dims + 1, 4), np.int64),
        np.full(1, -1, np.int64),
    )


@bare
def copy_row(target: Ints | Floats, source: Ints | Floats) -> None:
    """Copy `source` (N,) to `target`."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@bare
def copy_words(target: Floats, source: Floats) -> None:
    """Copy words `source` (L, 2) to `target`."""
    for level in range(target.shape[0]):
        target[level, 0], target[level, 1] = source[level, 0], source[level, 1]


@bare
def add_words(target: Floats, source: Floats, times: float) -> None:
    """Add so many times the words `source` (L, 2) to `target`."""
    for level in range(target.shape[0]):
        target[level, 0] += times * source[level, 0]
        target[level, 1] += times * source[level, 1]
