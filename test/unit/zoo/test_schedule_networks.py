"""Layer tables: totals, derived shapes, errors, and the full reference where it is at hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks import NAMES, Layer, Network, Shape, gpt2_decode, gpt2_prefill, schedule_network

FULL = Path(__file__).parents[4] / "shared/data/networks.json"

TOTALS = {
    "resnet50": (72, 24.32, 3.858),
    "resnet101": (140, 42.38, 7.570),
    "inception_resnet_v1": (153, 24.72, 6.210),
    "randwire_small": (85, 7.23, 0.928),
    "randwire_large": (253, 5.39, 0.574),
    "gpt2_small_prefill": (38, 6.75, 4.027),
    "gpt2_small_decode": (42, 6.75, 0.00787),
    "gpt2_xl_prefill": (64, 29.30, 34.81),
    "gpt2_xl_decode": (68, 29.30, 0.034),
}
"""Layers, MiB of weights and 1e9 MACs of the networks that the reference has."""

WEIGHTS = {
    "bert_base_block": 12 * 768**2,
    "gptj_6b_decode": 4 * 4096**2 + 2 * 4096 * 16384,
    "gptj_6b_prefill": 4 * 4096**2 + 2 * 4096 * 16384,
    "llama2_70b_decode": 2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672,
    "llama2_70b_prefill": 2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672,
    "mobilenet_v1": 4_209_088,
    "mobilenet_v2": 3_469_760,
    "unet": 31_023_808,
    "vgg19": 143_652_544,
}
"""Weights of the others, of the four last as the papers' layers add up without biases."""


def macs(network: Network) -> int:
    return sum(
        layer.shape.height
        * layer.shape.width
        * layer.shape.channels
        * network.group_shape(i)[0]
        * layer.kernel[0]
        * layer.kernel[1]
        for i, layer in enumerate(network.layers)
        if layer.has_macs
    )


def test_every_network_is_known():
    assert sorted(NAMES) == sorted((*TOTALS, *WEIGHTS))


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(name: str):
    network = schedule_network(name)
    assert sum(map(network.weight_bytes, range(len(network.layers)))) == WEIGHTS[name]


@pytest.mark.parametrize(("name", "millions"), [("vgg19", 19_630), ("mobilenet_v1", 569), ("mobilenet_v2", 301)])
def test_macs_of_image_networks(name: str, millions: int):
    """Multiply-accumulates for an image, as the papers and descriptions say."""
    assert macs(schedule_network(name)) / 1e6 == pytest.approx(millions, rel=2e-3)


def test_a_token_of_a_large_model_uses_each_weight_once():
    """Beside the weights: scores and sums of 512 tokens before it and itself, for all heads."""
    for name, width in (("gptj_6b_decode", 4096), ("llama2_70b_decode", 8192)):
        assert macs(schedule_network(name)) == WEIGHTS[name] + 2 * 513 * width


@pytest.mark.parametrize("name", TOTALS)
def test_totals(name: str):
    network = schedule_network(name)
    layers, mebibytes, gmacs = TOTALS[name]
    assert len(network.layers) == layers
    assert sum(map(network.weight_bytes, range(layers))) / 2**20 == pytest.approx(mebibytes, abs=0.006)
    assert macs(network) / 1e9 == pytest.approx(gmacs, rel=2e-2)


KINDS = {
    "Conv": "conv",
    "GroupConv": "group_conv",
    "FC": "fc",
    "Pooling": "pool",
    "Eltwise": "eltwise",
    "PTP": "pointwise",
    "Transpose": "transpose",
}


@pytest.mark.skipif(not FULL.is_file(), reason="the full reference is not beside the checkout")
@pytest.mark.parametrize("name", TOTALS)
def test_every_layer_of_the_reference(name: str):
    table: Any = json.loads(FULL.read_text())["networks"][name]
    network = schedule_network(name)
    assert [(key, list(shape)) for key, shape in network.inputs] == [
        (given["name"], given["shape_chw"]) for given in table["external_inputs"]
    ]
    assert len(network.layers) == len(table["layers"])
    for number, (layer, row) in enumerate(zip(network.layers, table["layers"], strict=True)):
        assert (layer.name, layer.kind, list(layer.shape)) == (row["name"], KINDS[row["type"]], row["ofmap_chw"])
        assert list(layer.inputs) == row["ifm_prevs"]
        assert list(layer.external) == row["ext_prevs"]
        assert list(layer.weights_from) == row["wgt_prevs"]
        assert (*layer.kernel, *layer.stride) == (row["R"], row["S"], row["sH"], row["sW"])
        assert (layer.groups, layer.operands) == (row.get("G", 1), row.get("N", 1))
        assert list(layer.permutation) == row.get("order_CHW", [0, 1, 2])
        assert network.weight_bytes(number) == (0 if row["wgt_prevs"] else row["weight_bytes"])
        assert network.input_shapes[number].channels * layer.operands == row["ifmap_real_chw"][0]


def test_consumers():
    network = schedule_network("resnet50")
    assert network.layers[6].name == "conv_2_0_res"
    assert network.consumers[6] == (7, 10)
    assert network.consumers[71] == ()


def test_blocks_of_any_length():
    short = schedule_network("gpt2_small_prefill", 128)
    assert short.inputs == (("input_qkv", Shape(768, 128, 1)),)
    assert gpt2_decode("d", 64, 2, 8).inputs[1:] == (("k_cache", Shape(14, 32, 1)), ("v_cache", Shape(7, 64, 1)))


@pytest.mark.parametrize(("width", "heads", "tokens"), [(64, 3, 8), (64, 0, 8), (64, 2, 0)])
def test_bad_blocks(width: int, heads: int, tokens: int):
    with pytest.raises(TilewrightError):
        gpt2_prefill("p", width, heads, tokens)


def test_unknown_network():
    with pytest.raises(TilewrightError, match="expected one of bert_base_block"):
        schedule_network("nothing")


GOOD = Layer("a", "conv", Shape(8, 4, 4), external=(0,), kernel=(3, 3))


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (replace(GOOD, inputs=(0,)), "producers among the layers before it"),
        (replace(GOOD, external=(1,)), "a producer or a network input"),
        (replace(GOOD, external=()), "a producer or a network input"),
        (replace(GOOD, stride=(0, 1)), "positive sizes"),
        (replace(GOOD, external=(0, 2)), "a producer or a network input"),
        (replace(GOOD, groups=3), "channels that 3 groups divide"),
        (replace(GOOD, permutation=(0, 0, 1)), "a permutation"),
        (replace(GOOD, kind="upsample", shape=Shape(8, 6, 4)), "a map that whole repetitions"),
        (replace(GOOD, kind="other"), "a kind of conv"),  # type: ignore[arg-type]
    ],
)
def test_bad_layers(layer: Layer, message: str):
    with pytest.raises(TilewrightError, match=message):
        Network("n", (("x", Shape(4, 4, 4)),), (layer,))


def test_inputs_of_different_sizes():
    with pytest.raises(TilewrightError, match="one height and width"):
        Network("n", (("x", Shape(4, 4, 4)), ("y", Shape(4, 2, 4))), (replace(GOOD, external=(0, 1)),))
