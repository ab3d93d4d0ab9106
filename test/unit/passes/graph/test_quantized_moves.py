"""What is reshaped or transposed between a layer and its quantisation is moved in 8 bits."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import graph
from tilewright.dialects.types import element_of, si8
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.interpreters.graph import run_graph

from .graph_network import Network


def mean(network: Network, x: SSAValue) -> SSAValue:
    return network.add(graph.ReduceOp("mean", x, axes=[2, 3], keepdims=True))


def bounded_product(network: Network, x: SSAValue) -> SSAValue:
    flat = network.add(graph.ReshapeOp(x, (1, 8, 16)))
    weight = network.quantized_weight(np.arange(-64, 64, dtype=np.int8).reshape(16, 8), np.array(0.01), 0)
    return network.add(graph.UnaryOp("relu", network.add(graph.MatmulOp(flat, weight))))


def moved(layer: str) -> ModuleOp:
    network = Network((1, 8, 4, 4))
    x = network.quantize(network.inputs[0], 0.05, 3, si8)
    value = mean(network, x) if layer == "mean" else bounded_product(network, x)
    shape = (1, 8) if layer == "mean" else (8, 8)
    turned = network.add(graph.TransposeOp(network.add(graph.ReshapeOp(value, shape)), perm=[1, 0]))
    result = network.quantize(turned, 0.02, -5, si8)
    return network.finish(result)


@pytest.mark.parametrize("layer", ["mean", "product"])
def test_layers_end_in_8_bits_before_they_are_moved(layer: str) -> None:
    numbers = np.random.default_rng(2).normal(0, 2, (1, 8, 4, 4)).astype(np.float32)
    module = moved(layer)
    (expected,) = run_graph(module, {"arg0": numbers}).values()
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    module.verify()
    moves = [op for op in module.walk() if isinstance(op, graph.ReshapeOp | graph.TransposeOp)]
    assert moves
    assert {element_of(op.results[0]) for op in moves} == {si8}
    assert any(isinstance(op, graph.RequantizeOp) for op in module.walk())
    (found,) = run_graph(module, {"arg0": numbers}).values()
    np.testing.assert_allclose(found, expected, atol=0.0201)


def test_what_others_read_before_it_is_moved_stays_as_it_is() -> None:
    network = Network((1, 8, 4, 4))
    value = mean(network, network.quantize(network.inputs[0], 0.05, 3, si8))
    flat = network.add(graph.ReshapeOp(value, (1, 8)))
    other = network.add(graph.UnaryOp("exp", flat))
    module = network.finish(network.quantize(flat, 0.02, -5, si8), other)
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    readers = [op.x.owner for op in module.walk() if isinstance(op, graph.QuantizeOp)]
    assert any(isinstance(owner, graph.ReshapeOp) for owner in readers)
