"""Attention in chunks of one head: the same numbers, what stays whole, and programs with it."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions, compile
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import SCHEDULE, parse_passes
from tilewright.interpreters.graph import run_graph

from .test_graph_split_hidden import Array, module_of, products

T, WIDTH, HEADS, HEAD = 8, 16, 4, 4


def attention(kept: int = HEADS, read: str = "") -> tuple[str, dict[str, str]]:
    """Four query heads, and `kept` of keys and values; `read` may read what lies in between."""
    rows = T * HEADS // kept
    x, flat, own = f"tensor<1x{T}x{WIDTH}xf32>", f"tensor<1x{T}x{WIDTH}xf32>", f"tensor<1x{T}x{kept * HEAD}xf32>"
    cut, kept_cut = f"tensor<1x{T}x{HEADS}x{HEAD}xf32>", f"tensor<1x{T}x{kept}x{HEAD}xf32>"
    queries, keys = f"tensor<1x{HEADS}x{T}x{HEAD}xf32>", f"tensor<1x{kept}x{HEAD}x{T}xf32>"
    shared, values = f"tensor<1x{kept}x{rows}x{HEAD}xf32>", f"tensor<1x{kept}x{T}x{HEAD}xf32>"
    scores = f"tensor<1x{kept}x{rows}x{T}xf32>"
    text = f"""
  %q = graph.matmul %x, %u : ({x}, tensor<{WIDTH}x{WIDTH}xf32>) -> {flat}
  %q1 = graph.reshape %q : ({flat}) -> {cut}
  %q2 = graph.transpose %q1 perm [0, 2, 1, 3] : ({cut}) -> {queries}
  %q3 = graph.reshape %q2 : ({queries}) -> {shared}
  %k = graph.matmul %x, %v : ({x}, tensor<{WIDTH}x{kept * HEAD}xf32>) -> {own}
  %kb = graph.binary add %k, %b : ({own}, tensor<{kept * HEAD}xf32>) -> {own}
  %k1 = graph.reshape %kb : ({own}) -> {kept_cut}
  %k2 = graph.transpose %k1 perm [0, 2, 3, 1] : ({kept_cut}) -> {keys}
  %s = graph.matmul %q3, %k2 : ({shared}, {keys}) -> {scores}
  %m = graph.binary add %s, %w : ({scores}, tensor<{rows}x{T}xf32>) -> {scores}
  %p = graph.softmax %m axis 3 : ({scores}) -> {scores}
  %r = graph.matmul %x, %z : ({x}, tensor<{WIDTH}x{kept * HEAD}xf32>) -> {own}
  %r1 = graph.reshape %r : ({own}) -> {kept_cut}
  %r2 = graph.transpose %r1 perm [0, 2, 1, 3] : ({kept_cut}) -> {values}
  %o = graph.matmul %p, %r2 : ({scores}, {values}) -> {shared}
  %o1 = graph.reshape %o : ({shared}) -> {queries}
  %o2 = graph.transpose %o1 perm [0, 2, 1, 3] : ({queries}) -> {cut}
  %o3 = graph.reshape %o2 : ({cut}) -> {flat}
  %y0 = graph.matmul %o3, %d : ({flat}, tensor<{WIDTH}x{WIDTH}xf32>) -> {x}
"""
    text += read or f"  %y = graph.unary relu %y0 : ({x}) -> {x}\n"
    narrow = f"{WIDTH}x{kept * HEAD}xf32"
    weights = {"u": f"{WIDTH}x{WIDTH}xf32", "v": narrow, "z": narrow, "d": f"{WIDTH}x{WIDTH}xf32"}
    return text, weights | {"b": f"{kept * HEAD}xf32", "w": f"{rows}x{T}xf32"}


SHAPE = f"1x{T}x{WIDTH}xf32"


def numbers() -> Array:
    return np.random.default_rng(5).standard_normal((1, T, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("kept", [4, 2])
def test_heads_make_the_same_numbers(kept: int) -> None:
    module = module_of(*attention(kept), SHAPE, SHAPE)
    expected, whole = run_graph(module, {"x": numbers()})["y"], products(module)
    parse_passes("graph-split-hidden{chunk_bytes=0 heads=true}").apply(make_context(), module)
    module.verify()
    assert products(module) == kept * whole
    np.testing.assert_allclose(run_graph(module, {"x": numbers()})["y"], expected, rtol=1e-4, atol=1e-4)


def test_attention_stays_whole_without_the_option_and_where_scores_are_read() -> None:
    read = f"""
  %h = graph.reduce max %s axes [1, 2, 3] keepdims : (tensor<1x{HEADS}x{T}x{T}xf32>) -> tensor<1x1x1x1xf32>
  %h1 = graph.reshape %h : (tensor<1x1x1x1xf32>) -> tensor<1x1x1xf32>
  %y = graph.binary add %y0, %h1 : (tensor<{SHAPE}>, tensor<1x1x1xf32>) -> tensor<{SHAPE}>
"""
    for text, passes in (
        (attention(), "graph-split-hidden"),
        (attention(read=read), "graph-split-hidden{chunk_bytes=0 heads=true}"),
    ):
        module = module_of(*text, SHAPE, SHAPE)
        before = str(module)
        parse_passes(passes).apply(make_context(), module)
        assert str(module) == before


def test_heads_are_split_by_default_where_that_ends_first() -> None:
    module = module_of(*attention(), SHAPE, SHAPE)
    expected = run_graph(module, {"x": numbers()})["y"]
    program = compile(module, "edge16", options=CompileOptions(partition=SCHEDULE, gap=0))
    tried = {way.method: way.cycles for way in program.candidates if way.cycles is not None}
    assert "schedule, heads split" in tried
    (chosen,) = (way for way in program.candidates if way.chosen)
    assert chosen.cycles == min(tried.values())
    ran = simulate(program, {"x": numbers()})
    np.testing.assert_allclose(ran.outputs["y"], expected, rtol=1e-3, atol=1e-3)
    assert program.predicted["cycles"] == ran.cycles >= program.lower_bound["cycles"]
