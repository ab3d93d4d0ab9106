"""Folding of constants against onnx's reference implementation, and its bounds."""

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.errors import TilewrightError
from tilewright.frontends.onnx.folder import Folder
from tilewright.frontends.onnx.scope import decode

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7
COUNTS = np.array([3, -2, 7, 5], np.int64)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], int]] = [
    ("Reshape", (X, ints(0, -1)), {}, 21),
    ("Flatten", (X,), {"axis": 2}, 21),
    ("Squeeze", (X[:1], ints(0)), {}, 21),
    ("Squeeze", (X[:1],), {"axes": [0]}, 11),
    ("Unsqueeze", (X, ints(0, -1)), {}, 21),
    ("Unsqueeze", (X,), {"axes": [1]}, 9),
    ("Transpose", (X,), {"perm": [2, 0, 1]}, 21),
    ("Transpose", (X,), {}, 21),
    ("Expand", (X[:, :1], ints(2, 3, 4)), {}, 21),
    ("Slice", (X, ints(1, 0), ints(100, -1), ints(1, 2), ints(1, 2)), {}, 21),
    ("Slice", (X, ints(-1), ints(-100), ints(2), ints(-2)), {}, 21),
    ("Slice", (X,), {"starts": [0, 1], "ends": [1, 3]}, 9),
    ("Concat", (X, X + 1), {"axis": -1}, 21),
    ("Gather", (X, np.array([[0, -1]])), {"axis": 1}, 21),
    ("Gather", (COUNTS, np.array(2)), {}, 21),
    ("Cast", (X,), {"to": TensorProto.INT32}, 21),
    ("Range", (np.array(1), np.array(9), np.array(3)), {}, 21),
    ("Where", (X > 0, X, -X), {}, 21),
    ("Shape", (X,), {"start": 1}, 21),
    ("Size", (X,), {}, 21),
    ("ConstantOfShape", (ints(2, 5),), {"value": numpy_helper.from_array(np.array([7], np.int64))}, 21),
    ("ConstantOfShape", (ints(2, 5),), {}, 21),
    ("Add", (X, np.float32(2)), {}, 21),
    ("Sub", (COUNTS, ints(1)), {}, 21),
    ("Mul", (X, X[0]), {}, 21),
    ("Div", (COUNTS, ints(2)), {}, 21),
    ("Div", (X, X + 0.5), {}, 21),
    ("Max", (X, X[::-1], X * 0), {}, 21),
    ("Sum", (X,), {}, 21),
    ("Neg", (COUNTS,), {}, 21),
    ("Equal", (COUNTS, ints(7)), {}, 21),
    ("ReduceProd", (COUNTS,), {"keepdims": 0}, 21),
    ("ReduceSum", (X, ints(1)), {}, 21),
    ("ReduceMean", (X,), {"axes": [0, 2], "keepdims": 0}, 13),
    ("QuantizeLinear", (X, np.float32(0.5), np.uint8(3)), {}, 21),
    ("QuantizeLinear", (X, np.array([0.5, 0.1, 2], np.float32), np.array([0, 1, 2], np.int8)), {"axis": 1}, 21),
]


def make(op: str, count: int, outputs: int = 1, **attributes: Any) -> NodeProto:
    names = [f"y{i}" for i in range(outputs)]
    return helper.make_node(op, [f"x{i}" for i in range(count)], names, name="node", **attributes)


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset"), CASES, ids=[c[0] for c in CASES])
def test_like_the_reference(op: str, inputs: tuple[Any, ...], attributes: dict[str, Any], opset: int) -> None:
    proto = make(op, len(inputs), **attributes)
    values = [helper.make_empty_tensor_value_info(name) for name in proto.input]
    graph = helper.make_graph([proto], "g", values, [helper.make_empty_tensor_value_info("y0")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    arrays = [np.asarray(i) for i in inputs]
    (expected,) = ReferenceEvaluator(model).run(None, dict(zip(proto.input, arrays, strict=True)))
    results = Folder().fold(decode(proto, 0, opset), arrays)
    assert results is not None
    np.testing.assert_array_equal(results[0], expected)
    assert results[0].dtype == np.asarray(expected).dtype


def test_split_gives_all_pieces() -> None:
    pieces = Folder().fold(decode(make("Split", 2, 2, axis=2), 0, 13), [X, ints(1, 3)])
    assert pieces is not None
    np.testing.assert_array_equal(np.concatenate(pieces, 2), X)


def test_repeated_constants_stay_small() -> None:
    folder = Folder(budget=0)
    huge = folder.fold(decode(make("ConstantOfShape", 1), 0, 21), [ints(1 << 14, 1 << 15)])
    assert huge is not None
    views = folder.fold(decode(make("Unsqueeze", 2), 0, 21), [huge[0], ints(0)])
    assert views is not None
    assert views[0].shape == (1, 1 << 14, 1 << 15)
    assert not any(views[0].strides)


def test_the_budget_bounds_work() -> None:
    folder = Folder(budget=60)
    node = decode(make("Add", 2), 0, 21)
    assert folder.fold(node, [X, X]) is not None
    assert folder.fold(node, [X, X]) is None


def test_no_rule_is_not_an_error() -> None:
    assert Folder().fold(decode(make("Conv", 2), 0, 21), [X, X]) is None


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Reshape", (X, ints(5, 5)), {}),
        ("Reshape", (X, ints(-1, -1)), {}),
        ("Unsqueeze", (X, ints(0, 0)), {}),
        ("Concat", (X, X[0]), {"axis": 0}),
        ("Gather", (COUNTS, ints(4)), {}),
        ("Transpose", (X,), {"perm": [0, 0, 1]}),
        ("Div", (COUNTS, ints(0)), {}),
        ("Range", (np.array(0), np.array(1 << 40), np.array(1)), {}),
        ("ConstantOfShape", (ints(1 << 40, 1 << 40),), {}),
        ("ConstantOfShape", (ints(-3),), {}),
        ("Expand", (X, ints(1 << 40, 2, 3, 4)), {}),
        ("Add", (X, X[0, 0, :3]), {}),
    ],
)
def test_bad_constants_name_the_node(op: str, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> None:
    with pytest.raises(TilewrightError, match=f"{op} node 'node'"):
        Folder().fold(decode(make(op, len(inputs), **attributes), 0, 21), inputs)
