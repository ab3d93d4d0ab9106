"""The cheapest chain of cuts: a lower bound, for whole networks or for windows of them, and partitions.

What a group needs is counted from below: its weights, a region for each result that it makes or reads, and the rows
that such a result keeps at least.  A partition
seen through a window (some of the layers) is a chain of cuts of the window whose groups need no more, and results
outside of the window cost nothing; so bounds of windows without common layers add up.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

import numpy as np

from ...algebra.dag import bits
from ...algebra.element import Bools, Floats, Ints
from .cuts import Words, describe_cuts, find_cuts
from .outside import Outside
from .steps import cheapest
from .units import Units

GROWTH = 1.5
"""Limits on the cost are tried in steps of this factor."""

STEPS_PER_S = 3e7
"""Steps between cuts that are looked at in a second, at least."""

WINDOW_SHARE = 1 / 8
"""The share of the steps that remain that a window may take for one limit."""

MOST_UNITS = 60
"""Units of a window."""


def endless() -> float:
    """No limit in seconds."""
    return inf


@dataclass(frozen=True)
class Chain:
    """At least `cost`; `groups` (layers) cost just that, or are none where the search was cut short."""

    cost: float
    groups: tuple[int, ...] = ()


@dataclass
class Chains:
    """Chains for the units of one network; a search holds `most_cuts` cuts and looks at `most_steps` steps.

    `floors` has what transfers of each layer's result cost at least beyond `Tolls.rest(0)`, known from elsewhere;
    `best` is a partition that is known.
    """

    units: Units
    floors: Sequence[float] = ()
    most_cuts: int = 100_000
    most_steps: int = 3_000_000_000
    left_s: Callable[[], float] = endless
    best: Sequence[int] = ()
    outside: Outside | None = None
    bounds: dict[tuple[int, ...], float] = field(default_factory=dict[tuple[int, ...], float])
    solved: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])
    _segments: list[range] | None = None

    def within(
        self,
        members: Sequence[int],
        limit: float,
        given: Sequence[int] = (),
        *,
        strict: bool = False,
        paid: Collection[int] = (),
    ) -> Chain | None:
        """The cheapest chain if it costs at most `limit`; None where there are too many cuts."""
        net = self.units.tables(members, given, strict=strict, paid=paid)
        masks = find_cuts(net, len(given), limit, self.most_cuts)
        if len(masks) == 0:
            return None
        order = [*given, *members]
        cuts = describe_cuts(net, *by_level(masks, len(order)))
        found = cheapest(net, cuts, self.room, np.zeros((1, 4)), 0.0, limit, int(WINDOW_SHARE * self.steps))
        rows = unpacked(cuts.masks, len(order))
        came = found.came if found.complete else np.full(len(rows), -1)
        groups: list[int] = []
        place = len(rows) - 1
        while came[place] >= 0:
            groups.append(self.units.layers_of(rows[place] & ~rows[came[place]], order))
            place = int(came[place])
        return Chain(float(found.bound), tuple(reversed(groups)) if place == 0 else ())

    @property
    def steps(self) -> int:
        """Steps that a search may look at now."""
        return int(min(self.most_steps, max(0.0, self.left_s()) * STEPS_PER_S))

    @property
    def room(self) -> Floats:
        """What a group has, in the order of `UnitTables.needs`."""
        room = self.units.room
        return np.array([room.weights, room.regions, room.maps])

    def least(self, members: Sequence[int], start: float, paid: Collection[int] = ()) -> float:
        """What transfers among `members` cost at least: limits are tried until the cheapest chain is within one.

        Storing results of `paid` counts nothing; the same members must come with the same ones.
        """
        key = tuple(members)
        if key not in self.bounds:
            known = self.seen(key, paid)
            best, limit = 0.0, start if known == inf else min(known, max(start, known / GROWTH**2))
            while limit > 0 and self.left_s() > 0:
                found = self.within(members, limit, paid=paid)
                if found is None:
                    break
                best = max(best, found.cost)
                if found.groups or found.cost == limit == known:
                    self.solved.add(key)
                if found.groups or found.cost < limit or limit == known:
                    break
                limit = min(limit * GROWTH, known)
            self.bounds[key] = best
        return self.bounds[key]

    def seen(self, members: Sequence[int], paid: Collection[int] = ()) -> float:
        """What the known partition transfers among `members`, each absorbed layer in the group of its reader."""
        if not self.best:
            return inf
        units = self.units
        home = {i: next(k for k, group in enumerate(self.best) if group >> units.heads[i] & 1) for i in members}
        total = 0.0
        for i in members:
            readers = {home[j] for j in members if units.reads(j) >> units.heads[i] & 1} - {home[i]}
            if readers:
                total += len(readers) * units.tolls.loads[units.heads[i]] + (0.0 if i in paid else units.store(i))
        return total

    def window(self, members: Sequence[int]) -> float:
        """`least`, or that of fewer members: those with the largest results, where there are too many cuts."""
        floors = {i: self.floors[self.units.heads[i]] if self.floors else 0.0 for i in members}
        best = sum(floors.values())
        loads = [self.units.tolls.loads[self.units.heads[i]] for i in members]
        for least in sorted(set(loads))[:3]:
            kept = [i for i, load in zip(members, loads, strict=True) if load >= least]
            paid = self.outside.paid(kept) if self.outside is not None else {}
            rest = sum(floors[i] for i in members if i not in kept)
            best = max(best, rest + sum(paid.values()) + self.least(kept, 4 * least, paid))
            if tuple(kept) in self.solved:
                break
        return best

    def windows(self) -> list[range]:
        """Segments in pieces of at most `MOST_UNITS` units."""
        pieces: list[range] = []
        for part in self.segments():
            count = -(-len(part) // MOST_UNITS)
            edges = [part.start + len(part) * i // count for i in range(count + 1)]
            pieces.extend(range(a, b) for a, b in pairwise(edges))
        return pieces

    def by_segment(self, bounds: Sequence[float]) -> list[float]:
        """Bounds of windows as bounds of the segments that they are pieces of."""
        pairs = list(zip(self.windows(), bounds, strict=True))
        return [sum(bound for piece, bound in pairs if piece.start in part) for part in self.segments()]

    def groups(self, members: Sequence[int]) -> tuple[int, ...]:
        """The groups of the cheapest chain of whole units that load what is made elsewhere; none if not found."""
        units = self.units
        made = {head: i for i, head in enumerate(units.heads)}
        known = set(members)
        given = sorted({made[u] for i in members for u in bits(units.reads(i)) if u in made} - known)
        limit = sum(units.tolls.loads[units.heads[i]] for i in given) + 4 * units.tolls.loads[units.heads[members[-1]]]
        while limit > 0 and self.left_s() > 0:
            found = self.within(members, limit, given, strict=True)
            if found is None or found.groups or found.cost < limit:
                return found.groups if found is not None else ()
            limit *= GROWTH
        return ()

    def segments(self) -> list[range]:
        """Windows between units after which only their own result is live."""
        if self._segments is None:
            units = self.units
            ends = [0, *(i + 1 for i, live in enumerate(_live_counts(units)) if live <= 1), len(units.heads)]
            self._segments = [range(a, b) for a, b in pairwise(ends) if a < b]
        return self._segments


def _live_counts(units: Units) -> Iterator[int]:
    """How many results are live after each unit."""
    space, done = units.space, 0
    live: set[int] = set()
    for i in range(len(units.heads)):
        layers = units.layers(i)
        done |= layers
        for v in bits((layers | space.sources(layers)) & done):
            if space.after[v] & ~done:
                live.add(v)
            else:
                live.discard(v)
        yield len(live)


def by_level(masks: Words, count: int) -> tuple[Words, Ints]:
    """Cuts of `count` units by their number of units, and where each number begins."""
    sizes = unpacked(masks, count).sum(axis=1)
    places = np.argsort(sizes, kind="stable")
    return masks[places], np.searchsorted(sizes[places], np.arange(count + 2))


def packed(rows: Bools) -> Words:
    """Rows of booleans as words of 64 bits."""
    room = np.zeros((len(rows), -(-rows.shape[1] // 64) * 64), np.bool_)
    room[:, : rows.shape[1]] = rows
    return np.ascontiguousarray(np.packbits(room, axis=1, bitorder="little")).view(np.uint64)


def unpacked(masks: Words, count: int) -> Bools:
    """Words as rows of `count` booleans."""
    return np.unpackbits(masks.view(np.uint8), axis=1, count=count, bitorder="little").astype(np.bool_)
