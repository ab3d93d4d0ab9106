"""Softmax between quantised maps: in 8 bits, and without the maximum of a row where its exponentials are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Attribute, SSAValue

from tilewright.backends.simulator import simulate
from tilewright.dialects import graph
from tilewright.dialects.types import element_of, si8, ui8
from tilewright.driver import CompileOptions, compile
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.interpreters.graph import run_graph

from .graph_network import Network

ROWS, COLUMNS = 6, 32
STEP = 0.006


def scores(scale: float, mask: NDArray[Any] | None = None, element: Attribute = si8, to: bool = True) -> ModuleOp:
    """Softmax of an 8-bit map, plus a mask, back to 8 bits or not."""
    network = Network((1, ROWS, COLUMNS))
    value: SSAValue = network.quantize(network.inputs[0], scale, 3, element)
    if mask is not None:
        value = network.add(graph.BinaryOp("add", value, network.weight(mask.astype(np.float32))))
    value = network.add(graph.SoftmaxOp(value, axis=2))
    return network.finish(network.quantize(value, STEP, -128, si8) if to else value)


def integers(module: ModuleOp) -> graph.SoftmaxOp:
    """The softmax after `graph-quantize`."""
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    module.verify()
    (op,) = (op for op in module.walk() if isinstance(op, graph.SoftmaxOp))
    return op


def causal() -> NDArray[Any]:
    return np.where(np.arange(COLUMNS) <= np.arange(ROWS)[:, None], 0, -np.inf)


@pytest.mark.parametrize(("element", "to"), [(si8, True), (ui8, True), (si8, False)])
def test_integers_are_read_and_made(element: Attribute, to: bool) -> None:
    op = integers(scores(0.05, element=element, to=to))
    assert op.scale is not None
    assert op.scale.value.data == np.float32(0.05)
    assert op.bounded is not None
    assert (op.step is not None) == to


def test_a_mask_bounds_rows_from_above() -> None:
    op = integers(scores(0.05, causal()))
    assert op.mask is not None
    assert op.scale is not None
    assert op.bounded is not None
    assert op.step is not None


@pytest.mark.parametrize(("scale", "bias", "element"), [(0.05, 0.0, si8), (0.46, 0.0, f32), (0.05, 0.5, f32)])
def test_masks_are_of_bytes_where_they_are_whole_numbers_or_vanish(scale: float, bias: float, element: Any) -> None:
    mask = integers(scores(scale, causal() + bias)).mask
    assert mask is not None
    assert element_of(mask) == element


@pytest.mark.parametrize(
    "module",
    [
        lambda: scores(0.5),  # exponents of 64
        lambda: scores(0.05, np.full((ROWS, COLUMNS), -100.0)),  # rows of vanishing exponentials
        lambda: scores(0.05, np.full(COLUMNS, 100.0)),
        lambda: scores(0.05, np.where(np.arange(ROWS)[:, None] == 2, -np.inf, causal())),  # one row has nothing
    ],
)
def test_rows_that_may_overflow_or_vanish_are_shifted(module: Any) -> None:
    op = integers(module())
    assert op.bounded is None
    assert op.scale is None
    assert op.mask is None
    assert op.step is not None


def test_bounds_before_quantisation_stay() -> None:
    network = Network((1, COLUMNS))
    value = network.quantize(network.inputs[0], 0.05, 0, si8)
    clipped = network.add(graph.ClipOp(network.add(graph.SoftmaxOp(value, axis=1)), min=0.0, max=0.1))
    assert integers(network.finish(network.quantize(clipped, STEP, 0, si8))).step is None


@pytest.mark.parametrize("mask", [None, causal()])
def test_results_are_those_of_real_numbers(mask: NDArray[Any] | None) -> None:
    numbers = np.random.default_rng(1).normal(0, 3, (1, ROWS, COLUMNS)).astype(np.float32)
    (expected,) = run_graph(scores(0.05, mask), {"arg0": numbers}).values()
    program = compile(scores(0.05, mask), "edge16", options=CompileOptions(gap=1000.0))
    ran = simulate(program, {"arg0": numbers})
    (found,) = ran.outputs.values()
    np.testing.assert_allclose(found, expected, atol=STEP * 1.01)
    module = scores(0.05, mask)
    integers(module)
    np.testing.assert_array_equal(found, next(iter(run_graph(module, {"arg0": numbers}).values())))
    assert ran.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]
