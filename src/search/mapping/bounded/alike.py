"""What need not be searched twice: dimensions that may change places, and factors that lead to as many tiles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from math import factorial, prod

import numpy as np

from ....costs.hierarchy import Problem
from .model import Ints

Order = tuple[int, ...]

MAX_ORDERS = 5040
"""Orders of dimensions that are tried."""


def symmetries(problem: Problem) -> list[Order]:
    """Orders of the dimensions, but for their own, that leave the problem as it is."""
    bounds = problem.bounds
    groups = [[d for d, other in enumerate(bounds) if other == bound] for bound in sorted(set(bounds))]
    if prod(factorial(len(group)) for group in groups) > MAX_ORDERS:
        return []
    own = tuple(range(len(bounds)))
    rows = [sorted(tensor.coefficients) for tensor in problem.tensors]
    found: list[Order] = []
    for parts in product(*(permutations(group) for group in groups)):
        place = dict(pair for group, part in zip(groups, parts, strict=True) for pair in zip(group, part, strict=True))
        order = tuple(place[d] for d in own)
        if order != own and rows == [
            sorted(tuple(row[d] for d in order) for row in tensor.coefficients) for tensor in problem.tensors
        ]:
            found.append(order)
    return found


def first_of_its_kind(spread: tuple[Order, ...], orders: list[Order]) -> bool:
    """Whether no order of dimensions makes a spread (by memory and dimension) one that comes before it."""
    return all(spread <= tuple(tuple(row[d] for d in order) for row in spread) for order in orders)


def members(bounds: Order, spread: Ints, factors: Ints, most: int) -> list[Ints] | None:
    """All temporal factors (L, D) with as many tiles in each memory as `factors`; None if they are more than `most`.

    A factor that is spread further out stands for itself.
    """
    by_dim = [list(_chains(bound, spread[:, d], factors[:, d])) for d, bound in enumerate(bounds)]
    if prod(len(found) for found in by_dim) > most:
        return None
    return [np.array(chosen, np.int64).T.copy() for chosen in product(*by_dim)]


def _chains(bound: int, spread: Ints, factors: Ints) -> Iterator[Order]:
    last = len(factors) - 1
    sizes = np.cumprod(factors * spread)
    counts = [-(-bound // int(size)) for size in sizes]

    def go(level: int, size: int, so_far: Order) -> Iterator[Order]:
        base = size * int(spread[level])
        if level == last:
            yield (*so_far, -(-bound // base))
            return
        factor = int(factors[level])
        spread_outside = int(spread[level + 1 :].prod()) > 1
        if spread_outside or counts[level] == 1:
            least = factor if spread_outside else -(-bound // base)
            yield from go(level + 1, base * least, (*so_far, least))
            return
        least = -(-bound // (base * counts[level]))
        for other in range(least, (bound - 1) // (base * (counts[level] - 1)) + 1):
            yield from go(level + 1, base * other, (*so_far, other))

    return go(0, 1, ())
