"""Layers that a lower bound may take together, and what sets of them need at least."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ...algebra.dag import bits
from ...algebra.element import Bools, Floats
from .cuts import UnitTables
from .space import Space


@dataclass(frozen=True)
class Tolls:
    """Every group costs at least the `floors` of its layers and the tolls of what passes between it and DRAM.

    A result is stored (`stores`) where a layer outside of its group reads it or the network gives it, and loaded
    (`loads`) by each other group that reads it.  What the network is given is part of `floors` where one layer reads
    it.
    """

    space: Space
    floors: Sequence[float]
    stores: Sequence[float]
    loads: Sequence[float]
    exits: int

    def least(self, group: int) -> float:
        """What `group` costs at least."""
        total = 0.0
        for number in bits(group):
            total += self.floors[number]
            if self.space.after[number] & ~group or self.exits >> number & 1:
                total += self.stores[number]
        for number in bits(self.space.sources(group) & ~group):
            total += self.loads[number]
        return total

    def rest(self, done: int) -> float:
        """What the layers outside of the downset `done` cost at least: their floors, and loads of what is live."""
        total = 0.0
        missing = self.space.everything & ~done
        for number in bits(missing):
            total += self.floors[number]
            if self.exits >> number & 1:
                total += self.stores[number]
        for number in bits(self.space.sources(missing) & done):
            total += self.loads[number]
        return total


SMALL = 1 / 32
"""A layer with at most this share of the room for weights may join its reader, and its weights be forgotten."""


@dataclass(frozen=True)
class Room:
    """What a group of several layers has: bytes of weights, regions, bytes of maps; infinite where nothing is known."""

    weights: float
    regions: float
    maps: float = inf


@dataclass(frozen=True)
class Units:
    """`heads[i]` is the layer that unit i is named after, and that makes its result; `absorbed[i]` the others.

    A layer is absorbed by its only reader where it reads one thing, no larger than what it makes: then running it with
    its reader costs no more transfers.  The group that it leaves only becomes smaller; of the one that it joins the
    region of its result is counted, which is there either way, and nothing else of it.

    `held` has bytes that a layer, reading another's result, keeps of it at least.
    """

    space: Space
    tolls: Tolls
    weights: Sequence[int]
    room: Room
    heads: tuple[int, ...]
    absorbed: tuple[tuple[int, ...], ...]
    held: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def tables(
        self, members: Sequence[int], given: Sequence[int] = (), *, strict: bool = False, paid: Collection[int] = ()
    ) -> UnitTables:
        """Tables of the units `given` (done already) and `members`, of which only what they read of each other is seen.

        `strict` counts all that a group of whole units needs; else only what is needed whatever becomes of absorbed
        layers.  Storing the results of `paid` costs nothing.
        """
        order = [*given, *members]
        made = {self.heads[i]: place for place, i in enumerate(order)}
        words = (len(order) + 63) // 64
        after, close = (np.zeros((len(order), words), np.uint64) for _ in range(2))
        starts, sources = [0], list[int]()
        for place, i in enumerate(order):
            found = sorted(made[u] for u in bits(self.reads(i)) if u in made) if place >= len(given) else []
            sources.extend(found)
            starts.append(len(sources))
            direct = self.space.before[self.heads[i]]
            for u in found:
                after[u, place >> 6] |= np.uint64(1 << (place & 63))
                if strict or direct >> self.heads[order[u]] & 1:
                    close[u, place >> 6] |= np.uint64(1 << (place & 63))
        held = np.array([self.least_held(i) for i in order], float) * after.any(axis=1)
        weights = np.array([self.weight(i, strict) for i in order], float)
        regions = np.array([1.0 + len(self.absorbed[i]) for i in order])
        maps = held + [sum(self.held.get((self.heads[i], v), 0) for v in self.absorbed[i]) for i in order]
        return UnitTables(
            np.array(starts, np.int64),
            np.array(sources, np.int64),
            after,
            close,
            np.column_stack((weights, regions, maps)),
            held,
            self._stores(order, {*given, *paid}),
            np.array([self.tolls.loads[self.heads[i]] for i in order], float),
        )

    def _stores(self, order: Sequence[int], done: Collection[int]) -> Floats:
        """What storing costs: nothing where it is done already or must be done anyway."""
        return np.array([0.0 if i in done else self.store(i) for i in order], float)

    def store(self, unit: int) -> float:
        """What storing a unit's result costs beyond what must be stored anyway."""
        head = self.heads[unit]
        return 0.0 if self.tolls.exits >> head & 1 else self.tolls.stores[head]

    def least_held(self, unit: int) -> int:
        """What one reader keeps of a unit's result at least."""
        layer = self.heads[unit]
        return min((self.held.get((reader, layer), 0) for reader in bits(self.space.after[layer])), default=0)

    def layers(self, unit: int) -> int:
        """The layers of a unit, as bits."""
        return sum(1 << v for v in (self.heads[unit], *self.absorbed[unit]))

    def layers_of(self, row: Bools, order: Sequence[int]) -> int:
        """The layers of those of the units `order` that `row` says, as bits."""
        return sum(self.layers(order[place]) for place in np.flatnonzero(row).tolist())

    def reads(self, unit: int) -> int:
        """The layers outside of a unit that it reads."""
        inside = self.layers(unit)
        return self.space.sources(inside) & ~inside

    def weight(self, unit: int, strict: bool) -> int:
        """Bytes of weights that a group with this unit holds."""
        return sum(self.weights[v] for v in (self.heads[unit], *(self.absorbed[unit] if strict else ())))


def units_of(
    space: Space, tolls: Tolls, weights: Sequence[int], room: Room, held: Mapping[tuple[int, int], int] | None = None
) -> Units:
    """All layers as units, small ones with their readers."""
    joins: dict[int, int] = {}
    for v in range(space.size):
        if _may_join(space, tolls, v) and weights[v] <= SMALL * room.weights:
            reader = space.after[v].bit_length() - 1
            source = space.before[v].bit_length() - 1
            if source not in joins:
                joins[v] = reader
    heads = tuple(v for v in range(space.size) if v not in joins)
    absorbed: dict[int, list[int]] = {v: [] for v in heads}
    for v, reader in list(joins.items()):
        if reader in joins:
            raise AssertionError("a layer that joins one that joins another")
        absorbed[reader].append(v)
    return Units(space, tolls, weights, room, heads, tuple(tuple(absorbed[v]) for v in heads), held or {})


def _may_join(space: Space, tolls: Tolls, v: int) -> bool:
    """Whether a layer has one source and one reader, and reads no more than it makes."""
    before, after = space.before[v], space.after[v]
    if before.bit_count() != 1 or after.bit_count() != 1 or tolls.exits >> v & 1:
        return False
    source = before.bit_length() - 1
    read = tolls.loads[source] + (0.0 if tolls.exits >> source & 1 else tolls.stores[source])
    return read <= tolls.stores[v] + tolls.loads[v]
