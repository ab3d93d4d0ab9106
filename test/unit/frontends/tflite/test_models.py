"""Operators and whole networks: results are what LiteRT's interpreter has recorded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

pytest.importorskip("tflite", reason="the extra tflite is not installed")

from tilewright import CompileOptions, InputShapes, RunOptions, run
from tilewright.dialects import graph
from tilewright.dialects.types import dtype_of, element_of, shape_of, si8
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.driver.models import reference
from tilewright.errors import TilewrightError
from tilewright.frontends.tflite import import_tflite
from tilewright.interpreters.graph import argument_names, find_function

from ....tflite_files.builder import Model
from ....tflite_files.networks import NETWORKS
from ....tflite_files.recorded import FILE, MODELS, seeded_input

RECORDED = np.load(FILE)
PRODUCTS = (graph.ConvOp, graph.GemmOp, graph.MatmulOp)


def made_inputs(name: str, module: ModuleOp) -> dict[str, Any]:
    function = find_function(module)
    arguments = zip(argument_names(function), function.body.block.args, strict=True)
    return {
        argument: seeded_input(name, i, shape_of(value), dtype_of(element_of(value)))
        for i, (argument, value) in enumerate(arguments)
    }


def check(name: str, outputs: Mapping[str, Any]):
    """Integers within one step, floats within 1e-4."""
    found = list(outputs.values())
    assert [f"{name}:{i}" in RECORDED for i in range(len(found) + 1)] == [True] * len(found) + [False]
    for i, output in enumerate(found):
        wanted = RECORDED[f"{name}:{i}"]
        assert output.shape == wanted.shape
        assert wanted.dtype in (output.dtype, np.bool_)
        step = 1.0 if wanted.dtype.itemsize == 1 and wanted.dtype != np.bool_ else 1e-4
        np.testing.assert_allclose(output.astype(float), wanted.astype(float), rtol=0, atol=step)


@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_litert(name: str):
    module = import_tflite(MODELS[name]())
    check(name, reference(module, made_inputs(name, module)))


@pytest.mark.parametrize("name", NETWORKS)
def test_runs_on_edge16(name: str, tmp_path: Path):
    path = tmp_path / f"{name}.tflite"
    path.write_bytes(NETWORKS[name]())
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, **made_inputs(name, load_model(path)))
    first_way, options = CompileOptions(gap=1000.0), RunOptions(inputs=inputs, trace=False)
    result = run(path, "edge16", folder=tmp_path / "out", compile_options=first_way, options=options)
    assert result.agrees
    check(name, dict(np.load(result.outputs)))


@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet", "keywords"])
def test_products_are_of_integers(name: str):
    """All products are of 8 bits; maps are reordered once, behind the input; softmax reads and makes integers."""
    module = import_tflite(MODELS[name]())
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    layers = [op for op in module.walk() if isinstance(op, graph.LayerOp)]
    products = [op for op in layers if isinstance(op, PRODUCTS)]
    assert products
    assert all(element_of(op.operands[0]) == element_of(op.operands[1]) == si8 for op in products)
    counts = Counter(type(op) for op in layers)
    assert counts[graph.TransposeOp] <= 1
    assert counts[graph.SoftmaxOp] == 1
    assert counts[graph.QuantizeOp] == counts[graph.DequantizeOp] == 0


def relu_model(open_axes: Sequence[int] = ()) -> Model:
    model = Model()
    x = model.input((1, 4), open_axes=open_axes)
    y = model.tensor((1, 4), open_axes=open_axes)
    model.node("RELU", [x], [y])
    return model


def test_open_batch():
    module = import_tflite(relu_model(open_axes=(0,)).bytes([1]), InputShapes(batch=3))
    assert [shape_of(value) for value in find_function(module).body.block.args] == [(3, 4)]
    with pytest.raises(TilewrightError, match="batch"):
        import_tflite(relu_model().bytes([1]), InputShapes(batch=3))


def test_weights_of_4_bits_and_16():
    """Packed weights of 4 bits, the lower first; f16 that a DEQUANTIZE widens."""
    model = Model()
    x = model.input((1, 4))
    w = model.tensor((2, 4), "int4", np.array([0x21, 0x43, 0x8F, 0x70], np.uint8), scale=0.5)
    y = model.tensor((1, 2))
    half = model.constant(np.array([1.5, -2.0], np.float16))
    bias = model.tensor((2,))
    model.node("DEQUANTIZE", [half], [bias])
    model.node("FULLY_CONNECTED", [x, w, bias], [y], "FullyConnectedOptions")
    (out,) = reference(import_tflite(model.bytes([y])), {"t0": np.array([[1, 10, 100, 1000]], np.float32)}).values()
    steps = np.array([[1, 2, 3, 4], [-1, -8, 0, 7]])
    np.testing.assert_allclose(out, [steps @ [1, 10, 100, 1000] * 0.5 + [1.5, -2.0]])


SPARSE = {
    "rows": ([0, 1], [], [3, ([0, 1, 1, 3], [2, 0, 3])], [1, 2, 3]),
    "columns": ([1, 0], [], [4, ([0, 1, 1, 2, 3], [2, 0, 2])], [2, 1, 3]),
    "blocks": ([0, 1, 2], [1], [3, ([0, 1, 1, 3], [1, 0, 1]), 2], [1, 0, 2, 0, 0, 3]),
}
"""Order of levels, axes of blocks, levels, and values of one matrix."""


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_weights(name: str):
    order, blocks, levels, values = SPARSE[name]
    model = Model()
    x, y = model.input((1, 3)), model.tensor((1, 4))
    sparsity = model.sparsity(order, blocks, levels)
    stored = model.tensor((3, 4), data=np.array(values, np.float32), Sparsity=sparsity)
    w = model.tensor((3, 4))
    model.node("DENSIFY", [stored], [w])
    model.node("BATCH_MATMUL", [x, w], [y], "BatchMatMulOptions")
    (out,) = reference(import_tflite(model.bytes([y])), {"t0": np.array([[1, 10, 100]], np.float32)}).values()
    np.testing.assert_array_equal(out, [[200, 0, 1, 300]])


@pytest.mark.parametrize(
    ("order", "blocks", "levels", "said"),
    [
        ([0, 0], [], [3, 4], "no order of axes"),
        ([0, 1], [], [3, ([0, 1, 1, 3], [2, 0, 4])], "places outside"),
        ([0, 1], [], [3, ([0, 1, 1, 4], [2, 0, 3])], "do not cover"),
        ([0, 1], [], [2, 2], "3 values for 4 places"),
        ([0, 1, 2], [7], [3, 2, 2], "blocks of other axes"),
        ([0, 1], [], [1 << 30, 1 << 30], "at most 16 times as long"),
        ([0, 1], [], [-1, 4], "negative size"),
    ],
)
def test_sparse_weights_that_do_not_fit(order: list[int], blocks: list[int], levels: list[Any], said: str):
    model = Model()
    sparsity = model.sparsity(order, blocks, levels)
    stored = model.tensor((3, 4), data=np.ones(3, np.float32), Sparsity=sparsity)
    y = model.tensor((3, 4))
    model.node("DENSIFY", [stored], [y])
    with pytest.raises(TilewrightError, match=said):
        import_tflite(model.bytes([y]))


def test_shapes_computed_from_an_open_batch():
    """Reshape to [rows of the input, 8] as converters write it: SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    model = Model()
    x = model.input((1, 2, 4), open_axes=(0,))
    shape, rows, wanted = model.tensor((3,), "int32"), model.tensor((), "int32"), model.tensor((2,), "int32")
    begin, end, step, eight = (model.constant(np.array(v, np.int32)) for v in ([0], [1], [1], 8))
    y = model.tensor((1, 8))
    model.node("SHAPE", [x], [shape], "ShapeOptions", OutType=2)
    model.node("STRIDED_SLICE", [shape, begin, end, step], [rows], "StridedSliceOptions", ShrinkAxisMask=1)
    model.node("PACK", [rows, eight], [wanted], "PackOptions", ValuesCount=2)
    model.node("RESHAPE", [x, wanted], [y])
    given = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    (out,) = reference(import_tflite(model.bytes([y]), InputShapes(batch=3)), {"t0": given}).values()
    np.testing.assert_array_equal(out, given.reshape(3, 8))


def test_an_input_and_a_constant_that_are_outputs():
    model = relu_model()
    fixed = model.constant(np.array([1, 2], np.float32))
    given = np.array([[-1, 2, -3, 4]], np.float32)
    outputs = reference(import_tflite(model.bytes([1, 0, fixed])), {"t0": given})
    np.testing.assert_array_equal(list(outputs.values())[1], given)
    np.testing.assert_array_equal(list(outputs.values())[2], [1, 2])
