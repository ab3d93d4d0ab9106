"""Orders of loops that a walk's bound does not tell apart.

Statement 14 of docs/exact-mapper.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby, permutations, product
from math import factorial, prod

from ..space.model import UNRELATED, WINDOW, Ints, Model
from ..tree.state import Leaves

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


def count_of(blocks: Blocks) -> int:
    """How many orders there are."""
    return prod(factorial(len(dims)) for memory in blocks for free, dims in memory if free)


def orders_of(blocks: Blocks) -> Iterator[tuple[Order, ...]]:
    """All of them, by memory."""
    return product(*(_orders(memory) for memory in blocks))


def _orders(memory: list[Block]) -> list[Order]:
    parts = (permutations(dims) if free else [dims] for free, dims in memory)
    return [tuple(chain.from_iterable(chosen)) for chosen in product(*parts)]
