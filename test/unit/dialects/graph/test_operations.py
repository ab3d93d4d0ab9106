"""Operations built from Python values infer their types and verify."""

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr, f32, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import graph
from tilewright.dialects.graph.base import parse_real
from tilewright.dialects.nest_attributes import number_text
from tilewright.dialects.types import si8, tensor, tensor_type, ui8


def value(shape: tuple[int, ...], element: object = f32) -> SSAValue:
    return graph.WeightOp("v", tensor(shape, element)).result  # pyright: ignore[reportArgumentType]


X = (1, 4, 8, 8)

CASES: dict[str, tuple[Operation, object]] = {
    "conv": (
        graph.ConvOp(value(X), value((6, 2, 3, 3)), value((6,)), strides=[2, 2], pads=[1, 1, 1, 1], groups=2),
        tensor((1, 6, 4, 4), f32),
    ),
    "integer conv": (
        graph.ConvOp(value(X, ui8), value((6, 4, 3, 3), si8), strides=[1, 1], pads=[0] * 4, dilations=[2, 2]),
        tensor((1, 6, 4, 4), i32),
    ),
    "gemm": (graph.GemmOp(value((3, 2)), value((4, 3)), trans_a=True, trans_b=True), tensor((2, 4), f32)),
    "matmul": (graph.MatmulOp(value((5, 1, 2, 3), si8), value((7, 3, 4), si8)), tensor((5, 7, 2, 4), i32)),
    "max": (graph.PoolOp("max", value(X, si8), kernel=[2, 2], strides=[2, 2], pads=[0] * 4), tensor((1, 4, 4, 4), si8)),
    "sum": (graph.PoolOp("sum", value(X, si8), kernel=[2, 2], strides=[2, 2], pads=[0] * 4), tensor((1, 4, 4, 4), i32)),
    "reduce": (graph.ReduceOp("mean", value(X), axes=[2, 3]), tensor((1, 4, 1, 1), f32)),
    "integer reduce": (graph.ReduceOp("sum", value(X, ui8), axes=[2, 3], keepdims=False), tensor((1, 4), i32)),
    "softmax": (graph.SoftmaxOp(value((2, 3)), axis=1), tensor((2, 3), f32)),
    "layer_norm": (graph.LayerNormOp(value((2, 3)), value((3,)), axis=1), tensor((2, 3), f32)),
    "standardize": (graph.StandardizeOp(value((2, 3), si8), axis=1, epsilon=0.5, bits=18), tensor((2, 3), i32)),
    "lrn": (graph.LrnOp(value(X), size=5, alpha=1e-4, beta=0.75, bias=1.0), tensor(X, f32)),
    "integer lrn": (graph.LrnOp(value(X, ui8), size=5, alpha=5.0, beta=0.75, bias=9.0, zero_point=2), tensor(X, f32)),
    "batch_norm": (graph.BatchNormOp(value(X), *(value((4,)) for _ in range(4))), tensor(X, f32)),
    "unary": (graph.UnaryOp("hard_sigmoid", value((2,)), alpha=0.2, beta=0.5), tensor((2,), f32)),
    "clip": (graph.ClipOp(value((2,), i32), max=6), tensor((2,), i32)),
    "binary": (graph.BinaryOp("add", value((2, 1)), value((3,))), tensor((2, 3), f32)),
    "cast": (graph.CastOp(value((2,)), i64), tensor((2,), i64)),
    "concat": (graph.ConcatOp([value((2, 1)), value((2, 3))], axis=1), tensor((2, 4), f32)),
    "slice": (graph.SliceOp(value((9,)), starts=[8], steps=[-2], sizes=[5]), tensor((5,), f32)),
    "pad": (graph.PadOp(value((2,)), pads=[1, 2], mode="edge"), tensor((5,), f32)),
    "reshape": (graph.ReshapeOp(value((2, 3)), (6,)), tensor((6,), f32)),
    "transpose": (graph.TransposeOp(value((2, 3)), perm=[1, 0]), tensor((3, 2), f32)),
    "resize": (graph.ResizeOp(value((2, 3)), scales=[1, 2]), tensor((2, 6), f32)),
    "gather": (graph.GatherOp(value((4, 3)), np.array([[0, 3]]), axis=0), tensor((1, 2, 3), f32)),
    "expand": (graph.ExpandOp(value((3, 1)), (2, 3, 4)), tensor((2, 3, 4), f32)),
    "quantize": (graph.QuantizeOp(value((2,)), value(())), tensor((2,), ui8)),
    "quantize to": (graph.QuantizeOp(value((2,)), value(()), value((), si8)), tensor((2,), si8)),
    "dequantize": (graph.DequantizeOp(value((2,), i32), value((2,))), tensor((2,), f32)),
    "requantize": (
        graph.RequantizeOp(value((2,), i32), value((), i32), value((), i32), element=si8, zero_point=3),
        tensor((2,), si8),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_result_types(name: str):
    op, expected = CASES[name]
    assert op.results[0].type == expected
    op.verify_()


def test_misfits_are_refused_when_built():
    with pytest.raises(VerifyException, match="weights of 3 channels in 1 groups do not fit"):
        graph.ConvOp(value(X), value((6, 3, 3, 3)), strides=[1, 1], pads=[0] * 4)
    with pytest.raises(VerifyException, match="inner extents differ: 3 and 4"):
        graph.MatmulOp(value((2, 3)), value((4, 2)))
    with pytest.raises(VerifyException, match="expected 0 to 20 bits for rows of 32 elements, found 21"):
        graph.StandardizeOp(value((1, 32), si8), axis=1, epsilon=0.0, bits=21).verify_()
    with pytest.raises(VerifyException, match="expected rows of 2 to 32768 elements, found 1"):
        graph.StandardizeOp(value((3, 1), si8), axis=1, epsilon=0.0, bits=0).verify_()


def test_names():
    op = graph.SoftmaxOp(value((2, 3)), axis=1)
    assert graph.name_of(op) is None
    graph.set_name(op, "s")
    assert op.attributes["name"] == StringAttr("s")
    assert graph.name_of(op) == "s"
    graph.set_name(op, None)
    assert op.attributes == {}


def test_weights_with_values():
    array = np.array([[1, 255]], np.uint8)
    op = graph.WeightOp("w", tensor((1, 2), ui8), array)
    assert op.resource == "w"
    assert op.value is not None
    np.testing.assert_array_equal(graph.dense_array(op.value), array)
    op.verify_()


def test_groups():
    x = value((2, 3))

    def body(arguments: tuple[SSAValue, ...]) -> list[Operation]:
        relu = graph.UnaryOp("relu", arguments[0])
        return [relu, graph.YieldOp(relu.result)]

    group = graph.FusedGroupOp([x], [x.type], graph.region_of([x.type], body), tiles=2)
    group.verify_()
    assert [op.name for op in group.members()] == ["graph.unary"]
    assert group.yielded[0].owner is group.members()[0]
    assert tensor_type(group.outputs[0]) == tensor((2, 3), f32)


@pytest.mark.parametrize(
    "number", [0.0, -0.0, 1.0, 0.1, 1e-5, 1e20, -1.5e300, float("inf"), float("-inf"), 2**53 + 2.0]
)
def test_numbers_read_back(number: float):
    from xdsl.context import Context
    from xdsl.parser import Parser

    text = number_text(number)
    assert str(parse_real(Parser(Context(), text))) == str(number)
