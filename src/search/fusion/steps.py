"""Compiled: the cheapest way from one cut to the next.

Cuts are taken by their number of units, so that what leads to one is known before it; each looks for the best of the
smaller cuts from which one group leads to it.  What a cut is *worth* is its cost and one load of all that is live.
"""

from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ...costs.compiled import compiled, inner, popcount
from .cuts import Cuts, UnitTables, Words

ONE = np.uint64(1)


class Found(NamedTuple):
    """The least cost of the last cut, or less; for each cut its cost, and the one before it.

    That is -1 where there is none, and -2 - k where entry k goes on to it.
    `kept` are the cuts but the last that were reached within the limit; `complete` is whether the search ended.
    """

    bound: float
    cost: Floats
    came: Ints
    kept: Ints
    complete: bool


class Reached(NamedTuple):
    """Cuts that were reached: their place among all cuts, worth, bits (a row for each word), live units, and needs.

    Those of k units are from `begins[k]` to `ends[k]`; `lowest`, `most` have their least worth and largest needs.
    """

    places: Ints
    worth: Floats
    masks: Words
    live: Words
    needs: Floats
    begins: Ints
    ends: Ints
    lowest: Floats
    most: Floats


@compiled
def cheapest(
    net: UnitTables, cuts: Cuts, room: Floats, entries: Floats, border: float, limit: float, most: int
) -> Found:
    """The least cost of transfers from the first cut to the last in steps within `room` (as `needs`).

    `entries` are ways to begin, a row each of a cost and of what a group that is open already has of `room`; with the
    first, no group is open and what is given is stored; with the others, what is given (unit 0) is part of the group,
    and its needs are counted but for the rows that are read now.  An open group stores unit 0 for `border` where that
    stays live.  A step of one unit that begins a group always fits.  Nothing above `limit` is looked for, and about
    `most` steps are looked at.
    """
    number = len(cuts.masks)
    cost, came = np.full(number, np.inf), np.full(number, -1, np.int64)
    reached = _nothing(cuts)
    lives = _live_bits(cuts)
    keys, picked = np.zeros(number), np.zeros(number + 1, np.int64)
    cost[0] = entries[0, 0]
    count, looked = 0, 0
    for level in range(len(cuts.levels) - 1):
        reached.begins[level] = count
        for there in range(cuts.levels[level], cuts.levels[level + 1]):
            if there > 0:
                _enter(net, cuts, room, entries, border, there, cost, came)
                looked += len(entries)
                looked += _arrive(net, cuts, lives, reached, room, level, there, limit, cost, came, keys, picked)
            if there < number - 1 and cost[there] + cuts.ahead[there] <= limit:
                _put_down(cuts, lives, reached, level, there, cost[there], count)
                count += 1
        reached.ends[level] = count
        if looked > most:
            return Found(0.0, cost, came, reached.places[:0], False)
    return Found(float(min(cost[number - 1], limit)), cost, came, reached.places[:count], True)


@inner
def _nothing(cuts: Cuts) -> Reached:
    number, words = cuts.masks.shape
    levels = len(cuts.levels)
    return Reached(
        np.zeros(number, np.int64),
        np.zeros(number),
        np.zeros((words, number), np.uint64),
        np.zeros((number, words), np.uint64),
        np.zeros((3, number)),
        np.zeros(levels, np.int64),
        np.zeros(levels, np.int64),
        np.full(levels, np.inf),
        np.full((levels, 2), -np.inf),
    )


@inner
def _live_bits(cuts: Cuts) -> Words:
    """What is live at each cut, as bits."""
    found = np.zeros_like(cuts.masks)
    for i in range(len(found)):
        for p in range(cuts.first[i], cuts.first[i + 1]):
            t = cuts.live[p]
            found[i, t >> 6] |= ONE << np.uint64(t & 63)
    return found


@inner
def _put_down(cuts: Cuts, lives: Words, reached: Reached, level: int, there: int, cost: float, count: int) -> None:
    reached.places[count] = there
    reached.worth[count] = cost + cuts.ahead[there]
    reached.live[count] = lives[there]
    for x in range(lives.shape[1]):
        reached.masks[x, count] = cuts.masks[there, x]
    for k in range(3):
        reached.needs[k, count] = cuts.needs[there, k]
    reached.lowest[level] = min(reached.lowest[level], reached.worth[count])
    for k in range(2):
        reached.most[level, k] = max(reached.most[level, k], cuts.needs[there, k])


@inner
def _arrive(
    net: UnitTables,
    cuts: Cuts,
    lives: Words,
    reached: Reached,
    room: Floats,
    level: int,
    there: int,
    limit: float,
    cost: Floats,
    came: Ints,
    keys: Floats,
    picked: Ints,
) -> int:
    """Find the best way to a cut that is worth at most `limit`; how many steps were looked at."""
    mask, ahead = cuts.masks[there], cuts.ahead[there]
    stored = 0.0
    for p in range(cuts.first[there], cuts.first[there + 1]):
        stored += net.stores[cuts.live[p]]
    best = min(limit * (1 + 1e-15), cost[there] + ahead)
    least = cuts.needs[there, :2] - room[:2]
    dear = (net.stores + net.loads).max()
    looked = 0
    for below in range(level - 1, -1, -1):
        single = below == level - 1
        begin, end = reached.begins[below], reached.ends[below]
        full = reached.most[below, 0] < least[0] or reached.most[below, 1] < least[1]
        if begin == end or reached.lowest[below] >= best or (full and not single):
            continue
        number = _pick(reached, begin, end, mask, least, single, best, keys, picked)
        looked += (end - begin) // 16 + number
        for k in range(number):
            a = picked[k]
            common = 0
            for x in range(len(mask)):
                common += popcount(reached.live[a, x] & lives[there, x])
            if reached.worth[a] + stored + ahead - common * dear >= best:
                continue
            total = _worth(net, cuts, reached, a, there, stored + ahead)
            if total < best and (single or _fits(net, cuts, reached, a, there, room)):
                best = total
                cost[there], came[there] = total - ahead, reached.places[a]
    return looked


@inner
def _pick(
    reached: Reached,
    begin: int,
    end: int,
    mask: Words,
    least: Floats,
    single: bool,
    best: float,
    keys: Floats,
    picked: Ints,
) -> int:
    """Which of the cuts from `begin` to `end` lie in `mask`, have `least` of needs, and are worth less than `best`."""
    count, worth = end - begin, reached.worth[begin:end]
    for k in range(count):
        keys[k] = worth[k]
    if not single:
        heavy, many = reached.needs[0, begin:end], reached.needs[1, begin:end]
        for k in range(count):
            keys[k] = keys[k] if (heavy[k] >= least[0]) & (many[k] >= least[1]) else np.inf
    for x in range(len(mask)):
        outside, words = ~mask[x], reached.masks[x, begin:end]
        for k in range(count):
            keys[k] = keys[k] if words[k] & outside == 0 else np.inf
    number = 0
    for k in range(count):
        picked[number] = begin + k
        number += 1 if keys[k] < best else 0
    return number


@inner
def _worth(net: UnitTables, cuts: Cuts, reached: Reached, a: int, there: int, own: float) -> float:
    """What cut `there` is worth, reached by one group: what is live at both ends is stored already, and loaded again
    only if that group reads it.
    """
    total = reached.worth[a] + own
    for p in range(cuts.first[there], cuts.first[there + 1]):
        t = cuts.live[p]
        if reached.live[a, t >> 6] >> np.uint64(t & 63) & ONE:
            total -= net.stores[t]
            reads = False
            for x in range(len(reached.masks)):
                reads |= net.after[t, x] & cuts.masks[there, x] & ~reached.masks[x, a] != 0
            if not reads:
                total -= net.loads[t]
    return float(total)


@inner
def _fits(net: UnitTables, cuts: Cuts, reached: Reached, a: int, there: int, room: Floats) -> bool:
    """Whether the group between two cuts has room for its results, and for those that it reads."""
    here = reached.places[a]
    regions = cuts.needs[there, 1] - cuts.needs[here, 1]
    held = cuts.needs[there, 2] - cuts.needs[here, 2]
    for p in range(cuts.first[here], cuts.first[here + 1]):
        t = cuts.live[p]
        for x in range(len(reached.masks)):
            if net.close[t, x] & cuts.masks[there, x] & ~reached.masks[x, a]:
                regions += 1.0
                held += net.held[t]
                break
    if regions > room[1]:
        return False
    for p in range(cuts.first[there], cuts.first[there + 1]):
        t = cuts.live[p]
        if cuts.fresh[p] and not reached.masks[t >> 6, a] >> np.uint64(t & 63) & ONE:
            held -= net.held[t]
    return held <= room[2]


@compiled
def leave(net: UnitTables, cuts: Cuts, found: Found) -> Floats:
    """For each kept cut the cost and the needs of a group of all that is left, which stays open."""
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
    net: UnitTables, cuts: Cuts, room: Floats, entries: Floats, border: float, there: int, cost: Floats, came: Ints
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
