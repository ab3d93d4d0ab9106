"""What one step of the search may choose: tiles of a stage, a spread above it, and the order of loops there.

Tiles are the largest that fit, grown from the smallest by one divisor at a time (the paper's section IV-B).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....algebra.factors import divisors_of
from ....costs.hierarchy import Architecture, MappingBatch, Problem
from ....remembered import remembered
from ..draw import joined
from ..pricing import Bools, Ints
from ..room import Room
from .orders import Order, Reuse, Spread, allowed_dims, spreads

Fits = Callable[[Ints], Bools]
"""Whether each of N factor vectors (N, D) makes a tile that fits."""

MAX_NODES = 20_000
"""Nodes of one layer of the tree; beyond, every k-th is followed."""


@dataclass(frozen=True)
class Stage:
    """Neighbouring levels with the same instances that keep different tensors: their loops stand at the first.

    `array` is the (columns, rows) of what is below one instance.
    """

    levels: tuple[int, ...]
    array: tuple[int, int]

    @property
    def first(self) -> int:
        """The level whose loops iterate over the stage's tile."""
        return self.levels[0]


def stages_of(arch: Architecture, room: Room) -> tuple[Stage, ...]:
    """The machine's stages, innermost first; the outermost memory is one of its own."""
    groups: list[list[int]] = []
    last = len(arch.levels) - 1
    for level in range(len(arch.levels)):
        joins = groups and level != last and arch.fan_out(level) == (1, 1)
        if joins and not (room.kept[groups[-1]] & room.kept[level]).any():
            groups[-1].append(level)
        else:
            groups.append([level])
    return tuple(Stage(tuple(group), arch.fan_out(group[0])) for group in groups)


def undecided(kept: Bools, dims: int) -> MappingBatch:
    """A batch of one mapping without any loops; memories keep the tensors `kept` (L, T)."""
    ones, order = np.ones((1, len(kept), dims), np.int64), np.tile(np.arange(dims), (1, len(kept), 1))
    return MappingBatch(ones, order, ones, order, ones, order, kept[None])


def tile_of(batch: MappingBatch) -> Ints:
    """Products of all factors by mapping and dimension (N, D)."""
    return (batch.temporal * batch.spatial_x * batch.spatial_y).prod(axis=1)


@dataclass(frozen=True)
class Choices:
    """N ways to go on: temporal factors at one level, a spread and a loop order at another, each (N, D)."""

    temporal: Ints
    columns: Ints
    rows: Ints
    order: Ints

    def __len__(self) -> int:
        return len(self.temporal)

    def part(self, rows: Ints) -> Choices:
        """The choices of `rows`."""
        return Choices(self.temporal[rows], self.columns[rows], self.rows[rows], self.order[rows])


@dataclass(frozen=True)
class Step:
    """One decision of the search: a tile of `stage` (None: no tile), a spread below `above`, and the order there.

    `later` instances are still to be put to work by other steps.
    """

    stage: Stage | None
    above: Stage
    later: int

    @property
    def inside(self) -> int:
        """The level of the chosen loops."""
        return self.outside if self.stage is None else self.stage.first

    @property
    def outside(self) -> int:
        """The level of the spread and the order, and of all that is undecided while the choice is priced."""
        return self.above.first


def extended(partial: MappingBatch, choices: Choices, step: Step) -> MappingBatch:
    """A batch of one mapping with each of the choices."""
    found = partial.repeated(0, len(choices))
    found.temporal[:, step.inside], found.order[:, step.outside] = choices.temporal, choices.order
    found.spatial_x[:, step.outside], found.spatial_y[:, step.outside] = choices.columns, choices.rows
    return found


class Chooser:
    """All choices at one stage, given what is inside it."""

    def __init__(self, problem: Problem, room: Room, reuse: Reuse, orders: tuple[Order, ...], split: bool) -> None:
        self.room, self.reuse, self.split = room, reuse, split
        dims = range(len(problem.dims))
        self.every = np.array([[*order.dims, *(d for d in dims if d not in order.dims)] for order in orders])
        """All orders of all dimensions, inner to outer (N, D)."""
        # The tensors that the outermost loops of the orders still reuse.
        self._mains = sorted({min(t for d, t in o.found if d == o.dims[-1]) for o in orders if o.dims})

    def choices(self, step: Step, inside: Ints, left: Ints, late: Callable[[], bool]) -> Choices:
        """Factors that divide `left`: of the tile of the step's stage, which has `inside` already, and of a spread.

        Not all of them once it is `late`, but some.
        """
        parts: list[Choices] = []
        for part in self._parts(step, inside, left):
            parts.append(part)
            if late() and any(len(found.temporal) for found in parts):
                break
        return _distinct(joined(parts))

    def _parts(self, step: Step, inside: Ints, left: Ints) -> Iterator[Choices]:
        for main in self._mains or [None]:
            dims = frozenset(self.reuse.dims)
            allowed = dims if main is None else allowed_dims(self.reuse, main)
            grow = dims if main is None else self.reuse.indexing(main)
            for spread in self._spreads(step.above.array, tuple(left.tolist()), allowed):
                used = np.prod(spread, axis=0)
                yield self._crossed(self._tiles(step.stage, inside, used, left // used, grow), spread)

    def _tiles(self, stage: Stage | None, inside: Ints, used: Ints, left: Ints, grow: Collection[int]) -> Ints:
        """Largest tiles that fit in the stage and, `used` times, in all memories around it; and the smallest."""
        smallest = np.ones((1, len(left)), np.int64)
        if stage is None:
            return smallest

        def fits(factors: Ints) -> Bools:
            good = np.ones(len(factors), np.bool_)
            for level in range(stage.first, len(self.room.capacity)):
                good &= self.room.fits(level, factors * inside * (1 if level in stage.levels else used))
            return good

        if not fits(smallest)[0]:
            return smallest[:0]
        rest = frozenset(self.reuse.dims) - frozenset(grow)
        largest = maximal_with_fill(left.tolist(), grow, rest, fits)
        return largest if (largest == 1).all() else np.concatenate([largest, smallest])

    @remembered
    def _spreads(self, array: tuple[int, int], left: tuple[int, ...], allowed: frozenset[int]) -> list[Spread]:
        return spreads(left, allowed, self.reuse.dims, array, self.split)

    def _crossed(self, tiles: Ints, spread: Spread) -> Choices:
        """Every tile with every order, and one spread."""
        t, o = (index.ravel() for index in np.indices((len(tiles), len(self.every))))
        columns, rows = (np.repeat(np.array([factors], np.int64), len(t), axis=0) for factors in spread)
        return Choices(tiles[t], columns, rows, self.every[o])


def _distinct(choices: Choices) -> Choices:
    keys = np.concatenate([choices.temporal, choices.columns, choices.rows, choices.order], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    return choices.part(np.sort(first))


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
