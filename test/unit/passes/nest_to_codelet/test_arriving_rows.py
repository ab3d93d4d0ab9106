"""Rows that come from DRAM for a tile come in pieces, on which channelwise layers work while others come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.driver import CompileOptions, RunOptions, run
from tilewright.passes.nest_to_codelet import fused_turns
from tilewright.search import residency

TYPE = "tensor<1x16x64x64xf32>"
TEXT = f"""func.func @main(%x: {TYPE}) -> {TYPE} attributes {{graph.inputs = ["x"], graph.outputs = ["y"]}} {{
  %a = graph.unary relu %x : ({TYPE}) -> {TYPE}
  %y = graph.pool max %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] : ({TYPE}) -> {TYPE}
  func.return %y : {TYPE}
}}
"""
TARGET = "edge16:GBUF.depth=2048"


def cycles(tmp_path: Path) -> float:
    path = tmp_path / "rows.mlir"
    path.write_text(TEXT)
    options = CompileOptions(partition="schedule", time_limit_s=1e-9)  # the first way alone
    made = run(path, TARGET, folder=tmp_path / "out", compile_options=options, options=RunOptions(trace=False))
    assert made.comparison is not None
    assert made.comparison.equal
    assert made.simulation.cycles == made.predicted["cycles"]
    return made.simulation.cycles


def test_units_wait_less_for_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residency, "HELD_SHARE", 0)  # else a tile is one row, and comes in one piece
    in_pieces = cycles(tmp_path)
    monkeypatch.setattr(fused_turns, "ROW_PIECES", 1)
    assert in_pieces < cycles(tmp_path)
