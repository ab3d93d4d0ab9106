"""Types below 16 bits, bfloat16 and float64: read, converted, multiplied by, and computed in wider types."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tilewright.backends import onnx_backend
from tilewright.driver import CompileOptions, compile
from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph
from tilewright.resources import Resources, resources_of

X = np.random.default_rng(0).standard_normal((3, 64)).astype(np.float32)


def model(nodes: list[NodeProto], inputs: dict[str, NDArray[Any]], weights: dict[str, NDArray[Any]]) -> ModelProto:
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_empty_tensor_value_info("y")], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


def test_bfloat16_is_computed_in_f32_and_rounded_after_each_operator() -> None:
    given = X.astype(ml_dtypes.bfloat16)
    proto = model([helper.make_node("Mul", ["x", "x"], ["m"]), helper.make_node("Exp", ["m"], ["y"])], {"x": given}, {})
    (found,) = onnx_backend.run_model(proto, [given])
    squares = np.square(given.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert found.dtype == given.dtype
    assert np.array_equal(found, np.exp(squares.astype(np.float32)).astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_products_with_narrow_weights_load_narrow_bytes(name: str) -> None:
    small = 2.0**-60 if name == "bfloat16" else 1  # which float16 does not hold
    weights = (np.random.default_rng(1).standard_normal((64, 32)) * small).astype(np.float32).astype(name)
    nodes = [
        helper.make_node("Cast", ["w"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "f"], ["y"]),
    ]
    proto = model(nodes, {"x": X}, {"w": weights})
    program = compile(proto, "edge16", options=CompileOptions(gap=1000.0))
    assert name in {array.dtype.name for array in program.constants.values()}
    (found,) = onnx_backend.run_model(proto, [X])
    assert np.allclose(found / small, X @ weights.astype(np.float32) / small, rtol=1e-5, atol=1e-5)


def test_blocks_of_scaled_numbers_of_eight_bits() -> None:
    """Microscaling: elements of f8, a power of two for each 32 of them."""
    elements = np.random.default_rng(2).standard_normal((64, 8)).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    scales = np.exp2(np.arange(16).reshape(2, 8) - 8).astype(ml_dtypes.float8_e8m0fnu)
    nodes = [
        helper.make_node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("DequantizeLinear", ["w", "f"], ["d"], axis=0, block_size=32),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    (found,) = onnx_backend.run_model(model(nodes, {"x": X}, {"w": elements, "s": scales}), [X])
    whole = elements.astype(np.float32) * np.repeat(scales.astype(np.float32), 32, 0)
    assert np.allclose(found, X @ whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "float4_e2m1fn"])
def test_packed_values_beside_the_file(name: str, tmp_path: Path) -> None:
    weights = (np.arange(64 * 33) % (4 if "2" in name[-2:] else 13)).astype(np.int64).astype(np.float32).astype(name)
    proto = model([helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT)], {"x": X}, {"w": weights})
    inside = proto.SerializeToString()
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    for source in (tmp_path / "m.onnx", inside):
        (found,) = run_graph(import_onnx(source), {"x": X}).values()
        assert np.array_equal(found, weights.astype(np.float32))


def test_weights_of_foreign_types_survive_their_file(tmp_path: Path) -> None:
    weights = np.arange(8).astype(ml_dtypes.float8_e5m2)
    proto = model([helper.make_node("Identity", ["w"], ["y"])], {"x": X}, {"w": weights})
    module = import_onnx(proto)
    resources_of(module).save(tmp_path / "w.npz")
    object.__setattr__(module, "_tilewright_resources", Resources.load(tmp_path / "w.npz"))
    assert np.array_equal(run_graph(module, {"x": X})["y"], weights)


def test_doubles_are_computed_as_f32_where_that_is_asked() -> None:
    given = X.astype(np.float64)
    proto = model([helper.make_node("Tanh", ["x"], ["y"])], {"x": given}, {})
    with pytest.raises(TilewrightError, match="float64"):
        import_onnx(proto)
    (found,) = onnx_backend.prepare(proto, doubles="f32").run([given])
    assert found.dtype == np.float64
    assert np.allclose(found, np.tanh(given), rtol=1e-6)


def test_uint64_in_its_own_order() -> None:
    a, b = (np.array(v, np.uint64) for v in ([1, 1 << 63, (1 << 64) - 1], [1 << 63, 2, 3]))
    (found,) = onnx_backend.run_model(model([helper.make_node("Max", ["a", "b"], ["y"])], {"a": a, "b": b}, {}), [a, b])
    assert np.array_equal(found, np.maximum(a, b))
