"""Graphs of layers: those of the zoo, and networks that make no sense."""

from dataclasses import replace
from typing import Any

import pytest

from tilewright.costs.fusion import Edge, Input, Layer, LayerGraph, Shape, SubgraphPricer, Window, layer_graph
from tilewright.errors import TilewrightError
from tilewright.zoo.paper_networks import COCCO_NAMES, network


@pytest.mark.parametrize("name", COCCO_NAMES)
def test_networks_of_the_zoo(name: str):
    table = network(name)
    graph = layer_graph(table)
    assert [layer.weight_bytes for layer in graph.layers] == [table.weight_bytes(i) for i in range(len(graph))]
    assert graph.consumers == table.consumers
    assert graph.exits == {len(graph) - 1}
    # a layer of weights multiplies each of them with each result of its channel
    for layer in graph.layers:
        if layer.weight_bytes:
            assert layer.macs == layer.weight_bytes * layer.shape.height * layer.shape.width


def test_macs_of_published_networks():
    """Multiplications of He et al. (2016, table 1: 3.8 and 11.3 Gflops) and of VGG16 (15.5)."""
    macs = {n: sum(x.macs for x in layer_graph(network(n)).layers if x.weight_bytes) for n in COCCO_NAMES[:3]}
    assert macs == pytest.approx({"vgg16": 15.47e9, "resnet50": 3.86e9, "resnet152": 11.28e9}, rel=2e-3)


def conv(shape: Shape, window: Window, producer: int = -1) -> Layer:
    return Layer("conv", "conv", shape, (Edge(producer, window, window),))


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (conv(Shape(1, 4, 4), Window(3, 1, 1), 0), "layers before it"),
        (conv(Shape(1, 4, 4), Window(3, 1, 1), -2), "layers before it"),
        (conv(Shape(1, 9, 9), Window(3, 1, 0)), "meet a map of 8"),
        (conv(Shape(1, 4, 4), Window(3, 1, 3)), "meet a map of 8"),
        (conv(Shape(1, 4, 4), Window(3, 0, 1)), "positive kernel"),
        (conv(Shape(0, 4, 4), Window(3, 1, 1)), "positive sizes"),
        (Layer("none", "conv", Shape(1, 4, 4), ()), "at least one thing to read"),
    ],
)
def test_networks_that_make_no_sense(layer: Layer, words: str):
    with pytest.raises(TilewrightError, match=words):
        LayerGraph("bad", (Input("x", Shape(1, 8, 8)),), (layer,))


def chain(strides: list[int]) -> LayerGraph:
    """Readers of one input, each with its own stride."""
    layers = tuple(
        Layer(f"l{stride}", "conv", Shape(1, 1, 2), (Edge(-1, Window(), Window(1, stride)),)) for stride in strides
    )
    return LayerGraph("strides", (Input("x", Shape(1, 1, 1 << 16)),), layers)


def test_strides_have_a_common_multiple():
    SubgraphPricer(chain([2, 3, 4, 5, 7]))
    with pytest.raises(TilewrightError, match="strides whose product is at most 268435456"):
        SubgraphPricer(chain([10007, 10009, 10037]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weight_bytes": (1 << 40) + 1}, "bytes of weights"),
        ({"reduction": 1 << 43}, "products"),
        ({"shape": Shape(1 << 41, 4, 4)}, "bytes of weights and results"),
        ({"edges": (Edge(-1, Window(3, 1, 1 << 20, 1 << 20)),)}, "positions"),
    ],
)
def test_sizes_are_bounded(change: dict[str, Any], words: str):
    layer = replace(conv(Shape(1, 4, 4), Window(3, 1, 1)), **change)
    with pytest.raises(TilewrightError, match=words):
        LayerGraph("large", (Input("x", Shape(1, 4, 4)),), (layer,))


def test_a_network_has_layers_and_maps():
    with pytest.raises(TilewrightError, match="1 to 8192 layers, found 0"):
        LayerGraph("empty", (), ())
    with pytest.raises(TilewrightError, match="positive extents"):
        LayerGraph("bad", (Input("x", Shape(1, 0, 4)),), (conv(Shape(1, 4, 4), Window()),))
