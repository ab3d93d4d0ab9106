"""Which loops reuse which tensors, and the loop orders worth trying: the paper's section IV-A."""

from collections.abc import Iterator
from dataclasses import dataclass

from ....costs.hierarchy import Problem

Found = frozenset[tuple[int, int]]
"""Pairs (dimension, tensor): the loop over the dimension reuses the tensor."""


@dataclass(frozen=True)
class Reuse:
    """Per tensor: dimensions that reuse it fully, because they do not index it, and those that slide a window over it.

    Dimensions of one iteration are left out.
    """

    full: tuple[frozenset[int], ...]
    sliding: tuple[frozenset[int], ...]
    dims: tuple[int, ...]

    def indexing(self, tensor: int) -> frozenset[int]:
        """Dimensions that index a tensor."""
        return frozenset(self.dims) - self.full[tensor]


def reuse_of(problem: Problem) -> Reuse:
    """Reuse as the tensors' indices imply it."""
    dims = tuple(d for d, bound in enumerate(problem.bounds) if bound > 1)
    full: list[frozenset[int]] = []
    sliding: list[frozenset[int]] = []
    for tensor in problem.tensors:
        rows = [[d for d in dims if row[d]] for row in tensor.coefficients]
        full.append(frozenset(d for d in dims if all(d not in row for row in rows)))
        sliding.append(frozenset(d for row in rows if len(row) > 1 for d in row))
    return Reuse(tuple(full), tuple(sliding), dims)


@dataclass(frozen=True)
class Order:
    """The innermost loops of a level, inner to outer, and what they reuse; the order of all others does not matter."""

    dims: tuple[int, ...]
    found: Found


def orders_of(reuse: Reuse) -> tuple[Order, ...]:
    """The orders that the two pruning rules leave.

    The trie grows from the innermost loop outwards.  A loop that reuses nothing more ends its branch (rule one); of
    orders that reuse the same, one is kept, and none whose reuse another order has and more (rule two).
    """
    every = list(_grow(reuse))
    best = [order for order in every if not any(order.found < other.found for other in every)]
    return tuple(sorted(best, key=lambda order: order.dims)) or (Order((), frozenset()),)


def _grow(reuse: Reuse) -> Iterator[Order]:
    """Every node of the trie, one for each different reuse and set of tensors that may be reused further out."""
    seen: set[tuple[Found, frozenset[int]]] = set()
    nodes = [(Order((), frozenset()), frozenset(range(len(reuse.full))))]
    while nodes:
        order, alive = nodes.pop()
        for dim in reuse.dims:
            if dim in order.dims:
                continue
            found = frozenset((dim, t) for t in alive if dim in reuse.full[t] or dim in reuse.sliding[t])
            still = frozenset(t for t in alive if dim in reuse.full[t])
            if found and (order.found | found, still) not in seen:
                seen.add((order.found | found, still))
                child = Order((*order.dims, dim), order.found | found)
                yield child
                nodes.append((child, still))
