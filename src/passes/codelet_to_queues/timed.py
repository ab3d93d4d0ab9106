"""When instructions start, by a list schedule or in a given order, and what each of them waits for.

Instructions are rows of three columns: the unit, which works in order, a resource that is occupied alone, and cycles.
What one depends on is `before[first[i]:first[i + 1]]`, for all of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.element import Bools, Ints
from ...costs.compiled import bare, compiled

UNIT, RESOURCE, CYCLES = 0, 1, 2


class Arrows(NamedTuple):
    """For each instruction some others: `others[first[i]:first[i + 1]]`."""

    first: Ints
    others: NDArray[np.int32]


def _arrows(numbers: Ints, others: Ints, count: int) -> Arrows:
    """From pairs of an instruction and another one, each taken once."""
    pairs = np.unique(numbers * count + others)
    return Arrows(np.searchsorted(pairs, count * np.arange(count + 1)), (pairs % max(1, count)).astype(np.int32))


def _pairs(given: Arrows) -> tuple[Ints, Ints]:
    """The instructions at the beginnings of arrows, and those at their ends."""
    return np.repeat(np.arange(len(given.first) - 1), np.diff(given.first)), given.others.astype(np.int64)


def in_program_order(work: Ints, given: Arrows, ordered: Bools) -> Arrows:
    """What instructions depend on, and of `ordered` units the one before on the same unit."""
    queued = np.argsort(work[:, UNIT], kind="stable")
    units = work[queued, UNIT]
    follows = (units[1:] == units[:-1]) & ordered[units[1:]]
    numbers, others = _pairs(given)
    return _arrows(np.append(numbers, queued[1:][follows]), np.append(others, queued[:-1][follows]), len(work))


def reversed_arrows(given: Arrows) -> Arrows:
    """Arrows that point the other way."""
    numbers, others = _pairs(given)
    return _arrows(others, numbers, len(given.first) - 1)


class _Queues(NamedTuple):
    """Of each unit its instructions, as places in an order: `places[base[unit]:base[unit + 1]]`.

    `ranks` is for each place in the order how many of its unit come before.
    """

    base: Ints
    places: Ints
    ranks: Ints


def _queues(unit_of: Ints, units: int) -> _Queues:
    base = np.append(0, np.cumsum(np.bincount(unit_of, minlength=units)))
    places = np.argsort(unit_of, kind="stable")
    return _Queues(base, places, _inverse(places) - base[unit_of])


def _inverse(order: Ints) -> Ints:
    """Where each number stands in an order of all."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def heights(work: Ints, after: Arrows) -> Ints:
    """Cycles of the longest chain from the beginning of each instruction on."""
    return _add_longest(after, work[:, CYCLES].copy())


@compiled
def _add_longest(after: Arrows, found: Ints) -> Ints:
    """To the cycles of each instruction those of the longest chain after it."""
    for number in range(len(found) - 1, -1, -1):
        longest = 0
        for place in range(after.first[number], after.first[number + 1]):
            longest = max(longest, found[after.others[place]])
        found[number] += longest
    return found


@bare
def _push(heap: Ints, base: int, size: int, key: int) -> None:
    """One more number in the heap of `size` that begins at `base`."""
    place = size
    while place > 0 and heap[base + (place - 1) // 2] > key:
        heap[base + place] = heap[base + (place - 1) // 2]
        place = (place - 1) // 2
    heap[base + place] = key


@bare
def _pop(heap: Ints, base: int, size: int) -> int:
    """Takes the least number out of the heap of `size` that begins at `base`."""
    least, key = heap[base], heap[base + size - 1]
    place, child = 0, 1
    while child < size - 1:
        if child + 1 < size - 1 and heap[base + child + 1] < heap[base + child]:
            child += 1
        if heap[base + child] >= key:
            break
        heap[base + place] = heap[base + child]
        place, child = child, 2 * child + 1
    heap[base + place] = key
    return int(least)


def list_starts(work: Ints, before: Arrows, after: Arrows, ranked: Ints) -> Ints:
    """When each instruction starts: as units and resources are free, the first in `ranked` of what can start does."""
    base = np.append(0, np.cumsum(np.bincount(work[:, UNIT])))
    resources = int(work[:, RESOURCE].max()) + 1
    return _list_starts(work, np.diff(before.first), after, ranked, _inverse(ranked), base, resources)


@compiled
def _list_starts(
    work: Ints, missing: Ints, after: Arrows, ranked: Ints, place_of: Ints, base: Ints, resources: int
) -> Ints:
    """The same; `missing` are how many each instruction still depends on, `base` where heaps of units begin."""
    count, units = len(work), len(base) - 1
    heap, waiting = np.zeros(count, np.int64), np.zeros(units, np.int64)
    for number in range(count):
        if missing[number] == 0:
            unit = work[number, UNIT]
            _push(heap, int(base[unit]), int(waiting[unit]), int(place_of[number]))
            waiting[unit] += 1
    free, busy = np.zeros(units, np.int64), np.zeros(resources, np.int64)
    starts, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)
    running, runs = np.zeros(count, np.int64), 0  # a unit has at most one that takes time, but many of 0 cycles
    now = 0
    while True:
        while True:
            first = count
            for unit in range(units):
                if waiting[unit] > 0 and free[unit] <= now and heap[base[unit]] < first:
                    if busy[work[ranked[heap[base[unit]]], RESOURCE]] <= now:
                        first = heap[base[unit]]
            if first == count:
                break
            number = ranked[first]
            unit = work[number, UNIT]
            _pop(heap, int(base[unit]), int(waiting[unit]))
            waiting[unit] -= 1
            starts[number], ends[number] = now, now + work[number, CYCLES]
            free[unit] = busy[work[number, RESOURCE]] = ends[number]
            running[runs] = number
            runs += 1
        if runs == 0:
            return starts
        now = ends[running[0]]
        for place in range(1, runs):
            now = min(now, ends[running[place]])
        kept = 0
        for place in range(runs):
            number = running[place]
            if ends[number] > now:
                running[kept] = number
                kept += 1
                continue
            for arrow in range(after.first[number], after.first[number + 1]):
                other = after.others[arrow]
                missing[other] -= 1
                if missing[other] == 0:
                    unit = work[other, UNIT]
                    _push(heap, int(base[unit]), int(waiting[unit]), int(place_of[other]))
                    waiting[unit] += 1
        runs = kept


def needed_counts(units: int, order: Ints, work: Ints, before: Arrows) -> NDArray[np.int32]:
    """For each place in the order and each unit how many instructions of it must be done; 0 for what is implied.

    Units work in order, so the last of each that is depended on is enough; what earlier waits imply is left out.
    """
    queues = _queues(work[order, UNIT], units)
    ranks = np.empty(len(work), np.int64)
    ranks[order] = queues.ranks + 1
    found, clocks = np.zeros((len(order), units), np.int32), np.zeros((len(order) + units, units), np.int32)
    _count_needed(order, work, before, ranks, queues.base + np.arange(units + 1), found, clocks)
    return found


@compiled
def _count_needed(
    order: Ints,
    work: Ints,
    before: Arrows,
    ranks: Ints,
    rows: Ints,
    found: NDArray[np.int32],
    clocks: NDArray[np.int32],
) -> None:
    """The same; `clocks` are what is done when an instruction is: of each unit a row for none, then one for each."""
    units = found.shape[1]
    for place in range(len(order)):
        number = order[place]
        unit, needs = work[number, UNIT], found[place]
        row = rows[unit] + ranks[number]
        for arrow in range(before.first[number], before.first[number + 1]):
            other = before.others[arrow]
            at = work[other, UNIT]
            needs[at] = max(needs[at], ranks[other])
        for at in range(units):
            clocks[row, at] = clocks[row - 1, at]
            if at == unit or needs[at] <= clocks[row, at]:
                needs[at] = 0
        for at in range(units):
            for other in range(units):
                if needs[at] and needs[other] and at != other:
                    if clocks[rows[other] + needs[other], at] >= needs[at]:
                        needs[at] = 0
        for other in range(units):
            if needs[other]:
                for at in range(units):
                    clocks[row, at] = max(clocks[row, at], clocks[rows[other] + needs[other], at])
        clocks[row, unit] = ranks[number]


def timed_starts(order: Ints, work: Ints, needs: NDArray[np.int32], depths: Ints) -> Ints:
    """When the instruction at each place of an order starts: when its unit, its resource and what it needs are done.

    A resource goes to the instruction that can start first, of several to the first in program order.  Instructions go
    into the queues of their units in program order; a queue has room for `depths` of them (0: for all).
    """
    ordered = work[order]
    queues = _queues(ordered[:, UNIT], len(depths))
    return _timed_starts(ordered, needs, depths, queues, int(work[:, RESOURCE].max()) + 1)


@compiled
def _timed_starts(work: Ints, needs: NDArray[np.int32], depths: Ints, queues: _Queues, resources: int) -> Ints:
    """The same, of instructions in the order."""
    base, queue, ranks = queues
    count, units = needs.shape
    starts, entered = np.zeros(count, np.int64), np.zeros(count, np.int64)
    arrived = 0  # places that are known to be in a queue, from `entered` on
    done, last = np.zeros(units, np.int64), np.zeros(units, np.int64)
    busy = np.zeros(resources, np.int64)
    for _ in range(count):
        while arrived < count:
            unit = work[arrived, UNIT]
            cycle, leaves = entered[arrived - 1] if arrived else 0, ranks[arrived] - depths[unit]
            if depths[unit] and leaves >= 0:
                if leaves >= done[unit]:
                    break
                cycle = max(cycle, starts[queue[base[unit] + leaves]])
            entered[arrived] = cycle
            arrived += 1
        chosen, begin = -1, 0
        for unit in range(units):
            if base[unit] + done[unit] == base[unit + 1]:
                continue
            place = queue[base[unit] + done[unit]]
            if place >= arrived:
                continue
            start = max(last[unit], busy[work[place, RESOURCE]], entered[place])
            for other in range(units):
                need = needs[place, other]
                if need > done[other]:
                    start = -1
                    break
                if need:
                    before = queue[base[other] + need - 1]
                    start = max(start, starts[before] + work[before, CYCLES])
            if start >= 0 and (chosen < 0 or start < begin or (start == begin and place < chosen)):
                chosen, begin = place, start
        unit = work[chosen, UNIT]
        starts[chosen] = begin
        last[unit] = busy[work[chosen, RESOURCE]] = begin + work[chosen, CYCLES]
        done[unit] += 1
    return starts
