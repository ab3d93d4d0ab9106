"""Layers on integers that machines without floats have: softmax, layer normalisation, GELU, and an encoder of them.

Numbers with a binary point are i32; every product is proven to stay below 2^31 by the sizes that each step states, and
no step shifts by an amount that is not a constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.ir import Attribute, Block, SSAValue

from ..algebra.fixed_point import multiplier_and_shift
from ..dialects import graph
from ..dialects.types import Tensor, shape_of, si8, tensor
from ..errors import TilewrightError
from ..names import take_name
from ..resources import Resources
from .main_function import main_module

Integers = NDArray[np.signedinteger]

ONE = 15
"""Fraction bits of numbers from 0 to 1."""
EXPONENTIAL = (32559, 15190, 3349)
"""1 - u (c1 - u (c2 - u c3)) is exp(-u) for u from 0 to 1 within 4e-4 of it, in 15 fraction bits; fitted here."""
EXPONENTS = 16
"""Softmax takes exp(-16) and below as 0: exp(-16 u) is the sixteenth power of exp(-u)."""
TAIL = (26344, -33533, -31137)
"""q = 1 - v (c1 - v (c2 - v c3)): q^4 / 2 is the normal distribution's tail beyond t = v TAIL_END, within 6e-4 / t."""
TAIL_END = 4.00669233
ROOT_STEPS = 8
SMALL = 64
"""Elements of constants that stand in the text."""


@dataclass
class IntegerLayers:
    """Appends layers to a function; names of constants are their values."""

    block: Block
    resources: Resources = field(default_factory=Resources)
    numbers: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    weights: set[str] = field(default_factory=set[str])

    @staticmethod
    def of(types: Sequence[Tensor]) -> "IntegerLayers":
        """A function of such arguments, without layers."""
        return IntegerLayers(Block(arg_types=types))

    def module(self, inputs: Sequence[str], outputs: Sequence[str], values: Sequence[SSAValue]) -> ModuleOp:
        """The function as a module, `values` being what it returns."""
        for value, name in [*zip(self.block.args, inputs, strict=True), *zip(values, outputs, strict=True)]:
            value.name_hint = name
        return main_module(self.block, inputs, outputs, values, self.resources)

    def add(self, layer: graph.LayerOp, name: str = "") -> SSAValue:
        """A layer's result."""
        if name:
            layer.attributes["name"] = StringAttr(name)
        self.block.add_op(layer)
        if isinstance(layer, graph.WeightOp):
            layer.result.name_hint = layer.resource
        return layer.results[0]

    def number(self, value: int) -> SSAValue:
        """A constant of i32."""
        if value not in self.numbers:
            name = f"c{value}".replace("-", "m")
            self.numbers[value] = self.add(graph.WeightOp(name, tensor((), i32), np.array(value, np.int32)))
        return self.numbers[value]

    def weight(self, name: str, values: Integers, element: Attribute = si8) -> SSAValue:
        """A constant tensor, beside the text unless it is small."""
        unique = take_name(name, self.weights, "")
        if values.size > SMALL:
            self.resources[unique] = values
        kept = values if values.size <= SMALL else None
        return self.add(graph.WeightOp(unique, tensor(values.shape, element), kept))

    def binary(self, kind: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """A function of two tensors, or of one and a number."""
        return self.add(graph.BinaryOp(kind, a, self.number(b) if isinstance(b, int) else b))

    def wide(self, x: SSAValue) -> SSAValue:
        """The tensor in i32."""
        return self.add(graph.CastOp(x, i32))

    def scaled(self, x: SSAValue, factor: float, name: str = "") -> SSAValue:
        """i32 to si8: times a factor below 1, rounded and saturated."""
        found = multiplier_and_shift(factor)
        if found is None or factor >= 1:
            raise TilewrightError("layer", name or "a scale", "a factor between 0 and 1", f"{factor}")
        multiplier, shift = found
        made = graph.RequantizeOp(x, self.number(multiplier), self.number(shift), element=si8)
        return self.add(made, name)

    def shifted(self, a: SSAValue, b: SSAValue, bits: int) -> SSAValue:
        """`floor(a b / 2^bits)`."""
        return self.binary("shr", self.binary("mul", a, b), bits)

    def _below_one(self, x: SSAValue, coefficients: tuple[int, int, int]) -> SSAValue:
        """1 - x (c1 - x (c2 - x c3)), x from 0 to 1, at least 0."""
        first, second, third = coefficients
        inner = self.binary("sub", self.number(second), self.binary("shr", self.binary("mul", x, third), ONE))
        inner = self.binary("sub", self.number(first), self.shifted(x, inner, ONE))
        found = self.binary("sub", self.number(1 << ONE), self.shifted(x, inner, ONE))
        return self.add(graph.ClipOp(found, min=0, max=1 << ONE))

    def _capped(self, x: SSAValue, factor: float, most: int) -> SSAValue:
        """min(x factor, 1) for x from 0 to `most`."""
        found = multiplier_and_shift(factor)
        if found is None or factor * most >= 1 << ONE:
            raise TilewrightError("layer", "a scale", f"a factor between 0 and {(1 << ONE) / most}", f"{factor}")
        multiplier, shift = found
        drop = most.bit_length()  # the product stays below 2^31
        steps = self.binary("shr", self.binary("mul", x, multiplier >> drop), shift - drop - ONE)
        return self.binary("min", steps, 1 << ONE)

    def softmax(self, x: SSAValue, scale: float) -> SSAValue:
        """Softmax of si8 along the last axis (at most 2^15 elements), `scale` being a step's size; 127 stands for 1."""
        axis = len(shape_of(x)) - 1
        values = self.wide(x)
        most = self.add(graph.ReduceOp("max", values, axes=[axis]))
        power = self._capped(self.binary("sub", most, values), scale / EXPONENTS, 255)
        power = self._below_one(power, EXPONENTIAL)
        for _ in range(EXPONENTS.bit_length() - 1):
            power = self.shifted(power, power, ONE)
        total = self.binary("max", self.add(graph.ReduceOp("sum", power, axes=[axis])), 1 << ONE)
        share = self.binary("div", self.number(127 << 24), total)
        rounded = self.binary("add", self.binary("mul", power, share), 1 << 23)
        return self.add(graph.CastOp(self.binary("shr", rounded, 24), si8))

    def gelu(self, x: SSAValue, scale: float, result_scale: float) -> SSAValue:
        """x / 2 (1 + erf(x / sqrt 2)) of si8 in steps of `scale`, to si8 in steps of `result_scale`, which is as large.

        It is max(x, 0) less |x| times the normal distribution's tail beyond |x|.
        """
        values = self.wide(x)
        size = self.add(graph.UnaryOp("abs", values))
        tail = self._below_one(self._capped(size, scale / TAIL_END, 128), TAIL)
        for _ in range(2):
            tail = self.shifted(tail, tail, ONE)
        positive = self.binary("mul", self.add(graph.UnaryOp("relu", values)), 2 << ONE)
        made = self.binary("sub", positive, self.binary("mul", size, tail))
        return self.scaled(made, scale / result_scale / (2 << ONE))

    def _root(self, x: SSAValue) -> SSAValue:
        """The square root of integers from 2^16 to 2^30, by Newton's steps."""
        root = self.binary("add", self.binary("shr", x, 12), 1 << 9)
        for _ in range(ROOT_STEPS):
            root = self.binary("shr", self.binary("add", root, self.binary("div", x, root)), 1)
        return root

    def layer_norm(self, x: SSAValue, gamma: Integers, beta: Integers, scale: float) -> SSAValue:
        """Rows of i32 from -256 to 255 with mean 0 and variance 1, times `gamma` plus `beta`, to si8.

        `gamma` (from -1023 to 1023) counts steps of 2^-8; `beta` and the result count steps of `scale`.  Deviations
        below 4 count as 4.
        """
        width, axis = len(gamma), len(shape_of(x)) - 1
        bits = (width - 1).bit_length()
        total = self.add(graph.ReduceOp("sum", x, axes=[axis]))
        mean = self.binary("mul", total, round((1 << 22) / width))
        mean = self.binary("shr", self.binary("add", mean, 1 << 16), 17)
        centred = self.binary("sub", self.binary("mul", x, 32), mean)
        centred = self.add(graph.ClipOp(centred, min=-(1 << 14) + 1, max=(1 << 14) - 1))
        squares = self.shifted(centred, centred, bits - 2)
        spread = self.add(graph.ReduceOp("sum", squares, axes=[axis]))
        root = self._root(self.add(graph.ClipOp(spread, min=1 << 16, max=1 << 30)))
        root = self.add(graph.ClipOp(root, min=1 << 8, max=1 << 15))
        share = self.binary("div", self.number(1 << 25), root)
        normal = self.shifted(centred, share, 12)
        # `centred` counts steps of 2^-5, and the root is the deviation in those times (width / 2^(bits - 2))^(1/2)
        unit = (1 << 25 - 12) * (width / (1 << (bits - 2))) ** -0.5
        factor = 1 / (unit * (1 << 8) * scale)
        weight = self.weight("gamma", gamma.astype(np.int32), i32)
        offset = self.weight("beta", np.rint(beta / factor).astype(np.int32), i32)
        return self.scaled(self.binary("add", self.binary("mul", normal, weight), offset), factor)


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


def encoder_module(shape: EncoderShape) -> ModuleOp:
    """The layer as a function of si8 `x` of shape `[tokens, hidden]`, with weights drawn at random, always the same.

    Every product's sums are scaled so that random activations keep their spread.
    """
    layers = IntegerLayers.of([tensor((shape.tokens, shape.hidden), si8)])
    y = _Encoder(shape, layers).build(layers.block.args[0])
    return layers.module(["x"], ["y"], [y])


@dataclass
class _Encoder:
    shape: EncoderShape
    layers: IntegerLayers
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
        """Integers from -most to most, the same for the same name."""
        rng = np.random.default_rng([0, crc32(name.encode())])
        return rng.integers(-most, most + 1, shape, dtype=np.int32)
