"""A lower bound from prices on units: no group costs less than the prices of its units together.

A partition then costs at least the sum of all prices.  Prices that some groups fall short of are mended: each group has
a first unit, so the most by which a group that begins with it falls short, summed over all units, is taken off (the
dual of set partition).  Better prices are found by subgradients, step by step (Held and Karp 1971).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...algebra.dag import bits
from ...algebra.element import Floats, Ints
from ...costs.compiled import bare, compiled
from .cuts import Words
from .first import NONE, ONE, Near, firsts_of, has_room, hull
from .flow import RESOURCES, Closures, cheapest_sets, closures_of
from .relaxed import Chains, unpacked

MOST_LISTED = 64
"""Units near a first one: more are not listed."""

MOST_IN_ALL = 1_000_000
"""Groups that are listed, of all first units."""


class Listed(NamedTuple):
    """For each of `firsts` the groups that it is first in; those of place k are from `begins[k]` to `begins[k + 1]`.

    Group g has the units `members[starts[g]:starts[g + 1]]`, and passing results cost it `costs[g]` at least.
    """

    firsts: Ints
    begins: Ints
    starts: Ints
    members: Ints
    costs: Floats


@compiled
def list_groups(near: Near, room: Floats, most: int) -> tuple[Words, Floats, bool]:
    """Groups (words of bits), what each costs, and whether these are all: at most `most`, of `4 * most` tries."""
    found, costs, count = np.zeros(64, np.uint64), np.zeros(64), 0
    groups, barred = np.zeros(MOST_LISTED + 2, np.uint64), np.zeros(MOST_LISTED + 2, np.uint64)
    group = np.zeros(1, np.uint64)
    fresh, tries = np.zeros(MOST_LISTED + 2, np.bool_), 0
    groups[0], fresh[0], depth = ONE, True, 1
    while depth > 0:
        depth, tries = depth - 1, tries + 1
        group[0] = groups[depth]
        if fresh[depth]:
            if not has_room(near, group, room):
                continue
            if count == most or tries > 4 * most:
                return found[:count], costs[:count], False
            if count == len(found):
                found = np.concatenate((found, np.zeros(count, np.uint64)))
                costs = np.concatenate((costs, np.zeros(count)))
            found[count], costs[count] = group[0], _passing(near, group[0])
            count += 1
        one = _neighbour(near, group[0], barred[depth])
        if one == NONE:
            continue
        bars = barred[depth]
        barred[depth], fresh[depth] = bars | one, False
        group[0] |= one
        hull(near, group)
        depth += 1
        if group[0] & bars == NONE:
            groups[depth], barred[depth], fresh[depth] = group[0], bars, True
            depth += 1
    return found[:count], costs[:count], True


@bare
def _neighbour(near: Near, group: np.uint64, barred: np.uint64) -> np.uint64:
    """The first neighbour of a group that is not barred."""
    beside = NONE
    for i in range(len(near.units)):
        if group >> np.uint64(i) & ONE:
            beside |= near.beside[i, 0]
    beside &= ~group & ~barred
    return beside & (~beside + ONE)


@bare
def _passing(near: Near, group: np.uint64) -> float:
    """What a group stores and loads."""
    total = 0.0
    for q in range(len(near.made)):
        if q < len(near.units) and group >> np.uint64(q) & ONE:
            if near.beyond[q] or near.readers[q, 0] & ~group != NONE:
                total += near.stores[q]
        elif near.readers[q, 0] & group != NONE:
            total += near.loads[q]
    return total


def list_all(around: Sequence[Near], room: Floats, most: int) -> Listed:
    """The groups of every first unit that has at most `most`, of at most `MOST_LISTED` units."""
    firsts, counts, sizes, members, prices = list[int](), list[int](), list[Ints](), list[Ints](), list[Floats]()
    for first, near in enumerate(around):
        if len(near.units) > MOST_LISTED:
            continue
        groups, costs, complete = list_groups(near, room, max(1, min(most, MOST_IN_ALL - sum(counts))))
        if complete:
            rows, places = np.nonzero(unpacked(groups[:, None], len(near.units)))
            firsts.append(first)
            counts.append(len(groups))
            sizes.append(np.bincount(rows, minlength=len(groups)))
            members.append(near.units[places])
            prices.append(costs)
    nothing = [np.zeros(0, np.int64)]
    return Listed(
        np.array(firsts, np.int64),
        np.cumsum([0, *counts]),
        np.concatenate(([0], np.cumsum(np.concatenate([*sizes, *nothing])))),
        np.concatenate([*members, *nothing]),
        np.concatenate([*prices, np.zeros(0)]),
    )


@compiled
def cheapest_listed(listed: Listed, prices: Floats, values: Floats, slopes: Floats) -> None:
    """For each first unit what the cheapest group costs beyond the prices of its units, where that is below 0.

    The units of that group are counted off in `slopes`.
    """
    for k in range(len(listed.firsts)):
        best, chosen = 0.0, -1
        for g in range(listed.begins[k], listed.begins[k + 1]):
            cost = listed.costs[g]
            for place in range(listed.starts[g], listed.starts[g + 1]):
                cost -= prices[listed.members[place]]
            if cost < best:
                best, chosen = cost, g
        values[listed.firsts[k]] = best
        if chosen >= 0:
            for place in range(listed.starts[chosen], listed.starts[chosen + 1]):
                slopes[listed.members[place]] -= 1.0


MOST_GROUPS = 20_000
"""Groups with the same first unit are listed where there are no more than this."""

STALE, SHORTER, LEAST_STEP = 15, 0.7, 0.005
"""After so many steps without a better bound, steps become shorter by a factor, until they are this short."""

KEPT = 0.7
"""The share of the last direction in the next one."""

SCALE = 10.0
"""Prices on shares of the room, against those on units."""


@dataclass
class Dual:
    """Prices for the units of `chains`; `best` is the largest bound on transfers so far, or 0."""

    chains: Chains
    listed: Listed
    closures: Closures
    best: float = 0.0
    step_share: float = 0.5
    stale: int = 0
    prices: Floats = field(default_factory=lambda: np.zeros(0))
    tolls: Floats = field(default_factory=lambda: np.zeros((0, RESOURCES)))
    kept: tuple[Floats, Floats] | None = None
    moved: tuple[Floats, Floats] | None = None

    def begin(self, groups: Sequence[int]) -> None:
        """Take prices a little below those that the groups of a partition pay."""
        units = self.chains.units
        count = len(units.heads)
        self.prices, self.tolls = 0.9 * self._paid(groups), np.zeros((count, RESOURCES))
        self.kept = self.moved = None

    def _paid(self, groups: Sequence[int]) -> Floats:
        """What each unit stores in a partition, and its part of what its group loads."""
        units = self.chains.units
        home = [next(k for k, group in enumerate(groups) if group >> head & 1) for head in units.heads]
        place = {head: i for i, head in enumerate(units.heads)}
        readers: dict[tuple[int, int], list[int]] = {}
        for i in range(len(units.heads)):
            for source in bits(units.reads(i)):
                if source in place and home[place[source]] != home[i]:
                    readers.setdefault((place[source], home[i]), []).append(i)
        paid = np.zeros(len(units.heads))
        for (source, _), numbers in readers.items():
            for i in numbers:
                paid[i] += units.tolls.loads[units.heads[source]] / len(numbers)
        for source in {source for source, _ in readers}:
            paid[source] += units.store(source)
        return paid

    def bound(self, prices: Floats, tolls: Floats) -> tuple[float, Floats, Floats]:
        """The bound at these prices, and how it grows with them."""
        values, slopes = np.zeros(len(prices)), np.ones(len(prices))
        excess = np.zeros_like(tolls)
        if len(self.closures.firsts):
            cheapest_sets(self.closures, prices, tolls, values, slopes, excess)
        cheapest_listed(self.listed, prices, values, slopes)
        return float(prices.sum() + values.sum()) * (1 - 1e-12), slopes, excess

    def improve(self, target: float, steps: int) -> bool:
        """Take some steps towards `target`, which the bound cannot pass; whether more may help."""
        for _ in range(steps):
            if self.step_share < LEAST_STEP or self.best >= target:
                return False
            if self.chains.left_s() <= 0:
                return True
            found, slopes, excess = self.bound(self.prices, self.tolls)
            if found > self.best or self.kept is None:
                self.best, self.kept, self.stale = max(found, self.best), (self.prices, self.tolls), 0
            else:
                self.stale += 1
            if self.stale > STALE:
                self.step_share, self.stale, self.moved = self.step_share * SHORTER, 0, None
                self.prices, self.tolls = self.kept
                continue
            self._move(target - found, slopes, excess)
        return True

    def _move(self, missing: float, slopes: Floats, excess: Floats) -> None:
        excess = np.where((self.tolls <= 0) & (excess < 0), 0.0, excess)
        if self.moved is not None:
            slopes, excess = slopes + KEPT * self.moved[0], excess + KEPT * self.moved[1]
        self.moved = slopes, excess
        length = float((slopes**2).sum() + SCALE**2 * (excess**2).sum())
        step = self.step_share * missing / max(length, 1e-9)
        self.prices = self.prices + step * slopes
        self.tolls = np.maximum(0.0, self.tolls + step * SCALE**2 * excess)


def dual_of(chains: Chains) -> Dual:
    """The search for prices; groups are listed where they are few.  `TooLargeError` where that takes too long."""
    units, room = chains.units, chains.room
    count = len(units.heads)
    firsts = firsts_of(units.tables(range(count)), room)
    around = [firsts.near(first) for first in range(count)]
    listed = list_all(around, room, MOST_GROUPS)
    known = set(listed.firsts.tolist())
    return Dual(chains, listed, closures_of(around, [v for v in range(count) if v not in known], room))
