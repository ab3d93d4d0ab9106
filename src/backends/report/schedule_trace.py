"""A DRAM schedule as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.

Rows for DRAM, the cores and the groups, a counter of the buffer's use, and an arrow from every load to the tile that
waits for it and from every tile to the store of its result.
"""

import json
from collections.abc import Iterator
from typing import Any

from ...costs.dram.timetable import Timetable, Transfer
from ...costs.soma.tiling import INPUT, OUTPUT

DRAM, COMPUTE, FUSED, LAYERED = range(1, 5)
ROWS = {DRAM: "DRAM", COMPUTE: "COMPUTE", FUSED: "fused groups", LAYERED: "layer groups"}
"""The rows, by number."""

Event = dict[str, Any]


def schedule_trace(table: Timetable, frequency_hz: float = 1e9) -> str:
    """Chrome's trace event format as JSON text, times in microseconds at `frequency_hz`."""
    scale = 1e6 / frequency_hz
    events = [json.dumps(_scaled(event, scale)) for event in _events(table)]
    return '{"displayTimeUnit": "ns", "traceEvents": [\n' + ",\n".join(events) + "\n]}\n"


def _scaled(event: Event, scale: float) -> Event:
    return event | {key: event[key] * scale for key in ("ts", "dur") if key in event}


def _events(table: Timetable) -> Iterator[Event]:
    """All events, times in cycles."""
    yield {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": table.network.name}}
    for row, name in ROWS.items():
        yield {"ph": "M", "pid": 1, "tid": row, "name": "thread_name", "args": {"name": name}}
        yield {"ph": "M", "pid": 1, "tid": row, "name": "thread_sort_index", "args": {"sort_index": row}}
    yield from _tiles(table)
    yield from _transfers(table)
    yield from _groups(table)
    yield from _usage(table)


def _slice(row: int, name: str, begin: int, cycles: int, **facts: Any) -> Event:
    return {"ph": "X", "pid": 1, "tid": row, "name": name, "ts": begin, "dur": cycles, "args": facts}


def _tiles(table: Timetable) -> Iterator[Event]:
    for layer, index, begin, cycles in _rows(table):
        name = table.network.layers[layer].name
        yield _slice(COMPUTE, name, begin, cycles, layer=name, number=layer, tile=index)


def _rows(table: Timetable) -> list[tuple[int, int, int, int]]:
    columns = table.tile_layer, table.tile_index, table.tile_begin, table.tile_cycles
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _transfers(table: Timetable) -> Iterator[Event]:
    begins = {(layer, tile): begin for layer, tile, begin, _ in _rows(table)}
    for number, item in enumerate(table.transfers):
        name = table.network.layers[item.layer].name
        facts = {
            "layer": name,
            "number": item.layer,
            "tile": item.tile,
            "bytes": item.size_bytes,
            "lives": [item.start, item.end],
        }
        yield _slice(DRAM, _what(table, item), item.begin, item.cycles, **facts)
        ends = (DRAM, item.begin), (COMPUTE, begins[item.layer, item.tile])
        for (row, time), phase in zip(ends[::-1] if item.kind == OUTPUT else ends, "sf", strict=True):
            arrow = {"ph": phase, "pid": 1, "tid": row, "name": "needs", "cat": "data", "id": number, "ts": time}
            yield arrow | ({"bp": "e"} if phase == "f" else {})


def _what(table: Timetable, item: Transfer) -> str:
    name = table.network.layers[item.layer].name
    return f"{'store' if item.kind == OUTPUT else 'load input of' if item.kind == INPUT else 'load weights of'} {name}"


def _groups(table: Timetable) -> Iterator[Event]:
    """A slice for every fused group and every layer group, from its first tile to its end."""
    rows, position = _rows(table), 0
    spans: dict[int, tuple[int, int]] = {}
    for group in table.fusion.fused_groups:
        last = position + len(group.layers) * group.tiles - 1
        begin, end = rows[position][2], rows[last][2] + rows[last][3]
        names = ", ".join(table.network.layers[layer].name for layer in group.layers)
        what = f"{len(group.layers)} layers in {group.tiles} tiles"
        yield _slice(FUSED, what, begin, end - begin, layers=names)
        spans[group.group] = spans.get(group.group, (begin, 0))[0], end
        position = last + 1
    for number, (begin, end) in spans.items():
        yield _slice(LAYERED, f"layer group {number}", begin, end - begin)


def _usage(table: Timetable) -> Iterator[Event]:
    times = [0, *table.tile_begin.tolist(), table.latency_cycles]
    for time, usage in zip(times, [*table.usage_bytes.tolist(), 0], strict=True):
        yield {"ph": "C", "pid": 1, "name": "buffer", "ts": time, "args": {"bytes": usage}}
