"""Pieces of maps that move from and to DRAM have whole bursts in a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright import compile, simulate
from tilewright.driver import CompileOptions

TEXT = """func.func @main(%x: {0}) -> {0} attributes {{graph.inputs = ["x"], graph.outputs = ["y"]}} {{
  %y = graph.unary relu %x : ({0}) -> {0}
  func.return %y : {0}
}}
"""


@pytest.mark.parametrize("shape", ["1x512x768", "2x200x320", "1x16x64x64", "512x768"])
def test_bursts_move_nothing_else(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "relu.mlir"
    path.write_text(TEXT.format(f"tensor<{shape}xsi8>"))
    program = compile(path, "edge16", options=CompileOptions(partition="schedule", gap=1000.0))
    assert program.instruction_count > 6  # in pieces
    result = simulate(program, functional=False, dram="ddr4-2400")
    assert result.dram[0].counts.bursts * 64 == result.dram_bytes
