"""What machines of integers alone say of networks with floats, constants or inputs as outputs, and maps of a column."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp, i32

from tilewright import GraphBuilder, TilewrightError, compile, simulate
from tilewright.dialects import graph
from tilewright.driver import reference
from tilewright.frontends.onnx import import_onnx


def pooled() -> ModuleOp:
    """A maximum of floats with a border, which minus infinity stands for."""
    net = GraphBuilder()
    x = net.input("x", (1, 4, 8, 8))
    attributes = {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}
    return net.module({"y": net.add("pool", graph.PoolOp, "max", x, **attributes)})


def same(dtype: str, constant: bool = False) -> ModuleOp:
    """An output that is an input or a constant."""
    net = GraphBuilder()
    x = net.input("x", (3, 5), dtype)
    return net.module({"y": net.weight("w", np.ones((3, 5), dtype)) if constant else x})


@pytest.mark.parametrize("target", ["dnnweaver", "genesys16", "hvx"])
def test_a_border_of_floats_is_refused(target: str):
    with pytest.raises(
        TilewrightError, match=f"@max: expected integers: {target} has no floats, found f32 in .*; write it"
    ):
        compile(pooled(), target)


def test_a_column_of_pixels():
    """An image of one column has no rows along x for a window of pixels in one row of lanes."""
    net = GraphBuilder()
    rng = np.random.default_rng(0)
    x = net.input("x", (1, 17, 17, 1), "int8")
    w = net.weight("w", rng.integers(-8, 8, (3, 17, 3, 3)).astype(np.int8))
    y = net.add("conv", graph.ConvOp, x, w, None, strides=(1, 1), pads=(1, 1, 1, 1))
    module = net.module({"y": y})
    given = {"x": rng.integers(-128, 128, (1, 17, 17, 1)).astype(np.int8)}
    result = simulate(compile(module, "dnnweaver"), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


@pytest.mark.parametrize("target", ["dnnweaver", "genesys16"])
@pytest.mark.parametrize("kind", ["max", "row", "all"])
@pytest.mark.parametrize("shape", [(3, 17, 11, 1), (3, 17, 1, 13), (2, 4, 1, 1), (3, 5, 4, 3)])
def test_windows_of_several_samples(target: str, kind: str, shape: tuple[int, ...]):
    """A map of one row or column leaves a loop of rows to the samples, and its taps need one of their own."""
    net = GraphBuilder()
    x = net.input("x", shape, "int8")
    if kind == "max":
        y = net.add("y", graph.PoolOp, "max", x, kernel=(3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    else:
        axes = (2, 3) if kind == "all" else (3,)
        y = net.add("y", graph.ReduceOp, "max", x, axes=axes)
    module = net.module({"y": y})
    given = {"x": np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)}
    result = simulate(compile(module, target), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


@pytest.mark.parametrize("shape", [(3, 17, 11, 1), (3, 17, 1, 13)])
def test_products_of_several_samples(shape: tuple[int, ...]):
    net = GraphBuilder()
    rng = np.random.default_rng(0)
    x = net.input("x", shape, "int8")
    w = net.weight("w", rng.integers(-8, 8, (5, 17, 3, 3)).astype(np.int8))
    module = net.module({"y": net.add("conv", graph.ConvOp, x, w, None, strides=(1, 1), pads=(1, 1, 1, 1))})
    given = {"x": rng.integers(-128, 128, shape).astype(np.int8)}
    result = simulate(compile(module, "dnnweaver"), given)
    np.testing.assert_array_equal(result.outputs["y"], reference(module, given)["y"])


def test_inputs_as_outputs_on_a_machine_of_stages():
    given = {"x": np.arange(15, dtype=np.int8).reshape(3, 5)}
    result = simulate(compile(same("int8"), "vta"), given)
    np.testing.assert_array_equal(result.outputs["y"], given["x"])
    for dtype in ("float32", "int32"):
        with pytest.raises(TilewrightError, match="output 'y': expected 8 bits where an output is an input"):
            compile(same(dtype), "vta")
    with pytest.raises(TilewrightError, match="output 'y': expected what a layer makes, or an input, found a constant"):
        compile(same("int8", constant=True), "vta")


@pytest.mark.parametrize("target", ["dnnweaver", "hvx", "tiny", "vta"])
@pytest.mark.parametrize("zeros", [(0, 0), (5, -7)])
@pytest.mark.parametrize("channels", [1, 8])
@pytest.mark.parametrize("op", ["QLinearConv", "QLinearMatMul"])
def test_quantised_operators_are_integer_layers(op: str, channels: int, zeros: tuple[int, int], target: str):
    """Within a step of the sum in floats, and those of the integer layers to the bit."""
    rng = np.random.default_rng(0)
    x_zero, y_zero = np.array(zeros, np.int8)
    convolves = op == "QLinearConv"
    x = rng.integers(-128, 128, (1, 4, 6, 6) if convolves else (6, 16)).astype(np.int8)
    w = rng.integers(-127, 128, (8, 4, 1, 1) if convolves else (16, 8)).astype(np.int8)
    scale = rng.uniform(0.005, 0.02, channels).astype(np.float32)
    bias = rng.integers(-500, 500, 8).astype(np.int32) if convolves else np.zeros(8, np.int32)
    step, out = np.float32(0.05), np.float32(0.1)
    given = [step, x_zero, w, scale, np.zeros(channels, np.int8), out, y_zero, *([bias] if convolves else [])]
    names = [f"c{i}" for i in range(len(given))]
    made = helper.make_graph(
        [helper.make_node(op, ["x", *names], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(np.asarray(array), name) for array, name in zip(given, names, strict=True)],
    )
    module = import_onnx(helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)], ir_version=8))
    result = simulate(compile(module, target), {"x": x}).outputs["y"]
    rows = x.astype(np.int64) - int(x_zero)
    if convolves:
        sums = np.moveaxis(np.tensordot(w[..., 0, 0].astype(np.int64), rows, ([1], [1])), 0, 1) + bias[:, None, None]
        factors = np.broadcast_to(scale, 8)[:, None, None]
    else:
        sums, factors = rows @ w.astype(np.int64), scale
    expected = np.clip(np.rint(sums * (step * factors) / out) + int(y_zero), -128, 127)
    assert np.abs(result - expected).max() <= 1
    np.testing.assert_array_equal(result, reference(module, {"x": x})["y"])


def test_a_single_number_of_another_type_is_refused():
    net = GraphBuilder()
    x = net.input("x", (), "float32")
    module = net.module({"y": net.add("cast", graph.CastOp, net.add("abs", graph.UnaryOp, "abs", x), i32)})
    with pytest.raises(TilewrightError, match=r"expected"):
        compile(module, "dnnweaver")


def between_integers(*nodes: NodeProto, shape: tuple[int, ...] = (1, 4, 6, 6), **weights: Any) -> ModuleOp:
    """Nodes from `xf` to `f` between integers; weights of 8 bits are `wf`."""
    ends = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["xf"], name="dx"),
        helper.make_node("QuantizeLinear", ["f", "t", "z"], ["y"], name="q"),
    ]
    if weights:
        ends.insert(1, helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wf"], name="dw"))
    tensors = {"s": np.float32(1 / 16), "t": np.float32(1 / 8), "z": np.int8(0)} | weights
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in tensors.items()]
    x = helper.make_tensor_value_info("x", TensorProto.INT8, shape)
    y = helper.make_empty_tensor_value_info("y")
    made = helper.make_graph([*ends[:-1], *nodes, ends[-1]], "g", [x], [y], stored)
    opset = [helper.make_opsetid("", 19)]
    return import_onnx(helper.make_model(made, opset_imports=opset, ir_version=9))


REFUSED = [
    ("dnnweaver", {"group": 2}, "Relu", r"^layer conv \+ .*@mac: expected weights by channel.*; write the layer so"),
    ("dnnweaver", {"dilations": [2, 2]}, "Relu", r"^layer conv \+ .*@mac: expected taps next to.*; write the layer so"),
    ("dnnweaver", {}, "Sigmoid", "layer .*function.*kernel @sigmoid: expected integers: dnnweaver has no floats"),
    ("hvx", {}, "Sigmoid", "^layer function, group @f, kernel @sigmoid: expected integers: hvx has no floats"),
    ("vta", {}, "Sigmoid", "^layer y: expected convolutions.*; run it on the host"),
]


@pytest.mark.parametrize(("target", "attributes", "function", "message"), REFUSED)
def test_refusals_name_the_node_and_what_to_change(target: str, attributes: Any, function: str, message: str):
    nodes = [
        helper.make_node("Conv", ["xf", "wf"], ["c"], name="conv", **attributes),
        helper.make_node(function, ["c"], ["f"], name="function"),
    ]
    module = between_integers(*nodes, w=np.ones((4, 4 // attributes.get("group", 1), 3, 3), np.int8))
    with pytest.raises(TilewrightError, match=message):
        compile(module, target)


@pytest.mark.parametrize("target", ["dnnweaver", "genesys16"])
@pytest.mark.parametrize("shape", [(1, 5, 4, 6), (2, 70, 5, 7)])
def test_counts_of_a_padded_average_lie_in_rows(target: str, shape: tuple[int, ...]):
    """At the border an average is of fewer elements: each place has its own factor, the same in all lanes."""
    average = helper.make_node("AveragePool", ["xf"], ["f"], name="average", kernel_shape=[3, 3], pads=[1, 0, 1, 1])
    program = compile(between_integers(average, shape=shape), target)
    given = {"x": np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)}
    result = simulate(program, given)
    exact = reference(between_integers(average, shape=shape), given)["y"]
    np.testing.assert_array_equal(result.outputs["y"], exact)
    assert result.dram_bytes == program.predicted["dram_bytes"]


def test_a_reshape_of_lanes_is_refused_by_name():
    nodes = [
        helper.make_node("Identity", ["xf"], ["i"], name="same"),
        helper.make_node("Tile", ["i", "n"], ["f"], name="repeated"),
    ]
    tile = numpy_helper.from_array(np.array([2, 3]), "n")
    nodes.insert(0, helper.make_node("Constant", [], ["n"], value=tile))
    with pytest.raises(TilewrightError, match=r"group @y, .*: expected a reshape that keeps rows of lanes whole"):
        compile(between_integers(*nodes, shape=(2, 4)), "dnnweaver")


@pytest.mark.parametrize("target", ["tiny", "vta"])
def test_inputs_larger_than_the_memory_are_refused_at_once(target: str):
    net = GraphBuilder()
    x = net.input("x", (1, 8, 3_037_000_500, 3_037_000_500))
    module = net.module({"y": net.add("y", graph.UnaryOp, "relu", x)})
    with pytest.raises(TilewrightError, match=r"input of tensor<1x8.*of memory off chip, found"):
        compile(module, target)


@pytest.mark.parametrize("views", [True, False])
def test_floats_are_told_with_the_name_of_what_has_them(views: bool):
    net = GraphBuilder()
    x = net.input("x", (2, 6))
    y = net.add("view", graph.ReshapeOp, x, (3, 4)) if views else net.add("half", graph.UnaryOp, "relu", x)
    half = "half, kernel @relu: expected integers: dnnweaver has no floats, found f32 in `Y.*; write it with integers"
    with pytest.raises(TilewrightError, match="copy, kernel @copy: expected integers: dnn" if views else half):
        compile(net.module({"y": y}), "dnnweaver")


CALL = """
builtin.module {
  func.func @main(%x : tensor<4xf32>) -> tensor<4xf32> {
    %y = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
    func.return %y : tensor<4xf32>
  }
}
"""


@pytest.mark.parametrize("target", ["tiny", "dnnweaver", "hvx", "vta"])
def test_what_is_no_layer_is_refused_by_name(target: str, tmp_path: Path):
    path = tmp_path / "call.mlir"
    path.write_text(CALL)
    with pytest.raises(TilewrightError, match=r"func\.call"):
        compile(str(path), target)
