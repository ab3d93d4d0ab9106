"""Compiled: all groups with a given first unit, where these are few, and the one that prices leave cheapest.

A group is connected, and holds all units between its units.  Such a set is reached from its first unit by adding a
neighbour and what is between, again and again; each neighbour is added or barred for good, so that no set comes twice.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...costs.compiled import bare, compiled
from .cuts import Floats, Ints, Words
from .first import NONE, ONE, Near, has_room, hull
from .relaxed import unpacked

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
