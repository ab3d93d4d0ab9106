"""Operators of com.microsoft, imported and interpreted, against onnxruntime."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile
from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph

from .by_onnxruntime import Array, by_onnxruntime

RANDOM = np.random.default_rng(5)


def model_of(op: str, x: Array, *constants: Array | None, outputs: int = 1, **attributes: Any) -> ModelProto:
    stored = [numpy_helper.from_array(a, f"c{i}") for i, a in enumerate(constants) if a is not None]
    names = ["x", *("" if a is None else f"c{i}" for i, a in enumerate(constants))]
    made = ["y", "", "", "s"][:outputs]
    node = helper.make_node(op, names, made, domain="com.microsoft", **attributes)
    values = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)]
    results = [helper.make_empty_tensor_value_info(name) for name in made if name]
    graph = helper.make_graph([node], "g", values, results, stored)
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10)


def check(model: ModelProto, x: Array, tolerance: float = 1e-5) -> None:
    found = run_graph(import_onnx(model), {"x": x})
    for output, expected in zip(model.graph.output, by_onnxruntime(model, x), strict=True):
        np.testing.assert_allclose(found[output.name], expected, rtol=tolerance, atol=tolerance)


ROWS = RANDOM.standard_normal((3, 4, 32), np.float32)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Gelu", 0, {}),
        ("BiasGelu", 1, {}),
        ("FastGelu", 0, {}),
        ("FastGelu", 1, {}),
        ("QuickGelu", 0, {"alpha": 1.5}),
        ("QuickGelu", 0, {}),
    ],
)
def test_activations(op: str, inputs: int, attributes: dict[str, Any]) -> None:
    given = [RANDOM.standard_normal(32, np.float32) for _ in range(inputs)]
    check(model_of(op, ROWS, *given, **attributes), ROWS)


@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
@pytest.mark.parametrize("outputs", [1, 4])
def test_normalisation_of_sums(op: str, outputs: int) -> None:
    skip, scale, shift = (RANDOM.standard_normal(s, np.float32) for s in (ROWS.shape, 32, 32))
    given = [skip, scale, *([shift] if op == "SkipLayerNormalization" else [])]
    check(model_of(op, ROWS, *given, outputs=outputs, epsilon=1e-3), ROWS)


def packed(bits: int, columns: int, rows: int, block: int) -> tuple[Array, Array, Array]:
    """Random weights, scales and zero points as MatMulNBits has them."""
    count, numbers = -(-rows // block), 8 // bits
    weights = RANDOM.integers(0, 256, (columns, count, block // numbers)).astype(np.uint8)
    zeros = RANDOM.integers(0, 256, (columns * -(-count // numbers),)).astype(np.uint8)
    return weights, RANDOM.random((columns * count,), np.float32), zeros


@pytest.mark.parametrize(("bits", "zero"), [(4, False), (4, True), (8, False), (8, True)])
@pytest.mark.parametrize("rows", [64, 72])
def test_weights_in_blocks(bits: int, zero: bool, rows: int) -> None:
    x = RANDOM.standard_normal((2, 3, rows), np.float32)
    weights, scales, zeros = packed(bits, 24, rows, 16)
    given = [weights, scales, *([zeros] if zero else [])]
    model = model_of("MatMulNBits", x, *given, K=rows, N=24, bits=bits, block_size=16)
    check(model, x, 2e-4)


def test_weights_in_blocks_are_loaded_as_bytes() -> None:
    x = RANDOM.standard_normal((1, 512), np.float32)
    weights, scales, _ = packed(4, 256, 512, 32)
    model = model_of("MatMulNBits", x, weights, scales, K=512, N=256, bits=4, block_size=32)
    program = compile(model, "edge16", options=CompileOptions(gap=1000.0))
    found = simulate(program, {"x": x}).outputs["y"]
    np.testing.assert_allclose(found, by_onnxruntime(model, x)[0], rtol=2e-4, atol=2e-4)
    assert program.predicted["dram_bytes"] < 1.3 * 512 * 256


def test_what_stays_out() -> None:
    weights, scales, _ = packed(4, 8, 32, 16)
    order = np.zeros(32, np.int32)
    model = model_of("MatMulNBits", ROWS, weights, scales, None, order, K=32, N=8, bits=4, block_size=16)
    with pytest.raises(TilewrightError, match="g_idx"):
        import_onnx(model)
