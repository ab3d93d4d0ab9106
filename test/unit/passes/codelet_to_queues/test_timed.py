"""The compiled kernels of instruction orders, against plain references on small random cases."""

import random

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.passes.codelet_to_queues.timed import (
    CYCLES,
    RESOURCE,
    UNIT,
    Arrows,
    Ints,
    heights,
    in_program_order,
    list_starts,
    needed_counts,
    reversed_arrows,
    timed_starts,
)

UNITS = 3
Lists = list[list[int]]


def arrows(lists: Lists) -> Arrows:
    first = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return Arrows(first, np.array([other for row in lists for other in row], np.int32))


def lists(given: Arrows) -> Lists:
    return [given.others[a:b].tolist() for a, b in zip(given.first, given.first[1:], strict=False)]


def random_case(seed: int, count: int = 24) -> tuple[Ints, Lists]:
    """Instructions of units that share two resources, each after some of those before."""
    rng = random.Random(seed)
    work = [(unit := rng.randrange(UNITS), min(unit, 1), rng.randint(0, 9)) for _ in range(count)]
    before = [sorted(rng.sample(range(n), rng.randint(0, min(n, 3)))) for n in range(count)]
    return np.array(work, np.int64), before


@pytest.mark.parametrize("seed", range(8))
def test_arrows_and_chains(seed: int):
    work, before = random_case(seed)
    given = arrows(before)
    chained = lists(in_program_order(work, given, np.array([True, False, True])))
    for number, found in enumerate(chained):
        same = [other for other in range(number) if work[other, UNIT] == work[number, UNIT]]
        wanted = {same[-1]} if same and work[number, UNIT] != 1 else set[int]()
        assert len(found) == len(set(found))
        assert set(found) == set(before[number]) | wanted
    after = reversed_arrows(given)
    assert lists(after) == [[n for n, row in enumerate(before) if m in row] for m in range(len(work))]
    assert lists(reversed_arrows(after)) == before
    net = nx.DiGraph((other, n) for n, row in enumerate(before) for other in row)
    net.add_nodes_from(range(len(work)))
    for number, height in enumerate(heights(work, after).tolist()):
        chains = nx.descendants(net, number)
        longest = {number: int(work[number, CYCLES])}
        for node in nx.topological_sort(net.subgraph(chains | {number})):
            for follower in net.successors(node):
                longest[follower] = max(longest.get(follower, 0), longest[node] + int(work[follower, CYCLES]))
        assert height == max(longest.values())


def plain_list_starts(work: Ints, before: Lists, ranked: list[int]) -> list[int]:
    """Event by event; of each unit the first ready one in `ranked` may start, of these the first with a free resource.

    What takes no time frees what depends on it for the same cycle, after all units have taken what they can.
    """
    starts, ends = [-1] * len(work), [-1] * len(work)
    busy_unit, busy_resource = [0] * UNITS, [0] * UNITS
    done: set[int] = set()
    now = 0
    while len(done) < len(work):
        while True:
            ready = [n for n in ranked if starts[n] < 0 and done.issuperset(before[n])]
            heads = {int(work[n, UNIT]): n for n in reversed(ready)}
            free = [n for unit, n in heads.items() if max(busy_unit[unit], busy_resource[work[n, RESOURCE]]) <= now]
            if not free:
                break
            first = min(free, key=ranked.index)
            starts[first], ends[first] = now, now + int(work[first, CYCLES])
            busy_unit[work[first, UNIT]] = busy_resource[work[first, RESOURCE]] = ends[first]
        over = {n for n, end in enumerate(ends) if starts[n] >= 0 and end <= now}
        if over == done:
            now = min(end for n, end in enumerate(ends) if starts[n] >= 0 and n not in done)
            over = {n for n, end in enumerate(ends) if starts[n] >= 0 and end <= now}
        done = over
    return starts


@pytest.mark.parametrize("seed", range(8))
def test_list_schedules(seed: int):
    work, before = random_case(seed)
    ranked = random.Random(seed).sample(range(len(work)), len(work))
    found = list_starts(work, arrows(before), reversed_arrows(arrows(before)), np.array(ranked, np.int64))
    assert found.tolist() == plain_list_starts(work, before, ranked)


def plain_timed_starts(order: list[int], work: Ints, needs: NDArray[np.int32], depths: list[int]) -> list[int]:
    """Cycle by cycle; a resource goes to the earliest in program order of what can start."""
    starts = [-1] * len(order)
    of_unit = [[place for place, n in enumerate(order) if work[n, UNIT] == unit] for unit in range(UNITS)]
    entered, now = 0, 0
    ends = [0] * len(order)
    while min(starts) < 0:
        moved = True
        while moved:
            moved = False
            while entered < len(order):
                unit = int(work[order[entered], UNIT])
                inside = sum(1 for place in of_unit[unit] if place < entered and starts[place] < 0)
                if depths[unit] and inside >= depths[unit]:
                    break
                entered += 1
            for place in range(entered):
                unit, resource = int(work[order[place], UNIT]), work[order[place], RESOURCE]
                earlier = [p for p in of_unit[unit] if p < place]
                rival = [p for p in range(len(order)) if starts[p] >= 0 and work[order[p], RESOURCE] == resource]
                waited = [of_unit[other][k] for other in range(UNITS) for k in range(needs[place, other])]
                ready = all(starts[p] >= 0 and ends[p] <= now for p in (*earlier, *rival, *waited))
                if starts[place] < 0 and ready:
                    starts[place], ends[place] = now, now + int(work[order[place], CYCLES])
                    moved = True
                    break
        now += 1
    return starts


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("depths", [(0, 0, 0), (1, 2, 0)])
def test_starts_and_what_is_waited_for(seed: int, depths: tuple[int, ...]):
    work, before = random_case(seed)
    work[:, CYCLES] += 1
    order = np.arange(len(work))
    needs = needed_counts(UNITS, order, work, arrows(before))
    starts = timed_starts(order, work, needs, np.array(depths, np.int64)).tolist()
    assert starts == plain_timed_starts(order.tolist(), work, needs, list(depths))
    for number, row in enumerate(before):
        assert all(starts[other] + work[other, CYCLES] <= starts[number] for other in row)
    if not any(depths):
        full = np.zeros_like(needs)
        for number, row in enumerate(before):
            for other in row:
                unit = work[other, UNIT]
                if unit != work[number, UNIT]:
                    full[number, unit] = max(full[number, unit], (work[: other + 1, UNIT] == unit).sum())
        assert (needs <= full).all()
        assert (needs[needs > 0] == full[needs > 0]).all()
        assert timed_starts(order, work, full, np.array(depths, np.int64)).tolist() == starts
