"""A DRAM schedule drawn, and as a trace: what both show is what the timetable says."""

import json
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from tilewright.backends.report.schedule_svg import schedule_svg
from tilewright.backends.report.schedule_trace import schedule_trace
from tilewright.costs.dram import Model
from tilewright.costs.soma import hardware
from tilewright.search.dram import Effort, Found, schedule
from tilewright.zoo.schedule_networks import Layer, Network, Shape

MACHINE = hardware(8, 1, 4, 256, 512)
MODEL = Model(MACHINE.array, 600_000, MACHINE.dram_bandwidth, 0, MACHINE.array.read_port, 1)


def found() -> Found:
    shape = Shape(256, 16, 16)
    layers = (
        Layer("stem", "conv", shape, external=(0,)),
        Layer("left", "conv", shape, (0,), kernel=(3, 3)),
        Layer("sum", "eltwise", shape, (0, 1), operands=2),
    )
    network = Network("<diamond>", (("x", Shape(64, 16, 16)),), layers)
    return schedule(network, MODEL, 2, effort=Effort(rounds=200, chains=1))


def test_trace():
    table = found().timetable
    events: list[dict[str, Any]] = json.loads(schedule_trace(table, 2e9))["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    channel, cores = ([event for event in slices if event["tid"] == row] for row in (1, 2))
    assert len(channel) == len(table.transfers)
    assert sum(event["args"]["bytes"] for event in channel) == table.dram_bytes
    assert len(cores) == len(table.tile_layer)
    assert round(sum(event["dur"] for event in cores) * 2e3) == table.compute_cycles
    for row in (channel, cores):
        assert all(one["ts"] + one["dur"] <= two["ts"] + 1e-9 for one, two in pairwise(row))
    usage = [event["args"]["bytes"] for event in events if event["ph"] == "C"]
    assert max(usage) == table.max_buffer_bytes
    assert usage[-1] == 0
    arrows = {phase: {e["id"]: e["ts"] for e in events if e["ph"] == phase} for phase in "sf"}
    assert len(arrows["s"]) == len(arrows["f"]) == len(table.transfers)
    assert all(time <= arrows["f"][number] for number, time in arrows["s"].items())


def test_traces_and_pictures_name_layers():
    table = found().timetable
    events: list[dict[str, Any]] = json.loads(schedule_trace(table))["traceEvents"]
    layers = {layer.name for layer in table.network.layers}
    assert {event["args"]["layer"] for event in events if event["ph"] == "X" and event["tid"] in (1, 2)} == layers
    groups = [event["args"]["layers"] for event in events if event["ph"] == "X" and event["tid"] == 3]
    assert {name for text in groups for name in text.split(", ")} == layers
    root = ElementTree.fromstring(schedule_svg({"a": table, "b": table}))
    texts = [item.text or "" for item in root.iter() if item.tag.endswith("}text")]
    assert layers & set(texts)
    legend = [text for text in texts if text.startswith("1: ")]
    assert len(legend) == 1  # both schedules have the same groups
    assert "stem" in legend[0]


def test_picture():
    both = found()
    assert both.double_buffered is not None
    panels = {"without prefetch": both.double_buffered, "ours": both.timetable}
    shapes = list(ElementTree.fromstring(schedule_svg(panels, MODEL.buffer_bytes)).iter())
    texts = [item.text for item in shapes if item.tag.endswith("}text") and item.text]
    assert sum(text.startswith("<diamond>, ") for text in texts) == 2
    share = both.timetable.compute_cycles / both.timetable.latency_cycles
    assert f"busy {share:.1%}" in texts
    rects = [item for item in shapes if item.tag.endswith("}rect")]
    assert len(rects) > sum(len(table.tile_layer) + len(table.transfers) for table in panels.values())
