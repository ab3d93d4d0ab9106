"""Pieces in which weights arrive: long enough in a row for bursts of DRAM."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import CompileOptions, compile, simulate
from tilewright.costs.dram_timing import Dram
from tilewright.dialects import graph
from tilewright.dialects.types import si8, tensor
from tilewright.frontends.integer_layers import IntegerLayers
from tilewright.passes.nest.arrivals import RUN_BYTES


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
