"""When layers run: at each time the layer that advances the end of the program, and that as the row of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...machine.layer_table import LayerTable

ROW = 0
"""The thread of a trace that shows layers, above those of units."""


@dataclass(frozen=True)
class Advance:
    """A stretch of time in which a layer, by its number, advances the end of the program."""

    layer: int
    start_cycle: int
    end_cycle: int


def advances(ends: Iterable[tuple[int, int]]) -> list[Advance]:
    """The stretches of time from 0 to the end; `ends` are layer and last cycle of each piece of work in order."""
    found: list[Advance] = []
    horizon = 0
    for layer, end in ends:
        if end > horizon:
            start = found.pop().start_cycle if found and found[-1].layer == layer else horizon
            found.append(Advance(layer, start, end))
            horizon = end
    return found


def layer_events(table: LayerTable, stretches: Iterable[Advance], scale: float) -> Iterator[dict[str, Any]]:
    """The events of the row; `scale` is a cycle in microseconds."""
    if not table.known:
        return
    yield {"ph": "M", "pid": 1, "tid": ROW, "name": "thread_name", "args": {"name": "layers"}}
    yield {"ph": "M", "pid": 1, "tid": ROW, "name": "thread_sort_index", "args": {"sort_index": ROW}}
    for one in stretches:
        layer = table.layers[one.layer]
        args = {"nodes": " ".join(layer.nodes)} | ({"group": layer.group} if layer.group else {})
        times = {"ts": one.start_cycle * scale, "dur": (one.end_cycle - one.start_cycle) * scale}
        yield {"ph": "X", "pid": 1, "tid": ROW, "name": layer.name, **times, "args": args}
