"""An encoder layer on integers: near the layer on real numbers, and bit for bit on a machine of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf  # pyright: ignore[reportUnknownVariableType]

from tilewright import simulate
from tilewright.driver import compile, load_model, reference
from tilewright.frontends.integer_layers import ENCODERS, SPREAD, WEIGHTS, EncoderShape, encoder_module
from tilewright.resources import resources_of

Array = np.ndarray[Any, Any]
CUT = ENCODERS["bert_layer_cut"]


def activations(shape: EncoderShape) -> Array:
    normal = np.random.default_rng(0).standard_normal((shape.tokens, shape.hidden))
    return np.clip(np.rint(normal * SPREAD), -128, 127).astype(np.int8)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def real_layer(shape: EncoderShape, weights: dict[str, Array], x: Array) -> Array:
    """The same layer on floats, its products scaled by the root of what is summed."""

    def product(name: str, values: Array, spread: float = 1.0) -> Array:
        sums = values @ weights[name] + weights[f"{name}_bias"] / SPREAD / spread
        return sums / (WEIGHTS * spread * len(weights[name]) ** 0.5)

    def normal(values: Array, number: str) -> Array:
        found = (values - values.mean(-1, keepdims=True)) / values.std(-1, keepdims=True)
        return (found * weights[f"gamma{number}"] + weights[f"beta{number}"] / (1 << 12)) / 256

    def heads(values: Array) -> Array:
        return values.reshape(shape.tokens, shape.heads, -1).transpose(1, 0, 2)

    query, key, value = (heads(product(name, x)) for name in ("query", "key", "value"))
    scores = softmax(query @ key.transpose(0, 2, 1) / (shape.hidden / shape.heads) ** 0.5)
    mixed = (scores @ value).transpose(1, 0, 2).reshape(shape.tokens, shape.hidden) * 127 / 40
    mixed = normal(x + product("output", mixed), "")
    wide = product("inner", mixed)
    wide = wide / 2 * (1 + np.asarray(erf(wide / 2**0.5)))
    return normal(mixed + product("outer", wide, 0.6), "1")


def test_near_the_layer_on_real_numbers():
    module, x = encoder_module(CUT), activations(CUT)
    found = reference(module, {"x": x})["y"]
    expected = real_layer(CUT, dict(resources_of(module)), x / SPREAD) * SPREAD
    assert np.abs(found - expected).mean() < 2
    assert np.std(expected) > 25


def test_bit_for_bit_on_a_machine_of_loops():
    x = activations(CUT)
    module = load_model("bert_layer_cut")
    program = compile(module, "dnnweaver")
    result = simulate(program, {"x": x})
    assert (result.outputs["y"] == reference(module, {"x": x})["y"]).all()
    assert result.dram_bytes == program.predicted["dram_bytes"] == program.predicted["model_dram_bytes"]
