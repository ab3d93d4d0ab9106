"""Pieces in which weights arrive and rows leave: long enough in a row for bursts of DRAM, and early."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright import CompileOptions, compile, simulate
from tilewright.costs.dram_timing import Dram
from tilewright.costs.mapping.binding import pricer_of
from tilewright.dialects import graph, nest
from tilewright.dialects.types import si8, tensor
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.frontends.acg import load_target
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.passes.nest.arrivals import RUN_BYTES, Arrivals, Way, cut_dim, cuts_weights, outermost_cut, rows_of_sums
from tilewright.passes.nest_to_codelet.fused_layers import FusedGroup
from tilewright.passes.nest_to_codelet.fused_marks import marked_groups
from tilewright.passes.nest_to_codelet.fused_tiles import whole_trees


def test_pieces_of_a_product_have_long_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = IntegerLayers.of([tensor((1, 2048), si8)])
    w = layers.weight("w", np.ones((2048, 1000), np.int8))
    y = layers.add(graph.GemmOp(layers.block.args[0], w), "fc")
    made = graph.RequantizeOp(y, layers.number(1), layers.number(11), element=si8)
    module = layers.module(["x"], ["y"], [layers.add(made, "scaled")])
    runs, serve = list[tuple[int, int]](), Dram.serve

    def noting(self: Dram, starts: np.ndarray, run_bytes: int, write: bool, tick: int) -> int:
        runs.append((len(starts), run_bytes))
        return serve(self, starts, run_bytes, write, tick)

    monkeypatch.setattr(Dram, "serve", noting)
    simulate(compile(module, "edge16", options=CompileOptions(prove=False)), functional=False, dram="ddr4-2400")
    pieces = [run for rows, run in runs if rows == 2048]
    assert len(pieces) > 1
    assert max(pieces) >= RUN_BYTES
    assert min(pieces) > RUN_BYTES * 3 // 4  # the last of all may be shorter


def test_layers_of_other_units_do_not_wait_for_each_other() -> None:
    arrivals = Arrivals(load_target("edge16"))
    arrivals.ended |= {"VP": 1000.0, "MX": 100.0}
    assert arrivals.end_in_pieces(Way(80, 4, (), unit="MX")) == 180
    assert arrivals.end_in_pieces(Way(80, 4, (), unit="VP")) == 1080
    arrivals.arrived = 500.0
    assert arrivals.end_in_pieces(Way(80, 4, (), unit="MX")) == 520


HALF = '"0x0000003F"'
"""0.5 by its bytes, of which xDSL makes large constants sooner than of a number."""

FEED_FORWARD = f"""
func.func @main(%x: tensor<1x512x256xf32>) -> tensor<1x512x512xf32>
    attributes {{graph.inputs = ["x"], graph.outputs = ["y"]}} {{
  %u = graph.weight @u = dense<{HALF}> : tensor<256x512xf32> : tensor<256x512xf32>
  %w = graph.weight @w = dense<{HALF}> : tensor<512x512xf32> : tensor<512x512xf32>
  %v = graph.weight @v = dense<{HALF}> : tensor<512x512xf32> : tensor<512x512xf32>
  %h = graph.matmul %x, %u : (tensor<1x512x256xf32>, tensor<256x512xf32>) -> tensor<1x512x512xf32>
  %a = graph.matmul %h, %w : (tensor<1x512x512xf32>, tensor<512x512xf32>) -> tensor<1x512x512xf32>
  %r = graph.unary relu %a : (tensor<1x512x512xf32>) -> tensor<1x512x512xf32>
  %y = NEXT
  func.return %y : tensor<1x512x512xf32>
}}
"""
READERS = {
    "graph.unary neg %r : (tensor<1x512x512xf32>) -> tensor<1x512x512xf32>": False,
    "graph.softmax %r axis 1 : (tensor<1x512x512xf32>) -> tensor<1x512x512xf32>": False,
    "graph.softmax %r axis 2 : (tensor<1x512x512xf32>) -> tensor<1x512x512xf32>": True,
    "graph.matmul %r, %v : (tensor<1x512x512xf32>, tensor<512x512xf32>) -> tensor<1x512x512xf32>": True,
}


def fed_forward(reader: str) -> tuple[FusedGroup, list[Way]]:
    """The layer before a reader, and its ways that cut weights, of latency 0."""
    module = Parser(make_context(), FEED_FORWARD.replace("NEXT", reader)).parse_module()
    passes = "load-target{target=edge16},graph-normalize,convert-graph-to-nest{in_place=true},nest-schedule"
    parse_passes(passes).apply(make_context(), module)
    pricer = pricer_of(load_target("edge16"))
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    groups = marked_groups(function.body.block, pricer.machine, pricer)
    group = next(group for op, group in groups.items() if "relu" in str(op))
    (layer,) = group.layers
    made = (way for way in whole_trees(pricer.machine, layer, 0, False) if cuts_weights(layer, way.tree))
    return group, [Way(0.0, way.pieces, way.tree, unit="MX") for way in made]


@pytest.mark.parametrize(("reader", "summed"), READERS.items())
def test_of_pieces_that_end_as_soon_few_are_made_for_who_sums_over_them(reader: str, summed: bool) -> None:
    group, ways = fed_forward(reader)
    ways = [way._replace(latency=1e6 * (1 + 0.01 / way.pieces)) for way in ways]
    assert {way.pieces for way in ways} >= {2, 3, 4, 16}
    arrivals = Arrivals(load_target("edge16"), arrived=750_000 - 2**20 / 16)  # with its weight of a MiB 750,000
    chosen = arrivals.choose(group, Way(1e6, 1, (), unit="MX"), ways)
    assert chosen.pieces == (4 if summed else 16)  # of three the last would come late
    assert arrivals.ended["MX"] == chosen.latency


@pytest.mark.parametrize(("reader", "summed"), READERS.items())
def test_who_sums_over_columns_has_some_rows_first(reader: str, summed: bool) -> None:
    group, columns = fed_forward(reader)
    (layer,) = group.layers
    trees = (way.tree for way in whole_trees(load_target("edge16"), layer, 0, False))
    rows = Way(5.0, 1, next(tree for tree in trees if cut_dim(layer, tree) == "m"), work=7.0)
    way = columns[-1]._replace(work=7.0)
    assert rows_of_sums(layer, way, [way, rows]) is (rows if summed else way)
    assert rows_of_sums(layer, way, [way, rows._replace(work=8.0)]) is way


@pytest.mark.parametrize(("times", "pieces"), [(1.7, 16), (2.5, 1)])
def test_pieces_may_take_longer_where_those_that_do_not_save_little(times: float, pieces: int) -> None:
    """Two pieces save half of a layer's latency, not enough; 16 save nine tenths where they take 1.7 times it."""
    group, ways = fed_forward(next(iter(READERS)))
    ways = [way._replace(latency=1e6 * (1 if way.pieces == 2 else times), work=1e6) for way in ways]
    arrivals = Arrivals(load_target("edge16"), arrived=1e8)
    assert arrivals.choose(group, Way(1e6, 1, (), unit="MX"), ways).pieces == pieces


SEQUENCE = """
func.func @main(%x: tensor<1x512x16xf32>) -> tensor<1x512x256xf32>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<0.5> : tensor<16x256xf32> : tensor<16x256xf32>
  %s = graph.weight @s = dense<1.0> : tensor<256xf32> : tensor<256xf32>
  %a = graph.matmul %x, %w : (tensor<1x512x16xf32>, tensor<16x256xf32>) -> tensor<1x512x256xf32>
  %y = graph.layer_norm %a, %s, %s axis 2 epsilon 1.0e-05
      : (tensor<1x512x256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<1x512x256xf32>
  func.return %y : tensor<1x512x256xf32>
}
"""


def test_rows_of_a_sequence_leave_while_others_are_made() -> None:
    program = compile(Parser(make_context(), SEQUENCE).parse_module(), "edge16")
    ran = simulate(program, functional=False)
    stream = ran.stream
    assert stream is not None
    units = [unit.name for unit in stream.machine.units]
    busy = {name: [i for i in ran.issues if units[stream.units[i.index]] == name] for name in units}
    first_store = min(issue.start_cycle for issue in busy["ST"])
    last_made = max(issue.end_cycle for issue in busy["VP"])
    assert first_store < last_made / 2


WIDE = """
func.func @main(%x: tensor<1x512x768xsi8>) -> tensor<1x512x3072xsi8>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<"0x63"> : tensor<768x3072xsi8> : tensor<768x3072xsi8>
  %m = graph.weight @m = dense<1078130688> : tensor<i32> : tensor<i32>
  %h = graph.weight @h = dense<41> : tensor<i32> : tensor<i32>
  %s = graph.weight @s = dense<0.01> : tensor<f32> : tensor<f32>
  %a = graph.matmul %x, %w : (tensor<1x512x768xsi8>, tensor<768x3072xsi8>) -> tensor<1x512x3072xi32>
  %q = graph.requantize %a, %m, %h axis 2 zero_point 0 range [-128, 127]
      : (tensor<1x512x3072xi32>, tensor<i32>, tensor<i32>) -> tensor<1x512x3072xsi8>
  %d = graph.dequantize %q, %s axis 0 : (tensor<1x512x3072xsi8>, tensor<f32>) -> tensor<1x512x3072xf32>
  %g = graph.unary gelu_tanh %d : (tensor<1x512x3072xf32>) -> tensor<1x512x3072xf32>
  %y = graph.quantize %g, %s axis 0 : (tensor<1x512x3072xf32>, tensor<f32>) -> tensor<1x512x3072xsi8>
  func.return %y : tensor<1x512x3072xsi8>
}
"""


def test_pieces_of_a_wide_product_are_as_large_as_feeding_its_arrays_asks() -> None:
    """Tiles of 256 x 192 results would be fed for 672 cycles beside 576 of work."""
    options = CompileOptions(partition="schedule", gap=9.0)
    program = compile(Parser(make_context(), WIDE).parse_module(), "cloud128", options=options)
    (layer,) = program.layers
    assert layer.busy_cycles["MXU"] == 512 * 3072 * 768 / (128 * 128 * 4)


FED = """
func.func @main(%x: tensor<1x3x224x224xf32>) -> tensor<1x24x112x112xf32>
    attributes {graph.inputs = ["x"], graph.outputs = ["y"]} {
  %w = graph.weight @w = dense<0.5> : tensor<24x3x3x3xf32> : tensor<24x3x3x3xf32>
  %r = graph.unary relu %x : (tensor<1x3x224x224xf32>) -> tensor<1x3x224x224xf32>
  %y = graph.conv %r, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<1x3x224x224xf32>, tensor<24x3x3x3xf32>) -> tensor<1x24x112x112xf32>
  func.return %y : tensor<1x24x112x112xf32>
}
"""


def test_what_dram_feeds_is_made_in_small_pieces() -> None:
    """The first layer takes 147 cycles, its input 4,704 to come: more pieces cost little of that."""
    module = Parser(make_context(), FED).parse_module()
    passes = "graph-normalize,convert-graph-to-nest{in_place=true},nest-schedule,nest-tile"
    parse_passes("load-target{target=cloud128}," + passes).apply(make_context(), module)
    first = next(op for op in module.walk() if isinstance(op, nest.GroupOp))
    assert outermost_cut(first) == ("h", 224 // 16)


@pytest.mark.parametrize(("cuts", "samples"), [("", 4), ("{cuts=0,2}", 1)])
def test_of_samples_that_are_made_apart_the_maps_of_one_are_waited_for(cuts: str, samples: int) -> None:
    text = FED.replace("tensor<1x3x", "tensor<4x3x").replace("tensor<1x24x", "tensor<4x24x")
    module = Parser(make_context(), text).parse_module()
    passes = f"graph-normalize,convert-graph-to-nest{{in_place=true}},nest-schedule{cuts}"
    parse_passes("load-target{target=cloud128}," + passes).apply(make_context(), module)
    pricer = pricer_of(load_target("cloud128"))
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    first, *_, last = marked_groups(function.body.block, pricer.machine, pricer).values()
    arrivals = Arrivals(pricer.machine)
    per_cycle = arrivals.bytes_per_cycle
    assert arrivals.moved_maps(first).loaded == samples * 4 * 3 * 224 * 224 / per_cycle
    assert arrivals.moved_maps(last).stored == samples * 4 * 24 * 112 * 112 / per_cycle
