"""Which units may be in a group with the unit that comes first in it.

Units are in a topological order, and every group has a first one: groups are told apart by it.  With it in the group,
all units between it and another one are there too; so few others may be, and those are near.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...algebra.element import Bools, Floats, Ints
from ...costs.compiled import bare, compiled, inner
from .cuts import UnitTables, Words
from .lattice import TooLargeError
from .relaxed import packed, unpacked

ONE, NONE = np.uint64(1), np.uint64(0)

MOST_UNITS, MOST_NEAR = 2_000, 400
"""Units of a network, and those near a first one: where there are more, this takes too long."""


class Near(NamedTuple):
    """The units that may be in a group, the first one first, and what they make and read; sets are words of bits.

    `after[i]`, `before[i]`, `beside[i]` are the units that a path from unit i leads to, those from which one leads to
    it, and its neighbours.  The results are those of the units, in their order, then others that they read (`made` by):
    `readers` and `close` (those that need a region for it) are the units that read it, `beyond` says whether others do.
    `needs` of a unit are weights, regions and bytes beyond those of results; `held`, `stores`, `loads` are of results.
    """

    units: Ints
    made: Ints
    after: Words
    before: Words
    beside: Words
    readers: Words
    close: Words
    beyond: Bools
    needs: Floats
    held: Floats
    stores: Floats
    loads: Floats


@bare
def has_room(near: Near, group: Words, room: Floats) -> bool:
    """Whether a group may hold the units `group`; one unit on its own always may."""
    weights, regions, held, count = 0.0, 0.0, 0.0, 0
    for i in range(len(near.units)):
        if has(group, i):
            count += 1
            weights += near.needs[i, 0]
            regions += near.needs[i, 1]
            held += near.needs[i, 2]
    for q in range(len(near.made)):
        if (q < len(near.units) and has(group, q)) or _meet(near.close[q], group):
            regions += 1.0
            if _meet(near.readers[q], group):
                held += near.held[q]
    return count < 2 or (weights <= room[0] and regions <= room[1] and held <= room[2])


@bare
def hull(near: Near, group: Words) -> None:
    """Add all units between those of `group`."""
    for x in range(len(group)):
        above, below = NONE, NONE
        for i in range(len(near.units)):
            if has(group, i):
                above |= near.before[i, x]
                below |= near.after[i, x]
        group[x] |= above & below


@inner
def together(near: Near, room: Floats, members: Ints) -> bool:
    """Whether units may be in one group with the first one."""
    group = np.zeros(near.after.shape[1], np.uint64)
    group[0] |= ONE
    for i in members:
        group[i >> 6] |= ONE << np.uint64(i & 63)
    hull(near, group)
    return has_room(near, group, room)


@compiled
def companions(near: Near, room: Floats) -> Bools:
    """Which units may be with the first one, and are joined with it by others that may."""
    count = len(near.units)
    good, found = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for i in range(count):
        good[i] = together(near, room, np.array([i]))
    found[0] = True
    queue, end, place = np.zeros(count, np.int64), 1, 0
    while place < end:
        here = queue[place]
        place += 1
        for i in range(count):
            if good[i] and not found[i] and has(near.beside[here], i):
                found[i] = True
                queue[end] = i
                end += 1
    return found


@bare
def has(group: Words, i: int) -> bool:
    """Whether a set has unit i."""
    return bool(group[i >> 6] >> np.uint64(i & 63) & ONE)


@bare
def _meet(a: Words, b: Words) -> bool:
    for x in range(len(a)):
        if a[x] & b[x] != NONE:
            return True
    return False


@dataclass(frozen=True)
class Firsts:
    """The units of a network, and matrices over them: which are `reads[r, s]` by unit r, `close[r, s]`, `after[s, r]`
    by any path.
    """

    net: UnitTables
    room: Floats
    reads: Bools
    close: Bools
    after: Bools

    def near(self, first: int) -> Near:
        """What may be in a group with `first`, of what comes after it; `TooLargeError` where that is too much."""
        weights, own = self.net.needs[:, 0], self.net.needs[:, 1]
        between = self.after[first][:, None] & self.after[:, first:]
        places = np.arange(first, len(own))
        heavy = between.T @ weights + weights[first] + weights[places] * (places > first)
        many = between.T @ own + own[first] + own[places] * (places > first)
        good = (heavy <= self.room[0]) & (many <= self.room[1])
        good[0] = True
        if good.sum() > MOST_NEAR:
            raise TooLargeError
        whole = self._described(places[good])
        return self._described(whole.units[companions(whole, self.room)])

    def _described(self, units: Ints) -> Near:
        net = self.net
        outside = np.setdiff1d(np.flatnonzero(self.reads[units].any(axis=0)), units)
        made = np.concatenate((units, outside))
        after = self.after[np.ix_(units, units)]
        reads, close = self.reads[np.ix_(units, made)].T, self.close[np.ix_(units, made)].T
        inside = self.reads[np.ix_(units, units)]
        needs = net.needs[units] - np.column_stack((np.zeros(len(units)), np.ones(len(units)), net.held[units]))
        return Near(
            units,
            made,
            packed(after),
            packed(after.T),
            packed(inside | inside.T),
            packed(reads),
            packed(close),
            self.reads[:, made].sum(axis=0) > reads.sum(axis=1),
            needs,
            net.held[made],
            net.stores[made],
            net.loads[made],
        )


def firsts_of(net: UnitTables, room: Floats) -> Firsts:
    """For all units of a network; `TooLargeError` where these are too many."""
    count = len(net.stores)
    if count > MOST_UNITS:
        raise TooLargeError
    reads, close = (np.ascontiguousarray(unpacked(rows, count).T) for rows in (net.after, net.close))
    after = np.zeros((count, count), np.bool_)
    for s in reversed(range(count)):
        readers = np.flatnonzero(reads[:, s])
        after[s, readers] = True
        after[s] |= after[readers].any(axis=0)
    return Firsts(net, room, reads, close, after)
