"""Local response normalisation between quantised maps: squares and sums in integers, maxima of bytes."""

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

SHAPE = 2, 6, 7, 7
SCALE, STEP = 0.1, 0.02


def normalised(
    size: int = 5,
    *,
    alpha: float = 1e-4,
    scale: float = SCALE,
    zero: int = 0,
    element: Attribute = ui8,
    window: str = "max",
    beta: float = 0.75,
) -> ModuleOp:
    """Normalisation of an 8-bit map, then windows, or none, back to 8 bits."""
    network = Network(SHAPE)
    value: SSAValue = network.quantize(network.inputs[0], scale, zero, element)
    value = network.add(graph.LrnOp(value, size=size, alpha=alpha, beta=beta, bias=2.0))
    if window:
        value = network.add(
            graph.PoolOp(window, value, kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], dilations=[1, 1])
        )
    return network.finish(network.quantize(value, STEP, 3, ui8))


def integers(module: ModuleOp, target: str = "edge16") -> graph.LrnOp:
    """The normalisation after `graph-quantize`."""
    parse_passes(f'load-target{{target="{target}"}},graph-normalize,graph-quantize').apply(make_context(), module)
    module.verify()
    (op,) = (op for op in module.walk() if isinstance(op, graph.LrnOp))
    return op


def numbers() -> NDArray[Any]:
    return np.random.default_rng(1).normal(3, 4, SHAPE).astype(np.float32)


ELEMENTS = (0, ui8), (-128, si8), (9, ui8)
ALPHAS = 1e-4, 23.7
"""For a bias of at least a million, and a small one."""

POINTS = [
    (size, *element, ALPHAS[(i + j) % 2])
    for i, size in enumerate((1, 2, 3, 4, 5, 7))
    for j, element in enumerate(ELEMENTS)
]
"""All pairs of sizes, elements and alphas."""


@pytest.mark.parametrize(("size", "zero", "element", "alpha"), POINTS)
def test_results_are_those_of_real_numbers(size: int, zero: int, element: Attribute, alpha: float) -> None:
    def made() -> ModuleOp:
        return normalised(size, alpha=alpha, zero=zero, element=element)

    given = {"arg0": numbers()}
    (expected,) = run_graph(made(), given).values()
    program = compile(made(), "edge16", options=CompileOptions(gap=1000.0))
    ran = simulate(program, given)
    (found,) = ran.outputs.values()
    np.testing.assert_allclose(found, expected, atol=STEP * 1.01)
    module = made()
    op = integers(module)
    assert op.adds_in_i32 == (alpha < 1)
    np.testing.assert_array_equal(found, next(iter(run_graph(module, given).values())))
    assert ran.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]


def test_maxima_are_of_bytes() -> None:
    module = normalised()
    assert element_of(integers(module).x) == ui8
    (pool,) = (op for op in module.walk() if isinstance(op, graph.PoolOp))
    assert element_of(pool.result) == ui8


@pytest.mark.parametrize(
    ("options", "target"),
    [
        ({"window": "average"}, "edge16"),
        ({"scale": 100.0, "alpha": 1.0}, "edge16"),  # the bias is below one square
        ({"alpha": -1e-4}, "edge16"),
        ({"beta": 3.0}, "edge16"),
        ({}, "tiny"),  # which multiplies no bytes
    ],
)
def test_others_stay_in_f32(options: dict[str, Any], target: str) -> None:
    op = integers(normalised(**options), target)
    assert element_of(op.x) == f32
    assert op.zero_point is None


def test_other_readers_see_real_numbers() -> None:
    network = Network(SHAPE)
    value: SSAValue = network.quantize(network.inputs[0], SCALE, 0, ui8)
    value = network.add(graph.LrnOp(value, size=3, alpha=1e-4, beta=0.75, bias=1.0))
    module = network.finish(network.quantize(value, STEP, 0, ui8), value)
    assert integers(module).zero_point is None
