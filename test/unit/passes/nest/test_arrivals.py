"""Pieces in which weights arrive and rows leave: long enough in a row for bursts of DRAM, and early."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright import CompileOptions, compile, simulate
from tilewright.costs.dram_timing import Dram
from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.driver.models import make_context
from tilewright.frontends.acg import load_target
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.passes.nest.arrivals import RUN_BYTES, Arrivals, Way


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
