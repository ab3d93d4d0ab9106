"""Products of f32 by weights of f16 and of 8 bits, from ONNX to the simulator."""

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile

RANDOM = np.random.default_rng(3)

PRODUCTS: dict[str, tuple[Any, Any, dict[str, Any], int, bool]] = {
    "MatMul": ((5, 32), (32, 48), {}, 1, False),
    "Gemm": ((5, 32), (48, 32), {"transB": 1}, 0, True),
    "Conv": ((1, 6, 9, 9), (12, 3, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}, 0, True),
}
"""By operator the shapes of data and weights, attributes, the axis of scales, and whether there is a bias."""


def program(op: str, kind: str) -> tuple[Any, Any, Any]:
    """The program of one product, its input, and what NumPy's numbers in f64 would be by onnx's reference."""
    from onnx.reference import ReferenceEvaluator

    shape, weights, attributes, axis, bias = PRODUCTS[op]
    values = RANDOM.integers(-127, 128, weights)
    count = weights[axis]
    if kind == "int8":
        scale = RANDOM.random(count, np.float32) + np.float32(0.01)
        stored = {"w": values.astype(np.int8), "s": scale}
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=axis)]
    else:
        stored = {
            "w": (values / 64).astype(np.float16 if kind == "f16" else np.float32) + (kind == "f32") / np.float32(3)
        }
        nodes = [helper.make_node("Cast", ["w"], ["f"], to=1)]
    names = ["x", "f"]
    if bias:
        stored["b"] = RANDOM.standard_normal(count, np.float32)
        names.append("b")
    nodes.append(helper.make_node(op, names, ["y"], **attributes))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    x = RANDOM.standard_normal(shape, np.float32)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    return compile(model, "edge16", options=CompileOptions(gap=1000.0)), x, expected


@pytest.mark.parametrize("op", PRODUCTS)
def test_narrow_weights_are_multiplied_and_loaded_as_such(op: str) -> None:
    loaded: dict[str, float] = {}
    for kind in ("f32", "f16", "int8"):
        made, x, expected = program(op, kind)
        found = simulate(made, {"x": x}).outputs["y"]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4 * float(np.abs(expected).max()))
        loaded[kind] = made.predicted["dram_bytes"]
    weights = np.prod(PRODUCTS[op][1])
    assert loaded["f32"] - loaded["f16"] == pytest.approx(2 * weights, abs=64)
    assert loaded["f16"] - loaded["int8"] == pytest.approx(weights, abs=4 * PRODUCTS[op][1][PRODUCTS[op][3]] + 64)
