"""A run of a machine of loops for Perfetto: layers, then engines and DRAM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ....files import make_folder, write_file
from ....machine import Machine
from ..layer_times import layer_events
from ..trace import TracedLayers
from .timeline import Slice


def write_trace(path: Path, machine: Machine, slices: Sequence[Slice], layers: TracedLayers) -> None:
    """A row of layers, one per engine and one for DRAM."""
    rows = {name: number + 1 for number, name in enumerate(sorted({item.row for item in slices}))}
    scale = 1e6 / machine.frequency_hz
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": number, "name": "thread_name", "args": {"name": name}}
        for name, number in rows.items()
    ]
    events += layer_events(layers.table, layers.stretches, scale)
    for item in slices:
        args = {"instruction": item.index} | layers.of(item.index)
        place = {"ph": "X", "pid": 1, "tid": rows[item.row], "name": item.name, "args": args}
        times = {"ts": item.start_cycle * scale, "dur": (item.end_cycle - item.start_cycle) * scale}
        events.append(place | times)
    make_folder(path.parent)
    write_file(path, json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
