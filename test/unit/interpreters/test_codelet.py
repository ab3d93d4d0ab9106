"""Semantics of codelets: what is not written is poison, programs are called through xDSL's interpreter."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser

from tilewright.driver import make_context
from tilewright.interpreters.codelet import CodeletFunctions

Array = NDArray[Any]

PROGRAM = """
codelet.program @main {
  %x = codelet.tensor "x" input : D6
  %w = codelet.tensor "w" weight : D3
  %y = codelet.tensor "y" output : !codelet.surrogate<2x4xf32, @DRAM>
  %v = codelet.view %y : !codelet.surrogate<2x4xf32, @DRAM> -> D8
  codelet.codelet @fir dims {p = 6, r = 3} (%X = %x : D6, %W = %w : D3, %Y = %v : D8) {
    %0 = codelet.local "W[r]" : S3
    codelet.transfer %W -> %0 : D3 -> S3
    codelet.loop p step 4 {
      %1 = codelet.local "X[p + r - 1]" buffers 2 : S6
      codelet.transfer %X -> %1 pad PAD : f32 : D6 -> S6
      %2 = codelet.local "Y[p]" : S4
      codelet.loop r step 2 {
        codelet.compute @MXU::@mac "O[p] += X[p + r - 1] * W[r]" (%2, %1, %0) dims {p = p, c = r} : (S4, S6, S3)
      }
      codelet.transfer %2 -> %Y : S4 -> D8
    }
  }
}
"""
TYPES = {f"{place[0]}{n}": f"!codelet.surrogate<{n}xf32, @{place}>" for n in (3, 4, 6, 8) for place in ("DRAM", "SPAD")}


def run(text: str, x: Array, w: Array) -> Array:
    for short, type_ in TYPES.items():
        text = re.sub(rf"\b{short}\b", type_, text)
    module = Parser(make_context(), text).parse_module()
    module.verify()
    interpreter = Interpreter(module)
    interpreter.register_implementations(CodeletFunctions({"w": w}))
    (y,) = interpreter.call_op("main", (x,))
    return y


def test_programs_run_by_name_with_their_weights():
    x, w = np.arange(1, 7, dtype=np.float32), np.array([1, 10, 100], np.float32)
    y = run(PROGRAM.replace("PAD", "0.0"), x, w).ravel()
    np.testing.assert_array_equal(y[:6], np.correlate(np.pad(x, 1), w, "valid"))
    assert np.isnan(y[6:]).all()


def test_padding_is_what_the_transfer_says():
    x, w = np.arange(1, 7, dtype=np.float32), np.array([1, 0, 1], np.float32)
    y = run(PROGRAM.replace("PAD", "7.0"), x, w).ravel()
    np.testing.assert_array_equal(y[:6], np.correlate(np.pad(x, 1, constant_values=7), w, "valid"))
