"""Why instructions start when they do: what each waited for, and what the units of a layer waited for in all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...simulator.schedule import Issue
from ...simulator.stream import Stream

NOTHING = -1
"""The cause of an instruction that waited for no other: it is the first, or its queue let it in late."""


MOST_LINKS = 1000
"""Instructions that a chain of causes is followed through."""


@dataclass(frozen=True)
class Wait:
    """How long an instruction's unit idled before it, and the instruction whose end it waited for."""

    cycles: int
    cause: int


def waits_of(stream: Stream, issues: Sequence[Issue]) -> list[Wait]:
    """The wait of each instruction, in program order."""
    starts, ends = [0] * len(stream), [0] * len(stream)
    for issue in issues:
        starts[issue.index], ends[issue.index] = issue.start_cycle, issue.end_cycle
    signalled = _signals(stream, ends)
    holders = {(name, ends[i]): i for i, plan in enumerate(stream.plans) for name in plan.resources}
    free = [0] * len(stream.machine.units)
    waits: list[Wait] = []
    for index, unit in enumerate(stream.units):
        idle, free[unit] = starts[index] - free[unit], ends[index]
        waits.append(Wait(idle, _cause(stream, index, starts[index], signalled, holders) if idle else NOTHING))
    return waits


def _signals(stream: Stream, ends: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """End and number of the instructions that signal each tag, as they end."""
    found: dict[int, list[tuple[int, int]]] = {}
    for index, tag in enumerate(stream.signals):
        if tag:
            found.setdefault(tag, []).append((ends[index], index))
    return {tag: sorted(items) for tag, items in found.items()}


def _cause(
    stream: Stream,
    index: int,
    start: int,
    signalled: Mapping[int, Sequence[tuple[int, int]]],
    holders: Mapping[tuple[str, int], int],
) -> int:
    """The instruction whose end let this one start: by a tag, or by leaving what both use."""
    waits = [signalled[tag][count - 1] for tag, count in stream.waits[index] if len(signalled.get(tag, ())) >= count]
    if waits and max(waits)[0] == start:
        return max(waits)[1]
    return next((holders[name, start] for name in stream.plans[index].resources if (name, start) in holders), NOTHING)


def layer_waits(stream: Stream, waits: Sequence[Wait], layers: Sequence[int], count: int) -> list[list[dict[str, Any]]]:
    """For each layer what its instructions waited for: the unit that waited, the unit and layer at work, cycles."""
    names = [unit.name for unit in stream.machine.units]
    sums: list[dict[tuple[str, str, int], int]] = [{} for _ in range(count)]
    chain = _Chain(stream, waits)
    for index, wait in enumerate(waits if layers else ()):
        own = sums[layers[index]]
        for other, cycles in chain.parts(index) if wait.cycles else ():
            unit, layer = (names[stream.units[other]], layers[other]) if other != NOTHING else ("", NOTHING)
            key = names[stream.units[index]], unit, layer
            own[key] = own.get(key, 0) + cycles
    return [
        [
            {"unit": unit, "for_unit": other, "for_layer": layer, "cycles": cycles}
            for (unit, other, layer), cycles in sorted(own.items(), key=lambda item: (-item[1], item[0]))
        ]
        for own in sums
    ]


class _Chain:
    """What is at work while an instruction waits: its cause, before that what the cause waited for, and so on."""

    def __init__(self, stream: Stream, waits: Sequence[Wait]) -> None:
        self.stream = stream
        self.waits = waits
        self.starts: list[int] = []
        self.before: list[int] = []
        free, last = [0] * len(stream.machine.units), [NOTHING] * len(stream.machine.units)
        for index, (unit, wait) in enumerate(zip(stream.units, waits, strict=True)):
            self.starts.append(free[unit] + wait.cycles)
            self.before.append(last[unit])
            free[unit], last[unit] = self.starts[-1] + stream.plans[index].cycles, index

    def parts(self, index: int) -> Iterator[tuple[int, int]]:
        """Instructions at work while `index` waited, each with its cycles; `NOTHING` for what is not known."""
        wait = self.waits[index]
        end, other = self.starts[index], wait.cause
        begin = end - wait.cycles
        for _ in range(MOST_LINKS):
            if end <= begin or other == NOTHING:
                break
            start = max(begin, self.starts[other])
            if start < end:
                yield other, end - start
            end = min(start, end)
            cause = self.waits[other]
            other = cause.cause if cause.cycles and cause.cause != NOTHING else self.before[other]
        if end > begin:
            yield NOTHING, end - begin
