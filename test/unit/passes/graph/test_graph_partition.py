"""Groups change what runs together, not what is computed; and every layer is seen with the shapes that it has."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilewright.arrays import make_inputs
from tilewright.costs.fusion import LayerGraph, Window
from tilewright.dialects import graph
from tilewright.driver import load_model, make_context, parse_passes
from tilewright.interpreters.graph import run_graph
from tilewright.passes.graph.fusion_layers import fusion_layers

from ....onnx_files.networks import mobilenet, transformer_block

MODELS = {
    "mobilenet": lambda: mobilenet(size=32, width=0.25, classes=10),
    "transformer": lambda: transformer_block(sequence=8, width=16, heads=2, hidden=32),
}


def normalized(name: str) -> ModuleOp:
    module = load_model(MODELS[name]())
    parse_passes("graph-normalize").apply(make_context(), module)
    return module


def main_of(module: ModuleOp) -> FuncOp:
    return next(op for op in module.body.ops if isinstance(op, FuncOp))


def layers_of(module: ModuleOp) -> LayerGraph:
    return fusion_layers(main_of(module)).graph()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "text", ["graph-partition{method=greedy global_bytes=2500}", 'graph-partition{method="chain-3" global_bytes=20000}']
)
def test_the_meaning_is_kept(name: str, text: str):
    module = normalized(name)
    shapes = {"image": (1, 3, 32, 32)} if name == "mobilenet" else {"x": (1, 8, 16)}
    inputs = make_inputs({key: (shape, np.dtype(np.float32)) for key, shape in shapes.items()}, 0)
    before = run_graph(module, inputs)
    parse_passes(f"{text},graph-verify").apply(make_context(), module)
    module.verify()
    groups = [op for op in module.walk() if isinstance(op, graph.FusedGroupOp)]
    assert 1 < len(groups) < 60
    assert max(len(op.members()) for op in groups) > 2
    after = run_graph(module, inputs)
    assert list(before) == list(after)
    for key in before:
        np.testing.assert_array_equal(before[key], after[key])


def test_layers_of_a_model():
    module = normalized("mobilenet")
    layers = layers_of(module)
    assert layers.layers[0].edges[0].rows == Window(3, 2, 1)
    assert layers.layers[0].shape == (8, 16, 16)
    convolutions = [layer for layer in layers.layers if layer.kind == "conv"]
    assert len(convolutions) == 52
    assert sum(layer.weight_bytes for layer in layers.layers) == sum(
        4 * int(np.prod(op.result.type.get_shape())) for op in module.walk() if isinstance(op, graph.WeightOp)
    )
    depthwise = convolutions[1]
    assert (depthwise.reduction, depthwise.taps, depthwise.groups) == (1, 9, 8)


def test_attention_reads_keys_and_values_as_a_whole():
    layers = layers_of(normalized("transformer"))
    products = [layer for layer in layers.layers if layer.kind == "matmul" and layer.weight_bytes < 16]
    assert len(products) == 2
    assert all(layer.edges[-1].rows.whole for layer in products)
