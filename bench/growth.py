"""Compilation and simulation of chains of 10, 50 and 150 layers: CPU time grows linearly with the layers.

The slope from 50 to 150 layers may exceed the slope from 10 to 50 by the factor `SLOPE_RATIO` at most (noise of the
machine included; quadratic growth would make it 3.3).
"""

from __future__ import annotations

import numpy as np
import onnx
from measure import Report, cpu_seconds
from onnx import TensorProto, helper, numpy_helper

import tilewright

LAYERS = (10, 50, 150)
SLOPE_RATIO = 1.6
OPS_MAX = 10_000
SHAPE = (1, 32, 14, 14)
REPEATS = 3


def chain(layers: int) -> onnx.ModelProto:
    """`layers` times a 3x3 convolution and Relu, between random numbers of channels: nearly all layers differ."""
    random = np.random.default_rng(0)
    channels = [32, *map(int, random.integers(16, 49, layers - 1)), 32]
    nodes: list[onnx.NodeProto] = []
    weights: list[onnx.TensorProto] = []
    value = "x"
    for index in range(layers):
        weight = (random.standard_normal((channels[index + 1], channels[index], 3, 3)) / 12).astype(np.float32)
        weights.append(numpy_helper.from_array(weight, f"w{index}"))
        nodes.append(helper.make_node("Conv", [value, f"w{index}"], [f"c{index}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{index}"], [f"y{index}"]))
        value = f"y{index}"
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, SHAPE)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def slope_ratio(times: list[float]) -> float:
    """Seconds per layer from 50 to 150 layers over those from 10 to 50."""
    early = (times[1] - times[0]) / (LAYERS[1] - LAYERS[0])
    late = (times[2] - times[1]) / (LAYERS[2] - LAYERS[1])
    return late / early


def main() -> None:
    report = Report()
    inputs = {"x": np.ones(SHAPE, np.float32)}
    tilewright.simulate(tilewright.compile(chain(2)), inputs)
    compile_times: list[float] = []
    simulate_times: list[float] = []
    for layers in LAYERS:
        model = chain(layers)
        seconds, program = cpu_seconds(lambda model=model: tilewright.compile(model), REPEATS)
        compile_times.append(seconds)
        seconds, _ = cpu_seconds(lambda program=program: tilewright.simulate(program, inputs), REPEATS)
        simulate_times.append(seconds)
        print(f"{layers} layers: {compile_times[-1]:.2f} s to compile, {seconds:.2f} s to simulate")
        report.add(f"{layers} layers: most operations in a module", program.ops_max, OPS_MAX)
    report.add("compile: slope 50..150 over slope 10..50", slope_ratio(compile_times), SLOPE_RATIO)
    report.add("simulate: slope 50..150 over slope 10..50", slope_ratio(simulate_times), SLOPE_RATIO)
    report.finish()


if __name__ == "__main__":
    main()
