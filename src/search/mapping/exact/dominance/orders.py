"""Orders of loops that a walk's bound does not tell apart.

Statements 14 and 17 of docs/exact-mapper.md.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, permutations, product
from math import factorial, prod

import numpy as np

from ..space.model import EVERY, UNRELATED, WINDOW, Bools, Ints, Model
from ..traffic.boxes import share_sent
from ..traffic.windows import Transfer
from ..tree.state import Leaves, Skeleton

Order = tuple[int, ...]
Block = tuple[bool, Order]
"""Dimensions that are neighbours in a memory's order, and whether others of their orders count."""

Blocks = list[list[Block]]
"""The blocks of each memory."""


def blocks_of(leaves: Leaves, row: int, model: Model, kept: Ints) -> Blocks:
    """The blocks within which loops of a walk's mapping may come in any order, with tensors `kept` (L, T).

    Up to the innermost memory that keeps something no order matters.  Walks put loops that let tensors rest before
    others, which may cost tensors that have moved already: a window finds its old elements only if the loops between
    leave them there; with imperfect factors a ragged end rests.  So all loops from the first of these on are a block.
    """
    found: Blocks = []
    loose = False
    for level, (order, block) in enumerate(zip(leaves.order[row].tolist(), leaves.block[row].tolist(), strict=True)):
        inside = kept[:level].any(axis=0)
        mine = model.kind[inside] != UNRELATED if not model.perfect else model.kind[inside] == WINDOW
        moves: list[bool] = mine.any(axis=0).tolist()
        parts: list[Block] = []
        for number, part in groupby(zip(block, order, strict=True), key=lambda pair: pair[0]):
            dims = tuple(d for _, d in part)
            if loose and parts and number >= 0:
                parts[-1] = True, parts[-1][1] + dims
            else:
                parts.append((bool(inside.any()) and number >= 0, dims))
            loose = loose or (number >= 0 and any(moves[d] for d in dims))
        found.append(parts)
    return found


def orders_that_count(model: Model, skeleton: Skeleton, factors: Ints) -> tuple[Bools, bool]:
    """In Timeloop's model, whether all orders of a memory's loops, with `factors` (L, D), may differ, (L,), and whether
    those within blocks do: two loops go on along one sum."""
    tile, sliding = np.cumprod(skeleton.spread * factors, axis=0), False
    links = model.mesh[0, 0] == 0 and skeleton.spread.max() > 1
    every = bool(links or skeleton.spread[0].max() > 1)
    helped = np.full(len(factors), every)
    for t in np.flatnonzero(model.windows if not every else ()).tolist():
        for c in range(len(factors) - 1):
            outside = (factors[c + 1 :] > 1).sum(axis=0)
            sums = [outside[model.window[t] == w].sum() for w in range(int(model.windows[t]))]
            sliding |= bool(skeleton.kept[c, t]) and max(sums) > 1
            level = c + 1 + int((factors[c + 1 :] > 1).any(axis=1).argmax())
            step = tile[level] // factors[level]
            for first in np.flatnonzero((model.window[t] >= 0) & (factors[level] > 1)).tolist():
                bound = int(factors[level, first])
                box = Transfer(step, tile[c], step, step, first, bound, 0, EVERY, False)
                if share_sent(model, t, box, skeleton.spread[c + 1], np.inf) < 1.0:
                    helped[level] = True
                    helped[level:] |= not skeleton.kept[c, t]
    return helped, sliding


def begin_in_sums(model: Model, skeleton: Skeleton, factors: Ints, orders: Ints) -> Bools:
    """Of `orders` (N, L, D) of loops with `factors` (L, D), those of one iteration last, whether it may count where
    children are: whether the innermost loop outside of some of them is of a sum, so that neighbours may help; or links
    take energy, or units take words of each other."""
    found = np.full(len(orders), model.mesh[0, 0] == 0 or bool(skeleton.spread[0].max() > 1))
    for level in np.flatnonzero(skeleton.spread.max(axis=1) > 1).tolist():
        looping = np.flatnonzero((factors[level:] > 1).any(axis=1))
        if len(looping):
            found |= (model.window >= 0)[:, orders[:, level + looping[0], 0]].any(axis=0)
    return found


def looping(blocks: list[Block], factors: Sequence[int]) -> list[Block]:
    """Blocks of one memory, loops of one iteration apart, as their place does not count."""
    alone = tuple(d for _, dims in blocks for d in dims if factors[d] == 1)
    return [*((free, tuple(d for d in dims if factors[d] > 1)) for free, dims in blocks), (False, alone)]


def count_of(blocks: Blocks) -> int:
    """How many orders there are."""
    return prod(factorial(len(dims)) for memory in blocks for free, dims in memory if free)


def orders_of(blocks: Blocks) -> Iterator[tuple[Order, ...]]:
    """All of them, by memory."""
    return product(*(_orders(memory) for memory in blocks))


def _orders(memory: list[Block]) -> list[Order]:
    parts = (permutations(dims) if free else [dims] for free, dims in memory)
    return [tuple(chain.from_iterable(chosen)) for chosen in product(*parts)]
