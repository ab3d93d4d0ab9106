"""Compiled: when instructions start, by a list schedule or in a given order, and what each of them waits for.

Instructions are rows of three columns: the unit, which works in order, a resource that is occupied alone, and cycles.
What one depends on is `before[first[i]:first[i + 1]]`, for all of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...costs.compiled import compiled, inner

Ints = NDArray[np.int64]

UNIT, RESOURCE, CYCLES = 0, 1, 2


class Arrows(NamedTuple):
    """For each instruction some others: `others[first[i]:first[i + 1]]`."""

    first: Ints
    others: NDArray[np.int32]


@inner
def _sums(counts: Ints) -> Ints:
    """The sum of each number and those before it."""
    found = counts.copy()
    for place in range(1, len(found)):
        found[place] += found[place - 1]
    return found


@compiled
def in_program_order(work: Ints, given: Arrows, ordered: NDArray[np.bool_]) -> Arrows:
    """What instructions depend on, and of `ordered` units the one before on the same unit."""
    count = len(work)
    first, others = np.zeros(count + 1, np.int64), np.empty(len(given.others) + count, np.int32)
    last = np.full(len(ordered), -1, np.int64)
    end = 0
    for number in range(count):
        unit = work[number, UNIT]
        missing = ordered[unit] and last[unit] >= 0
        for place in range(given.first[number], given.first[number + 1]):
            others[end] = given.others[place]
            missing = missing and others[end] != last[unit]
            end += 1
        if missing:
            others[end] = last[unit]
            end += 1
        last[unit] = number
        first[number + 1] = end
    return Arrows(first, others[:end].copy())


@compiled
def reversed_arrows(given: Arrows) -> Arrows:
    """Arrows that point the other way."""
    first = np.zeros_like(given.first)
    for other in given.others:
        first[other + 1] += 1
    first = _sums(first)
    ends, others = first.copy(), np.empty_like(given.others)
    for number in range(len(first) - 1):
        for place in range(given.first[number], given.first[number + 1]):
            other = given.others[place]
            others[ends[other]] = number
            ends[other] += 1
    return Arrows(first, others)


@compiled
def heights(work: Ints, after: Arrows) -> Ints:
    """Cycles of the longest chain from the beginning of each instruction on."""
    found = work[:, CYCLES].copy()
    for number in range(len(work) - 1, -1, -1):
        longest = 0
        for place in range(after.first[number], after.first[number + 1]):
            longest = max(longest, found[after.others[place]])
        found[number] += longest
    return found


@inner
def _push(heap: Ints, base: int, size: int, key: int) -> None:
    """One more number in the heap of `size` that begins at `base`."""
    place = size
    while place > 0 and heap[base + (place - 1) // 2] > key:
        heap[base + place] = heap[base + (place - 1) // 2]
        place = (place - 1) // 2
    heap[base + place] = key


@inner
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


@compiled
def list_starts(work: Ints, before: Arrows, after: Arrows, ranked: Ints) -> Ints:
    """When each instruction starts: as units and resources are free, the first in `ranked` of what can start does."""
    count = len(work)
    place_of = np.empty(count, np.int64)
    for place in range(count):
        place_of[ranked[place]] = place
    sizes = np.zeros(work[:, UNIT].max() + 2, np.int64)
    for number in range(count):
        sizes[work[number, UNIT] + 1] += 1
    base = _sums(sizes)
    heap, waiting = np.empty(count, np.int64), np.zeros(len(base), np.int64)
    missing = before.first[1:] - before.first[:-1]
    for number in range(count):
        if missing[number] == 0:
            unit = work[number, UNIT]
            _push(heap, int(base[unit]), int(waiting[unit]), int(place_of[number]))
            waiting[unit] += 1
    free, busy = np.zeros(len(base), np.int64), np.zeros(work[:, RESOURCE].max() + 1, np.int64)
    starts, ends = np.zeros(count, np.int64), np.zeros(count, np.int64)
    running, runs = np.empty(count, np.int64), 0  # a unit has at most one that takes time, but many of 0 cycles
    now = 0
    while True:
        while True:
            first = count
            for unit in range(len(waiting)):
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


@compiled
def needed_counts(units: int, order: Ints, work: Ints, before: Arrows) -> NDArray[np.int32]:
    """For each place in the order and each unit how many instructions of it must be done; 0 for what is implied.

    Units work in order, so the last of each that is depended on is enough; what earlier waits imply is left out.
    """
    count = len(order)
    found = np.zeros((count, units), np.int32)
    place_in_unit = np.zeros(count, np.int32)
    sizes = np.ones(units + 1, np.int64)  # with a row for none of a unit's instructions
    sizes[0] = 0
    for number in order:
        sizes[work[number, UNIT] + 1] += 1
    base = _sums(sizes)
    clocks = np.zeros((count + units, units), np.int32)  # what is done when the first of a unit's instructions are
    done, all_needs = np.zeros(units, np.int32), np.zeros(units, np.int32)
    known = np.zeros((units, units), np.int32)
    for place in range(count):
        number = order[place]
        unit, needs = work[number, UNIT], found[place]
        here = known[unit]
        for arrow in range(before.first[number], before.first[number + 1]):
            other = before.others[arrow]
            at = work[other, UNIT]
            needs[at] = max(needs[at], place_in_unit[other])
        for at in range(units):
            if at == unit or needs[at] <= here[at]:
                needs[at] = 0
        for at in range(units):
            all_needs[at] = needs[at]
        for at in range(units):
            for other in range(units):
                if all_needs[at] and all_needs[other] and at != other:
                    if clocks[base[other] + all_needs[other], at] >= all_needs[at]:
                        needs[at] = 0
        done[unit] += 1
        place_in_unit[number] = done[unit]
        row = clocks[base[unit] + done[unit]]
        for at in range(units):
            if needs[at]:
                for other in range(units):
                    here[other] = max(here[other], clocks[base[at] + needs[at], other])
        for at in range(units):
            row[at] = here[at]
        row[unit] = done[unit]
    return found


@compiled
def timed_starts(order: Ints, work: Ints, needs: NDArray[np.int32], depths: Ints) -> Ints:
    """When the instruction at each place of an order starts: when its unit, its resource and what it needs are done.

    A resource goes to the instruction that can start first, of several to the first in program order.  Instructions go
    into the queues of their units in program order; a queue has room for `depths` of them (0: for all).
    """
    count, units = needs.shape
    sizes = np.zeros(units + 1, np.int64)
    for number in order:
        sizes[work[number, UNIT] + 1] += 1
    base = _sums(sizes)
    queue, place_in_unit, filled = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(units, np.int64)
    for place in range(count):
        unit = work[order[place], UNIT]
        place_in_unit[place] = filled[unit]
        queue[base[unit] + filled[unit]] = place
        filled[unit] += 1
    starts, entered = np.zeros(count, np.int64), np.zeros(count, np.int64)
    arrived = 0 if depths.any() else count  # places that are known to be in a queue, from `entered` on
    done, last = np.zeros(units, np.int64), np.zeros(units, np.int64)
    busy = np.zeros(work[:, RESOURCE].max() + 1, np.int64)
    for _ in range(count):
        while arrived < count:
            unit = work[order[arrived], UNIT]
            cycle, leaves = entered[arrived - 1] if arrived else 0, place_in_unit[arrived] - depths[unit]
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
            start = max(last[unit], busy[work[order[place], RESOURCE]], entered[place])
            for other in range(units):
                need = needs[place, other]
                if need > done[other]:
                    start = -1
                    break
                if need:
                    before = queue[base[other] + need - 1]
                    start = max(start, starts[before] + work[order[before], CYCLES])
            if start >= 0 and (chosen < 0 or start < begin or (start == begin and place < chosen)):
                chosen, begin = place, start
        number = order[chosen]
        unit = work[number, UNIT]
        starts[chosen] = begin
        last[unit] = busy[work[number, RESOURCE]] = begin + work[number, CYCLES]
        done[unit] += 1
    return starts
