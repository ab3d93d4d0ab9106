"""Weights of 4 bits, two in a byte of DRAM: what is loaded, and the numbers, with and without."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.driver import compile
from tilewright.driver.pipelines import CompileOptions
from tilewright.passes.graph.graph_pack import pieces_of

RANDOM = np.random.default_rng(11)

ROWS, COLUMNS = 256, 192


def model(kind: str, tokens: int) -> ModelProto:
    """`relu(x)` by weights of 4 bits: in blocks of 32 rows, or with a scale for each column."""
    if kind == "blocks":
        packed = RANDOM.integers(0, 256, (COLUMNS, ROWS // 32, 16)).astype(np.uint8)
        scales = RANDOM.random(COLUMNS * ROWS // 32).astype(np.float16).astype(np.float32)
        stored = [numpy_helper.from_array(packed, "w"), numpy_helper.from_array(scales, "s")]
        sizes: dict[str, Any] = {"K": ROWS, "N": COLUMNS, "bits": 4, "block_size": 32}
        product = [helper.make_node("MatMulNBits", ["r", "w", "s"], ["y"], domain="com.microsoft", **sizes)]
    else:
        weights = RANDOM.integers(-8, 8, (ROWS, COLUMNS)).astype(np.int8)
        stored = [
            helper.make_tensor("w", TensorProto.INT4, weights.shape, weights.reshape(-1)),
            numpy_helper.from_array(RANDOM.random(COLUMNS, np.float32), "s"),
        ]
        product = [
            helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=1),
            helper.make_node("MatMul", ["r", "f"], ["y"]),
        ]
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"]), *product],
        "g",
        [helper.make_tensor_value_info("x", 1, [tokens, ROWS])],
        [helper.make_tensor_value_info("y", 1, [tokens, COLUMNS])],
        stored,
    )
    sets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10)


def expected(proto: ModelProto, x: NDArray[Any]) -> NDArray[Any]:
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # others round activations
    return np.asarray(onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, {"x": x})[0])


@pytest.mark.parametrize(
    ("kind", "tokens", "bytes_per_weight"),
    [("blocks", 1, 0.5 + 2 / 32), ("blocks", 2048, 0.5 + 2 / 32), ("columns", 5, 0.5)],
)
def test_weights_take_half_a_byte(kind: str, tokens: int, bytes_per_weight: float) -> None:
    proto, x = model(kind, tokens), RANDOM.standard_normal((tokens, ROWS)).astype(np.float32)
    packed, plain = (
        simulate(compile(proto, options=CompileOptions(partition=way, gap=1000.0)), {"x": x})
        for way in ("schedule", "")
    )
    assert np.allclose(packed.outputs["y"], expected(proto, x), rtol=1e-4, atol=1e-4)
    assert np.allclose(packed.outputs["y"], plain.outputs["y"], rtol=1e-5, atol=1e-5)
    maps = 4 * tokens * (ROWS + COLUMNS) + 4 * COLUMNS  # scales of columns
    weights = ROWS * COLUMNS
    assert bytes_per_weight * weights <= packed.dram_bytes <= bytes_per_weight * weights + 2 * maps
    assert plain.dram_bytes >= weights


def test_weights_of_two_products_are_stored_once_and_loaded_twice() -> None:
    """They are in pieces of 32 columns, of which the 32 KiB buffer holds few."""
    proto = model("blocks", 1)
    second = helper.make_node("Neg", ["x"], ["n"]), helper.make_node("MatMulNBits", ["n", "w", "s"], ["z"])
    second[1].domain = "com.microsoft"
    second[1].attribute.extend(proto.graph.node[-1].attribute)
    proto.graph.node.extend(second)
    proto.graph.output.append(helper.make_tensor_value_info("z", 1, [1, COLUMNS]))
    x = RANDOM.standard_normal((1, ROWS)).astype(np.float32)
    program = compile(proto, "edge16:GBUF.depth=512", options=CompileOptions(partition="schedule", gap=1000.0))
    found = simulate(program, {"x": x})
    for name, given in (("y", np.maximum(x, 0)), ("z", -x)):
        single = model("blocks", 1)
        single.graph.node[0].CopyFrom(helper.make_node("Identity", ["x"], ["r"]))
        del single.graph.initializer[:]
        single.graph.initializer.extend(proto.graph.initializer)
        assert np.allclose(found.outputs[name], expected(single, given), rtol=1e-4, atol=1e-4)
    assert sum(tensor.name.endswith(".i4") for tensor in program.tensors) == COLUMNS // 32
    assert found.dram_bytes <= 1.25 * ROWS * COLUMNS


@pytest.mark.parametrize("columns", [1, 2, 3, 8, 13, 64])
def test_pieces_are_pairs_of_columns_within_the_limit(columns: int) -> None:
    for limit in (1, 40, 100, 1e9):
        pieces = list(pieces_of(columns, 10, limit))
        assert [n for start, end in pieces for n in range(start, end)] == list(range(columns))
        assert all((end - start) % 2 == 0 or (start, end) == (columns - 1, columns) for start, end in pieces)
        assert all((end - start) * 10 <= max(limit, 20) for start, end in pieces)
