"""Constants computed by ONNX's reference implementation: which operators, and how much at most."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import helper

from tilewright.frontends.onnx import reference
from tilewright.frontends.onnx.scope import decode


def evaluate(
    op: str, *inputs: Any, outputs: int = 1, opset: int = 21, **attributes: Any
) -> tuple[NDArray[Any], ...] | None:
    names = [f"i{k}" for k in range(len(inputs))]
    proto = helper.make_node(op, names, [f"o{k}" for k in range(outputs)], **attributes)
    return reference.evaluate(decode(proto, 0, opset), [np.asarray(i) for i in inputs])


def one(*arguments: Any, **attributes: Any) -> NDArray[Any]:
    results = evaluate(*arguments, **attributes)
    assert results is not None
    return results[0]


def test_operators_that_have_no_rule_of_their_own() -> None:
    assert one("Tile", np.array([1, 2]), np.array([2])).tolist() == [1, 2, 1, 2]
    assert one("NonZero", np.array([0, 3, 0, 5])).tolist() == [[1, 3]]
    assert one("CumSum", np.array([1.0, 2.0]), np.array(0)).tolist() == [1.0, 3.0]
    values = evaluate("TopK", np.array([1.0, 3.0, 2.0], np.float32), np.array([2]), outputs=2)
    assert values is not None
    assert [v.tolist() for v in values] == [[3.0, 2.0], [1, 2]]


def test_enormous_results_are_not_made() -> None:
    assert evaluate("Tile", np.array([1, 2]), np.array([1 << 40])) is None
    assert evaluate("OneHot", np.array([1]), np.array(1 << 40), np.array([0, 1])) is None
    assert evaluate("EyeLike", np.zeros((1 << 9, 1 << 9), np.float32)) is None
    assert evaluate("BlackmanWindow", np.array(1 << 40)) is None


def test_work_that_sizes_do_not_bound() -> None:
    letters = "abcdefghijklmnopqrst"
    matrices = [np.ones((4, 4), np.float32)] * 10
    pairs = ",".join(letters[2 * i : 2 * i + 2] for i in range(10))
    assert evaluate("Einsum", *matrices, equation=f"{pairs}->") is None


def test_attributes_that_a_loop_counts_to() -> None:
    assert evaluate("LRN", np.ones((1, 2, 3, 3), np.float32), size=1 << 40) is None
    assert evaluate("LRN", np.ones((1, 2, 3, 3), np.float32), size=3) is not None


def test_numbers_that_chance_makes() -> None:
    assert evaluate("Bernoulli", np.full(3, 0.5, np.float32)) is None
    assert evaluate("RandomUniformLike", np.full(3, 0.5, np.float32)) is None


def test_what_the_reference_does_not_know() -> None:
    assert evaluate("GatherND", np.array([1.0]), np.array([[7]])) is None
    assert evaluate("Resize", np.ones((1, 1, 2, 2), np.float32), np.ones(4, np.float32), opset=10) is None


def test_weights_of_quantised_layers_stay_what_they_are() -> None:
    assert evaluate("DequantizeLinear", np.array([1, 2], np.int8), np.array(0.5, np.float32)) is None
