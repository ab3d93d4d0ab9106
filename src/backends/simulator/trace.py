"""The run as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.

A row of layers, where the program knows its layers, then a row per unit with a slice per instruction.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...files import make_folder, replacing
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


def write_trace(path: Path, stream: Stream, issues: Sequence[Issue], layers: TracedLayers) -> None:
    """Writes the trace events of a run; a slice's arguments tell its layer, cycles, ops, bytes and addresses."""
    scale = 1e6 / stream.machine.frequency_hz
    make_folder(path.parent)
    with replacing(path) as place, place.open("w") as stream_out:
        stream_out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        stream_out.write(_event({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": stream.machine.name}}))
        for number, unit in enumerate(stream.machine.units):
            args = {"name": unit.name}
            row = {"ph": "M", "pid": 1, "tid": number + 1, "name": "thread_name", "args": args}
            stream_out.write(",\n" + _event(row))
        for event in layer_events(layers.table, layers.stretches, scale):
            stream_out.write(",\n" + _event(event))
        for issue in issues:
            stream_out.write(",\n" + _event(_slice(stream, issue, scale, layers)))
        stream_out.write("\n]}\n")


def _slice(stream: Stream, issue: Issue, scale: float, layers: TracedLayers) -> dict[str, object]:
    plan = stream.plans[issue.index]
    args = {"instruction": issue.index, "start_cycle": issue.start_cycle} | layers.of(issue.index)
    name = "nothing"
    if plan.bound is not None:
        name = plan.bound.mnemonic.name
        args |= {"cycles": plan.cycles, "ops": plan.ops, "extents": _extents(plan.bound.extents)}
        for touch, address in zip(plan.touches, stream.addresses[issue.index], strict=False):
            memory = stream.machine.memories[touch.memory].name
            args[touch.operand] = f"{memory}[{address:#x}], {touch.byte_count} bytes"
    return {
        "ph": "X",
        "pid": 1,
        "tid": stream.units[issue.index] + 1,
        "name": name,
        "ts": issue.start_cycle * scale,
        "dur": (issue.end_cycle - issue.start_cycle) * scale,
        "args": args,
    }


def _extents(extents: dict[str, int]) -> str:
    return " ".join(f"{dim}={count}" for dim, count in extents.items() if count != 1)


def _event(event: Mapping[str, object]) -> str:
    return json.dumps(event)
