"""Sums of products in f32 that begin with what is added to them."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.parser import Parser

from tilewright.dialects import nest
from tilewright.driver import make_context
from tilewright.interpreters.nest import NestFunctions
from tilewright.passes.graph_to_nest.addends import begin_with_addends
from tilewright.passes.nest.storage import overwritable

GROUP = """func.func @main(%x : tensor<4x3xf32>, %w : tensor<5x3xf32>, %b : tensor<5xf32>, %c : tensor<4x5xf32>)
    -> tensor<4x5xf32> {
  %y = nest.group @g dims {n = 4, k = 5, c = 3} ins(X = %x, W = %w, B = %b, C = %c) -> tensor<4x5xf32> {
  ^bb0(%X : tensor<4x3xf32>, %W : tensor<5x3xf32>, %B : tensor<5xf32>, %C : tensor<4x5xf32>):
    BEFORE
    %1 = nest.kernel @mac "Y[n, k] += X[n, c] * W[k, c]" (X = %X, W = %W) INTO
      : (tensor<4x3xf32>, tensor<5x3xf32>) -> tensor<4x5xf32>
    AFTER
  }
  func.return %y : tensor<4x5xf32>
}
"""
BIAS = '%0 = nest.kernel @bias "Y[n, k] = B[k]" (B = %B) : (tensor<5xf32>) -> tensor<4x5xf32>'
HALF = '%0 = nest.kernel @half "Y[n, k] = mul(C[n, k], 0.5)" (C = %C) : (tensor<4x5xf32>) -> tensor<4x5xf32>'
ADD = """%2 = nest.kernel @add "Y[n, k] = A[n, k] + C[n, k]" (A = %1, C = %C) into %1
      : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    nest.yield %2 : tensor<4x5xf32>"""
SHIFT = """%2 = nest.kernel @shift "Y[n, k] = B[k] + A[n, k]" (B = %B, A = %1) into %1
      : (tensor<5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    %3 = nest.kernel @add "Y[n, k] = A[n, k] + C[n, k]" (A = %2, C = %C) into %2
      : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    nest.yield %3 : tensor<4x5xf32>"""
TWICE = """%2 = nest.kernel @add "Y[n, k] = A[n, k] + C[n, k]" (A = %1, C = %C)
      : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    nest.yield %2 : tensor<4x5xf32>"""


@pytest.mark.parametrize(
    ("before", "after", "kept", "overwritten"),
    [
        (BIAS, ADD, ["add", "mac"], ["C"]),
        ("", ADD, ["add", "mac"], ["C"]),
        ("", SHIFT, ["mac", "shift", "add"], []),
        (HALF, ADD, ["half", "add", "mac"], []),
        (BIAS, TWICE, ["bias", "mac", "add"], ["C"]),
    ],
)
def test_sums(before: str, after: str, kept: list[str], overwritten: list[str]) -> None:
    into = "into %0" if before else ""
    text = GROUP.replace("BEFORE", before).replace("INTO", into).replace("AFTER", after)
    text = text.replace("4x5xf32", "4x5x1x1xf32").replace("[n, k]", "[n, k, 0, 0]")
    module = Parser(make_context(), text).parse_module()
    module.verify()
    (group,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-8, 8, shape).astype(np.float32) for shape in ((4, 3), (5, 3), (5,), (4, 5, 1, 1))]

    def run() -> np.ndarray:
        interpreter = Interpreter(module)
        interpreter.register_implementations(NestFunctions())
        interpreter.register_implementations(FuncFunctions())
        return interpreter.call_op("main", tuple(inputs))[0]

    expected = run()
    begin_with_addends(group)
    module.verify()
    assert [kernel.sym_name.data for kernel in group.kernels] == kept
    assert list(overwritable(group)) == overwritten
    np.testing.assert_array_equal(run(), expected)


@pytest.mark.parametrize(("least_axes", "kept"), [(4, ["mac", "add"]), (2, ["add", "mac"])])
def test_fewer_axes_than_asked_for(least_axes: int, kept: list[str]) -> None:
    module = Parser(
        make_context(), GROUP.replace("BEFORE", "").replace("INTO", "").replace("AFTER", ADD)
    ).parse_module()
    (group,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    begin_with_addends(group, least_axes)
    assert [kernel.sym_name.data for kernel in group.kernels] == kept


def test_an_input_whose_bytes_another_input_has_is_not_overwritten() -> None:
    text = GROUP.replace("BEFORE", "").replace("INTO", "").replace("AFTER", TWICE)
    text = (
        text.replace("c = 3", "c = 5")
        .replace("4x3", "4x5")
        .replace("5x3", "5x5")
        .replace("X = %x", "X = %c")
        .replace("X[n, c]", "X[n, c, 0, 0]")
    )
    text = text.replace("4x5xf32", "4x5x1x1xf32").replace("[n, k]", "[n, k, 0, 0]")
    module = Parser(make_context(), text).parse_module()
    module.verify()
    (group,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    assert not overwritable(group)
