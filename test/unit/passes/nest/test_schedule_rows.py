"""Which layers may run in rows: those whose maps lie in one memory, in the shape that they were made in."""

from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright.dialects.acg import machine_of
from tilewright.driver import make_context, parse_passes
from tilewright.passes.nest.nest_schedule import Reader

ATTENTION = """
func.func @main(%q : tensor<4x64x32xf32>, %k : tensor<4x32x64xf32>, %v : tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  %s = graph.matmul %q, %k : (tensor<4x64x32xf32>, tensor<4x32x64xf32>) -> tensor<4x64x64xf32>
  %p = graph.softmax %s axis 2 : (tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %o = graph.matmul %p, %v : (tensor<4x64x64xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  func.return %o : tensor<4x64x32xf32>
}
"""

MADE_INSIDE = """
func.func @main(%q : tensor<4x64x32xf32>, %k : tensor<4x32x64xf32>) -> tensor<4x64x64xf32> {
  %m = graph.unary relu %k : (tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
  %s = graph.matmul %q, %m : (tensor<4x64x32xf32>, tensor<4x32x64xf32>) -> tensor<4x64x64xf32>
  func.return %s : tensor<4x64x64xf32>
}
"""

TURNED = """
func.func @main(%x : tensor<4x64x32xf32>) -> tensor<1x64x4x32xf32> {
  %r = graph.unary relu %x : (tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %h = graph.reshape %r : (tensor<4x64x32xf32>) -> tensor<1x4x64x32xf32>
  %y = graph.transpose %h perm [0, 2, 1, 3] : (tensor<1x4x64x32xf32>) -> tensor<1x64x4x32xf32>
  func.return %y : tensor<1x64x4x32xf32>
}
"""


def row_ways(text: str, target: str, start: int, stop: int) -> int:
    """In how many ways layers run in rows."""
    context = make_context()
    module = Parser(context, text).parse_module()
    parse_passes(f'load-target{{target="{target}"}},convert-graph-to-nest{{in_place=true}}').apply(context, module)
    (function,) = (op for op in module.body.ops if isinstance(op, FuncOp))
    return len(Reader(machine_of(module), function).rows_of(start, stop))


def test_maps_that_serve_as_weights_come_from_other_groups():
    """What is copied to the memory of weights is there as a whole."""
    assert row_ways(ATTENTION, "edge16", 0, 3) > 0
    assert row_ways(ATTENTION, "cocco_npu", 0, 3) > 0
    assert row_ways(MADE_INSIDE, "edge16", 0, 2) > 0
    assert row_ways(MADE_INSIDE, "cocco_npu", 0, 2) == 0


def test_rows_of_one_sample_are_not_seen_as_those_of_another_shape():
    assert row_ways(TURNED, "edge16", 0, 1) > 0
    assert row_ways(TURNED, "edge16", 1, 2) == row_ways(TURNED, "edge16", 0, 2) == 0
