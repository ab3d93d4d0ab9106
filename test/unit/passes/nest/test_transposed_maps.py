"""Layers that transpose a map are made along what the map is made along, so that their first pieces come early."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright.costs.mapping.binding import pricer_of
from tilewright.dialects import nest
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.frontends.acg import load_target
from tilewright.passes.nest.arrivals import outermost_cut
from tilewright.passes.nest.nest_tile import followed_dim
from tilewright.passes.nest_to_codelet.fused_marks import marked_groups

HEADS = """
func.func @main(%x: tensor<1x512x768xsi8>) -> tensor<12x512x64xsi8>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<"0x63"> : tensor<768x768xsi8> : tensor<768x768xsi8>
  %m = graph.weight @m = dense<1078130688> : tensor<i32> : tensor<i32>
  %h = graph.weight @h = dense<41> : tensor<i32> : tensor<i32>
  %a = graph.matmul %x, %w : (tensor<1x512x768xsi8>, tensor<768x768xsi8>) -> tensor<1x512x768xi32>
  %q = graph.requantize %a, %m, %h axis 2 zero_point 0 range [-128, 127]
      : (tensor<1x512x768xi32>, tensor<i32>, tensor<i32>) -> tensor<1x512x768xsi8>
  %v = graph.reshape %q : (tensor<1x512x768xsi8>) -> tensor<512x12x64xsi8>
  %y = graph.transpose %v perm [1, 0, 2] : (tensor<512x12x64xsi8>) -> tensor<12x512x64xsi8>
  func.return %y : tensor<12x512x64xsi8>
}
"""


@pytest.mark.parametrize(("dim", "followed"), [("n", "n"), ("m", "c")])
def test_heads_are_transposed_along_what_their_product_is_cut_along(dim: str, followed: str) -> None:
    module = Parser(make_context(), HEADS).parse_module()
    passes = "load-target{target=cloud128},graph-normalize,convert-graph-to-nest{in_place=true},nest-schedule"
    parse_passes(passes).apply(make_context(), module)
    product, turn = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    parse_passes(f"nest-tile{{group={product.sym_name.data} dims={dim} sizes=128}}").apply(make_context(), module)
    pricer = pricer_of(load_target("cloud128"))
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    groups = marked_groups(function.body.block, pricer.machine, pricer)
    product, turn = groups
    assert [followed_dim(groups[op].layers[0]) for op in (product, turn)] == ["", followed]
    parse_passes("nest-tile").apply(make_context(), module)
    cut = outermost_cut(turn)
    assert cut is not None
    assert cut[0] == followed
