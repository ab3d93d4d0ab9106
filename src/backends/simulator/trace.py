"""The run as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.

A row of layers, where the program knows its layers, then a row per unit with a slice per instruction.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from ...files import make_folder, replacing
from ...machine import Machine
from ...machine.layer_table import LayerTable
from .layers import Advance, layer_events
from .schedule import Issue
from .stream import Stream


@dataclass(frozen=True)
class TracedLayers:
    """The layers of a program, the number of each instruction's, and when they run."""

    table: LayerTable
    numbers: Sequence[int]
    stretches: Sequence[Advance]

    def of(self, instruction: int) -> dict[str, object]:
        """What a slice's arguments tell of the instruction's layer."""
        return {"layer": self.table.layers[self.numbers[instruction]].name} if self.numbers else {}


@dataclass(frozen=True)
class Slice:
    """Something that a unit or link, by the name of its row, did for an instruction."""

    row: str
    name: str
    index: int
    start_cycle: int
    end_cycle: int
    more: Mapping[str, object] = field(default_factory=dict[str, object])

    def event(self, thread: int, scale: float, layers: TracedLayers) -> dict[str, object]:
        """The event of a row; `scale` is a cycle in microseconds."""
        args = {"instruction": self.index} | layers.of(self.index) | dict(self.more)
        times = {"ts": self.start_cycle * scale, "dur": (self.end_cycle - self.start_cycle) * scale}
        return {"ph": "X", "pid": 1, "tid": thread, "name": self.name, **times, "args": args}


def write_trace(path: Path, stream: Stream, issues: Sequence[Issue], layers: TracedLayers) -> None:
    """Writes the trace events of a run; a slice's arguments tell its layer, cycles, ops, bytes and addresses."""
    rows = [unit.name for unit in stream.machine.units]
    slices = (_slice(stream, issue) for issue in issues)
    write_events(path, stream.machine, rows, layers, slices)


def write_events(
    path: Path, machine: Machine, rows: Sequence[str], layers: TracedLayers, slices: Iterable[Slice]
) -> None:
    """Writes a row of layers, where the program knows its layers, then `rows` with slices."""
    scale = 1e6 / machine.frequency_hz
    numbers = {name: number + 1 for number, name in enumerate(rows)}
    process = {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": machine.name}}
    threads = (
        {"ph": "M", "pid": 1, "tid": number, "name": "thread_name", "args": {"name": name}}
        for name, number in numbers.items()
    )
    events = (one.event(numbers[one.row], scale, layers) for one in slices)
    make_folder(path.parent)
    with replacing(path) as place, place.open("w") as written:
        written.write('{"displayTimeUnit": "ns", "traceEvents": [\n' + json.dumps(process))
        for event in chain(threads, layer_events(layers.table, layers.stretches, scale), events):
            written.write(",\n" + json.dumps(event))
        written.write("\n]}\n")


def _slice(stream: Stream, issue: Issue) -> Slice:
    plan = stream.plans[issue.index]
    args: dict[str, object] = {"start_cycle": issue.start_cycle}
    name = "nothing"
    if plan.bound is not None:
        name = plan.bound.mnemonic.name
        args |= {"cycles": plan.cycles, "ops": plan.ops, "extents": _extents(plan.bound.extents)}
        for touch, address in zip(plan.touches, stream.addresses[issue.index], strict=False):
            memory = stream.machine.memories[touch.memory].name
            args[touch.operand] = f"{memory}[{address:#x}], {touch.byte_count} bytes"
    unit = stream.machine.units[stream.units[issue.index]].name
    return Slice(unit, name, issue.index, issue.start_cycle, issue.end_cycle, args)


def _extents(extents: dict[str, int]) -> str:
    return " ".join(f"{dim}={count}" for dim, count in extents.items() if count != 1)
