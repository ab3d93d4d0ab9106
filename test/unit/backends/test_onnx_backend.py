"""The ONNX backend adapter: its four functions, its devices, inputs that are constants to the compiler."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.backend.base import Backend

from tilewright import CompileOptions
from tilewright.backends import onnx_backend
from tilewright.errors import TilewrightError

X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def reshape_model():
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, (3, 4)),
        helper.make_tensor_value_info("shape", TensorProto.INT64, (2,)),
    ]
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Reshape", ["r", "shape"], ["y"])]
    graph = helper.make_graph(nodes, "g", values, [helper.make_empty_tensor_value_info("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_is_a_backend():
    assert issubclass(onnx_backend.TilewrightBackend, Backend)
    assert onnx_backend.supports_device("CPU")
    assert onnx_backend.supports_device("edge16")
    assert not onnx_backend.supports_device("CUDA")


def test_run_node():
    node = helper.make_node("Add", ["a", "b"], ["y"])
    (y,) = onnx_backend.run_node(node, [X, X[0]])
    np.testing.assert_array_equal(y, X + X[0])


def test_run_node_with_an_input_twice():
    (y,) = onnx_backend.run_node(helper.make_node("Mul", ["a", "a"], ["y"]), [X], opset_version=13)
    np.testing.assert_array_equal(y, X * X)


def test_options_are_those_of_compile():
    options = CompileOptions(partition="none of the methods")
    with pytest.raises(TilewrightError, match=r"CompileOptions\.partition"):
        onnx_backend.run_model(reshape_model(), [X, np.array([2, 6])], options=options)


def test_compiles_again_when_a_shape_changes():
    prepared = onnx_backend.prepare(reshape_model())
    assert prepared.program is None
    assert prepared.run([X, np.array([2, 6])])[0].shape == (2, 6)
    first = prepared.program
    assert prepared.run({"x": -X, "shape": np.array([2, 6])})[0].shape == (2, 6)
    assert prepared.program is first
    assert prepared.run([X, np.array([-1, 3])])[0].shape == (4, 3)


def test_prepares_once_for_many_runs():
    prepared = onnx_backend.prepare(onnx_backend.node_model(helper.make_node("Neg", ["x"], ["y"]), [X], 13), "edge16")
    assert prepared.program is not None
    for scale in (1, 2):
        np.testing.assert_array_equal(prepared.run(X * scale)[0], -X * scale)


def test_wrong_number_of_inputs():
    with pytest.raises(TilewrightError, match="2 arrays"):
        onnx_backend.run_model(reshape_model(), [X])
    with pytest.raises(TilewrightError, match="2 arrays"):
        onnx_backend.run_node(helper.make_node("Add", ["a", "b"], ["y"]), [X])


def test_wrong_device():
    with pytest.raises(TilewrightError, match="CPU"):
        onnx_backend.prepare(reshape_model(), "CUDA")


def test_an_operator_that_is_not_supported():
    with pytest.raises(TilewrightError, match="NonZero"):
        onnx_backend.run_node(helper.make_node("NonZero", ["x"], ["y"]), [X])
