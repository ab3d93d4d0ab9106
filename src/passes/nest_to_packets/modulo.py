"""Modulo scheduling: a loop's iterations start every few packets, before those ahead of them end.

Rau, "Iterative modulo scheduling" (1994): intervals are tried upward from the bound that resources give; instructions
go, the longest way to the end first, to the first packet of their window where they fit, and throw out others where
nothing is left.  Registers are those of the body as it is given: that a value is read before the next iteration writes
its register is a dependence like any other, so no copies of the body are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...machine.packet_isa import Isa
from ...machine.packet_program import Instruction, Packet
from .dependences import Edge, dependences

TRIES_PER_INSTRUCTION = 12
SLACK_PACKETS = 8


@dataclass(frozen=True)
class Pipeline:
    """Iteration k issues `body[i]` at packet `times[i] + k * interval`."""

    body: tuple[Instruction, ...]
    times: tuple[int, ...]
    interval: int

    @property
    def stages(self) -> int:
        """How many iterations are under way at once."""
        return max(self.times) // self.interval + 1

    def kernel(self) -> list[Packet]:
        """The packets of the steady state, older iterations' instructions first."""
        order = sorted(range(len(self.body)), key=lambda i: (-self.times[i], i))
        return [
            tuple(self.body[i] for i in order if self.times[i] % self.interval == row) for row in range(self.interval)
        ]

    def ends(self, trips: int) -> tuple[list[Instruction], list[Instruction]]:
        """What of `trips` iterations (at least `stages`) issues before and after the steady state, in a right order."""
        start, stop = (self.stages - 1) * self.interval, trips * self.interval
        events = sorted(
            (self.times[i] + k * self.interval, k, i)
            for k in {*range(self.stages - 1), *range(max(trips - self.stages + 1, 0), trips)}
            for i in range(len(self.body))
        )
        before = [self.body[i] for time, _, i in events if time < start]
        return before, [self.body[i] for time, _, i in events if time >= stop]


def lowest_of(isa: Isa, names: Sequence[str]) -> int:
    """The packets that resources and words alone make instructions of these mnemonics take."""
    items = [isa.mnemonics[name] for name in names]
    lowest = -(-sum(item.words for item in items) // isa.packets.words)
    needs = [need for item in items for need in item.needs]
    for choice in set(needs):
        union = {resource for together in choice for resource in together}
        inside = [need for need in needs if all(union.issuperset(together) for together in need)]
        used = sum(min(len(together) for together in need) for need in inside)
        lowest = max(lowest, -(-used // len(union)))
    return max(lowest, 1)


def schedule_loop(isa: Isa, body: Sequence[Instruction]) -> Pipeline | None:
    """The body's pipeline of the shortest interval found, None where none within `SLACK_PACKETS` of the bound is."""
    key = tuple(body)
    if key not in isa.pipelines:
        isa.pipelines[key] = _times(isa, key)
    found = isa.pipelines[key]
    return Pipeline(key, *found) if found is not None else None


def _times(isa: Isa, body: Sequence[Instruction]) -> tuple[tuple[int, ...], int] | None:
    """When each instruction issues, and the interval."""
    edges = dependences(isa, body, loop=True)
    lowest = lowest_of(isa, [instruction.mnemonic for instruction in body])
    for interval in range(lowest, lowest + SLACK_PACKETS):
        times = _Attempt(isa, body, edges, interval).run()
        if times is not None:
            first = min(times) // interval * interval
            return tuple(time - first for time in times), interval
    return None


class _Attempt:
    """One try at an interval."""

    def __init__(self, isa: Isa, body: Sequence[Instruction], edges: Sequence[Edge], interval: int) -> None:
        self.isa, self.body, self.interval = isa, body, interval
        self.into: list[list[Edge]] = [[] for _ in body]
        self.out: list[list[Edge]] = [[] for _ in body]
        for edge in edges:
            self.into[edge.target].append(edge)
            self.out[edge.source].append(edge)
        self.edges = edges
        self.times: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.rows: list[list[int]] = [[] for _ in range(interval)]

    def run(self) -> list[int] | None:
        """Issue times, None where the budget ends before all are placed."""
        heights = self.heights()
        if heights is None:
            return None
        order = sorted(range(len(self.body)), key=lambda i: (-heights[i], i))
        budget = TRIES_PER_INSTRUCTION * len(self.body)
        while len(self.times) < len(self.body):
            if not budget:
                return None
            budget -= 1
            self.place(next(i for i in order if i not in self.times))
        return [self.times[i] for i in range(len(self.body))]

    def heights(self) -> list[float] | None:
        """Longest ways to the end at this interval; None if a cycle is longer than the interval allows."""
        heights = [0.0] * len(self.body)
        for _ in range(len(self.body) + 1):
            changed = False
            for edge in self.edges:
                reached = heights[edge.target] + edge.latency - self.interval * edge.distance
                if reached > heights[edge.source]:
                    heights[edge.source] = reached
                    changed = True
            if not changed:
                return heights
        return None

    def place(self, i: int) -> None:
        placed = [e for e in self.into[i] if e.source in self.times]
        starts = [self.times[e.source] + e.latency - self.interval * e.distance for e in placed]
        earliest = max([0, *starts])
        time = next((t for t in range(earliest, earliest + self.interval) if self.free(i, t)), None)
        if time is None:
            time = max(earliest, self.last.get(i, -1) + 1)
        self.last[i] = time
        self.evict(i, time)
        self.times[i] = time
        self.rows[time % self.interval].append(i)

    def free(self, i: int, time: int) -> bool:
        row = self.rows[time % self.interval]
        return self.isa.fits(self.body[j].mnemonic for j in (*row, i))

    def evict(self, i: int, time: int) -> None:
        """Takes back what does not fit beside `i` at `time`, and what `i` would issue too late for."""
        row = self.rows[time % self.interval]
        while row and not self.free(i, time):
            self.remove(row[0])
        for edge in self.out[i]:
            if edge.target in self.times and edge.target != i:
                if self.times[edge.target] < time + edge.latency - self.interval * edge.distance:
                    self.remove(edge.target)
        for edge in self.into[i]:
            if edge.source in self.times and edge.source != i:
                if time < self.times[edge.source] + edge.latency - self.interval * edge.distance:
                    self.remove(edge.source)

    def remove(self, i: int) -> None:
        self.rows[self.times.pop(i) % self.interval].remove(i)
