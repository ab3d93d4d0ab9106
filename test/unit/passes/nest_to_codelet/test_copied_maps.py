"""Maps that serve as weights of layers that run tile by tile: copied to the memory of weights before the first tile."""

from pathlib import Path

import pytest

from tilewright.driver import CompileOptions, RunOptions, run

TARGET = "cocco_npu:GBUF.depth=2048"
"""16 KiB for maps."""

ATTENTION = """
func.func @main(%q : tensor<{n}x256x16xf32>, %k : tensor<{n}x16x128xf32>, %v : tensor<{n}x128x16xf32>)
    -> tensor<{n}x256x16xf32> {{
  {made}
  %s = graph.matmul %q, %{keys} : (tensor<{n}x256x16xf32>, tensor<{n}x16x128xf32>) -> tensor<{n}x256x128xf32>
  %p = graph.softmax %s axis 2 : (tensor<{n}x256x128xf32>) -> tensor<{n}x256x128xf32>
  %o = graph.matmul %p, %v : (tensor<{n}x256x128xf32>, tensor<{n}x128x16xf32>) -> tensor<{n}x256x16xf32>
  func.return %o : tensor<{n}x256x16xf32>
}}
"""
MADE = "%m = graph.unary relu %k : (tensor<{n}x16x128xf32>) -> tensor<{n}x16x128xf32>"


@pytest.mark.parametrize("is_made", [False, True])
@pytest.mark.parametrize("heads", [1, 3])
def test_attention_runs_in_rows_of_queries(tmp_path: Path, heads: int, is_made: bool):
    """Scores of 128 KiB a head stay on chip, 8 rows or so at a time; keys come from off chip, or are a map on chip."""
    text = ATTENTION.format(n=heads, made=MADE.format(n=heads) if is_made else "", keys="m" if is_made else "k")
    (tmp_path / "attention.mlir").write_text(text)
    options = CompileOptions(partition="schedule", gap=1000.0)
    done = run(str(tmp_path / "attention.mlir"), TARGET, folder=tmp_path, compile_options=options, options=RunOptions())
    assert done.agrees
    assert done.simulation.cycles == done.predicted["cycles"]
    moved = 4 * heads * (2 * 256 * 16 + 2 * 128 * 16)
    assert moved <= done.simulation.dram_bytes < 1.5 * moved


STEP = """
func.func @main(%q : tensor<4x1x16xf32>, %k : tensor<4x16x128xf32>, %v : tensor<4x128x16xf32>) -> tensor<4x1x16xf32> {
  %s = graph.matmul %q, %k : (tensor<4x1x16xf32>, tensor<4x16x128xf32>) -> tensor<4x1x128xf32>
  %p = graph.softmax %s axis 2 : (tensor<4x1x128xf32>) -> tensor<4x1x128xf32>
  %o = graph.matmul %p, %v : (tensor<4x1x128xf32>, tensor<4x128x16xf32>) -> tensor<4x1x16xf32>
  func.return %o : tensor<4x1x16xf32>
}
"""


def test_queries_of_one_token_are_copied_in_place_of_keys(tmp_path: Path):
    """The loader copies 64 bytes a cycle: queries and probabilities, not keys and values."""
    (tmp_path / "step.mlir").write_text(STEP)
    options = CompileOptions(partition="schedule", gap=1000.0)
    done = run(str(tmp_path / "step.mlir"), "cocco_npu", folder=tmp_path, compile_options=options, options=RunOptions())
    assert done.agrees
    loads, copies_of_keys = 4 * 4 * (16 + 2 * 16 * 128) / 16, 4 * 4 * 2 * 16 * 128 / 64
    assert loads <= done.simulation.cycles < loads + copies_of_keys
