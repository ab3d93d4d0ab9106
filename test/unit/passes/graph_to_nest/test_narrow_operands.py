"""Casts of integers become part of the kernels that read them, where the machine can."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.parser import Parser

from tilewright.dialects import nest
from tilewright.driver import make_context
from tilewright.frontends.acg import load_target
from tilewright.interpreters.nest import NestFunctions
from tilewright.passes.graph_to_nest.operands import read_narrow

GROUP = """func.func @main(%x : tensor<8xTYPE>, %b : tensor<8xi32>) -> tensor<8xi32> {
  %y = nest.group @g dims {c = 8} ins(X = %x, B = %b) -> tensor<8xi32> {
  ^bb0(%X : tensor<8xTYPE>, %B : tensor<8xi32>):
    %0 = nest.kernel @cast "Y[c] = A[PLACE]" (A = %X) : (tensor<8xTYPE>) -> tensor<8xi32>
    %1 = nest.kernel @last "Y[c] = VALUE" (A = %0, B = %B) into %0 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    nest.yield %1 : tensor<8xi32>
  }
  func.return %y : tensor<8xi32>
}
"""


@pytest.mark.parametrize(
    ("narrow", "place", "value", "kept"),
    [
        ("si8", "c", "mul(A[c], B[c])", ["last"]),
        ("ui8", "c", "sub(A[c], B[c])", ["last"]),
        ("si8", "c", "mul(B[c], A[c])", ["last"]),
        ("si16", "c", "mul(A[c], B[c])", ["cast", "last"]),  # edge16 multiplies no i16 by i32
        ("si8", "7 - c", "mul(A[c], B[c])", ["cast", "last"]),
        ("si8", "c", "rshift_round(A[c], B[c])", ["cast", "last"]),
    ],
)
def test_casts(narrow: str, place: str, value: str, kept: list[str]) -> None:
    text = GROUP.replace("TYPE", narrow).replace("PLACE", place).replace("VALUE", value)
    module = Parser(make_context(), text).parse_module()
    module.verify()
    (group,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    dtype = {"si8": np.int8, "ui8": np.uint8, "si16": np.int16}[narrow]
    inputs = np.array([-128, -1, 0, 1, 2, 3, 126, 127]).astype(dtype), np.arange(8, dtype=np.int32)

    def run() -> np.ndarray:
        interpreter = Interpreter(module)
        interpreter.register_implementations(NestFunctions())
        interpreter.register_implementations(FuncFunctions())
        return interpreter.call_op("main", inputs)[0]

    expected = run()
    read_narrow(group, load_target("edge16"))
    module.verify()
    assert [kernel.sym_name.data for kernel in group.kernels] == kept
    np.testing.assert_array_equal(run(), expected)
