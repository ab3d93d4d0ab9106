"""Operators that are written with others, imported and interpreted, against onnxruntime."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph

from .by_onnxruntime import X, build, by_onnxruntime, check, floats, ints

RANDOM = np.random.default_rng(1)


@pytest.mark.parametrize("equation", ["bchw,hk->bckw", "bchw->wb", "bchw,bc->hw", "...hw,wk->...hk", "bchw,hw->c"])
def test_einsum(equation: str) -> None:
    shapes = {"hk": (6, 5), "bc": (2, 3), "wk": (8, 4), "hw": (6, 8)}
    second = equation.split("->")[0].split(",")[1:]
    check("Einsum", X, *(RANDOM.standard_normal(shapes[s], np.float32) for s in second), equation=equation)


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 3], "pads": [1, 0, 2, 1]},
        {"strides": [2, 2], "output_padding": [1, 1], "dilations": [2, 1]},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"output_shape": [13, 17], "strides": [2, 2]},
        {"strides": [4, 1], "pads": [2, 1, 2, 0], "output_padding": [3, 0]},
        {"strides": [1, 4], "pads": [0, 1, 0, 0]},
        {"strides": [2, 2], "pads": [2, 1, 2, 1]},
    ],
)
def test_transposed_convolutions(groups: int, attributes: dict[str, Any]) -> None:
    w = RANDOM.standard_normal((3, 2, 3, 2), np.float32)
    check("ConvTranspose", X, w, RANDOM.standard_normal(2 * groups, np.float32), group=groups, **attributes)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
@pytest.mark.parametrize("mode", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("sizes", [(12, 16), (9, 5), (2, 8), (4, 24)])
def test_interpolation(kind: str, mode: str, sizes: tuple[int, int]) -> None:
    given = ints(2, 3, *sizes)
    check("Resize", X, None, None, given, mode=kind, coordinate_transformation_mode=mode)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_interpolation_that_smooths(kind: str) -> None:
    check("Resize", X, None, None, ints(2, 3, 4, 3), mode=kind, antialias=1)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_top_k_keeps_the_order_of_equal_elements(axis: int, largest: int) -> None:
    check("TopK", np.round(X), ints(2), outputs=2, axis=axis, largest=largest)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_places_of_extremes(op: str, last: int) -> None:
    check(op, np.round(X), axis=2, select_last_index=last, keepdims=last)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_cumulative_sums(exclusive: int, reverse: int) -> None:
    check("CumSum", X, np.array(2, np.int64), exclusive=exclusive, reverse=reverse)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scattered_updates_of_one_element(reduction: str) -> None:
    places = ints(1, 4, 1, 1).reshape(1, 1, 4, 1)
    values = RANDOM.standard_normal((1, 1, 4, 1), np.float32)
    if reduction == "none":
        places = ints(1, 4, 2, 0).reshape(1, 1, 4, 1)
    check("ScatterElements", X, places, values, axis=2, reduction=reduction, opset=18)


@pytest.mark.parametrize("op", ["Sinh", "Asinh", "Tan", "Atan", "Cosh"])
def test_functions_are_accurate_for_small_arguments(op: str) -> None:
    check(op, np.array([0, 1e-6, -1e-6, 1e-3, 0.3, -2.5, 5.0], np.float32), rtol=1e-5, atol=0)


@pytest.mark.parametrize("op", ["Asin", "Acos", "Atanh"])
def test_inverse_functions(op: str) -> None:
    check(op, np.array([0, 1e-6, -1e-3, 0.3, -0.99], np.float32), rtol=1e-5, atol=1e-7)


def test_inverse_cosine_near_its_begin() -> None:
    check("Acosh", np.array([1.0, 1.0001, 2.0, 1e3], np.float32), rtol=1e-5, atol=0)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("op", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_recurrent_layers(op: str, gates: int, direction: str) -> None:
    count, hidden = 2 if direction == "bidirectional" else 1, 5
    x = RANDOM.standard_normal((4, 3, 6), np.float32)
    sizes = (count, gates * hidden, 6), (count, gates * hidden, hidden), (count, 2 * gates * hidden)
    w, r, b = (RANDOM.standard_normal(size, np.float32) for size in sizes)
    lengths = np.array([4, 2, 1], np.int32)
    check(op, x, w, r, b, lengths, outputs=2, hidden_size=hidden, direction=direction)


@pytest.mark.parametrize("zeros", [(0, 0), (3, 0), (3, 7)])
@pytest.mark.parametrize("signed", [True, False])
def test_integer_products(zeros: tuple[int, int], signed: bool) -> None:
    x = RANDOM.integers(0, 256, (4, 8), np.uint8)
    kind = np.int8 if signed else np.uint8
    w = RANDOM.integers(*((-60, 60) if signed else (0, 256)), (8, 5)).astype(kind)
    check("MatMulInteger", x, w, np.array(zeros[0], np.uint8), np.array(zeros[1], kind), opset=10)


@pytest.mark.parametrize("zeros", [(0, 0), (3, 0), (3, 7)])
def test_integer_convolutions(zeros: tuple[int, int]) -> None:
    x, w = RANDOM.integers(0, 256, (1, 2, 6, 6), np.uint8), RANDOM.integers(0, 256, (3, 2, 3, 3), np.uint8)
    check("ConvInteger", x, w, *(np.array(z, np.uint8) for z in zeros), opset=10, pads=[1, 1, 1, 1])


@pytest.mark.parametrize(
    "attributes", [{}, {"pads": [2, 0, 1, 3], "strides": [2, 1], "dilations": [1, 2]}, {"group": 3}]
)
@pytest.mark.parametrize("w_zero", [0, 7])
def test_integer_convolutions_of_what_is_quantised_at_run_time(attributes: dict[str, Any], w_zero: int) -> None:
    w = RANDOM.integers(0, 256, (6, 3 // attributes.get("group", 1), 2, 3), np.uint8)
    constants = {"w": w, "wz": np.array(w_zero, np.uint8)}
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("ConvInteger", ["q", "w", "z", "wz"], ["y0"], **attributes),
    ]
    value, result = helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape), helper.make_empty_tensor_value_info
    weights = helper.make_tensor_value_info("w", TensorProto.UINT8, w.shape)
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graphs = [
        helper.make_graph(nodes, "g", [value], [result("y0")], tensors),
        helper.make_graph(nodes, "g", [value, weights], [result("y0")], tensors[1:]),
    ]
    known, given = (
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8) for graph in graphs
    )
    expected = by_onnxruntime(known, X)[0].tolist()
    assert run_graph(import_onnx(known), {"x": X})["y0"].tolist() == expected
    assert run_graph(import_onnx(given), {"x": X, "w": w})["y0"].tolist() == expected


def test_grids() -> None:
    grid = RANDOM.uniform(-1.2, 1.2, (2, 4, 5, 2)).astype(np.float32)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            check("GridSample", X, grid, opset=16, mode=mode, padding_mode=padding)


def test_types_that_are_computed_in_wider_ones() -> None:
    half = X.astype(np.float16)
    module = import_onnx(build("Sqrt", np.abs(half), [], 21, 1, {}))
    assert run_graph(module, {"x": np.abs(half)})["y0"].tolist() == np.sqrt(np.abs(half)).tolist()
    short = np.array([30000, -30000, 7], np.int16)
    module = import_onnx(build("Add", short, [short], 21, 1, {}))
    assert run_graph(module, {"x": short})["y0"].tolist() == (short + short).tolist()


def test_bools_are_bytes_of_0_and_1() -> None:
    x = np.array([0, 1, 7], np.uint8)
    value = helper.make_tensor_value_info("x", TensorProto.BOOL, (3,))
    nodes = [helper.make_node("Not", ["x"], ["n"]), helper.make_node("Xor", ["x", "n"], ["y0"])]
    graph = helper.make_graph(nodes, "g", [value], [helper.make_empty_tensor_value_info("y0")])
    module = import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    assert run_graph(module, {"x": x})["y0"].tolist() == [1, 1, 1]
    assert run_graph(module, {"x": x > 0})["y0"].tolist() == [1, 1, 1]


def test_choices_keep_infinities_apart() -> None:
    condition = np.array([True, False, True])
    other = floats(np.inf, -np.inf, 3)
    model = build("Where", np.array([1, 2, 3], np.float32), [None, other], 21, 1, {})
    node = model.graph.node[0]
    node.input[:] = ["c", "x", "c1"]
    model.graph.initializer.append(numpy_helper.from_array(condition, "c"))
    assert run_graph(import_onnx(model), {"x": floats(1, 2, 3)})["y0"].tolist() == [1, -np.inf, 3]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_and_space_before_onnx_defined_them_by_functions(mode: str) -> None:
    x = RANDOM.standard_normal((2, 12, 3, 4), np.float32)
    check("DepthToSpace", x, opset=11, blocksize=2, mode=mode)
    check("SpaceToDepth", X, opset=11, blocksize=2)


@pytest.mark.parametrize("opset", [7, 9, 16])
def test_prelu_of_all_opsets(opset: int) -> None:
    check("PRelu", X, RANDOM.standard_normal((3, 1, 1), np.float32), opset=opset)


def test_selu_of_the_oldest_opsets() -> None:
    check("Selu", X, opset=6)
    check("Selu", X, opset=6, alpha=0.5, gamma=2.0)


@pytest.mark.parametrize(
    ("op", "shape", "constants", "attributes"),
    [
        ("ArgMax", (1, 1 << 28), (), {"axis": 1}),
        ("Hardmax", (1, 1 << 28), (), {}),
        ("TopK", (1, 1 << 20), (ints(3),), {}),
        ("Trilu", (1 << 14, 1 << 14), (), {}),
        ("EyeLike", (1 << 14, 1 << 14), (), {}),
        ("GatherElements", (1, 1 << 28), (ints(0).reshape(1, 1),), {"axis": 1}),
        ("ScatterElements", (1, 1 << 28), (ints(0).reshape(1, 1), np.ones((1, 1), np.float32)), {"axis": 1}),
        ("DFT", (1, 1 << 16, 1), (), {}),
        ("Resize", (1, 1 << 14), (None, None, ints(1, 1 << 13)), {"mode": "linear"}),
        ("LogSoftmax", (1 << 40,), (), {}),
    ],
)
def test_constants_that_would_be_too_large(op: str, shape: Any, constants: Any, attributes: Any) -> None:
    model = build(op, np.zeros(1, np.float32), list(constants), 21, 2 if op == "TopK" else 1, attributes)
    del model.graph.input[0].type.tensor_type.shape.dim[:]
    for extent in shape:
        model.graph.input[0].type.tensor_type.shape.dim.add(dim_value=extent)
    with pytest.raises(TilewrightError) as caught:
        import_onnx(model)
    assert caught.value.kind in ("limit", "shape")


INDICES: dict[str, tuple[Any, Any, dict[str, Any], Any]] = {
    "Gather": ((5, 6, 7), (2, 3), {"axis": 1}, ()),
    "GatherND": ((5, 6, 7), (5, 3, 1), {"batch_dims": 1}, ()),
    "GatherElements": ((5, 6, 7), (5, 2, 7), {"axis": 1}, ()),
    "ScatterElements": ((5, 6, 7), (5, 1, 7), {"axis": 1}, (5, 1, 7)),
    "ScatterND": ((5, 6, 7), (1, 2), {}, (1, 7)),
}
"""By operator the shapes of data and indices, attributes, and the shape of updates."""


@pytest.mark.parametrize("op", INDICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64])
def test_indices_known_at_run_time(op: str, dtype: Any) -> None:
    shape, places, attributes, updates = INDICES[op]
    data = (RANDOM.standard_normal(shape, np.float32) * 20).astype(dtype)
    if op.startswith("Gather") and data.dtype.kind == "f":
        data.reshape(-1)[3] = -np.inf
    given = [data] + ([(RANDOM.standard_normal(updates, np.float32) * 20).astype(dtype)] if updates else [])
    index = RANDOM.integers(-5, 5, places)
    names = ["d", "x", *("u" for _ in updates[:1])]
    stored = [numpy_helper.from_array(a, n) for a, n in zip(given, ["d", "u"], strict=False)]
    value = helper.make_tensor_value_info("x", TensorProto.INT64, places)
    node = helper.make_node(op, names, ["y0"], **attributes)
    graph = helper.make_graph([node], "g", [value], [helper.make_empty_tensor_value_info("y0")], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (expected,) = by_onnxruntime(model, index)
    found = run_graph(import_onnx(model), {"x": index})["y0"]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def test_rows_of_a_table_are_exact() -> None:
    table = RANDOM.standard_normal((1000, 3), np.float32)
    index = RANDOM.integers(0, 1000, 7)
    value = helper.make_tensor_value_info("x", TensorProto.INT64, (7,))
    node = helper.make_node("Gather", ["t", "x"], ["y"])
    stored = [numpy_helper.from_array(table, "t")]
    graph = helper.make_graph([node], "g", [value], [helper.make_empty_tensor_value_info("y")], stored)
    found = run_graph(import_onnx(helper.make_model(graph)), {"x": index})["y"]
    np.testing.assert_array_equal(found, table[index])


def test_a_product_with_a_single_number_is_refused_in_words() -> None:
    one, zero = np.float32(1), np.int8(0)
    made = build(
        "QLinearMatMul",
        np.ones((2, 4), np.int8),
        [np.asarray(each) for each in (one, zero, np.int8(3), one, zero, one, zero)],
        13,
        1,
        {},
    )
    with pytest.raises(TilewrightError, match="expected matrices"):
        import_onnx(made)
