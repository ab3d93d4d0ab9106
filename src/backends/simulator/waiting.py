"""Why instructions start when they do: what each waited for, and what the units of a layer waited for in all."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...machine.tensor_placement import TensorPlacement
from .schedule import Issue
from .stream import Stream

if TYPE_CHECKING:
    from ..program import Program
    from .result import SimulationResult

NOTHING = -1
"""The cause of an instruction that waited for no other: it is the first, or its queue let it in late."""

WORTH = 0.01
"""Cycles of the whole run, as a share, that a layer must lose to be spoken of."""

MOST = 8
"""Layers that are spoken of."""

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


def waits_by_layer(program: Program, result: SimulationResult) -> list[list[dict[str, Any]]]:
    """`layer_waits` of a run; nothing for each layer of a machine that keeps no time of each instruction."""
    layers, stream = program.layer_table.numbers(), result.stream
    if stream is None:
        return [[] for _ in result.layers]
    waits, cargo = waits_of(stream, result.issues), cargo_of(stream, program.tensors)
    return layer_waits(stream, waits, layers, len(result.layers), cargo)


CARGO = {"weight": "weights", "input": "inputs", "output": "outputs", "temp": "maps"}
"""What tensors of each role are called."""


def cargo_of(stream: Stream, tensors: Sequence[TensorPlacement]) -> list[str]:
    """What each instruction moves from or to memory off chip, as `CARGO` calls it; "" for one that moves nothing."""
    offchip = {place: memory.name for place, memory in enumerate(stream.machine.memories) if memory.offchip}
    placed = {
        name: sorted((tensor.address, CARGO.get(tensor.role, "")) for tensor in tensors if tensor.memory == name)
        for name in offchip.values()
    }
    starts = {name: [address for address, _ in some] for name, some in placed.items()}
    found: list[str] = []
    for plan, addresses in zip(stream.plans, stream.addresses, strict=True):
        touch = next(((t, a) for t, a in zip(plan.touches, addresses, strict=False) if t.memory in offchip), None)
        if touch is None:
            found.append("")
            continue
        name = offchip[touch[0].memory]
        place = bisect_right(starts[name], touch[1] + touch[0].low) - 1
        found.append(placed[name][place][1] if place >= 0 else "")
    return found


class _Awaited(NamedTuple):
    """A unit that waits, and the unit, layer and cargo at work."""

    unit: str
    for_unit: str = ""
    for_layer: int = NOTHING
    for_what: str = ""


def layer_waits(
    stream: Stream, waits: Sequence[Wait], layers: Sequence[int], count: int, cargo: Sequence[str]
) -> list[list[dict[str, Any]]]:
    """For each layer what its instructions waited for: the unit that waited, the unit, layer and cargo, cycles."""
    names = [unit.name for unit in stream.machine.units]
    sums = [Counter[_Awaited]() for _ in range(count)]
    chain = _Chain(stream, waits)
    for index, wait in enumerate(waits if layers else ()):
        own, unit = sums[layers[index]], names[stream.units[index]]
        for other, cycles in chain.parts(index) if wait.cycles else ():
            key = _Awaited(unit)
            if other != NOTHING:
                key = _Awaited(unit, names[stream.units[other]], layers[other], cargo[other])
            own[key] += cycles
    return [
        [
            {**key._asdict(), "cycles": cycles}
            for key, cycles in sorted(own.items(), key=lambda item: (-item[1], item[0]))
        ]
        for own in sums
    ]


@dataclass(frozen=True)
class MainWait:
    """What the unit that works most in a layer waits for longest: the unit at work, what it moves, and the cycles."""

    unit: str
    for_unit: str
    what: str
    cycles: int


def main_wait(layer: Mapping[str, Any], nodes_of: Mapping[str, Sequence[str]]) -> MainWait | None:
    """That of a layer with `waits`; None where nothing is waited for.  `nodes_of` is `layers.unit_nodes`."""
    nodes = {node: name for name, own in nodes_of.items() for node in own}
    busy = {node: cycles for node, cycles in layer["busy_cycles"].items() if node in nodes and "->" not in node}
    main = nodes[max(busy, key=lambda node: busy[node])] if busy else ""
    by_unit, by_cargo = Counter[str](), Counter[tuple[str, str]]()
    for wait in layer.get("waits", ()):
        unit, what, cycles = wait["for_unit"], wait["for_what"], wait["cycles"]
        if wait["unit"] == main and unit:
            by_unit[unit] += cycles
            by_cargo[unit, what] += cycles
    if not by_unit:
        return None
    other = max(by_unit, key=lambda unit: by_unit[unit])
    what = max((cycles, what) for (unit, what), cycles in by_cargo.items() if unit == other)[1]
    return MainWait(main, other, what, by_unit[other])


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
