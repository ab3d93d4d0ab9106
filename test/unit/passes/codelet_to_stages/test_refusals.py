"""Codelets that a machine of stages has no instructions for are refused with the reason."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from tilewright.dialects.codelet import ProgramOp
from tilewright.driver import make_context, parse_passes
from tilewright.errors import TilewrightError

PROGRAM = """
codelet.program @main {
  %x = codelet.tensor "x" input at 0 : !codelet.surrogate<8x16xsi8, @DRAM>
  %w = codelet.tensor "w" input at 256 : !codelet.surrogate<16x16xsi8, @DRAM>
  %y = codelet.tensor "y" output at 512 : !codelet.surrogate<4x16xsi8, @DRAM>
  codelet.codelet @c dims {p = 4, m = 16, e = 16} (%X = %x : !codelet.surrogate<8x16xsi8, @DRAM>,
      %W = %w : !codelet.surrogate<16x16xsi8, @DRAM>, %Y = %y : !codelet.surrogate<4x16xsi8, @DRAM>) {
    %o = codelet.local "Y[p, m]" at [0] : !codelet.surrogate<4x16xi32, @ACC>
    codelet.compute @MAC::@clear "O[p, m] = 0" (%o) dims {n = m} over [p] : (!codelet.surrogate<4x16xi32, @ACC>)
    %a = codelet.local "X[p, e]" at [0] : !codelet.surrogate<4x16xsi8, @INP>
    codelet.transfer %X -> %a : !codelet.surrogate<8x16xsi8, @DRAM> -> !codelet.surrogate<4x16xsi8, @INP>
    %b = codelet.local "W[m, e]" at [0] : !codelet.surrogate<16x16xsi8, @WGT>
    codelet.transfer %W -> %b : !codelet.surrogate<16x16xsi8, @DRAM> -> !codelet.surrogate<16x16xsi8, @WGT>
    codelet.compute @MAC::@gemm "O[p, m] += X[p, e] * W[m, e]" (%o, %a, %b) dims {n = m, k = e} over [p] keep :
      (!codelet.surrogate<4x16xi32, @ACC>, !codelet.surrogate<4x16xsi8, @INP>, !codelet.surrogate<16x16xsi8, @WGT>)
    %s = codelet.shadow %o : !codelet.surrogate<4x16xi32, @ACC> -> !codelet.surrogate<4x16xsi8, @OUT>
    codelet.transfer %s -> %Y : !codelet.surrogate<4x16xsi8, @OUT> -> !codelet.surrogate<4x16xsi8, @DRAM>
  }
}
"""


def converted(text: str) -> None:
    context = make_context()
    module = Parser(context, text).parse_module()
    parse_passes('load-target{target="vta"},convert-codelet-to-stages').apply(context, module)
    assert not any(isinstance(op, ProgramOp) for op in module.body.block.ops)


def test_the_program_itself_is_taken() -> None:
    converted(PROGRAM)


REFUSED = {
    "a new sum": ("over [p] keep", "over [p]", "`keep`: products are added to what is there"),
    "lanes of weights turned": (
        "W[m, e]\" (%o, %a, %b)", "W[e, m]\" (%o, %a, %b)", "k bound to the numbers of an element of W"
    ),
    "another memory": ("16xi32, @ACC", "16xi32, @INP", "O in ACC"),
    "an instruction that copies": ("@MAC::@clear", "@VPU::@clear", "an instruction that walks"),
    "half an element": ("4x16xsi8, @INP", "4x8xsi8, @INP", "whole elements of INP, 16 numbers each"),
    "an address between elements": ('"x" input at 0', '"x" input at 8', "an address by 16 B"),
    "stores of what is loaded": (
        "%s -> %Y : !codelet.surrogate<4x16xsi8, @OUT>", "%a -> %Y : !codelet.surrogate<4x16xsi8, @INP>",
        "loads, and stores of sums",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_instruction_is_refused(name: str) -> None:
    old, new, expected = REFUSED[name]
    assert old in PROGRAM
    with pytest.raises(TilewrightError, match=expected.replace("(", r"\(")):
        converted(PROGRAM.replace(old, new))
