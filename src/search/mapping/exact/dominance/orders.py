"""Orders of loops that a walk's bound does not tell apart.

Statements 14 and 17 of docs/exact-mapper.md.
"""

from collections.abc import Iterator
from itertools import chain, groupby, permutations, product

import numpy as np

from ..space.model import EVERY, UNRELATED, WINDOW, Bools, Ints, Model
from ..traffic.boxes import share_sent
from ..traffic.windows import Transfer
from ..tree.state import Leaves, Skeleton

Order = tuple[int, ...]
Block = tuple[bool, Order]
"""Dimensions that are neighbours in a memory's order, and whether others of their orders count."""


def blocks_of(leaves: Leaves, row: int, model: Model, kept: Ints) -> list[list[Block]]:
    """By memory the blocks within which loops of a walk's mapping may come in any order, with tensors `kept` (L, T).

    Up to the innermost memory that keeps something no order matters.  Walks put loops that let tensors rest before
    others, which may cost tensors that have moved already: a window finds its old elements only if the loops between
    leave them there; with imperfect factors a ragged end rests.  So all loops from the first of these on are a block.
    """
    found: list[list[Block]] = []
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


def orders_that_count(model: Model, skeleton: Skeleton, factors: Ints) -> tuple[Bools, Bools]:
    """In Timeloop's model, the memories (L,) of whose loops, with `factors` (L, D), placements and orders may differ;
    and those of which orders may: two loops go on along one sum."""
    tile, sliding = np.cumprod(skeleton.spread * factors, axis=0), np.zeros(len(factors), np.bool_)
    links = model.mesh[0, 0] == 0 and skeleton.spread.max() > 1
    every = bool(links or skeleton.spread[0].max() > 1)
    helped = np.full(len(factors), every)
    for t in np.flatnonzero(model.windows if not every else ()).tolist():
        for c in range(len(factors) - 1):
            outside = (factors[c + 1 :] > 1).sum(axis=0)
            sums = [outside[model.window[t] == w].sum() for w in range(int(model.windows[t]))]
            sliding[c + 1 :] |= bool(skeleton.kept[c, t]) and max(sums) > 1
            level = c + 1 + int((factors[c + 1 :] > 1).any(axis=1).argmax())
            step = tile[level] // factors[level]
            for first in np.flatnonzero((model.window[t] >= 0) & (factors[level] > 1)).tolist():
                bound = int(factors[level, first])
                box = Transfer(step, tile[c], step, step, first, bound, 0, EVERY, False)
                if share_sent(model, t, box, skeleton.spread[c + 1], skeleton.gaps[c + 1], np.inf) < 1.0:
                    helped[level] = True
                    helped[level:] |= not skeleton.kept[c, t]
    return helped, sliding | helped


def orders_of(memory: list[Block]) -> Iterator[Order]:
    """All of one memory."""
    parts = (permutations(dims) if free else [dims] for free, dims in memory)
    return (tuple(chain.from_iterable(chosen)) for chosen in product(*parts))


def orders_like(model: Model, held: Ints, factors: Ints, walked: Ints) -> Iterator[Iterator[Order]]:
    """Of each memory the orders for which the walk's stands, `walked` (L, D): the same loops move what rests first.

    Memories keep the sets `held` (L,) of tensors; loops of one iteration are last.
    """
    moved, slid, there = model.moved.tolist(), model.slid.tolist(), 0

    def moving(alive: int, d: int) -> Order:
        killed = alive & moved[d]
        return killed, d if killed & slid[d] else -1

    def go(left: Order, alive: int, so_far: Order, first: dict[int, Order], last: Order) -> Iterator[Order]:
        if not left:
            yield (*so_far, *last)
        for d in left:
            if not alive & moved[d] or first.get(alive) == moving(alive, d):
                yield from go(tuple(e for e in left if e != d), alive & ~moved[d], (*so_far, d), first, last)

    for inside, row, times in zip([0, *held.tolist()], walked.tolist(), factors.tolist(), strict=False):
        begun, first = there | inside, dict[int, Order]()
        there = begun
        for d in row:
            if times[d] > 1 and there & moved[d]:
                first[there] = moving(there, d)
                there &= ~moved[d]
        yield go(tuple(d for d in row if times[d] > 1), begun, (), first, tuple(d for d in row if times[d] == 1))
