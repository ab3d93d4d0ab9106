"""Single operators, imported and interpreted, against onnxruntime: all forms that opsets gave them, and random ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import import_onnx
from tilewright.interpreters.graph import run_graph

from .by_onnxruntime import Array, X, build, by_onnxruntime, check, floats, ints, scalar


@pytest.mark.parametrize("opset", [7, 11, 12])
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_softmax_over_the_axes_from_one_on(opset: int, axis: int) -> None:
    check("Softmax", X, opset=opset, axis=axis)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_over_one_axis(axis: int) -> None:
    check("Softmax", X, opset=13, axis=axis)


def test_clip_takes_attributes_then_inputs() -> None:
    check("Clip", X, opset=7, min=-0.5, max=0.25)
    check("Clip", X, opset=10, min=-0.5)
    check("Clip", X, scalar(-0.5), scalar(0.25), opset=11)
    check("Clip", X, None, scalar(0.25), opset=13)


def test_pad_takes_attributes_then_inputs_then_axes() -> None:
    check("Pad", X, opset=10, pads=[0, 1, 2, 0, 0, 0, 1, 3], value=1.5)
    check("Pad", X, ints(0, 1, 2, 0, 0, 0, 1, 3), scalar(1.5), opset=13)
    check("Pad", X, ints(1, 2), None, ints(-1), opset=18, mode="reflect")
    check("Pad", X, ints(0, 0, -1, 1, 0, 0, -2, 0), opset=13, mode="edge")


def test_slice_takes_attributes_then_inputs() -> None:
    check("Slice", X, opset=9, starts=[1, -3], ends=[9, -1], axes=[1, 3])
    check("Slice", X, ints(1, -1), ints(9, -100), ints(1, 3), ints(1, -2), opset=13)
    check("Slice", X, ints(-1, -1), ints(-100, -100), ints(2, 3), ints(-1, -3), opset=13)


def test_split_takes_attributes_then_inputs_then_counts() -> None:
    check("Split", X, opset=11, outputs=2, axis=3, split=[3, 5])
    check("Split", X, opset=11, outputs=3, axis=1)
    check("Split", X, ints(3, 5), opset=13, outputs=2, axis=-1)
    check("Split", X, opset=18, outputs=3, axis=3, num_outputs=3)


def test_squeeze_and_unsqueeze_take_attributes_then_inputs() -> None:
    check("Squeeze", X[:1, :1], opset=11, axes=[0])
    check("Squeeze", X[:1, :1], ints(-3), opset=13)
    check("Squeeze", X[:1, :1], opset=13)
    check("Unsqueeze", X, opset=11, axes=[0, 5])
    check("Unsqueeze", X, ints(-1, 0), opset=13)


def test_reductions_take_attributes_then_inputs() -> None:
    check("ReduceMean", X, opset=13, axes=[1, -1], keepdims=0)
    check("ReduceMean", X, ints(1, -1), opset=18)
    check("ReduceMean", X, opset=18)
    check("ReduceSum", X, ints(2), opset=13)
    check("ReduceMax", X, opset=13, axes=[0, 1])


def test_batch_normalization_of_all_opsets() -> None:
    parameters = [floats(1, 2, 3), floats(0, 1, -1), floats(0.5, 0, 1), floats(1, 2, 0.5)]
    check("BatchNormalization", X, *parameters, opset=7)
    check("BatchNormalization", X, *parameters, opset=9, epsilon=0.1)
    check("BatchNormalization", X, *parameters, opset=15, momentum=0.5)


def test_dropout_of_all_opsets() -> None:
    check("Dropout", X, opset=7, ratio=0.3)
    check("Dropout", X, scalar(0.3), np.array(False), opset=13)


def test_upsample_and_resize_of_all_opsets() -> None:
    check("Upsample", X, opset=7, scales=[1.0, 1.0, 2.0, 3.0], mode="nearest")
    check("Upsample", X, floats(1, 1, 2, 2), opset=9)
    check("Resize", X, floats(1, 1, 2, 0.5), opset=10)
    check("Resize", X, floats(), floats(1, 1, 2, 3), opset=11)
    check("Resize", X, None, None, ints(2, 3, 9, 5), opset=13)


@pytest.mark.parametrize("mode", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("rounding", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
@pytest.mark.parametrize("sizes", [(12, 16), (9, 5), (1, 8), (4, 24)])
def test_resize_by_sizes(mode: str, rounding: str, sizes: tuple[int, int]) -> None:
    attributes: dict[str, Any] = {"coordinate_transformation_mode": mode, "nearest_mode": rounding}
    check("Resize", X, None, None, ints(2, 3, *sizes), opset=19, **attributes)


def test_layer_normalization_with_statistics() -> None:
    scale, bias = X[0, 0, 0] + 1, X[0, 0, 1]
    check("LayerNormalization", X, scale, bias, opset=17, outputs=2, epsilon=1e-3)
    check("LayerNormalization", X, X[0, 0], opset=17, axis=2)


def test_matmul_of_all_ranks() -> None:
    check("MatMul", X[0, 0], X[0, 0].T.copy())
    check("MatMul", X, X[0, 0].T.copy())
    check("MatMul", X[0], np.moveaxis(X, -1, -2).copy())
    check("MatMul", X[0, 0, 0], X[0, 0].T.copy())
    check("MatMul", X, X[0, 0, 0])
    check("MatMul", X[0, 0, 0], X[1, 0, 0])


def test_gemm() -> None:
    check("Gemm", X[0, 0], X[1, 1], floats(1, 2, 3, 4, 5, 6), transB=1, alpha=0.5, beta=2.0)
    check("Gemm", X[0, 0], X[1, 1], transA=1)


def test_quantization() -> None:
    scales, zeros = floats(0.1, 0.02, 0.5), np.array([3, 0, -7], np.int8)
    check("QuantizeLinear", X, scales, zeros, axis=1)
    check("QuantizeLinear", X, floats(0.1), np.array([9], np.uint8))
    check("QuantizeLinear", X, scalar(0.1))
    codes = np.clip(X * 50, -128, 127).astype(np.int8)
    check("DequantizeLinear", codes, scales, zeros, axis=1)
    check("DequantizeLinear", codes.astype(np.int32), scalar(0.1))


def test_a_list_of_repeated_inputs() -> None:
    check("Sum", X, X, X[0])
    check("Max", X, X[::-1].copy())
    check("Concat", X, X[:, :1], axis=-3)


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_random_windows(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 2))
    draw = data.draw
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": [draw(st.integers(1, 3)) for _ in range(rank)]}
    op = draw(st.sampled_from(["Conv", "MaxPool", "AveragePool"]))
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, kernel[i % rank] - 1)) for i in range(2 * rank)]
    else:
        attributes["auto_pad"] = draw(st.sampled_from(["VALID", "SAME_UPPER", "SAME_LOWER"]))
        # Where the stride leaves elements out, onnxruntime's pools differ from its convolutions.
        attributes["strides"] = [min(s, k) for s, k in zip(attributes["strides"], kernel, strict=True)]
    if draw(st.booleans()) and "auto_pad" not in attributes:
        attributes["dilations"] = [draw(st.integers(1, 2)) for _ in range(rank)]
    x = X if rank == 2 else X[:, :, :, 0]
    if op == "Conv":
        group = draw(st.sampled_from([1, 3]))
        w = np.random.default_rng(1).standard_normal((6, 3 // group, *kernel), np.float32)
        compare(op, x, w, group=group, **attributes)
    else:
        if op == "AveragePool":
            attributes["count_include_pad"] = draw(st.integers(0, 1))
        if "auto_pad" not in attributes:
            attributes["ceil_mode"] = draw(st.integers(0, 1))
        compare(op, x, opset=19, **attributes)


def compare(op: str, x: Array, *constants: Array, **attributes: Any) -> None:
    """`check`, unless both sides refuse or onnxruntime gives an empty tensor."""
    opset = attributes.pop("opset", 21)
    model = build(op, x, list(constants), opset, 1, attributes)
    try:
        (expected,) = by_onnxruntime(model, x)
    except Exception:
        assume(False)
        return
    assume(expected.size > 0)
    (found,) = run_graph(import_onnx(model), {"x": x}).values()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@given(st.data())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_random_slices(data: st.DataObject) -> None:
    edges = st.integers(-9, 9)
    axes = data.draw(st.lists(st.integers(0, 3), unique=True, min_size=1))
    starts, ends = (ints(*(data.draw(edges) for _ in axes)) for _ in range(2))
    steps = ints(*(data.draw(st.sampled_from([-3, -1, 1, 2])) for _ in axes))
    try:
        compare("Slice", X, starts, ends, ints(*axes), steps)
    except TilewrightError as error:
        pytest.fail(str(error))


def test_embedding_of_constant_indices() -> None:
    table = X.reshape(-1, 8)
    model = build("Gather", table, [ints(3, -1, 0)], 13, 1, {})
    (found,) = run_graph(import_onnx(model), {"x": table}).values()
    np.testing.assert_array_equal(found, table[[3, -1, 0]])


def test_tensor_types_of_the_interface() -> None:
    for element, name in ((TensorProto.UINT8, "ui8"), (TensorProto.INT8, "si8"), (TensorProto.INT32, "i32")):
        x = helper.make_tensor_value_info("x", element, (2,))
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["y"])], "g", [x], [helper.make_empty_tensor_value_info("y")]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        assert f"tensor<2x{name}>" in str(import_onnx(model))
