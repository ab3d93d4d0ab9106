"""When the instructions of a program run, and what they cost together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .isa import Isa
from .order import Work


@dataclass(frozen=True)
class _Issue:
    """An instruction: its place in the program, what it takes, and what it waits for."""

    number: int
    resource: str
    cycles: int
    waits: Sequence[tuple[int, int]]


class Clock:
    """Units that work in order, at the same time; each instruction starts when what it waits for is done.

    What it waits for is its unit, counts of other units' instructions, its node or channel, which goes to the one that
    can start first, and room in its unit's queue, into which instructions go in program order.
    """

    def __init__(self, isa: Isa) -> None:
        self.depths = [unit.depth for unit in isa.machine.units] or [0]
        self.queues: list[list[_Issue]] = [[] for _ in isa.units]
        self.places: list[tuple[int, int]] = []  # unit and place in its queue, in program order

    def issue(self, work: Work, waits: Sequence[tuple[int, int]]) -> None:
        """The next instruction; `waits` are units and how many of their instructions must be done."""
        queue = self.queues[work.unit]
        self.places.append((work.unit, len(queue)))
        queue.append(_Issue(len(self.places) - 1, work.resource, work.cycles, waits))

    def end_cycle(self) -> int:
        """The cycle at which all is done."""
        if not self.places:
            return 0
        run = _Run(self.queues, _Dispatch(self.depths, self.places))
        for _ in self.places:
            run.next()
        return max(done[-1] for done in run.ends)


class _Dispatch:
    """When instructions enter their units' queues, in program order; None while that is not known."""

    def __init__(self, depths: Sequence[int], places: Sequence[tuple[int, int]]) -> None:
        self.depths, self.places = depths, places
        self.limited = any(depths)
        self.cycles: list[int] = []

    def cycle(self, number: int, starts: Sequence[Sequence[int]]) -> int | None:
        """The cycle at which instruction `number` is in its queue, by the starts of each unit so far."""
        if not self.limited:
            return 0
        while len(self.cycles) <= number:
            unit, place = self.places[len(self.cycles)]
            cycle, leaves = self.cycles[-1] if self.cycles else 0, place - self.depths[unit]
            if self.depths[unit] and leaves >= 0:
                if leaves >= len(starts[unit]):
                    return None
                cycle = max(cycle, starts[unit][leaves])
            self.cycles.append(cycle)
        return self.cycles[number]


class _Run:
    """A run in progress: `ends[u][n]` is when the first n instructions of unit u are done."""

    def __init__(self, queues: Sequence[Sequence[_Issue]], dispatch: _Dispatch) -> None:
        self.queues, self.dispatch = queues, dispatch
        self.ends: list[list[int]] = [[0] for _ in queues]
        self.starts: list[list[int]] = [[] for _ in queues]
        self.free: dict[str, int] = {}
        self.heads = [self._head(unit) for unit in range(len(queues))]

    def next(self) -> None:
        """Starts the instruction that can start first; equal starts in program order."""
        unit = min((head[0], head[1], unit) for unit, head in enumerate(self.heads) if head is not None)[2]
        issue, start = self.queues[unit][len(self.starts[unit])], self.heads[unit]
        assert start is not None
        end = self.free[issue.resource] = start[0] + issue.cycles
        self.ends[unit].append(end)
        self.starts[unit].append(start[0])
        for other, queue in enumerate(self.queues):
            waiting = self.heads[other] is None
            if other == unit or waiting or queue[len(self.starts[other])].resource == issue.resource:
                self.heads[other] = self._head(other)

    def _head(self, unit: int) -> tuple[int, int] | None:
        """Start and number of a unit's next instruction; None where there is none, or it waits for what will start."""
        queue, place = self.queues[unit], len(self.starts[unit])
        if place == len(queue):
            return None
        issue = queue[place]
        start = _start(issue, self.ends[unit][-1], self.ends, self.free)
        entered = self.dispatch.cycle(issue.number, self.starts)
        return None if start is None or entered is None else (max(start, entered), issue.number)


def _start(issue: _Issue, begin: int, ends: Sequence[Sequence[int]], free: Mapping[str, int]) -> int | None:
    """When an instruction can start whose unit is free at `begin`; None where it waits for what has not started."""
    start = max(begin, free.get(issue.resource, 0))
    for unit, count in issue.waits:
        if len(ends[unit]) <= count:
            return None
        start = max(start, ends[unit][count])
    return start
