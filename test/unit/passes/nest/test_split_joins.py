"""Channelwise layers of joined maps, made in two parts."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.driver import CompileOptions, RunOptions, applicable, compile, run, schedule_ways
from tilewright.driver.pipelines import Room


def dense_block(path: Path) -> str:
    """A product and three layers, each of a scaled and shifted map of all before, a product, and a convolution."""
    numbers = np.random.default_rng(0)
    weights: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []

    def weight(*shape: int) -> str:
        name = f"w{len(weights)}"
        weights.append(numpy_helper.from_array(numbers.normal(0, 0.1, shape).astype(np.float32), name))
        return name

    nodes.append(helper.make_node("Conv", ["x", weight(64, 16, 1, 1)], ["first"]))
    last, made, channels = "first", "first", 64
    for layer in range(3):
        scaled, shifted, made, joined = (f"{word}{layer}" for word in ("scaled", "shifted", "made", "joined"))
        nodes += [
            helper.make_node("Mul", [last, weight(1, channels, 1, 1)], [scaled]),
            helper.make_node("Add", [scaled, weight(1, channels, 1, 1)], [shifted]),
            helper.make_node("Relu", [shifted], [f"{shifted}+"]),
            helper.make_node("Conv", [f"{shifted}+", weight(32, channels, 1, 1)], [f"{made}-"]),
            helper.make_node("Conv", [f"{made}-", weight(16, 32, 3, 3)], [made], pads=[1, 1, 1, 1]),
            helper.make_node("Concat", [last, made], [joined], axis=1),
        ]
        last, channels = joined, channels + 16
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, extent, 16, 16])
        for name, extent in (("x", 16), (made, 16))
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def test_the_parts_give_the_same_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    model, cycles = dense_block(tmp_path / "model.onnx"), list[float]()
    compiling, running = CompileOptions(partition="schedule", gap=0), RunOptions(trace=False)
    for number in range(2):
        done = run(model, "cloud128", folder=tmp_path / str(number), compile_options=compiling, options=running)
        assert done.agrees
        assert done.simulation.cycles == done.predicted["cycles"] >= done.bounds["lower_bound"]["cycles"]
        cycles.append(done.simulation.cycles)
        monkeypatch.setattr(applicable, "split_joins", lambda *_: ())
    assert cycles[0] < cycles[1]


def test_parts_of_a_network_that_ends_sooner_with_taps_as_channels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The module before the parts are made is kept of any way, also where bands were not looked for."""

    def unfold(ways: schedule_ways._Ways) -> None:  # pyright: ignore[reportPrivateUsage]
        ways.found[Room(unfold=True)] = ways.found.pop(Room())

    monkeypatch.setattr(schedule_ways._Ways, "unfold", unfold)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(schedule_ways._Ways, "band", lambda _: None)  # pyright: ignore[reportPrivateUsage]
    options = CompileOptions(partition="schedule", gap=0, prove=False)
    program = compile(dense_block(tmp_path / "model.onnx"), "cloud128", options=options)
    assert any("joined maps apart" in candidate.method for candidate in program.candidates)
