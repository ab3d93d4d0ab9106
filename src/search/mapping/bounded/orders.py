"""Orders of loops that a walk's bound does not tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby, permutations, product
from math import factorial, prod

from .walk import Leaves

Order = tuple[int, ...]
Block = tuple[bool, Order]
"""Dimensions that are neighbours in a memory's order, and whether others of their orders count."""

Blocks = list[list[Block]]
"""The blocks of each memory."""


def blocks_of(leaves: Leaves, row: int, innermost: int) -> Blocks:
    """The blocks within which loops of a walk's mapping may come in any order.

    Up to the `innermost` memory that keeps something no order matters.
    """
    found: Blocks = []
    for level, (order, block) in enumerate(zip(leaves.order[row].tolist(), leaves.block[row].tolist(), strict=True)):
        pairs = groupby(zip(block, order, strict=True), key=lambda pair: pair[0])
        found.append([(level > innermost and number >= 0, tuple(d for _, d in part)) for number, part in pairs])
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
