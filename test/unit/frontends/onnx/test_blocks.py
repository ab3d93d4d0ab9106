"""Weights of few bits that a DequantizeLinear scales block by block."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph

ROWS, COLUMNS, BLOCK = 60, 12, 16


def _model(kind: str, zeros: bool, rows: int, columns: int, block: int):
    random = np.random.default_rng(0)
    low, high = (-8, 8) if kind == "int4" else (0, 16)
    dtype = np.dtype(getattr(ml_dtypes, kind))
    steps = random.integers(low, high, (rows, columns)).astype(np.int8)
    scales = (random.random((-(-rows // block), columns)) + 0.1).astype(np.float32)
    stored = [numpy_helper.from_array(steps.astype(dtype), "w"), numpy_helper.from_array(scales, "s")]
    whole = steps.astype(np.float32)
    if zeros:
        zero = random.integers(low, high, scales.shape).astype(np.int8)
        stored.append(numpy_helper.from_array(zero.astype(dtype), "z"))
        whole -= np.repeat(zero, block, 0)[:rows]
    names = ["w", "s", "z"][: len(stored)]
    nodes = [
        helper.make_node("DequantizeLinear", names, ["d"], axis=0, block_size=block),
        helper.make_node("MatMul", ["x", "d"], ["y"], name="product"),
    ]
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, rows])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, columns])]
    graph = helper.make_graph(nodes, "g", values, outputs, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, whole * np.repeat(scales, block, 0)[:rows]


@pytest.mark.parametrize("kind", ["int4", "uint4"])
@pytest.mark.parametrize("zeros", [False, True])
def test_products_are_those_of_the_dequantised_matrix(kind: str, zeros: bool) -> None:
    model, matrix = _model(kind, zeros, ROWS, COLUMNS, BLOCK)
    module = import_onnx(model)
    assert "tensor<4x16x12xsi8>" in str(module)  # a matrix for each row of blocks, the last one filled up
    x = np.random.default_rng(1).standard_normal((1, 2, ROWS), np.float32)
    np.testing.assert_allclose(run_graph(module, {"x": x})["y"], x @ matrix, rtol=1e-5, atol=1e-5)


def test_weights_of_4_bits_are_loaded_two_in_a_byte() -> None:
    model, matrix = _model("int4", False, 512, 256, 32)
    program = compile(model, options=CompileOptions(gap=1000.0))
    x = np.random.default_rng(1).standard_normal((1, 2, 512), np.float32)
    result = simulate(program, {"x": x})
    np.testing.assert_allclose(result.outputs["y"], x @ matrix, rtol=1e-4, atol=1e-4)
    assert result.dram_bytes < 0.75 * matrix.size
