"""Two products in chunks of their hidden axis: the same numbers, what stays whole, and programs with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from tilewright.backends.simulator import simulate
from tilewright.dialects import graph
from tilewright.dialects.types import dtype_of, element_of, shape_of
from tilewright.driver import CompileOptions, compile, load_model
from tilewright.driver.models import lower, make_context
from tilewright.driver.pipelines import SCHEDULE, parse_passes, pipeline_text
from tilewright.interpreters.constants import Constants
from tilewright.interpreters.graph import run_graph
from tilewright.passes.graph.graph_split_hidden import PRODUCTS, Hidden, hidden_before, hidden_parts
from tilewright.resources import attach, resources_of

Array = NDArray[Any]

FEED_FORWARD = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %i = graph.binary add %h, %b : (tensor<6x96xf32>, tensor<96xf32>) -> tensor<6x96xf32>
  %g = graph.unary gelu %i : (tensor<6x96xf32>) -> tensor<6x96xf32>
  %y = graph.matmul %g, %d : (tensor<6x96xf32>, tensor<96x4xf32>) -> tensor<6x4xf32>
"""
FEED_FORWARD_WEIGHTS = {"u": "4x96xf32", "b": "96xf32", "d": "96x4xf32"}

GEMMS = """
  %h = graph.gemm %x, %u, %b trans_b : (tensor<6x4xf32>, tensor<96x4xf32>, tensor<1x96xf32>) -> tensor<6x96xf32>
  %g = graph.unary sigmoid %h : (tensor<6x96xf32>) -> tensor<6x96xf32>
  %y = graph.gemm %g, %d, %c alpha 0.5 beta 2.0 : (tensor<6x96xf32>, tensor<96x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
"""

GATED = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %i = graph.matmul %x, %b : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %s = graph.unary sigmoid %h : (tensor<6x96xf32>) -> tensor<6x96xf32>
  %t = graph.binary mul %h, %s : (tensor<6x96xf32>, tensor<6x96xf32>) -> tensor<6x96xf32>
  %g = graph.binary mul %i, %t : (tensor<6x96xf32>, tensor<6x96xf32>) -> tensor<6x96xf32>
  %y = graph.matmul %g, %d : (tensor<6x96xf32>, tensor<96x4xf32>) -> tensor<6x4xf32>
"""

INVERTED_RESIDUAL = """
  %h = graph.conv %x, %u, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x3x6x6xf32>, tensor<96x3x1x1xf32>, tensor<96xf32>) -> tensor<1x96x6x6xf32>
  %i = graph.clip %h min 0.0 max 6.0 : (tensor<1x96x6x6xf32>) -> tensor<1x96x6x6xf32>
  %g = graph.conv %i, %w strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 96
      : (tensor<1x96x6x6xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x3x3xf32>
  %y = graph.conv %g, %d, %c strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x96x3x3xf32>, tensor<5x96x1x1xf32>, tensor<5xf32>) -> tensor<1x5x3x3xf32>
"""

INTEGERS = """
  %h = graph.matmul %x, %u : (tensor<6x4xsi8>, tensor<4x96xsi8>) -> tensor<6x96xi32>
  %i = graph.binary add %h, %b : (tensor<6x96xi32>, tensor<96xi32>) -> tensor<6x96xi32>
  %q = graph.requantize %i, %m, %s axis 1 zero_point 3 range [-128, 127]
      : (tensor<6x96xi32>, tensor<96xi32>, tensor<96xi32>) -> tensor<6x96xsi8>
  %f = graph.dequantize %q, %e axis 1 : (tensor<6x96xsi8>, tensor<96xf32>) -> tensor<6x96xf32>
  %g = graph.unary gelu_tanh %f : (tensor<6x96xf32>) -> tensor<6x96xf32>
  %r = graph.quantize %g, %z axis 0 : (tensor<6x96xf32>, tensor<f32>) -> tensor<6x96xsi8>
  %p = graph.matmul %r, %d : (tensor<6x96xsi8>, tensor<96x4xsi8>) -> tensor<6x4xi32>
  %y = graph.requantize %p, %n, %t axis 1 zero_point 0 range [-128, 127]
      : (tensor<6x4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<6x4xsi8>
"""
INTEGER_WEIGHTS = {"u": "4x96xsi8", "b": "96xi32", "e": "96xf32", "z": "f32", "d": "96x4xsi8"}
REQUANTISATION = {"m": "96xi32", "s": "96xi32", "n": "4xi32", "t": "4xi32"}

FLATTENED = """
  %h = graph.conv %x, %u strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<1x32x16x16xsi8>, tensor<96x32x3x3xsi8>) -> tensor<1x96x16x16xi32>
  %q = graph.requantize %h, %m, %s axis 1 zero_point 0 range [-128, 127]
      : (tensor<1x96x16x16xi32>, tensor<96xi32>, tensor<96xi32>) -> tensor<1x96x16x16xsi8>
  %p = graph.pool max %q kernel [4, 4] strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1]
      : (tensor<1x96x16x16xsi8>) -> tensor<1x96x4x4xsi8>
  %f = graph.reshape %p : (tensor<1x96x4x4xsi8>) -> tensor<1x1536xsi8>
  %y = graph.gemm %f, %d, %c trans_b : (tensor<1x1536xsi8>, tensor<256x1536xsi8>, tensor<256xi32>) -> tensor<1x256xi32>
"""
FLATTENED_WEIGHTS = {"u": "96x32x3x3xsi8", "m": "96xi32", "s": "96xi32", "d": "256x1536xsi8", "c": "256xi32"}

GROUPED = FLATTENED.replace("groups 1", "groups 3").replace("32x16x16", "24x16x16").replace("96x32x3x3", "96x8x3x3")
GROUPED_WEIGHTS = FLATTENED_WEIGHTS | {"u": "96x8x3x3xsi8"}

ROWS_OF_TWO_GRAINS = """
  %a = graph.reshape %x : (tensor<1x12xf32>) -> tensor<1x3x4x1xf32>
  %h = graph.conv %a, %u strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x3x4x1xf32>, tensor<9x3x1x1xf32>) -> tensor<1x9x4x1xf32>
  %i = graph.reshape %h : (tensor<1x9x4x1xf32>) -> tensor<1x36xf32>
  %e = graph.reshape %x : (tensor<1x12xf32>) -> tensor<1x2x6x1xf32>
  %j = graph.conv %e, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x2x6x1xf32>, tensor<6x2x1x1xf32>) -> tensor<1x6x6x1xf32>
  %k = graph.reshape %j : (tensor<1x6x6x1xf32>) -> tensor<1x36xf32>
  %f = graph.binary mul %i, %k : (tensor<1x36xf32>, tensor<1x36xf32>) -> tensor<1x36xf32>
  %y = graph.gemm %f, %d : (tensor<1x36xf32>, tensor<36x4xf32>) -> tensor<1x4xf32>
"""

MODELS = {
    "rows of two grains": (
        ROWS_OF_TWO_GRAINS,
        {"u": "9x3x1x1xf32", "v": "6x2x1x1xf32", "d": "36x4xf32"},
        "1x12xf32",
        "1x4xf32",
    ),
    "flattened": (FLATTENED, FLATTENED_WEIGHTS, "1x32x16x16xsi8", "1x256xi32"),
    "grouped": (GROUPED, GROUPED_WEIGHTS, "1x24x16x16xsi8", "1x256xi32"),
    "feed-forward": (FEED_FORWARD, FEED_FORWARD_WEIGHTS, "6x4xf32", "6x4xf32"),
    "gemms": (GEMMS, {"u": "96x4xf32", "b": "1x96xf32", "d": "96x4xf32", "c": "4xf32"}, "6x4xf32", "6x4xf32"),
    "gated": (GATED, {"u": "4x96xf32", "b": "4x96xf32", "d": "96x4xf32"}, "6x4xf32", "6x4xf32"),
    "inverted residual": (
        INVERTED_RESIDUAL,
        {"u": "96x3x1x1xf32", "b": "96xf32", "w": "96x1x3x3xf32", "d": "5x96x1x1xf32", "c": "5xf32"},
        "1x3x6x6xf32",
        "1x5x3x3xf32",
    ),
    "integers": (INTEGERS, INTEGER_WEIGHTS | REQUANTISATION, "6x4xsi8", "6x4xsi8"),
}

MAP_BYTES = {
    "rows of two grains": 144,
    "flattened": 1536,
    "grouped": 1536,
    "feed-forward": 2304,
    "gemms": 2304,
    "gated": 2304,
    "inverted residual": 13824,
    "integers": 576,
}
"""Of the largest map with the hidden axis that a product or a convolution reads."""


def values(rng: np.random.Generator, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Random numbers; factors, shifts and scales as requantisation has them."""
    if name in "mn" and dtype == np.int32:
        return rng.integers(1 << 29, 1 << 30, shape, dtype)
    if name in "st" and dtype == np.int32:
        return rng.integers(36, 40, shape, dtype)
    if name in "ez":
        return np.asarray(rng.uniform(0.01, 0.1, shape), dtype)
    if dtype.kind == "i":
        return rng.integers(-100, 100, shape, dtype)
    return rng.standard_normal(shape).astype(dtype)


def module_of(text: str, weights: dict[str, str], x: str, y: str) -> ModuleOp:
    """A module of one function on `x` with weights of their own."""
    made = "\n".join(f"  %{name} = graph.weight @{name} : tensor<{type_}>" for name, type_ in weights.items())
    head = f'func.func @main(%x: tensor<{x}>) -> tensor<{y}> attributes {{graph.inputs = ["x"], graph.outputs = ["y"]}}'
    body = f"{head} {{\n{made}\n{text}\n  func.return %y : tensor<{y}>\n}}\n"
    module = Parser(make_context(), body).parse_module()
    rng, arrays = np.random.default_rng(3), resources_of(module)
    for op in module.walk():
        if isinstance(op, graph.WeightOp):
            arrays[op.resource] = values(rng, op.resource, shape_of(op.result), dtype_of(element_of(op.result)))
    attach(module, arrays)
    return module


def products(module: ModuleOp) -> int:
    return sum(isinstance(op, PRODUCTS) for op in module.walk())


def split(module: ModuleOp, chunk_bytes: int) -> None:
    parse_passes(f"graph-split-hidden{{chunk_bytes={chunk_bytes}}}").apply(make_context(), module)
    module.verify()


@pytest.mark.parametrize("name", MODELS)
def test_chunks_make_the_same_numbers(name: str) -> None:
    module = module_of(*MODELS[name])
    (argument,) = next(op for op in module.body.block.ops if isinstance(op, FuncOp)).body.block.args
    x = values(np.random.default_rng(5), "x", shape_of(argument), dtype_of(element_of(argument)))
    expected, whole = run_graph(module, {"x": x})["y"], products(module)
    split(module, MAP_BYTES[name] // 3)
    assert products(module) == 3 * whole
    found = run_graph(module, {"x": x})["y"]
    if expected.dtype.kind == "i":
        assert np.array_equal(found, expected)
        assert len(np.unique(expected)) > 4
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_chain_of_products_is_split_in_pairs() -> None:
    text = """
      %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
      %i = graph.matmul %h, %v : (tensor<6x96xf32>, tensor<96x32xf32>) -> tensor<6x32xf32>
      %y = graph.matmul %i, %w : (tensor<6x32xf32>, tensor<32x4xf32>) -> tensor<6x4xf32>
    """
    module = module_of(text, {"u": "4x96xf32", "v": "96x32xf32", "w": "32x4xf32"}, "6x4xf32", "6x4xf32")
    x = np.random.default_rng(5).standard_normal((6, 4)).astype(np.float32)
    expected = run_graph(module, {"x": x})["y"]
    split(module, 400)
    assert products(module) == 2 * 6 + 1
    np.testing.assert_allclose(run_graph(module, {"x": x})["y"], expected, rtol=1e-4, atol=1e-4)


READ_TWICE = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %g = graph.unary relu %h : (tensor<6x96xf32>) -> tensor<6x96xf32>
  %o = graph.reduce max %g axes [1] keepdims : (tensor<6x96xf32>) -> tensor<6x1xf32>
  %p = graph.matmul %g, %d : (tensor<6x96xf32>, tensor<96x4xf32>) -> tensor<6x4xf32>
  %y = graph.binary add %p, %o : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
"""
TRANSPOSED = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %t = graph.transpose %h perm [1, 0] : (tensor<6x96xf32>) -> tensor<96x6xf32>
  %y = graph.matmul %t, %d : (tensor<96x6xf32>, tensor<6x2xf32>) -> tensor<96x2xf32>
"""
SOFTMAX = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %g = graph.softmax %h axis 1 : (tensor<6x96xf32>) -> tensor<6x96xf32>
  %y = graph.matmul %g, %d : (tensor<6x96xf32>, tensor<96x4xf32>) -> tensor<6x4xf32>
"""
WHOLE_IN_A_PRODUCT = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %i = graph.matmul %h, %w : (tensor<6x96xf32>, tensor<96x96xf32>) -> tensor<6x96xf32>
  %g = graph.binary mul %h, %i : (tensor<6x96xf32>, tensor<6x96xf32>) -> tensor<6x96xf32>
  %y = graph.matmul %g, %d : (tensor<6x96xf32>, tensor<96x4xf32>) -> tensor<6x4xf32>
"""
BY_ACTIVATIONS = """
  %h = graph.matmul %x, %u : (tensor<96x4xf32>, tensor<4x96xf32>) -> tensor<96x96xf32>
  %y = graph.matmul %h, %x : (tensor<96x96xf32>, tensor<96x4xf32>) -> tensor<96x4xf32>
"""
LARGE_SUMS = """
  %h = graph.matmul %x, %u : (tensor<96x4xsi8>, tensor<4x96xsi8>) -> tensor<96x96xi32>
  %g = graph.requantize %h, %m, %s axis 1 zero_point 0 range [-128, 127]
      : (tensor<96x96xi32>, tensor<i32>, tensor<i32>) -> tensor<96x96xsi8>
  %y = graph.matmul %g, %d : (tensor<96x96xsi8>, tensor<96x40xsi8>) -> tensor<96x40xi32>
"""


TOO_MANY = """
  %h = graph.matmul %x, %u : (tensor<6x4xf32>, tensor<4x96xf32>) -> tensor<6x96xf32>
  %y = graph.matmul %h, %d : (tensor<6x96xf32>, tensor<96x4xf32>) -> tensor<6x4xf32>
"""


@pytest.mark.parametrize(
    ("text", "weights", "x", "y"),
    [
        pytest.param(READ_TWICE, {"u": "4x96xf32", "d": "96x4xf32"}, "6x4xf32", "6x4xf32", id="read twice"),
        pytest.param(TRANSPOSED, {"u": "4x96xf32", "d": "6x2xf32"}, "6x4xf32", "96x2xf32", id="transposed"),
        pytest.param(SOFTMAX, {"u": "4x96xf32", "d": "96x4xf32"}, "6x4xf32", "6x4xf32", id="softmax"),
        pytest.param(
            WHOLE_IN_A_PRODUCT,
            {"u": "4x96xf32", "w": "96x96xf32", "d": "96x4xf32"},
            "6x4xf32",
            "6x4xf32",
            id="whole in a product",
        ),
        pytest.param(BY_ACTIVATIONS, {"u": "4x96xf32"}, "96x4xf32", "96x4xf32", id="by activations"),
        pytest.param(
            LARGE_SUMS,
            {"u": "4x96xsi8", "m": "i32", "s": "i32", "d": "96x40xsi8"},
            "96x4xsi8",
            "96x40xi32",
            id="sums as large",
        ),
        pytest.param(TOO_MANY, {"u": "4x96xf32", "d": "96x4xf32"}, "6x4xf32", "6x4xf32", id="too many chunks"),
    ],
)
def test_what_needs_the_whole_axis_stays(text: str, weights: dict[str, str], x: str, y: str) -> None:
    module = module_of(text, weights, x, y)
    before, chunk_bytes = str(module), 50 if text == TOO_MANY else 300
    assert not list(hidden_parts(module, Constants.of(module), chunk_bytes))
    split(module, chunk_bytes)
    assert str(module) == before


@pytest.mark.parametrize(
    ("extent", "chunk_bytes", "expected"), [(192, 2304, 2), (96, 1152, 3), (7, 60, 3), (60, 500, 3)]
)
def test_chunks_are_few_and_even(extent: int, chunk_bytes: int, expected: int) -> None:
    """Maps of six rows of f32: 4,608, 2,304, 168 and 1,440 bytes."""
    ranges = Hidden({}, {}, extent, 24 * extent, 0).ranges(chunk_bytes)
    assert len(ranges) == expected
    assert [end for _, end in ranges[:-1]] == [start for start, _ in ranges[1:]]
    assert (ranges[0][0], ranges[-1][1]) == (0, extent)


SMALL = "edge16:GBUF.depth=4096"
"""A buffer of 256 KiB."""


def test_maps_that_do_not_fit_are_made_in_chunks_by_default() -> None:
    text = """
      %h = graph.matmul %x, %u : (tensor<1x128x32xf32>, tensor<32x320xf32>) -> tensor<1x128x320xf32>
      %g = graph.unary gelu_tanh %h : (tensor<1x128x320xf32>) -> tensor<1x128x320xf32>
      %y = graph.matmul %g, %d : (tensor<1x128x320xf32>, tensor<320x32xf32>) -> tensor<1x128x32xf32>
    """
    module = module_of(text, {"u": "32x320xf32", "d": "320x32xf32"}, "1x128x32xf32", "1x128x32xf32")
    x = np.random.default_rng(5).standard_normal((1, 128, 32)).astype(np.float32)
    expected = run_graph(module, {"x": x})["y"]
    options = CompileOptions(partition=SCHEDULE, gap=0, prove=False)
    whole = lower(load_model(module), pipeline_text(SMALL, options), options, None, "whole")
    program = compile(module, SMALL, options=options)
    (chosen,) = (way for way in program.candidates if way.chosen)
    assert "hidden maps in chunks" in chosen.method
    assert program.predicted["cycles"] < whole.predicted["cycles"]
    assert program.lower_bound == whole.lower_bound
    ran = simulate(program, {"x": x})
    np.testing.assert_allclose(ran.outputs["y"], expected, rtol=1e-3, atol=1e-3)
    assert program.predicted["cycles"] == ran.cycles
    assert ran.cycles >= program.lower_bound["cycles"]


def test_maps_that_fit_are_not_tried_in_chunks() -> None:
    module = module_of(*MODELS["feed-forward"])
    program = compile(module, "edge16", options=CompileOptions(partition=SCHEDULE, gap=0))
    assert not any("chunks" in way.method for way in program.candidates)


def test_weights_that_are_larger_than_the_sums_come_in_chunks() -> None:
    """The sums of six rows take as many bytes as the map, 576 each; the weights 2,688."""
    text = LARGE_SUMS.replace("<96x4x", "<6x4x").replace("<96x96x", "<6x96x").replace("<96x40xi32", "<6x24xi32")
    text = text.replace("96x40xsi8", "96x24xsi8")
    module = module_of(text, {"u": "4x96xsi8", "m": "i32", "s": "i32", "d": "96x24xsi8"}, "6x4xsi8", "6x24xi32")
    (part,) = hidden_parts(module, Constants.of(module), 300)
    assert (part.map_bytes, part.weight_bytes, len(part.ranges(300))) == (576, 2688, 3)


def test_weights_that_are_waited_for_come_in_chunks_of_channels() -> None:
    """The dense layer's weights are 393,216 bytes, each used once; those of the convolution are used 256 times."""
    module = module_of(*MODELS["flattened"])
    constants = Constants.of(module)
    assert not list(hidden_parts(module, constants, 0, weight_bytes=393216))
    (part,) = hidden_parts(module, constants, 0, weight_bytes=393215)
    assert part.ranges(0, 393215) == [(0, 512), (512, 1024), (1024, 1536)]


def test_weights_that_are_used_as_often_as_those_before_are_not_waited_for() -> None:
    module = module_of(*MODELS["gemms"])
    assert not list(hidden_parts(module, Constants.of(module), 0, weight_bytes=1))


def test_dense_layers_are_computed_while_convolutions_are() -> None:
    """Their weights have room for 64 KiB; the convolution takes longer to compute than its weights to load."""
    module = module_of(*MODELS["flattened"])
    x = values(np.random.default_rng(5), "x", (1, 32, 16, 16), np.dtype(np.int8))
    expected = run_graph(module, {"x": x})["y"]
    options = CompileOptions(partition=SCHEDULE, gap=0, prove=False)
    program = compile(module, "cocco_npu:WBUF.depth=1024", options=options)
    (chosen,) = (way for way in program.candidates if way.chosen)
    assert "sums in chunks" in chosen.method
    ran = simulate(program, {"x": x})
    assert np.array_equal(ran.outputs["y"], expected)
    assert program.predicted["cycles"] == ran.cycles >= program.lower_bound["cycles"]


@pytest.mark.parametrize(("chunk_bytes", "chunks"), [(1536, 1), (768, 3), (384, 6), (40, 48)])
def test_chunks_are_in_groups_of_convolutions(chunk_bytes: int, chunks: int) -> None:
    """96 channels of 16 bytes in three groups: of one or two chunks some would be in two groups."""
    module = module_of(*MODELS["grouped"])
    op = next(op for op in module.walk() if isinstance(op, graph.GemmOp))
    hidden = hidden_before(op, Constants.of(module))
    assert hidden is not None
    assert len(hidden.ranges(chunk_bytes)) == chunks
