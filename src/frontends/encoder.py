"""A transformer's encoder layer on integers: attention and a network of two products, each added and normalised."""

from __future__ import annotations

from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import SSAValue

from ..dialects import graph
from ..dialects.types import shape_of, si8, tensor
from .integer_layers import IntegerLayers

WEIGHTS, BIAS, SPREAD = 74, 1000, 32
"""Deviations of random weights from -127 to 127, a bound of biases, and the deviation in steps of all activations."""


@dataclass(frozen=True)
class EncoderShape:
    """Sizes of a layer: tokens, width of a token, heads that share it, and width between the two last products."""

    tokens: int
    hidden: int
    heads: int
    inner: int


ENCODERS = {
    "bert_large_layer": EncoderShape(128, 1024, 16, 4096),
    "bert_base_layer": EncoderShape(128, 768, 12, 3072),
    "bert_layer_cut": EncoderShape(64, 128, 2, 192),
}
"""Layers by name: those of BERT (Devlin et al., NAACL 2019, section 3) for 128 tokens, and a small one."""


def encoder_module(shape: EncoderShape, seed: int = 0) -> ModuleOp:
    """The layer as a function of si8 `x` of shape `[tokens, hidden]`, with weights from a seed.

    Every product's sums are scaled so that random activations keep their spread.
    """
    layers = IntegerLayers.of([tensor((shape.tokens, shape.hidden), si8)])
    y = _Encoder(shape, layers, seed).build(layers.block.args[0])
    return layers.module(["x"], ["y"], [y])


@dataclass
class _Encoder:
    shape: EncoderShape
    layers: IntegerLayers
    seed: int
    step: float = field(default=1 / SPREAD)  # of activations whose deviation is 1

    def build(self, x: SSAValue) -> SSAValue:
        mixed = self._normal("first", self._sum(x, self._attention(x)))
        wide = self.layers.gelu(self._product("inner", mixed, self.shape.inner), self.step, self.step)
        # half of GELU's values are near 0
        narrow = self._product("outer", wide, self.shape.hidden, SPREAD * 0.6)
        return self._normal("second", self._sum(mixed, narrow))

    def _attention(self, x: SSAValue) -> SSAValue:
        layers, heads = self.layers, self.shape.heads
        size = self.shape.hidden // heads
        query, key, value = (
            self._heads(self._product(name, x, self.shape.hidden)) for name in ("query", "key", "value")
        )
        turned = layers.add(graph.TransposeOp(key, perm=[0, 2, 1]), "keys_turned")
        scores = layers.add(graph.MatmulOp(query, turned), "scores")
        scores = layers.scaled(scores, 1 / (SPREAD * size**0.5), "scores_scaled")
        mixed = layers.add(graph.MatmulOp(layers.softmax(scores, self.step), value), "mixed")
        mixed = layers.scaled(mixed, 1 / 40, "mixed_scaled")
        together = layers.add(graph.TransposeOp(mixed, perm=[1, 0, 2]), "heads_together")
        flat = layers.add(graph.ReshapeOp(together, [self.shape.tokens, self.shape.hidden]), "tokens_whole")
        return self._product("output", flat, self.shape.hidden)

    def _heads(self, x: SSAValue) -> SSAValue:
        """`[tokens, hidden]` as `[heads, tokens, hidden / heads]`."""
        tokens, heads, size = self.shape.tokens, self.shape.heads, self.shape.hidden // self.shape.heads
        cut = self.layers.add(graph.ReshapeOp(x, [tokens, heads, size]))
        return self.layers.add(graph.TransposeOp(cut, perm=[1, 0, 2]))

    def _product(self, name: str, x: SSAValue, columns: int, spread: float = SPREAD) -> SSAValue:
        """A product with weights, plus a bias, as si8 again; `spread` is the deviation of `x`."""
        rows = shape_of(x)[-1]
        weight = self.layers.weight(name, self._random(name, (rows, columns), 127).astype(np.int8))
        bias = self.layers.weight(f"{name}_bias", self._random(f"{name}_bias", (columns,), BIAS), i32)
        sums = self.layers.add(graph.GemmOp(x, weight, bias), name)
        return self.layers.scaled(sums, SPREAD / (WEIGHTS * spread * rows**0.5), f"{name}_scaled")

    def _sum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.layers.binary("add", self.layers.wide(a), self.layers.wide(b))

    def _normal(self, name: str, x: SSAValue) -> SSAValue:
        gamma = 256 + self._random(f"{name}_gamma", (self.shape.hidden,), 60)
        beta = self._random(f"{name}_beta", (self.shape.hidden,), 10)
        return self.layers.layer_norm(x, gamma, beta, self.step)

    def _random(self, name: str, shape: tuple[int, ...], most: int) -> NDArray[np.int32]:
        """Integers from -most to most, the same for the same name and seed."""
        rng = np.random.default_rng([self.seed, crc32(name.encode())])
        return rng.integers(-most, most + 1, shape, dtype=np.int32)
