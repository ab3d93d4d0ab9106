import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from tilewright.costs.fusion import layer_graph
from tilewright.driver import make_context, parse_passes
from tilewright.driver.models import reference
from tilewright.errors import TilewrightError
from tilewright.frontends.networks.images import image_module
from tilewright.frontends.networks.maker import Maker, Precision
from tilewright.passes.graph.fusion_layers import fusion_layers
from tilewright.zoo.schedule_networks import Layer, Network, Shape
from tilewright.zoo.schedule_networks.layers import INPUT as TABLE_INPUT
from tilewright.zoo.schedule_networks.layers import Table

INPUT = ("image", Shape(3, 9, 9))


def tiny() -> Network:
    """Every kind of layer: a strided convolution, a residual sum of a concatenation, pools, an enlargement, a head."""
    half = Shape(8, 5, 5)
    layers = (
        Layer("stem", "conv", half, external=(0,), kernel=(3, 3), stride=(2, 2)),
        Layer("left", "conv", Shape(4, 5, 5), (0,)),
        Layer("right", "conv", Shape(4, 5, 5), (0,), kernel=(3, 3)),
        Layer("sum", "eltwise", half, (0, 1, 2), operands=2),
        Layer("depth", "group_conv", half, (3,), kernel=(3, 3), groups=8),
        Layer("up", "upsample", Shape(8, 10, 10), (4,)),
        Layer("pool", "pool", half, (5,), kernel=(2, 2), stride=(2, 2)),
        Layer("mean", "pool", Shape(8, 1, 1), (6,), kernel=(5, 5), stride=(5, 5)),
        Layer("fc", "fc", Shape(10, 1, 1), (7,)),
    )
    return Network("tiny", (INPUT,), layers)


def run(network: Network, precision: Precision, x: np.ndarray) -> dict[str, np.ndarray]:
    module = image_module(network, Maker(precision), x.shape[0])
    module.verify()
    return reference(module, {"image": x})


def test_both_precisions_are_the_same_network():
    steps = np.clip(np.rint(np.random.default_rng(0).standard_normal((2, 3, 9, 9)) * 32), -128, 127)
    integers = run(tiny(), "i8", steps.astype(np.int8))["fc"]
    floats = run(tiny(), "f32", (steps / 32).astype(np.float32))["fc"]
    assert integers.dtype == np.int8
    assert integers.shape == floats.shape == (2, 10)
    assert np.abs(integers / 32 - floats).max() < 0.15 * np.abs(floats).max()


def test_stem_is_a_padded_convolution():
    network = Network("one", (INPUT,), tiny().layers[:1])
    maker = Maker("f32")
    module = image_module(network, maker, 1)
    w, b = maker.resources["stem.weight"], maker.resources["stem.bias"]
    x = np.random.default_rng(1).standard_normal((1, 3, 9, 9)).astype(np.float32)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    expected = np.einsum("ncpqrs,kcrs->nkpq", windows, w) + b[:, None, None]
    assert np.allclose(reference(module, {"image": x})["stem"], expected, atol=1e-4)


def test_layers_that_are_no_image_layers_are_refused():
    layers = (Layer("turn", "transpose", Shape(9, 3, 9), external=(0,), permutation=(1, 0, 2)),)
    with pytest.raises(TilewrightError, match="layer turn"):
        image_module(Network("bad", (INPUT,), layers), Maker("i8"), 1)


def test_parts_that_make_no_whole_operand_are_refused():
    layers = (*tiny().layers[:3], Layer("sum", "eltwise", Shape(6, 5, 5), (0, 1), operands=2))
    with pytest.raises(TilewrightError, match="whole operands"):
        image_module(Network("bad", (INPUT,), layers), Maker("i8"), 1)


def test_a_module_has_the_layers_of_its_table():
    """Two ways to the same layer graph: the table, and the module that is made of it."""
    table = Table("small", (3, 16, 16))
    a = table.separable("a", TABLE_INPUT, 8, 3, 2)
    b = table.conv("b", a, 4)
    c = table.pool("c", a, 3, 1)
    d = table.add("d", [a, b, b], operands=2)
    table.fc("e", table.global_pool("pool", [c, d]), 10)
    network = table.network()
    module = image_module(network, Maker("f32"), 1)
    parse_passes("graph-normalize").apply(make_context(), module)
    function = next(op for op in module.body.ops if isinstance(op, FuncOp))
    found, made = fusion_layers(function).graph(), layer_graph(network)
    assert [layer.shape for layer in found.layers] == [layer.shape for layer in made.layers]
    biases = [4 * layer.shape.channels * layer.has_macs for layer in network.layers]
    weights = [4 * layer.weight_bytes + bias for layer, bias in zip(made.layers, biases, strict=True)]
    assert [layer.weight_bytes for layer in found.layers] == weights
    assert [layer.macs for layer in found.layers if layer.weight_bytes] == [
        layer.macs for layer in made.layers if layer.weight_bytes
    ]
    assert found.producers == made.producers
