"""All tiles of a problem: arrays with an axis per dimension, by the divisors of its bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import product
from math import prod
from operator import mul

import numpy as np
from numpy.typing import NDArray

from ..algebra.factors import divisors_of
from ..costs.exact.axes import Axes, distinct
from ..costs.hierarchy import Problem
from .space import Factors

Floats = NDArray[np.float64]
Places = Sequence[Sequence[int]]
"""By dimension, places among `Lattice.sizes`."""


class Lattice:
    """All tiles that are multiples of one: arrays with an axis per dimension, by its divisors.

    Of each tensor `words` are those of a tile, `moved` those of all visits to tiles, and `once` its elements, again for
    each step of loops that do not index it.
    """

    def __init__(self, problem: Problem, axes: list[Axes], least: Factors) -> None:
        self.sizes = [[m * f for f in divisors_of(n // m)] for n, m in zip(problem.bounds, least, strict=True)]
        self.shape = tuple(map(len, self.sizes))
        self._larger = list(map(_larger_by_prime, self.sizes))
        visits = [self.of_dim(d, [n // size for size in self.sizes[d]]) for d, n in enumerate(problem.bounds)]
        self.words = [self.tile_words(found, (1,) * len(least)) for found in axes]
        self.moved = [words * prod(visits) for words in self.words]
        pairs = zip(self.words, axes, strict=True)
        self.once = [
            reduce(mul, (visits[d] for d in own.unrelated), np.full(self.shape, n.flat[-1])) for n, own in pairs
        ]

    def of_dim(self, d: int, values: Sequence[float]) -> Floats:
        """Values by the size along one dimension, to be multiplied with arrays of tiles."""
        return np.array(values, np.float64).reshape([-1 if e == d else 1 for e in range(len(self.shape))])

    def tile_words(self, axes: Axes, parts: Factors) -> Floats:
        """Words of one of so many equal parts of each tile, along each dimension."""
        sizes = [[size // n for size in own] for own, n in zip(self.sizes, parts, strict=True)]
        found = reduce(mul, (self.of_dim(d, sizes[d]) for d in axes.plain), np.ones(self.shape))
        for window in axes.windows:
            every = product(*(sizes[d] for d in window.dims))
            values = np.array([distinct(window.coefficients, chosen) for chosen in every], np.float64)
            table = values.reshape([self.shape[d] for d in window.dims]).transpose(np.argsort(window.dims))
            found = found * table.reshape([n if d in window.dims else 1 for d, n in enumerate(self.shape)])
        return found

    def least_beyond(self, tables: Iterable[Floats], dims: frozenset[int]) -> Floats:
        """By tile, the least of all tables over tiles that contain it and differ along `dims` alone."""
        found = np.full(self.shape, np.inf)
        for table in tables:
            np.minimum(found, table, out=found)
        for d in dims:
            rows = [found[(*[slice(None)] * d, slice(n, n + 1))] for n in range(self.shape[d])]
            for place, larger in self._larger[d]:
                np.minimum(rows[place], rows[larger], out=rows[place])
        return found


def _larger_by_prime(sizes: list[int]) -> list[tuple[int, int]]:
    """Places of sizes and of those that are a prime times as large, the largest first for one prime after the other: so
    the least is handed down from all multiples."""
    ratios = [size // sizes[0] for size in sizes]
    primes = [n for n in ratios if n > 1 and not any(n % p == 0 for p in ratios if 1 < p < n)]
    steps = ((size, size * prime) for prime in primes for size in reversed(sizes))
    return [(sizes.index(size), sizes.index(other)) for size, other in steps if other in sizes]


def total(costs: Iterable[Floats]) -> Floats:
    """The sum of arrays that broadcast to each other."""
    return sum(costs, np.zeros(()))
