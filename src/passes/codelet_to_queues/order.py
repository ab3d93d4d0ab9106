"""The order in which instructions stand in a program, and what each then waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .dependences import Dependences

MAX_SCHEDULED = 1 << 17
"""Instructions of a program at most whose order is chosen."""


class Work(NamedTuple):
    """What an instruction keeps busy: its unit, which works in order, and a resource (node or channel) for `cycles`."""

    unit: int
    resource: str
    cycles: int


def waits_of(
    units: int, order: Sequence[int], work: Sequence[Work], dependences: Dependences
) -> list[list[tuple[int, int]]]:
    """For each place in the order the (unit, count) pairs that are waited for: so many of its instructions are done.

    Units work in order, so the last of each that is depended on is enough; what earlier waits imply is left out.
    """
    place_in_unit = [0] * len(order)
    known: list[tuple[int, ...]] = [(0,) * units for _ in range(units)]
    clocks = [[(0,) * units] for _ in range(units)]
    found: list[list[tuple[int, int]]] = []
    for number in order:
        unit = work[number].unit
        needs = [0] * units
        for other in dependences.of(number):
            needs[work[other].unit] = max(needs[work[other].unit], place_in_unit[other])
        here = known[unit]
        waits = [(v, n) for v, n in enumerate(needs) if v != unit and n > here[v]]
        if len(waits) > 1:
            waits = [(v, n) for v, n in waits if not any(clocks[w][m][v] >= n for w, m in waits if w != v)]
        for v, n in waits:
            here = tuple(map(max, here, clocks[v][n]))
        known[unit] = here
        place_in_unit[number] = count = len(clocks[unit])
        clocks[unit].append((*here[:unit], count, *here[unit + 1 :]))
        found.append(waits)
    return found


@dataclass
class _State:
    """Units of a schedule in progress: until when each, and each resource, is busy."""

    units: dict[int, int]
    resources: dict[str, int]


def list_schedule(work: Sequence[Work], dependences: Dependences, in_order: frozenset[int]) -> list[int]:
    """An order that lets units work side by side: of what can start, a unit takes what the longest chain depends on.

    Units of `in_order` keep the order of the program.  List scheduling by critical path (Graham 1969; Hu 1961).
    """
    followers, missing = _edges(work, dependences, in_order)
    height = [item.cycles for item in work]
    for number in range(len(work) - 1, -1, -1):
        height[number] += max((height[other] for other in followers[number]), default=0)
    ready: dict[int, list[tuple[int, int]]] = {item.unit: [] for item in work}
    for number, count in enumerate(missing):
        if count == 0:
            ready[work[number].unit].append((-height[number], number))
    for waiting in ready.values():
        heapify(waiting)
    state = _State(dict.fromkeys(ready, 0), dict.fromkeys((item.resource for item in work), 0))
    running: list[tuple[int, int]] = []
    order: list[int] = []
    now = 0
    while len(order) < len(work):
        for number in _starting(state, ready, work, now):
            heappush(running, (now + work[number].cycles, number))
            order.append(number)
        if not running:
            continue
        now = running[0][0]
        while running and running[0][0] == now:
            for other in followers[heappop(running)[1]]:
                missing[other] -= 1
                if missing[other] == 0:
                    heappush(ready[work[other].unit], (-height[other], other))
    return order


def _starting(state: _State, ready: dict[int, list[tuple[int, int]]], work: Sequence[Work], now: int) -> list[int]:
    """What starts now on units that are free."""
    found: list[int] = []
    for unit, waiting in ready.items():
        while waiting and state.units[unit] <= now and state.resources[work[waiting[0][1]].resource] <= now:
            number = heappop(waiting)[1]
            item = work[number]
            state.units[unit] = state.resources[item.resource] = now + item.cycles
            found.append(number)
    return found


def _edges(
    work: Sequence[Work], dependences: Dependences, in_order: frozenset[int]
) -> tuple[list[list[int]], list[int]]:
    """What depends on each instruction, and on how many each depends."""
    followers: list[list[int]] = [[] for _ in work]
    missing = [0] * len(work)
    last: dict[int, int] = {}
    for number, item in enumerate(work):
        before = set(dependences.of(number))
        if item.unit in in_order:
            before |= {last[item.unit]} if item.unit in last else set()
            last[item.unit] = number
        missing[number] = len(before)
        for other in before:
            followers[other].append(number)
    return followers, missing
