"""The loops of a mapping by dimension, and counts of iterations that are not empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..hierarchy.values import Loop, LoopMapping, Problem


@dataclass(frozen=True)
class Place:
    """A loop in its dimension: it advances by `pitch` iterations of the dimension, `bound` (above 1) times.

    `order` is the position among all temporal loops, inner to outer; None for a spatial loop.
    """

    level: int
    bound: int
    pitch: int
    order: int | None

    @property
    def reach(self) -> int:
        """From the first position of the loop to its last."""
        return (self.bound - 1) * self.pitch


@dataclass(frozen=True)
class Nest:
    """Bounds, and loops per dimension from inner to outer; `events` are (order, dimension) of temporal loops."""

    bounds: tuple[int, ...]
    places: tuple[tuple[Place, ...], ...]
    events: tuple[tuple[Place, int], ...]
    tiles: tuple[tuple[int, ...], ...]

    def tile(self, level: int, dim: int) -> int:
        """Nominal iterations along `dim` in one tile of `level`; -1 is the arithmetic."""
        return 1 if level < 0 else self.tiles[level][dim]

    def outside(self, level: int, dim: int) -> tuple[Place, ...]:
        """The loops of `dim` outside the tile of `level`."""
        return tuple(place for place in self.places[dim] if place.level > level)

    def iterations(self, dim: int) -> int:
        """Iterations of `dim` that all instances have together."""
        return count_below(self.bounds[dim], self.places[dim], lambda _: True)

    def even(self, level: int) -> bool:
        """Whether all instances of `level` have the same work."""
        return all(
            not any(place.order is None for place in self.outside(level, dim)) or bound == self.tiles[-1][dim]
            for dim, bound in enumerate(self.bounds)
        )

    def first_instance(self, level: int) -> Nest:
        """The nest of the first instance of `level`: the loops that spread work over others are left out."""
        places = tuple(
            tuple(place for place in row if place.order is not None or place.level <= level) for row in self.places
        )
        return replace(self, places=places)

    def used(self, level: int) -> int:
        """Instances of `level` that have work."""
        total = 1
        for dim, bound in enumerate(self.bounds):
            total *= count_below(bound, self.outside(level, dim), lambda place: place.order is None)
        return total

    def steps(self) -> int:
        """Steps of the first instance, which is the slowest."""
        total = 1
        for bound, places in zip(self.bounds, self.places, strict=True):
            total *= count_below(bound, places, lambda place: place.order is not None)
        return total


def nest_of(problem: Problem, mapping: LoopMapping) -> Nest:
    """The loops of `mapping`; where factors fall short of a bound, the bound is what they cover."""
    pitch = [1] * len(problem.dims)
    places: list[list[Place]] = [[] for _ in problem.dims]
    events: list[tuple[Place, int]] = []
    tiles: list[tuple[int, ...]] = []

    def put(level: int, loop: Loop, order: int | None) -> None:
        place = Place(level, loop.bound, pitch[loop.dim], order)
        places[loop.dim].append(place)
        pitch[loop.dim] *= loop.bound
        if order is not None:
            events.append((place, loop.dim))

    for index, level in enumerate(mapping.levels):
        for loop in level.spatial:
            if loop.bound > 1:
                put(index, loop, None)
        for loop in level.temporal:
            if loop.bound > 1:
                put(index, loop, len(events))
        tiles.append(tuple(pitch))
    bounds = tuple(min(n, covered) for n, covered in zip(problem.bounds, pitch, strict=True))
    return Nest(bounds, tuple(tuple(p) for p in places), tuple(events), tuple(tiles))


def count_below(limit: int, places: tuple[Place, ...], free: Callable[[Place], bool]) -> int:
    """Positions below `limit` of the loops that are `free`, with all others at their first iteration.

    Read digit by digit from the outermost loop.  Example: bounds 4 (pitch 1, free) and 3 (pitch 4, not free), limit 3:
    the answer is 3.
    """
    below = [1]
    for place in places:
        below.append(below[-1] * (place.bound if free(place) else 1))
    if limit <= 0:
        return 0
    total, rest = 0, limit
    for i in range(len(places) - 1, -1, -1):
        place = places[i]
        digit, left = divmod(rest, place.pitch)
        if digit >= place.bound:
            return total + below[i + 1]
        if free(place):
            total += digit * below[i]
        elif digit:
            return total + below[i]
        rest = left
    return total + (rest > 0)
