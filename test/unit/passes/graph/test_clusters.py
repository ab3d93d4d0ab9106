"""Layers that become one group, and their prices, where shapes differ."""

from __future__ import annotations

import numpy as np
import onnx.helper as h
from onnx import numpy_helper
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright.arrays import Array
from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile
from tilewright.driver.models import make_context
from tilewright.passes.graph.graph_fuse import find_clusters
from tilewright.resources import Resources, attach


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


CONV = "strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x4x6x6xsi8>, tensor<8x4x1x1xsi8>) -> WIDE"
REQUANTIZE = "%m, %s axis 1 zero_point 0 range [-128, 127] : (WIDE, tensor<i32>, tensor<i32>) -> NARROW"
RESIDUAL = f"""
func.func @main(%x : tensor<1x4x6x6xsi8>) -> NARROW {{
  %w = graph.weight @w : tensor<8x4x1x1xsi8>
  %v = graph.weight @v : tensor<8x4x1x1xsi8>
  %m = graph.weight @m : tensor<i32>
  %s = graph.weight @s : tensor<i32>
  %c = graph.conv %x, %w {CONV}
  %p = graph.requantize %c, {REQUANTIZE}
  %a = graph.cast %p : (NARROW) -> WIDE
  %d = graph.conv %x, %v {CONV}
  %q = graph.requantize %d, {REQUANTIZE}
  %b = graph.cast %q : (NARROW) -> WIDE
  %t = graph.binary add %a, %b : (WIDE, WIDE) -> WIDE
  %y = graph.requantize %t, {REQUANTIZE}
  func.return %y : NARROW
}}
""".replace("NARROW", "tensor<1x8x6x6xsi8>").replace("WIDE", "tensor<1x8x6x6xi32>")


def test_of_two_products_that_are_added_one_leaves_its_group_in_few_bytes() -> None:
    """The sum's group widens the 8-bit map that the other product makes; layer by layer it is read so, too."""
    (function,) = Parser(make_context(), RESIDUAL).parse_module().body.ops
    assert isinstance(function, FuncOp)
    clusters = find_clusters(function.body.block, 16)
    assert [[member.name for member in cluster.members] for cluster in clusters] == [
        ["graph.conv", "graph.requantize"],
        ["graph.cast", "graph.conv", "graph.requantize", "graph.cast", "graph.binary", "graph.requantize"],
    ]
    rng = np.random.default_rng(0)
    x, w, v = (rng.integers(-128, 128, shape, np.int8) for shape in ((1, 4, 6, 6), (8, 4), (8, 4)))
    module = Parser(make_context(), RESIDUAL).parse_module()
    scale, shift = np.array(1 << 24, np.int32), np.array(31, np.int32)
    weights = {"w": w.reshape(8, 4, 1, 1), "v": v.reshape(8, 4, 1, 1), "m": scale, "s": shift}
    attach(module, Resources(weights))
    program = compile(module, "edge16", options=CompileOptions(partition=""))
    assert len(program.layers) == 2
    maps = 144 + 288 + (144 + 288 + 288)
    assert maps <= program.predicted["dram_bytes"] < maps + 300  # weights, and two numbers for each layer

    def made(sums: Array) -> Array:
        return np.clip(np.floor(sums / 128 + 0.5), -128, 127)

    one, other = (made(np.einsum("kc,ncpq->nkpq", a.astype(np.int64), x.astype(np.int64))) for a in (w, v))
    run = simulate(program, {"arg0": x})
    np.testing.assert_array_equal(next(iter(run.outputs.values())), made(one + other))


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
