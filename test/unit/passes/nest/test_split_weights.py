"""Layers of large weights, made part by part where weights have a memory of their own."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.driver import CompileOptions, RunOptions, run
from tilewright.passes.nest import nest_split_weights

TARGET = "cocco_npu:WBUF.depth=1024"
"""64 KiB of weights."""


def model(path: Path) -> str:
    """Convolutions of 36 and 32 KiB of weights, the second added to another map, and a product of 128 KiB."""
    numbers = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(numbers.normal(0, 0.1, shape).astype(np.float32), name)

    weights = [weight("w", 128, 8, 3, 3), weight("b", 128), weight("v", 64, 128, 1, 1), weight("u", 64, 8, 1, 1)]
    nodes = [
        helper.make_node("MaxPool", ["x"], ["h"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["h", "w", "b"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("Conv", ["h", "u"], ["s"]),
        helper.make_node("Conv", ["r", "v"], ["c"]),
        helper.make_node("Add", ["c", "s"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "m"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 8, 40, 40]), ("y", [1, 512]))]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], [*weights, weight("m", 64, 512)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return str(path)


def test_parts_give_the_same_and_their_weights_come_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    options = CompileOptions(partition="schedule", gap=100.0, prove=False)
    cycles: list[float] = []
    for share in (nest_split_weights.SHARE, 1.0):
        monkeypatch.setattr(nest_split_weights, "SHARE", share)
        path = model(tmp_path / "model.onnx")
        done = run(path, TARGET, folder=tmp_path / str(share), compile_options=options, options=RunOptions(trace=False))
        assert done.agrees
        assert done.simulation.cycles == done.predicted["cycles"] >= done.bounds["lower_bound"]["cycles"]
        cycles.append(done.simulation.cycles)
    assert cycles[0] < cycles[1]
