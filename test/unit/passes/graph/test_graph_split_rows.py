"""Two products made in rows of tokens: the same numbers, what is made in rows with them, and programs with it."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.backends.simulator import simulate
from tilewright.dialects import graph
from tilewright.driver import CompileOptions, compile, load_model
from tilewright.driver.models import lower, make_context
from tilewright.driver.pipelines import SCHEDULE, Room, parse_passes, pipeline_text
from tilewright.interpreters.constants import Constants
from tilewright.interpreters.graph import run_graph
from tilewright.passes.graph.graph_split_rows import row_parts

from .test_graph_split_hidden import INTEGER_WEIGHTS, INTEGERS, REQUANTISATION, module_of, products, values

BLOCK = """
  %c = graph.standardize %x axis 1 epsilon 0.005 bits 17 : (tensor<64x32xsi8>) -> tensor<64x32xi32>
  %a = graph.requantize %c, %m, %s axis 1 zero_point 0 range [-128, 127]
      : (tensor<64x32xi32>, tensor<32xi32>, tensor<32xi32>) -> tensor<64x32xsi8>
  %h = graph.matmul %a, %u : (tensor<64x32xsi8>, tensor<32x512xsi8>) -> tensor<64x512xi32>
  %q = graph.requantize %h, %k, %l axis 1 zero_point 0 range [-128, 127]
      : (tensor<64x512xi32>, tensor<i32>, tensor<i32>) -> tensor<64x512xsi8>
  %p = graph.matmul %q, %d : (tensor<64x512xsi8>, tensor<512x32xsi8>) -> tensor<64x32xi32>
  %i = graph.cast %x : (tensor<64x32xsi8>) -> tensor<64x32xi32>
  %y = graph.binary add %p, %i : (tensor<64x32xi32>, tensor<64x32xi32>) -> tensor<64x32xi32>
"""
BLOCK_WEIGHTS = {"m": "32xi32", "s": "32xi32", "u": "32x512xsi8", "k": "i32", "l": "i32", "d": "512x32xsi8"}


def split(module: ModuleOp, map_bytes: int) -> list[tuple[int, ...]]:
    """The shapes of what is cut into rows."""
    parse_passes(f"graph-split-rows{{map_bytes={map_bytes}}}").apply(make_context(), module)
    module.verify()
    return [op.result.type.get_shape() for op in module.walk() if isinstance(op, graph.SliceOp)]  # pyright: ignore


@pytest.mark.parametrize(
    ("text", "weights", "x", "y", "map_bytes", "rows"),
    [
        (INTEGERS, INTEGER_WEIGHTS | REQUANTISATION, "6x4xsi8", "6x4xsi8", 300, [(3, 4)] * 2),
        (INTEGERS, INTEGER_WEIGHTS | REQUANTISATION, "6x4xsi8", "6x4xsi8", 100, [(1, 4)] * 6),
        (BLOCK, BLOCK_WEIGHTS, "64x32xsi8", "64x32xi32", 1 << 14, [(32, 32)] * 2),
    ],
)
def test_rows_are_the_same(
    text: str, weights: dict[str, str], x: str, y: str, map_bytes: int, rows: list[tuple[int, ...]]
) -> None:
    module = module_of(text, weights, x, y)
    shape = tuple(map(int, x.split("x")[:2]))
    given = {"x": values(np.random.default_rng(5), "x", shape, np.dtype(np.int8))}
    expected, whole = run_graph(module, given)["y"], products(module)
    assert split(module, map_bytes) == rows
    assert products(module) == len(rows) * whole
    found = run_graph(module, given)["y"]
    assert np.array_equal(found, expected)
    assert len(np.unique(expected)) > 4


def test_maps_that_fit_stay() -> None:
    module = module_of(BLOCK, BLOCK_WEIGHTS, "64x32xsi8", "64x32xi32")
    assert not list(row_parts(module, Constants.of(module), 1 << 15))


def test_maps_that_do_not_fit_are_tried_in_rows() -> None:
    """A map of 480 KiB, where the buffer has 512 KiB."""
    text = """
      %h = graph.matmul %x, %u : (tensor<256x384xsi8>, tensor<384x1920xsi8>) -> tensor<256x1920xi32>
      %q = graph.requantize %h, %m, %s axis 1 zero_point 0 range [-128, 127]
          : (tensor<256x1920xi32>, tensor<i32>, tensor<i32>) -> tensor<256x1920xsi8>
      %p = graph.matmul %q, %d : (tensor<256x1920xsi8>, tensor<1920x384xsi8>) -> tensor<256x384xi32>
      %y = graph.requantize %p, %n, %t axis 1 zero_point 0 range [-128, 127]
          : (tensor<256x384xi32>, tensor<i32>, tensor<i32>) -> tensor<256x384xsi8>
    """
    weights = {"u": "384x1920xsi8", "d": "1920x384xsi8"} | dict.fromkeys("msnt", "i32")
    module = module_of(text, weights, "256x384xsi8", "256x384xsi8")
    given = {"x": values(np.random.default_rng(5), "x", (256, 384), np.dtype(np.int8))}
    expected = run_graph(module, given)["y"]
    target, options = "edge16:GBUF.depth=8192", CompileOptions(partition=SCHEDULE, prove=False)
    tried = compile(module, target, options=options).candidates
    assert any("hidden maps in rows" in way.method and way.cycles for way in tried)
    text = pipeline_text(target, options, room=Room(rows_share=0.5))
    program = lower(load_model(module), text, options, None, "rows")
    ran = simulate(program, given)
    assert np.array_equal(ran.outputs["y"], expected)
    assert program.predicted["cycles"] == ran.cycles >= program.lower_bound["cycles"]
