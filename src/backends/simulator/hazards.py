"""Hazards: conflicting accesses of different units that neither queue order nor waits put in an order."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.byte_regions import regions_meet
from .plan import Touch
from .stream import Stream
from .traps import Trap

Array = NDArray[Any]


@dataclass(frozen=True)
class _Log:
    """The accesses of one unit to one memory, in the order of its queue: reads and writes, or writes only."""

    positions: list[int]
    low: Array
    high: Array
    uses: list[tuple[int, int]]  # instruction, operand


class HazardCheck:
    """Checks instructions in the order in which they start, against those that started before.

    Each unit's clock counts, per unit, the instructions that must have completed (Fidge and Mattern's vector clocks);
    an access conflicts with an earlier one that is outside the clock if their bytes meet and one of them writes.
    """

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        units = len(stream.machine.units)
        self.started = [0] * units
        self.clocks: list[list[tuple[int, ...]]] = [[(0,) * units] for _ in range(units)]  # [unit][completed]
        self.logs = _make_logs(stream)
        self.guaranteed = _Guarantees(stream)

    def check(self, index: int) -> None:
        """Raises `Trap` (`hazard`) if the instruction conflicts with an earlier one; otherwise notes that it ran."""
        stream = self.stream
        unit = stream.units[index]
        clock = self._clock(index, unit)
        plan, addresses = stream.plans[index], stream.addresses[index]
        for other in range(len(self.started)):
            if other != unit and clock[other] < self.started[other]:
                for touch, address in zip(plan.touches, addresses, strict=False):
                    self._check_touch(index, touch, address, other, clock[other])
        self.started[unit] += 1
        self.clocks[unit].append((*clock[:unit], self.started[unit], *clock[unit + 1 :]))

    def _clock(self, index: int, unit: int) -> tuple[int, ...]:
        """What has completed when the instruction starts."""
        clock = self.clocks[unit][self.started[unit]]
        for tag, count in self.stream.waits[index]:
            for other, completed in self.guaranteed.of(tag, count):
                clock = tuple(map(max, clock, self.clocks[other][completed]))
        return clock

    def _check_touch(self, index: int, touch: Touch, address: int, other: int, completed: int) -> None:
        log = self.logs.get((other, touch.memory, touch.writes))
        if log is None:
            return
        first = bisect_left(log.positions, completed)
        last = bisect_left(log.positions, self.started[other])
        if first == last:
            return
        low, high = address + touch.low, address + touch.high
        near = np.flatnonzero((log.low[first:last] < high) & (log.high[first:last] > low))
        for candidate in near.tolist():
            self._compare(index, touch, address, log.uses[first + candidate])

    def _compare(self, index: int, touch: Touch, address: int, use: tuple[int, int]) -> None:
        earlier, operand = use
        other = self.stream.plans[earlier].touches[operand]
        byte = regions_meet(touch.region, address, other.region, self.stream.addresses[earlier][operand])
        if byte is None:
            return
        memory = self.stream.machine.memories[touch.memory].name
        access = "writes" if touch.writes else "reads"
        past = "writes" if other.writes else "reads"
        raise Trap(
            "hazard",
            index,
            self.stream.text(index),
            f"a wait for instruction {earlier} ({self.stream.text(earlier)}), which {past} {memory}[{byte:#x}]",
            f"none, though it {access} that byte",
        )


def _make_logs(stream: Stream) -> dict[tuple[int, int, bool], _Log]:
    """Per unit and memory, what a write must be checked against (True: all accesses) and a read (False: writes)."""
    rows: dict[tuple[int, int, bool], list[tuple[int, int, int, tuple[int, int]]]] = {}
    for index, plan in enumerate(stream.plans):
        for operand, (touch, address) in enumerate(zip(plan.touches, stream.addresses[index], strict=False)):
            low, high = address + touch.low, address + touch.high
            row = (stream.positions[index], low, high, (index, operand))
            for write in (True, False) if touch.writes else (True,):
                rows.setdefault((stream.units[index], touch.memory, write), []).append(row)
    return {key: _make_log(found) for key, found in rows.items()}


def _make_log(rows: Sequence[tuple[int, int, int, tuple[int, int]]]) -> _Log:
    positions, low, high, uses = zip(*rows, strict=True)
    return _Log(list(positions), np.array(low, np.int64), np.array(high, np.int64), list(uses))


class _Guarantees:
    """What a counter's value says about the units that signal it.

    A counter that one unit alone signals at `count` tells that unit's `count`-th signaller has completed; with several
    units, each is certain of what the others together cannot have signalled.
    """

    def __init__(self, stream: Stream) -> None:
        self.signallers: dict[int, dict[int, list[int]]] = {}  # tag -> unit -> positions
        for index, tag in enumerate(stream.signals):
            if tag:
                units = self.signallers.setdefault(tag, {})
                units.setdefault(stream.units[index], []).append(stream.positions[index])

    def of(self, tag: int, count: int) -> list[tuple[int, int]]:
        """(unit, instructions of it that have certainly completed)."""
        units = self.signallers.get(tag, {})
        total = sum(len(positions) for positions in units.values())
        result: list[tuple[int, int]] = []
        for unit, positions in units.items():
            certain = count - (total - len(positions))
            if certain > 0:
                result.append((unit, positions[certain - 1] + 1))
        return result
