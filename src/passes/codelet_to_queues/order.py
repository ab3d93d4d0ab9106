"""The order in which instructions stand in a program, and what each then waits for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from .dependences import Dependences

MAX_SCHEDULED = 1 << 17
"""Instructions of a program at most whose order is chosen."""


ROUNDS = 2
"""Schedules that are tried for each way to treat loads."""


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


class Graph:
    """What instructions depend on, both ways; with `in_order` also what comes before on the same unit of these."""

    def __init__(self, work: Sequence[Work], dependences: Dependences, in_order: frozenset[int]) -> None:
        self.work = work
        self.before: list[list[int]] = []
        self.after: list[list[int]] = [[] for _ in work]
        last: dict[int, int] = {}
        for number, item in enumerate(work):
            before = dependences.of(number)
            if item.unit in in_order:
                if item.unit in last and last[item.unit] not in before:
                    before.append(last[item.unit])
                last[item.unit] = number
            self.before.append(before)
            for other in before:
                self.after[other].append(number)

    def heights(self) -> list[int]:
        """Cycles of the longest chain from the beginning of each instruction on."""
        found = [item.cycles for item in self.work]
        for number in range(len(found) - 1, -1, -1):
            found[number] += max((found[other] for other in self.after[number]), default=0)
        return found


def list_schedules(work: Sequence[Work], dependences: Dependences, in_order: frozenset[int]) -> Iterator[list[int]]:
    """Orders that let units work side by side, one after another; units of `in_order` keep the order of the program.

    Of what can start a unit takes what the longest chain depends on (Graham 1969; Hu 1961).  Then the schedule is
    made from its end, the latest first, and from its beginning again, by how late each could have started in that one
    (forward-backward improvement: Li and Willis 1992).
    """
    graph = Graph(work, dependences, in_order)
    starts = _starts(work, graph.before, graph.after, [-height for height in graph.heights()])
    while True:
        yield sorted(range(len(work)), key=lambda number: (starts[number], number))
        ends = [-start - item.cycles for start, item in zip(starts, work, strict=True)]
        back = _starts(work, graph.after, graph.before, ends)
        starts = _starts(work, graph.before, graph.after, [-s - i.cycles for s, i in zip(back, work, strict=True)])


def _starts(
    work: Sequence[Work], before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], rank: Sequence[int]
) -> list[int]:
    """When each instruction starts if units and resources that are free take what can start, the lowest rank first."""
    missing = [len(others) for others in before]
    ready: dict[int, list[tuple[int, int]]] = {item.unit: [] for item in work}
    for number, count in enumerate(missing):
        if count == 0:
            heappush(ready[work[number].unit], (rank[number], number))
    free = dict.fromkeys(ready, 0) | dict.fromkeys((item.resource for item in work), 0)
    running: list[tuple[int, int]] = []
    starts = [0] * len(work)
    now = 0
    while True:
        for unit, waiting in ready.items():
            while waiting and free[unit] <= now and free[work[waiting[0][1]].resource] <= now:
                number = heappop(waiting)[1]
                starts[number], item = now, work[number]
                free[unit] = free[item.resource] = now + item.cycles
                heappush(running, (now + item.cycles, number))
        if not running:
            return starts
        now = running[0][0]
        while running and running[0][0] == now:
            for other in after[heappop(running)[1]]:
                missing[other] -= 1
                if missing[other] == 0:
                    heappush(ready[work[other].unit], (rank[other], other))
