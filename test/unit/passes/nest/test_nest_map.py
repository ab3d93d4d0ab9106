"""Mappings by hand: what is bound stays, what does not fit the machine is told."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects import nest
from tilewright.dialects.acg import GraphOp
from tilewright.driver import make_context
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.passes.nest.nest_map import NestMapPass

TEXT = """
func.func @main(%x : tensor<20x4xf32>, %w : tensor<4x8xf32>) -> tensor<20x8xf32> {
  %y = nest.group @fc dims {m = 20, n = 8, k = 4} ins(X = %x, W = %w) -> tensor<20x8xf32> {
  ^bb0(%X : tensor<20x4xf32>, %W : tensor<4x8xf32>):
    %0 = nest.kernel @mac "Y[m, n] += X[m, k] * W[k, n]" (X = %X, W = %W)
      : (tensor<20x4xf32>, tensor<4x8xf32>) -> tensor<20x8xf32>
    nest.yield %0 : tensor<20x8xf32>
  } mapping {
    MAPPING
  }
  func.return %y : tensor<20x8xf32>
}
"""
BOUND = "nest.compute @mac on @MXU::@mac dims {k = n, p = m, c = k} tensors {O = Y, X = X, W = W}"


def held(inner: str, loop: str = "nest.for m step 10") -> str:
    return f"nest.hold @SPAD [W] {{ {loop} {{ nest.hold @SPAD [X, mac] {{ {inner} }} }} }}"


def mapped(mapping: str) -> ModuleOp:
    module = Parser(make_context(), TEXT.replace("MAPPING", mapping)).parse_module()
    first = module.body.block.first_op
    assert first is not None
    module.body.block.insert_ops_before([GraphOp.get(load_target("tiny"))], first)
    module.verify()
    NestMapPass().apply(make_context(), module)
    module.verify()
    return module


def group(module: ModuleOp) -> nest.GroupOp:
    return next(op for op in module.walk() if isinstance(op, nest.GroupOp))


def test_what_is_bound_stays():
    module = mapped(held(f"nest.spatial n = 2 on @MXU x {{ {BOUND} }}"))
    (spatial,) = (op for op in module.walk() if isinstance(op, nest.SpatialOp))
    assert (spatial.dim.data, spatial.ways.value.data) == ("n", 2)


def test_mapping_again_changes_nothing():
    module = mapped(held("nest.compute @mac"))
    before = str(group(module))
    NestMapPass().apply(make_context(), module)
    assert str(group(module)) == before


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("", "group @fc: expected a mapping, found none; run nest-tile before nest-map"),
        (
            "nest.hold @L1 [X] { nest.compute @mac }",
            "group @fc, mapping for tiny: expected a memory among DRAM, SPAD, found L1",
        ),
        (
            held(f"nest.spatial n = 2 on @PE x {{ {BOUND} }}"),
            "group @fc, mapping for tiny: expected a compute node among MXU, VPU, DMA, found PE",
        ),
        (
            held(BOUND.replace("@MXU::@mac", "@MXU::@conv")),
            "group @fc, compute @mac: expected a capability of tiny that runs `Y[m, n] += X[m, k] * W[k, n]` as it is "
            "bound, found MXU.conv; leave the binding to nest-map",
        ),
        (held(BOUND.replace("k = n, p = m", "k = m, p = n")), "found MXU.mac; leave the binding to nest-map"),
        (held(BOUND.replace("W = W}", "W = X}")), "found MXU.mac; leave the binding to nest-map"),
    ],
)
def test_what_the_machine_does_not_have(mapping: str, message: str):
    with pytest.raises(TilewrightError) as error:
        mapped(mapping)
    assert message in str(error.value)


def test_more_instances_than_there_are():
    with pytest.raises(InfeasibleError) as error:
        mapped(held(f"nest.spatial n = 8 on @MXU y {{ {BOUND} }}"))
    assert (error.value.demand, error.value.bound) == (8, 4)
    assert error.value.subject == "group @fc, instances of MXU along y"
    assert error.value.expected == "at most 4 instances of MXU along y"


def test_more_bytes_than_there_are():
    with pytest.raises(InfeasibleError) as error:
        mapped(held("nest.compute @mac", "nest.for m step 20"))
    assert (error.value.demand, error.value.bound) == (4 * (4 * 8 + 20 * 4 + 20 * 8), 1024)


def test_a_sum_that_is_not_complete_where_it_leaves_its_memory():
    with pytest.raises(TilewrightError) as error:
        mapped("nest.for k step 2 { nest.hold @SPAD [X, W, mac] { nest.compute @mac } }")
    assert "expected mac to be held outside of the loop over k, its sum, found a hold inside of it" in str(error.value)


def test_pieces_of_instances_are_no_issue():
    with pytest.raises(TilewrightError) as error:
        mapped(held("nest.spatial n = 4 step 2 on @MXU x { nest.compute @mac }"))
    assert "expected n to be spread by the computes that run it (no `step`), found step 2" in str(error.value)
