"""Layers that become one group, and their prices, where shapes differ."""

from __future__ import annotations

import numpy as np
import onnx.helper as h
from onnx import numpy_helper
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile
from tilewright.driver.models import make_context
from tilewright.passes.graph.graph_fuse import find_clusters


def test_two_made_of_weights_that_broadcast_to_each_other_are_apart() -> None:
    text = """
    func.func @f() -> tensor<3x4xf32> {
      %a = graph.weight @a : tensor<3x1xf32>
      %b = graph.weight @b : tensor<1x4xf32>
      %c = graph.unary neg %a : (tensor<3x1xf32>) -> tensor<3x1xf32>
      %d = graph.unary neg %b : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %e = graph.binary add %c, %d : (tensor<3x1xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
      func.return %e : tensor<3x4xf32>
    }
    """
    (function,) = Parser(make_context(), text).parse_module().body.ops
    assert isinstance(function, FuncOp)
    assert [len(cluster.members) for cluster in find_clusters(function.body.block, 16)] == [1, 1, 1]


def test_depthwise_windows_along_one_axis_are_priced_in_groups() -> None:
    """More channels than elements of a row."""
    w = np.ones((6, 1, 3), np.float32)
    x = h.make_tensor_value_info("x", 1, [1, 6, 4])
    y = h.make_tensor_value_info("y", 1, None)
    nodes = [
        h.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1], group=6),
        h.make_node("MaxPool", ["c"], ["y"], kernel_shape=[2]),
    ]
    graph = h.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(w, "w")])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)])
    program = compile(model, "edge16", options=CompileOptions(partition="greedy"))
    data = np.arange(24, dtype=np.float32).reshape(1, 6, 4)
    sums = np.pad(data, ((0, 0), (0, 0), (1, 1)))
    sums = sums[:, :, :-2] + sums[:, :, 1:-1] + sums[:, :, 2:]
    expected = np.maximum(sums[:, :, 1:], sums[:, :, :-1])
    np.testing.assert_allclose(simulate(program, {"x": data}).outputs["y"], expected)
