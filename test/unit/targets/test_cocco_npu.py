"""The target with a buffer for activations and one for weights: networks run on it as NumPy has them."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright
from tilewright.arrays import compare
from tilewright.driver import load_model, reference
from tilewright.frontends.acg import load_target

from ...onnx_files.quantized import quantized
from ...onnx_files.weights import random_inputs


def weight(name: str, *shape: int) -> onnx.TensorProto:
    random = np.random.default_rng(len(name) + sum(shape))
    return numpy_helper.from_array((random.standard_normal(shape) / 4).astype(np.float32), name)


def model(nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto], x: list[int], y: list[int]) -> onnx.ModelProto:
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, x)
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, y)
    graph = helper.make_graph(nodes, "model", [given], [made], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def convolutions() -> onnx.ModelProto:
    """Strides, depthwise, a residual sum, pooling, a matrix product."""
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1], group=8),
        helper.make_node("Add", ["c2", "r1"], ["a"]),
        helper.make_node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], transB=1),
    ]
    weights = [
        weight("w1", 8, 3, 3, 3),
        weight("b1", 8),
        weight("w2", 8, 1, 3, 3),
        weight("w3", 5, 128),
        weight("b3", 5),
    ]
    return model(nodes, weights, [1, 3, 16, 16], [1, 5])


def attention() -> onnx.ModelProto:
    """Products of two results: one of them passes from the global to the weight buffer."""
    nodes = [
        *(helper.make_node("MatMul", ["x", f"w{name}"], [name]) for name in "qkv"),
        helper.make_node("Transpose", ["k"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "t"], ["s"]),
        helper.make_node("Softmax", ["s"], ["n"], axis=-1),
        helper.make_node("MatMul", ["n", "v"], ["y"]),
    ]
    return model(nodes, [weight(f"w{name}", 16, 16) for name in "qkv"], [1, 12, 16], [1, 12, 16])


def choice() -> onnx.ModelProto:
    """Elements of two results by what a third is."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Less", ["x", "m"], ["c"]),
        helper.make_node("Where", ["c", "x", "m"], ["y"]),
    ]
    return model(nodes, [weight("w", 16, 16)], [1, 12, 16], [1, 12, 16])


@pytest.mark.parametrize("build", [convolutions, attention, choice])
@pytest.mark.parametrize("integer", [False, True])
def test_networks_run(build: Callable[[], onnx.ModelProto], integer: bool):
    network = build()
    if integer:
        network = quantized(network)
    inputs = random_inputs(network, 0)
    program = tilewright.compile(network, target="cocco_npu", options=tilewright.CompileOptions(gap=1000.0))
    result = tilewright.simulate(program, inputs)
    expected = reference(load_model(network), inputs)
    if integer:
        assert all(np.array_equal(result.outputs[name], value) for name, value in expected.items())
    assert compare(result.outputs, expected).max_abs_error < 1e-4


def test_weights_go_to_their_buffer():
    program = tilewright.compile(convolutions(), target="cocco_npu")
    counts = tilewright.simulate(program, random_inputs(convolutions(), 0)).counts.memories
    assert counts["WBUF"].write_bytes >= 4 * (8 * 3 * 9 + 8 * 9 + 5 * 128)
    assert load_target("cocco_npu").memories[1].regions == 64
