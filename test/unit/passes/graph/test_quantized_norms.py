"""Layer normalisation between quantised maps: on integers, near to real numbers, and as the simulator does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tilewright.backends.simulator import simulate
from tilewright.dialects import graph
from tilewright.dialects.types import si8, ui8
from tilewright.driver import CompileOptions, compile
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.interpreters.graph import run_graph

from .graph_network import Network

ROWS, COLUMNS = 6, 32
STEP = 4 / 127
RNG = np.random.default_rng(4)
SCALE, BIAS = (RNG.normal(*parameters, COLUMNS).astype(np.float32) for parameters in ((1, 0.3), (0, 0.5)))


def norm(
    scale: NDArray[Any] = SCALE,
    bias: NDArray[Any] | None = BIAS,
    element: Attribute = si8,
    axis: int = 2,
    epsilon: float = 1e-5,
) -> ModuleOp:
    """Normalisation of an 8-bit map, back to 8 bits."""
    network = Network((1, ROWS, COLUMNS))
    value = network.quantize(network.inputs[0], 0.05, 3, element)
    factors = network.weight(scale)
    offsets = None if bias is None else network.weight(bias)
    value = network.add(graph.LayerNormOp(value, factors, offsets, axis=axis, epsilon=epsilon))
    return network.finish(network.quantize(value, STEP, -7, si8))


def quantized(module: ModuleOp) -> list[graph.StandardizeOp]:
    """The normalisations on integers after `graph-quantize`."""
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    module.verify()
    return [op for op in module.walk() if isinstance(op, graph.StandardizeOp)]


NEGATIVE = np.where(np.arange(COLUMNS) % 3, SCALE, -SCALE)
UNUSED = np.where(np.arange(COLUMNS) == 5, 0, SCALE), np.where(np.arange(COLUMNS) == 5, 0, BIAS)


@pytest.mark.parametrize(
    ("scale", "bias", "element"), [(SCALE, BIAS, si8), (NEGATIVE, BIAS, ui8), (SCALE, None, si8), (*UNUSED, si8)]
)
def test_results_are_those_of_real_numbers(scale: NDArray[Any], bias: NDArray[Any] | None, element: Attribute) -> None:
    numbers = RNG.normal(1, 2, (1, ROWS, COLUMNS)).astype(np.float32)
    numbers[0, 1] = 1.0  # a row of one number
    (expected,) = run_graph(norm(scale, bias, element), {"arg0": numbers}).values()
    program = compile(norm(scale, bias, element), "edge16", options=CompileOptions(gap=1000.0))
    ran = simulate(program, {"arg0": numbers})
    (found,) = ran.outputs.values()
    np.testing.assert_allclose(found, expected, atol=STEP * 1.01)
    assert np.mean(found == expected) > 0.9
    module = norm(scale, bias, element)
    assert len(quantized(module)) == 1
    np.testing.assert_array_equal(found, next(iter(run_graph(module, {"arg0": numbers}).values())))
    assert ran.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]


def test_epsilon_counts_squares_of_steps() -> None:
    (op,) = quantized(norm(epsilon=0.5))
    assert op.epsilon.value.data == pytest.approx(0.5 / 0.05**2)


@pytest.mark.parametrize(
    "module",
    [
        lambda: norm(np.ones((ROWS, COLUMNS), np.float32), None, axis=1),  # over two axes
        lambda: norm(np.where(np.arange(COLUMNS) == 5, 0, SCALE)),  # a channel of its bias alone
        lambda: norm(np.where(np.arange(COLUMNS) == 5, 1e-6, SCALE)),
        lambda: norm(np.where(np.arange(COLUMNS) == 5, np.inf, SCALE)),
    ],
)
def test_what_has_no_integers_stays_in_f32(module: Any) -> None:
    assert not quantized(module())
