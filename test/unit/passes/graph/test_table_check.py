"""Layer tables say what their graphs do, and a table that says something else is noticed."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from onnx import ModelProto
from xdsl.dialects.func import FuncOp

from tilewright.costs.fusion import Input, LayerGraph
from tilewright.costs.fusion import Shape as MapShape
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.errors import TilewrightError
from tilewright.passes.graph.fusion_layers import FusionLayers, fusion_layers
from tilewright.passes.graph.schedule_layers import ScheduleLayers, schedule_layers
from tilewright.passes.graph.table_check import Recount, check_layer_graph, check_network
from tilewright.zoo.schedule_networks import Layer, Network, Shape

from ....networks.patterns import PATTERNS, QUANTISED
from ....onnx_files.quantized import quantized


def function_of(model: ModelProto) -> FuncOp:
    module = load_model(model)
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), module)
    return next(op for op in module.body.ops if isinstance(op, FuncOp))


CASES = [(name, False) for name in PATTERNS] + [(name, True) for name in QUANTISED]


@pytest.mark.parametrize(("name", "integers"), CASES)
def test_tables_of_exported_networks_are_those_of_their_graphs(name: str, integers: bool):
    model = PATTERNS[name]()
    function = function_of(quantized(model) if integers else model)
    network, batch = schedule_layers(function)
    layers = fusion_layers(function)
    assert batch == layers.batch == (2 if name == "dynamic" else 1)
    assert len(layers.graph()) <= len(network.layers)
    results = 6 if name == "several_results" else 1
    assert sum(not readers for readers in network.consumers) == results + (name == "several_results")


@pytest.mark.parametrize("integers", [False, True])
def test_residual_sums_read_both_branches(integers: bool):
    model = PATTERNS["residual"]()
    network, _ = schedule_layers(function_of(quantized(model) if integers else model))
    sums = [layer for layer in network.layers if layer.kind == "eltwise"]
    assert [len(set(layer.inputs)) for layer in sums] == [2, 2]
    layers = fusion_layers(function_of(quantized(model) if integers else model)).graph()
    assert sum(len(layer.edges) == 2 for layer in layers.layers) == 2


def test_a_product_of_two_branches_has_both():
    """A gated feed-forward: one branch ends in a product by a number, the other in a matrix product."""
    network, _ = schedule_layers(function_of(PATTERNS["llama"]()))
    gated = [layer for layer in network.layers if layer.kind == "eltwise" and layer.shape == Shape(32, 4, 1)]
    assert [len(layer.inputs) for layer in gated] == [2]
    products = [layer for layer in fusion_layers(function_of(PATTERNS["llama"]())).graph().layers if layer.weight_bytes]
    assert {layer.reduction for layer in products if layer.kind == "matmul"} == {4, 16, 32}


def test_rows_of_a_sequence_are_no_samples():
    network, batch = schedule_layers(function_of(PATTERNS["sequence_first"]()))
    assert (batch, network.inputs[0][1]) == (1, Shape(8, 6, 1))


Change = Callable[[Network, int], Network]


def changed(network: Network, number: int, **values: object) -> Network:
    layers = list(network.layers)
    layers[number] = replace(layers[number], **values)  # pyright: ignore[reportArgumentType]
    return replace(network, layers=tuple(layers))


def without(network: Network, number: int) -> Network:
    """The network without its last layer."""
    return replace(network, layers=network.layers[:-1])


SCHEDULE_CHANGES: dict[str, tuple[str, Change]] = {
    "a lost operand": (
        "eltwise",
        lambda t, i: changed(t, i, kind="pointwise", inputs=t.layers[i].inputs[:1], operands=1),
    ),
    "another operand": ("eltwise", lambda t, i: changed(t, i, inputs=(t.layers[i].inputs[0],) * 2)),
    "operands counted wrong": ("eltwise", lambda t, i: changed(t, i, operands=1)),
    "a wider kernel": ("conv", lambda t, i: changed(t, i, kernel=(5, 5))),
    "fewer groups": ("group_conv", lambda t, i: changed(t, i, groups=1)),
    "a larger map": ("fc", lambda t, i: changed(t, i, shape=Shape(6, 1, 1))),
    "a layer that is none": ("conv", lambda t, i: changed(t, i, kind="pool")),
    "a lost result": ("fc", without),
    "a map that nobody reads": (
        "fc",
        lambda t, i: replace(t, layers=(*t.layers, Layer("more", "pointwise", t.layers[0].shape, (0,)))),
    ),
    "a larger input": ("fc", lambda t, i: replace(t, inputs=(("x", Shape(3, 16, 8)),))),
    "one more input": ("fc", lambda t, i: replace(t, inputs=(*t.inputs, ("y", Shape(3, 8, 8))))),
}


@pytest.mark.parametrize("change", SCHEDULE_CHANGES)
def test_changed_tables_of_schedules_are_noticed(change: str):
    block = function_of(PATTERNS["residual"]()).body.block
    made = ScheduleLayers("residual", block, 1)
    table, recount = made.network(), Recount(block, 1, made.number)
    check_network(table, recount)
    kind, function = SCHEDULE_CHANGES[change]
    number = next(i for i, layer in reversed(list(enumerate(table.layers))) if layer.kind == kind)
    with pytest.raises(TilewrightError, match="in the layer table of residual: expected as in the graph") as error:
        check_network(function(table, number), recount)
    assert error.value.kind == "internal"


GraphChange = Callable[[LayerGraph, int], LayerGraph]


def edited(graph: LayerGraph, number: int, **values: object) -> LayerGraph:
    layers = list(graph.layers)
    layers[number] = replace(layers[number], **values)  # pyright: ignore[reportArgumentType]
    return replace(graph, layers=tuple(layers))


PARTITION_CHANGES: dict[str, GraphChange] = {
    "a lost operand": lambda t, i: edited(t, i, edges=t.layers[i].edges[:1]),
    "another operand": lambda t, i: edited(t, i, edges=(t.layers[i].edges[0]._replace(producer=0),)),
    "more products": lambda t, i: edited(t, i, taps=2),
    "fewer products": lambda t, i: edited(t, i, reduction=1),
    "more weights": lambda t, i: edited(t, i, weight_bytes=t.layers[i].weight_bytes + 1),
    "no weights": lambda t, i: edited(t, i, weight_bytes=0),
    "a larger map": lambda t, i: edited(t, i, shape=MapShape(9, *t.layers[i].shape[1:])),
    "wider elements": lambda t, i: edited(t, i, element_bytes=8),
    "one more result": lambda t, i: replace(t, outputs=(*t.outputs, 0)),
    "wider inputs": lambda t, i: replace(t, inputs=(replace(t.inputs[0], element_bytes=1),)),
    "one more input": lambda t, i: replace(t, inputs=(*t.inputs, Input("y", MapShape(1, 1, 1)))),
}


@pytest.mark.parametrize("change", PARTITION_CHANGES)
def test_changed_tables_of_partitions_are_noticed(change: str):
    block = function_of(PATTERNS["residual"]()).body.block
    layers = FusionLayers("residual", block)
    table = layers.graph()
    recount = Recount(block, 1, {op: number for number, ops in enumerate(layers.members) for op in ops})
    number = max(i for i, layer in enumerate(table.layers) if len(layer.edges) == 2)
    with pytest.raises(TilewrightError, match="in the layer table of residual: expected as in the graph"):
        check_layer_graph(PARTITION_CHANGES[change](table, number), recount)


def test_an_operation_without_a_layer_is_noticed():
    block = function_of(PATTERNS["residual"]()).body.block
    made = ScheduleLayers("residual", block, 1)
    table = made.network()
    known = dict(list(made.number.items())[1:])
    with pytest.raises(TilewrightError, match=r"a layer graph\.conv"):
        check_network(table, Recount(block, 1, known))
