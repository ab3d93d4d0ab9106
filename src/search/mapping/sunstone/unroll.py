"""Spatial unrolling: which dimensions to spread over an array, and how far (section III-B)."""

from collections.abc import Collection, Iterator, Sequence
from math import prod

from ....algebra.factors import divisors_of
from .orders import Reuse

Factors = tuple[int, ...]
Spread = tuple[Factors, Factors]
"""Factors by dimension along columns and along rows."""


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
