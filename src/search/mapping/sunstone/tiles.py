"""The tiling tree: largest tiles that fit, grown from the smallest by one divisor at a time (section IV-B)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from ....algebra.factors import divisors_of
from ..pricing import Bools, Ints

Fits = Callable[[Ints], Bools]
"""Whether each of N factor vectors (N, D) makes a tile that fits."""

MAX_NODES = 20_000
"""Nodes of one layer of the tree; beyond, every k-th is followed."""


def maximal(bounds: Sequence[int], grow: Collection[int], fits: Fits, start: Ints | None = None) -> Ints:
    """Factor vectors (N, D) that divide `bounds`, fit, and cannot grow along any dimension of `grow`.

    They grow from the rows of `start` (by default from 1 everywhere), which must fit; a vector with a child that fits
    is pruned, as the child reuses more.
    """
    tables = [np.array(divisors_of(bound)) for bound in bounds]
    first = np.ones((1, len(bounds)), np.int64) if start is None else start
    layer = np.stack([np.searchsorted(table, first[:, dim]) for dim, table in enumerate(tables)], axis=1)
    found: list[Ints] = []
    while len(layer):
        leaf = np.ones(len(layer), np.bool_)
        following: list[Ints] = []
        for dim in sorted(grow):
            more = np.flatnonzero(layer[:, dim] + 1 < len(tables[dim]))
            child = layer[more]
            child[:, dim] += 1
            good = fits(_factors(tables, child))
            leaf[more[good]] = False
            following.append(child[good])
        found.append(layer[leaf])
        children = np.concatenate(following) if following else layer[:0]
        layer = np.unique(children, axis=0) if len(children) else children
        layer = layer[:: -(-len(layer) // MAX_NODES)] if len(layer) > MAX_NODES else layer
    return _factors(tables, np.unique(np.concatenate(found), axis=0))


def _factors(tables: list[Ints], indices: Ints) -> Ints:
    return np.stack([table[indices[:, dim]] for dim, table in enumerate(tables)], axis=1)


def maximal_with_fill(bounds: Sequence[int], grow: Collection[int], rest: Collection[int], fits: Fits) -> Ints:
    """Maximal vectors along `grow`, then filled up along `rest`: what the tiling principle grows comes first."""
    first = maximal(bounds, grow, fits)
    return maximal(bounds, rest, fits, first)
