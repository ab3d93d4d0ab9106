"""The space of mappings with perfect factors, and its regions: a partial mapping stands for all that extend it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import islice, pairwise, permutations, product
from math import factorial, prod
from operator import mul

import numpy as np

from ..algebra.element import Floats
from ..algebra.factors import divisors_of
from ..costs.exact.axes import Axes, axes_of, distinct
from ..costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from ..errors import TilewrightError

GOALS = "edp", "energy", "latency", "dram"

MAX_PARTS = 1_000_000
"""Regions that one is split into, and mappings of one, at most: work must end whatever a certificate says."""

Kept = tuple[tuple[bool, ...], ...]
"""By level and tensor."""

Factors = tuple[int, ...]
"""Of one dimension by array, of one array by dimension, or a tile by dimension."""


@dataclass(frozen=True)
class Question:
    """The space of a problem on a machine, and what is least: `dims` is the order in which regions decide spreads."""

    arch: Architecture
    problem: Problem
    goal: str
    bypass: bool
    split_axes: bool
    dims: tuple[int, ...]

    def __post_init__(self) -> None:
        for tensor in self.problem.tensors:
            if tensor.is_output and axes_of(tensor, self.problem.bounds).windows:
                raise self._refused("unsupported", "a result whose indices are no sums", tensor.name)

    def _refused(self, kind: str, expected: str, found: str) -> TilewrightError:
        subject = f"certificate of {self.problem.name}"
        return TilewrightError(kind, subject, expected, found, "map without --certificate")

    def limit(self, count: int, what: str) -> None:
        """Refuse what would take too long."""
        if count > MAX_PARTS:
            raise self._refused("limit", f"at most {MAX_PARTS} {what}", str(count))

    @cached_property
    def arrays(self) -> tuple[tuple[int, int, int], ...]:
        """The arrays: (the level above, columns, rows)."""
        fans = ((level, *self.arch.fan_out(level)) for level in range(len(self.arch.levels)))
        return tuple(array for array in fans if array[1:] != (1, 1))

    @cached_property
    def keeps(self) -> tuple[Kept, ...]:
        """What memories may keep; the outermost keeps everything."""
        may = [self.arch.may_hold(level, self.problem) for level in range(len(self.arch.levels) - 1)]
        choices = [(True, False) if can and self.bypass else (can,) for level in may for can in level]
        self.limit(prod(map(len, choices)), "ways to keep tensors")
        count = len(self.problem.tensors)
        parts = ([flat[i : i + count] for i in range(0, len(flat), count)] for flat in product(*choices))
        return tuple((*kept, (True,) * count) for kept in parts)

    @cached_property
    def spreads(self) -> tuple[tuple[Factors, ...], ...]:
        """By dimension, factors over the arrays whose product divides its bound."""
        found: list[tuple[Factors, ...]] = []
        for n in self.problem.bounds:
            fitting = [[f for f in divisors_of(n) if f <= columns * rows] for _, columns, rows in self.arrays]
            self.limit(prod(map(len, fitting)), "spreads of a dimension")
            found.append(tuple(factors for factors in product(*fitting) if n % prod(factors) == 0))
        return tuple(found)

    def layouts(self, place: int, factors: Sequence[int]) -> Iterator[Factors]:
        """Factors along columns, the others along rows, that lay a spread out on one array."""
        _, columns, rows = self.arrays[place]
        ways = (divisors_of(n) if self.split_axes else sorted({1, n}) for n in factors)
        return (x for x in product(*ways) if prod(x) <= columns and prod(factors) <= rows * prod(x))


@dataclass(frozen=True)
class Region:
    """All mappings that keep tensors so, spread the first of `Question.dims` so, and have these tiles.

    A tile is that of all instances of a memory together, by dimension; memories that keep nothing have none here.
    """

    question: Question
    kept: Kept | None = None
    spreads: tuple[Factors, ...] = ()
    tiles: tuple[Factors, ...] = ()

    def __str__(self) -> str:
        names = [self.question.problem.dims[d] for d in self.question.dims]
        spreads = (f"{n} = {f}" for n, f in zip(names, self.spreads, strict=False))
        return " ".join([f"region kept {self.kept}", *spreads, *map(str, self.tiles)])

    def parts(self) -> "Iterator[Region]":
        """The regions that this one is the union of; of a region with all tiles there are none (`mappings`)."""
        question = self.question
        if self.kept is None:
            yield from (replace(self, kept=kept) for kept in question.keeps)
        elif not self.spread:
            d = question.dims[len(self.spreads)]
            yield from (replace(self, spreads=(*self.spreads, found)) for found in question.spreads[d])
        elif not self.decided:
            inner = self.tiles[-1] if self.tiles else self.spatial()
            rests = [
                [f * low for f in divisors_of(n // low)] for n, low in zip(question.problem.bounds, inner, strict=True)
            ]
            question.limit(prod(map(len, rests)), "tiles")
            yield from (replace(self, tiles=(*self.tiles, tile)) for tile in product(*rests))

    @cached_property
    def memories(self) -> tuple[int, ...]:
        """Levels below the outermost that keep something."""
        assert self.kept is not None
        return tuple(level for level, kept in enumerate(self.kept[:-1]) if any(kept))

    @property
    def spread(self) -> bool:
        """Whether all factors along arrays are decided."""
        return len(self.spreads) == len(self.question.dims)

    @property
    def decided(self) -> bool:
        """Whether only orders of loops are left, and factors of memories that keep nothing."""
        return self.spread and len(self.tiles) == len(self.memories)

    def spatial(self, first: int = 0, last: int | None = None) -> Factors:
        """By dimension, the decided factors along the arrays below levels `first` to `last`."""
        found = [1] * len(self.question.dims)
        for d, factors in zip(self.question.dims, self.spreads, strict=False):
            for (level, *_), factor in zip(self.question.arrays, factors, strict=True):
                found[d] *= factor if first <= level and (last is None or level <= last) else 1
        return tuple(found)

    def on_arrays(self) -> list[Factors]:
        """The decided factors of each array, by dimension in the order of `Question.dims`."""
        return list(zip(*self.spreads, strict=True)) or [()] * len(self.question.arrays)

    def exceeds_array(self) -> bool:
        """Statement 1: factors that are decided cannot be laid out on columns and rows."""
        found = enumerate(self.on_arrays())
        return any(next(self.question.layouts(place, factors), None) is None for place, factors in found)

    def mappings(self) -> Iterator[LoopMapping]:
        """Statement 4: one mapping for each order of loops that may matter, all tiles decided."""
        assert self.kept is not None
        question, steps = self.question, self._steps()
        question.limit(self.most_mappings(), "orders of loops")
        names = [tensor.name for tensor in question.problem.tensors]
        away = [frozenset(n for n, keep in zip(names, kept, strict=True) if not keep) for kept in self.kept]
        spatial = [list(self._along_axes(place)) for place in range(len(question.arrays))]
        for chosen in product(*(list(_orders(*step)) for step in steps)):
            temporal = [loops for step in chosen for loops in step]
            for axes in product(*spatial):
                along = {array[0]: both for array, both in zip(question.arrays, axes, strict=True)}
                levels = enumerate(zip(temporal, away, strict=True))
                yield LoopMapping(tuple(LevelMapping(own, *along.get(n, ((), ())), gone) for n, (own, gone) in levels))

    def most_mappings(self) -> int:
        """`mappings` at most, but for orders along axes."""
        steps = self._steps()
        ways = prod(len(list(_products(n, len(levels)))) for factors, levels in steps for n in factors)
        return ways * prod(factorial(sum(n > 1 for n in own)) for own, levels in steps if levels != range(1))

    def _steps(self) -> list[tuple[Factors, range]]:
        """From tile to tile: how many times as large by dimension, and the levels whose loops in time make it so."""
        tiles = pairwise([self.spatial(), *self.tiles, self.question.problem.bounds])
        levels = pairwise([-1, *self.memories, len(self.question.arch.levels) - 1])
        times = (tuple(b // a for a, b in zip(*pair, strict=True)) for pair in tiles)
        return [(own, range(first + 1, last + 1)) for own, (first, last) in zip(times, levels, strict=True)]

    def _along_axes(self, place: int) -> Iterator[tuple[tuple[Loop, ...], tuple[Loop, ...]]]:
        """Statement 5: loops along columns and rows of one array, all layouts and orders where links take energy."""
        question, factors = self.question, self.on_arrays()[place]
        links = question.arch.levels[question.arrays[place][0]].hop_energy_pj
        for columns in islice(question.layouts(place, factors), None if links else 1):
            both = columns, tuple(n // x for n, x in zip(factors, columns, strict=True))
            axes = [tuple(Loop(d, n) for d, n in zip(question.dims, own, strict=True) if n > 1) for own in both]
            x, y = (list(permutations(own)) if links else [own] for own in axes)
            yield from product(x, y)


def _orders(factors: Factors, levels: range) -> Iterator[tuple[tuple[Loop, ...], ...]]:
    """Loops in time of these levels, of so many iterations together; statement 5: those of level 0 in one order."""
    for found in product(*(_products(n, len(levels)) for n in factors)):
        loops = [tuple(Loop(d, n) for d, n in enumerate(own) if n > 1) for own in zip(*found, strict=True)]
        yield from product(*(permutations(own) if level else [own] for level, own in zip(levels, loops, strict=True)))


def _products(number: int, count: int) -> Iterator[Factors]:
    """All tuples of `count` factors whose product is `number`."""
    if count == 1:
        yield (number,)
        return
    for factor in divisors_of(number):
        yield from ((factor, *more) for more in _products(number // factor, count - 1))


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
