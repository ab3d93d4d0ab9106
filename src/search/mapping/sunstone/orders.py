"""Which loops reuse which tensors, and the loop orders worth trying (the paper's section IV-A); which dimensions to
spread over an array, and how far (III-B)."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ....algebra.factors import divisors_of
from ....costs.hierarchy import Problem

Found = frozenset[tuple[int, int]]
"""Pairs (dimension, tensor): the loop over the dimension reuses the tensor."""


Factors = tuple[int, ...]
Spread = tuple[Factors, Factors]
"""Factors by dimension along columns and along rows."""


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


def allowed_dims(reuse: Reuse, tensor: int) -> frozenset[int]:
    """Dimensions that reuse some other tensor across instances, but not `tensor`, which is reused in time already."""
    others = (full for t, full in enumerate(reuse.full) if t != tensor)
    return frozenset(dim for full in others for dim in full) - reuse.full[tensor]


def spreads(
    bounds: Sequence[int], allowed: Collection[int], dims: Collection[int], array: tuple[int, int], split: bool
) -> list[Spread]:
    """Ways to fill an array of (columns, rows): as full as the allowed dimensions make it, or fuller with all `dims`.

    Of spreads that differ only in what goes along columns and what along rows, the first is kept.  With `split` a
    dimension may go along both.
    """
    found = _fullest(bounds, allowed, array, split)
    if _size(found) < array[0] * array[1]:
        wider = _fullest(bounds, dims, array, split)
        if _size(wider) > _size(found):
            found += wider
    return found


def _size(found: list[Spread]) -> int:
    return max((prod(x) * prod(y) for x, y in found), default=0)


def _fullest(bounds: Sequence[int], dims: Collection[int], array: tuple[int, int], split: bool) -> list[Spread]:
    """Spreads over `dims` alone that use the most instances."""
    by_size: dict[int, dict[Factors, Spread]] = {}
    for x in _axis(bounds, dims, array[0]):
        left = [bound // factor if split or factor == 1 else 1 for bound, factor in zip(bounds, x, strict=True)]
        for y in _axis(left, dims, array[1]):
            both = tuple(a * b for a, b in zip(x, y, strict=True))
            by_size.setdefault(prod(both), {}).setdefault(both, (x, y))
    return list(by_size[max(by_size)].values())


def _axis(bounds: Sequence[int], dims: Collection[int], width: int) -> Iterator[Factors]:
    """Factor vectors over `dims` whose product fits the axis and cannot grow."""
    every = list(_products(bounds, sorted(dims), width))
    most = max(map(prod, every))
    for factors in every:
        if prod(factors) == most or not _grows(bounds, dims, factors, width):
            yield factors


def _grows(bounds: Sequence[int], dims: Collection[int], factors: Factors, width: int) -> bool:
    used = prod(factors)
    larger = ((factors[dim], next((d for d in divisors_of(bounds[dim]) if d > factors[dim]), None)) for dim in dims)
    return any(more is not None and used // factor * more <= width for factor, more in larger)


def _products(bounds: Sequence[int], dims: Sequence[int], width: int) -> Iterator[Factors]:
    def extend(i: int, factors: list[int], left: int) -> Iterator[Factors]:
        if i == len(dims):
            yield tuple(factors)
            return
        for divisor in divisors_of(bounds[dims[i]]):
            if divisor > left:
                break
            factors[dims[i]] = divisor
            yield from extend(i + 1, factors, left // divisor)
        factors[dims[i]] = 1

    return extend(0, [1] * len(bounds), width)
