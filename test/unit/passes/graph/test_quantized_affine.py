"""Scales and offsets by constants between quantised maps become one product, one sum and one shift of integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import graph
from tilewright.dialects.types import si8
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.interpreters.graph import run_graph

from .graph_network import Array, Network

Layers = Callable[[Network, SSAValue], SSAValue]

STEP = 0.03
GAMMA, BETA = np.linspace(-1, 2, 4).astype(np.float32), np.linspace(-3, 1, 4).astype(np.float32)


def batch_norm(network: Network, x: SSAValue) -> SSAValue:
    mean, variance = np.linspace(-0.2, 0.3, 4).astype(np.float32), np.linspace(0.2, 2, 4).astype(np.float32)
    constants = (network.weight(array) for array in (GAMMA, BETA, mean, variance))
    return network.add(graph.BatchNormOp(x, *constants, epsilon=1e-5))


def chain(network: Network, x: SSAValue) -> SSAValue:
    columns = network.weight(np.linspace(0.5, 2, 5).astype(np.float32))
    differences = network.add(graph.BinaryOp("sub", network.weight(np.array(1.5, np.float32)), x))
    quotients = network.add(graph.BinaryOp("div", differences, columns))
    return network.add(graph.UnaryOp("relu", network.add(graph.BinaryOp("add", quotients, columns))))


def huge(network: Network, x: SSAValue) -> SSAValue:
    return network.add(graph.BinaryOp("mul", x, network.weight(np.array(1e4, np.float32))))


def infinite(network: Network, x: SSAValue) -> SSAValue:
    return network.add(graph.BinaryOp("add", x, network.weight(np.array(np.inf, np.float32))))


def made(layers: Layers) -> ModuleOp:
    network = Network((2, 4, 3, 5))
    x = network.quantize(network.inputs[0], 0.02, 7, si8)
    return network.finish(network.quantize(layers(network, x), STEP, -3, si8))


def quantized(layers: Layers) -> ModuleOp:
    module = made(layers)
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    module.verify()
    return module


def numbers() -> Array:
    return np.random.default_rng(3).normal(0, 1.5, (2, 4, 3, 5)).astype(np.float32)


@pytest.mark.parametrize("layers", [batch_norm, chain])
def test_arithmetic_with_constants_is_done_in_integers(layers: Layers) -> None:
    module = quantized(layers)
    kinds = [op.kind.data.value for op in module.walk() if isinstance(op, graph.BinaryOp)]
    assert kinds == ["mul", "add"]
    (expected,) = run_graph(made(layers), {"arg0": numbers()}).values()
    (found,) = run_graph(module, {"arg0": numbers()}).values()
    np.testing.assert_allclose(found, expected, atol=STEP * 1.01)
    assert np.mean(found != expected) < 0.02


@pytest.mark.parametrize("layers", [huge, infinite])
def test_factors_that_leave_no_bits_stay_real(layers: Layers) -> None:
    module = quantized(layers)
    assert not any(isinstance(op, graph.RequantizeOp) for op in module.walk())
