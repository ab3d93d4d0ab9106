"""Single operators, imported and interpreted, beside onnxruntime."""

from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, helper, numpy_helper

from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph

Array = NDArray[Any]

X = np.random.default_rng(0).standard_normal((2, 3, 6, 8), np.float32)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def floats(*values: float) -> Array:
    return np.array(values, np.float32)


def scalar(value: float) -> Array:
    return np.array(value, np.float32)


def build(op: str, x: Array, constants: list[Array | None], opset: int, outputs: int, attributes: Any) -> ModelProto:
    tensors = [numpy_helper.from_array(a, f"c{i}") for i, a in enumerate(constants) if a is not None]
    names = ["x", *("" if a is None else f"c{i}" for i, a in enumerate(constants))]
    results = [f"y{i}" for i in range(outputs)]
    value = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
    node = helper.make_node(op, names, results, **attributes)
    empty = [helper.make_empty_tensor_value_info(name) for name in results]
    graph = helper.make_graph([node], "g", [value], empty, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model


def by_onnxruntime(model: ModelProto, x: Array) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return [np.asarray(array) for array in session.run(None, {"x": x})]


def check(
    op: str,
    x: Array,
    *constants: Array | None,
    opset: int = 21,
    outputs: int = 1,
    rtol: float = 1e-4,
    atol: float = 1e-5,
    **attributes: Any,
) -> None:
    """The operator's results, of `x` and constants, are those of onnxruntime."""
    model = build(op, x, list(constants), opset, outputs, attributes)
    expected = by_onnxruntime(model, x)
    found = run_graph(import_onnx(model), {"x": x})
    for index, array in enumerate(expected):
        np.testing.assert_allclose(found[f"y{index}"], array, rtol=rtol, atol=atol)
        assert found[f"y{index}"].dtype == array.dtype
