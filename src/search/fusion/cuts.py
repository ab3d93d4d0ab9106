"""Compiled: places where an execution may be cut.

A cut is a downset of units (sets of layers), as bits in words of 64.  What is live at it, made before and read after,
has been stored and will be loaded.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.element import Bools, Floats, Ints
from ...costs.compiled import compiled, inner

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
    fresh: Bools
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
