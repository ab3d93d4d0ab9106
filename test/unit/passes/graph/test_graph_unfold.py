"""Convolutions of few channels with taps as channels: the same numbers, before and after, and as a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.backends.simulator import simulate
from tilewright.dialects import graph
from tilewright.dialects.types import shape_of
from tilewright.driver import CompileOptions, compile, load_model
from tilewright.driver.models import lower, make_context
from tilewright.driver.pipelines import SCHEDULE, Room, parse_passes, pipeline_text
from tilewright.frontends.acg import load_target
from tilewright.interpreters.graph import run_graph
from tilewright.passes.nest.program_bound import bound_of

EXTENT, MADE = 11, 256


def text_of(weights: NDArray[Any]) -> str:
    """A padded convolution with steps of two, and a sum of its result."""
    made_channels, _, rows, columns = weights.shape
    given, weight, made, pad = ("ui8", "si8", "i32", 3) if weights.dtype == np.int8 else ("f32", "f32", "f32", 0.0)
    places = [(EXTENT + 2 - extent) // 2 + 1 for extent in (rows, columns)]
    x, w = f"tensor<2x3x{EXTENT}x{EXTENT}x{given}>", f"tensor<{made_channels}x3x{rows}x{columns}x{weight}>"
    y = f"tensor<2x{made_channels}x{places[0]}x{places[1]}x{made}>"
    return f"""
func.func @main(%x: {x}) -> {y} attributes {{"graph.inputs" = ["x"], "graph.outputs" = ["y"]}} {{
  %w = graph.weight @w = dense<"0x{weights.tobytes().hex()}"> : {w} : {w}
  %0 = graph.conv %x, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1 pad_value {pad} : ({x}, {w}) -> {y}
  %1 = graph.binary add %0, %0 {{name = "y"}} : ({y}, {y}) -> {y}
  func.return %1 : {y}
}}
"""


@pytest.mark.parametrize(
    ("dtype", "made", "kernel"),
    [
        *((np.int8, MADE, kernel) for kernel in ((3, 3), (5, 5), (1, 5), (5, 2))),
        (np.float32, MADE, (3, 3)),
        (np.int8, 64, (7, 7)),  # two rows at a time, and a row of zeros
        (np.float32, 64, (4, 4)),
    ],
)
def test_the_program_computes_the_same(dtype: type[Any], made: int, kernel: tuple[int, int], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(-100, 100, (made, 3, *kernel)).astype(dtype)
    x = rng.integers(0, 255, (2, 3, EXTENT, EXTENT)).astype(np.uint8 if dtype == np.int8 else dtype)
    path = tmp_path / "conv.mlir"
    path.write_text(text_of(weights))
    module = load_model(path)
    expected = run_graph(module, {"x": x})["y"]
    parse_passes('load-target{target="edge16"},graph-unfold').apply(make_context(), module)
    assert any(isinstance(op, graph.UnfoldOp) for op in module.walk())
    assert np.array_equal(run_graph(module, {"x": x})["y"], expected)
    options = CompileOptions(partition=SCHEDULE)
    for span in (0, 2):
        text = pipeline_text("edge16", options, room=Room(unfold=True, cuts=(0, span)))
        program = lower(load_model(path), text, options, None, "conv")
        ran = simulate(program, {"x": x})
        assert np.array_equal(ran.outputs["y"], expected)
        assert program.predicted["cycles"] == ran.cycles


def test_rows_that_windows_step_over_become_channels(tmp_path: Path) -> None:
    path = tmp_path / "conv.mlir"
    path.write_text(text_of(np.ones((64, 3, 7, 7), np.int8)))
    module = load_model(path)
    parse_passes('load-target{target="edge16"},graph-unfold').apply(make_context(), module)
    (unfold,) = (op for op in module.walk() if isinstance(op, graph.UnfoldOp))
    assert unfold.kernel.get_values() == (2, 7)  # 42 channels and 4 taps: 12 sums of 16, and 14 of rows of 21
    assert shape_of(unfold.result) == (2, 42, 7, 4)


@pytest.mark.parametrize(("depth", "is_unfolded"), [(1 << 14, False), (1 << 5, True)])
def test_taps_of_layers_that_run_in_rows_are_not_counted_on_to_fill_lanes(
    tmp_path: Path, depth: int, is_unfolded: bool
) -> None:
    path = tmp_path / "conv.mlir"
    path.write_text(text_of(np.ones((64, 3, 7, 7), np.int8)))
    module = load_model(path)
    target = f"cocco_npu:GBUF.depth={depth}"  # 8 lanes: 7 rows of 7 taps or 21 channels take 21 sums as well
    parse_passes(f'load-target{{target="{target}"}},graph-unfold').apply(make_context(), module)
    assert any(isinstance(op, graph.UnfoldOp) for op in module.walk()) == is_unfolded


def test_the_bound_of_work_counts_full_lanes(tmp_path: Path) -> None:
    path = tmp_path / "conv.mlir"
    path.write_text(text_of(np.ones((MADE, 3, 5, 5), np.int8)))
    found: list[int] = []
    for passes in ("", ",graph-unfold"):
        module = load_model(path)
        text = f'load-target{{target="edge16"}}{passes},convert-graph-to-nest{{in_place=true}}'
        parse_passes(text).apply(make_context(), module)
        bound = bound_of(module, load_target("edge16"))
        assert bound is not None
        found.append(next(cycles for name, cycles in bound.terms.items() if name.startswith("work of")))
    assert found[0] <= found[1]


@pytest.mark.parametrize(("kernel", "ways"), [((7, 7), ["more taps as channels"]), ((3, 3), ["taps as channels"])])
def test_copies_that_save_little_are_tried_where_they_are_others(
    tmp_path: Path, kernel: tuple[int, int], ways: list[str]
) -> None:
    path = tmp_path / "conv.mlir"
    path.write_text(text_of(np.ones((256, 3, *kernel), np.int8)))
    program = compile(path, "cocco_npu", options=CompileOptions(partition=SCHEDULE, gap=0))
    tried = [way.method.removeprefix("schedule, ") for way in program.candidates]
    assert [way for way in tried if way.endswith("taps as channels")] == ways
