"""Compiled: places where an execution may be cut, and the cheapest way from one to the next.

A cut is a downset of units (sets of layers), as bits in words of 64.  What is live at it, made before and read after,
has been stored and will be loaded.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...costs.compiled import compiled, inner

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


class UnitTables(NamedTuple):
    """Units in a topological order.  `sources[starts[i]:starts[i + 1]]` are what unit i reads, `after` (a row of words
    each) its readers; `close` those readers that need its result among their regions.

    `needs` (a row each) is what a unit takes of what a group has: weights, regions, bytes of maps; `held` what its
    result takes of the last where it is read.  `stores` and `loads` are the cost of one transfer of its result.
    """

    starts: Ints
    sources: Ints
    after: Words
    close: Words
    needs: Floats
    held: Floats
    stores: Floats
    loads: Floats


@compiled
def find_cuts(net: UnitTables, given: int, limit: float, most: int) -> Words:
    """All downsets whose live results cost at most `limit` to store and load; none where there are more than `most`,
    or where finding them takes more than 500 decisions for each of these.

    The first `given` units are always in.  The others are decided one after another; a result that is in and has a
    reader that is out is live for good.
    """
    count, words = net.after.shape
    found = np.zeros((1024, words), np.uint64)
    number, place, tries = 0, given, 0
    inside = np.zeros(count, np.int8)
    late = np.zeros(count, np.int64)
    cost = np.zeros(count + 1)
    tried = np.zeros(count + 1, np.int8)
    mask = np.zeros(words, np.uint64)
    for v in range(given):
        inside[v] = 1
        mask[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    while place >= given:
        tries += 1
        if tries > 500 * most:
            return found[:0]
        if place == count:
            if number == most:
                return found[:0]
            if number == len(found):
                larger = np.zeros((2 * number, words), np.uint64)
                larger[:number] = found
                found = larger
            found[number] = mask
            number += 1
        if place == count or tried[place] == 2:
            tried[place] = 0
            place -= 1
            if place >= given:
                _undo(net, place, inside, late, mask)
            continue
        tried[place] += 1
        if _decide(net, place, tried[place] == 1, limit, inside, late, cost, mask):
            place += 1
    return found[:number]


@inner
def _decide(
    net: UnitTables, v: int, take: bool, limit: float, inside: NDArray[np.int8], late: Ints, cost: Floats, mask: Words
) -> bool:
    """Put unit `v` in or out; whether that can be."""
    cost[v + 1] = cost[v]
    first, end = net.starts[v], net.starts[v + 1]
    if take:
        for q in range(first, end):
            if inside[net.sources[q]] == 0:
                return False
        inside[v] = 1
        mask[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
        return True
    for q in range(first, end):
        u = net.sources[q]
        if inside[u] and late[u] == 0:
            cost[v + 1] += net.stores[u] + net.loads[u]
    if cost[v + 1] > limit:
        return False
    for q in range(first, end):
        late[net.sources[q]] += 1
    return True


@inner
def _undo(net: UnitTables, v: int, inside: NDArray[np.int8], late: Ints, mask: Words) -> None:
    if inside[v]:
        inside[v] = 0
        mask[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
    else:
        for q in range(net.starts[v], net.starts[v + 1]):
            late[net.sources[q]] -= 1


class Cuts(NamedTuple):
    """Cuts by their number of units; `levels[k]` is where those with k begin.

    `live[first[i]:first[i + 1]]` are the live units of cut i, `fresh` whether no unit of it reads them yet, `ahead`
    what it costs to load them; `needs` has sums over its units.
    """

    masks: Words
    levels: Ints
    first: Ints
    live: Ints
    fresh: NDArray[np.bool_]
    ahead: Floats
    needs: Floats


@compiled
def describe_cuts(net: UnitTables, masks: Words, levels: Ints) -> Cuts:
    """What is live at cuts, and their sums."""
    number, words = masks.shape
    first, live = np.zeros(number + 1, np.int64), np.zeros(16 * number + 64, np.int64)
    ahead, needs = np.zeros(number), np.zeros((number, 3))
    for i in range(number):
        end = first[i]
        for v in range(len(net.after)):
            if not masks[i, v >> 6] >> np.uint64(v & 63) & np.uint64(1):
                continue
            for k in range(3):
                needs[i, k] += net.needs[v, k]
            for x in range(words):
                if net.after[v, x] & ~masks[i, x]:
                    if end == len(live):
                        live = np.concatenate((live, np.zeros(end, np.int64)))
                    live[end] = v
                    end += 1
                    ahead[i] += net.loads[v]
                    break
        first[i + 1] = end
    live = live[: first[number]]
    fresh = np.ones(len(live), np.bool_)
    for i in range(number):
        for p in range(first[i], first[i + 1]):
            for x in range(words):
                if net.after[live[p], x] & masks[i, x]:
                    fresh[p] = False
    return Cuts(masks, levels, first, live, fresh, ahead, needs)


class Found(NamedTuple):
    """The least cost of the last cut, or less; for each cut its cost, and the one before it.

    That is -1 where there is none, and -2 - k where entry k goes on to it.
    `kept` are the cuts that were settled and that no larger one beats; `complete` is whether the search ended.
    """

    bound: float
    cost: Floats
    came: Ints
    kept: Ints
    complete: bool


@compiled
def cheapest(
    net: UnitTables, cuts: Cuts, room: Floats, entries: Floats, border: float, limit: float, most: int
) -> Found:
    """The least cost of transfers from the first cut to the last in steps within `room` (as `needs`).

    `entries` are ways to begin, a row each of a cost and of what a group that is open already has of `room`; with the
    first, no group is open and what is given is stored; with the others, what is given (unit 0) is part of the group,
    and its needs are counted but for the rows that are read now.  An open group stores unit 0 for `border` where that
    stays live.  A step of one unit that begins a group always fits.  Nothing above `limit` is looked for, and at most
    `most` steps are looked at.
    """
    number, words = cuts.masks.shape
    cost, came, settled = np.full(number, np.inf), np.full(number, -1, np.int64), np.zeros(number, np.bool_)
    kept, count, looked = np.zeros(number, np.int64), 0, 0
    left = np.zeros((len(net.after), words), np.uint64)
    cost[0] = entries[0, 0]
    queue = [(cost[0] + cuts.ahead[0], 0)]
    for there in range(1, number):
        looked += len(entries)
        _enter(net, cuts, room, entries, border, there, cost, came)
        if cost[there] + cuts.ahead[there] <= limit:
            heappush(queue, (cost[there] + cuts.ahead[there], there))
    while queue:
        bound, here = heappop(queue)
        if bound > limit:
            break
        if settled[here]:
            continue
        settled[here] = True
        if here == number - 1:
            continue
        looked += count // 4
        if _beaten(net, cuts, cost, kept[:count], here):
            continue
        kept[count] = here
        count += 1
        level = _open(net, cuts, here, left)
        last = min(len(cuts.levels) - 2, level + int(min(room[1], len(net.after))))
        looked += cuts.levels[last + 1] - cuts.levels[level + 1]
        if looked > most:
            return Found(float(min(bound, limit)), cost, came, kept[:count], False)
        for there in range(cuts.levels[level + 1], cuts.levels[last + 1]):
            single = there < cuts.levels[level + 2]
            within = single or cuts.needs[there, 0] - cuts.needs[here, 0] <= room[0]
            for x in range(words):
                within &= cuts.masks[here, x] & ~cuts.masks[there, x] == 0
            if not within or settled[there]:
                continue
            total = _step(net, cuts, left, here, there, room, single, cost[here], min(cost[there], limit))
            if total < cost[there] and total + cuts.ahead[there] <= limit:
                cost[there], came[there] = total, here
                heappush(queue, (total + cuts.ahead[there], there))
    return Found(float(min(cost[number - 1], limit)), cost, came, kept[:count], True)


@compiled
def leave(net: UnitTables, cuts: Cuts, found: Found) -> Floats:
    """For each kept cut but the last, the cost and the needs of a group of all that is left, which stays open."""
    number, words = cuts.masks.shape
    rows = np.zeros((len(found.kept), 4))
    for k, here in enumerate(found.kept):
        rows[k, 0] = found.cost[here] + cuts.ahead[here]
        for r in range(3):
            rows[k, 1 + r] = cuts.needs[number - 1, r] - cuts.needs[here, r]
        for p in range(cuts.first[here], cuts.first[here + 1]):
            t = cuts.live[p]
            for x in range(words):
                if net.close[t, x] & ~cuts.masks[here, x]:
                    rows[k, 2] += 1.0
                    rows[k, 3] += net.held[t]
                    break
    return rows


@inner
def _enter(
    net: UnitTables,
    cuts: Cuts,
    room: Floats,
    entries: Floats,
    border: float,
    there: int,
    cost: Floats,
    came: Ints,
) -> None:
    """The cheapest of the open groups that goes on to a cut."""
    stores, fresh = 0.0, 0.0
    for p in range(cuts.first[there], cuts.first[there + 1]):
        stores += net.stores[cuts.live[p]] + (border if cuts.live[p] == 0 else 0.0)
        if cuts.fresh[p]:
            fresh += net.held[cuts.live[p]]
    for k in range(1, len(entries)):
        total = entries[k, 0] + stores
        if total >= cost[there]:
            continue
        within = entries[k, 3] + cuts.needs[there, 2] - cuts.needs[0, 2] + net.held[0] - fresh <= room[2]
        for r in range(2):
            within &= entries[k, 1 + r] + cuts.needs[there, r] - cuts.needs[0, r] <= room[r]
        if within:
            cost[there], came[there] = total, -2 - k


@inner
def _open(net: UnitTables, cuts: Cuts, here: int, left: Words) -> int:
    """Put down which readers of what is live at a cut are still to run; the cut's number of units."""
    for p in range(cuts.first[here], cuts.first[here + 1]):
        t = cuts.live[p]
        for x in range(cuts.masks.shape[1]):
            left[t, x] = net.after[t, x] & ~cuts.masks[here, x]
    level = 0
    while cuts.levels[level + 1] <= here:
        level += 1
    return level


@inner
def _step(
    net: UnitTables,
    cuts: Cuts,
    left: Words,
    here: int,
    there: int,
    room: Floats,
    single: bool,
    cost: float,
    most: float,
) -> float:
    """`cost` and that of the transfers of the group between two cuts; infinite where it does not fit."""
    masks, words = cuts.masks, cuts.masks.shape[1]
    regions = cuts.needs[there, 1] - cuts.needs[here, 1]
    held = cuts.needs[there, 2] - cuts.needs[here, 2]
    total = cost
    for p in range(cuts.first[here], cuts.first[here + 1]):
        t = cuts.live[p]
        for x in range(words):
            if left[t, x] & masks[there, x]:
                total += net.loads[t]
                break
        for x in range(words):
            if left[t, x] & net.close[t, x] & masks[there, x]:
                regions += 1.0
                held += net.held[t]
                break
    if total >= most or (not single and regions > room[1]):
        return np.inf
    for p in range(cuts.first[there], cuts.first[there + 1]):
        t = cuts.live[p]
        if not masks[here, t >> 6] >> np.uint64(t & 63) & np.uint64(1):
            total += net.stores[t]
            if cuts.fresh[p]:
                held -= net.held[t]
    if not single and held > room[2]:
        return np.inf
    return float(total)


@inner
def _beaten(net: UnitTables, cuts: Cuts, cost: Floats, others: Ints, here: int) -> bool:
    """Whether a cut that holds all of `here` and more is as good for whatever follows."""
    masks, words = cuts.masks, cuts.masks.shape[1]
    for other in others:
        if cost[other] > cost[here]:
            continue
        beyond = False
        for x in range(words):
            if masks[here, x] & ~masks[other, x]:
                beyond = True
                break
        if beyond:
            continue
        total = cost[other]
        for p in range(cuts.first[other], cuts.first[other + 1]):
            t = cuts.live[p]
            if not masks[here, t >> 6] >> np.uint64(t & 63) & np.uint64(1):
                total += net.loads[t]
        if total <= cost[here]:
            return True
    return False
