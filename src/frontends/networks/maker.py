"""Layers of a network in the graph dialect, in f32 or as 8-bit integers with scales, with weights made from a seed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from typing import Literal
from zlib import crc32

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.ir import Attribute, Block, SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.types import shape_of, si8, tensor
from ...resources import Resources
from ..main_function import main_module

Precision = Literal["i8", "f32"]
PRECISIONS: tuple[Precision, ...] = ("i8", "f32")

STEPS = 32
"""Steps of an 8-bit scale in the root mean square of a tensor: the range is four times that."""

WEIGHT_RMS = 73.6
"""Root mean square of integers drawn evenly from -127 to 127."""

BIAS = 64
"""Largest bias, in steps of a layer's root mean square."""


@dataclass
class Maker:
    """Appends layers to a function.

    With precision i8 every stored tensor is quantised and its readers dequantise it (QDQ form, which `graph-quantize`
    turns into integer arithmetic); with f32 the same numbers are computed without rounding.  `rms` is the root mean
    square of each tensor, estimated as if all elements were independent; it sets scales.  Weights depend on the seed
    and their layer's name alone.
    """

    precision: Precision
    seed: int = 0
    block: Block = field(default_factory=Block)
    resources: Resources = field(default_factory=Resources)
    rms: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    inputs: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def input(self, name: str, shape: Sequence[int]) -> SSAValue:
        """An argument of the function; its elements have a root mean square of 1."""
        element = si8 if self.precision == "i8" else f32
        given = self.block.insert_arg(tensor(shape, element), len(self.block.args))
        given.name_hint = name
        self.inputs[name] = given
        if self.precision == "f32":
            self.rms[given] = 1.0
            return given
        return self._dequantised(name, given, 1.0)

    def module(self, outputs: dict[str, SSAValue]) -> ModuleOp:
        """The function as a module; outputs are integers where the precision is i8."""
        values = [self._integers(value) for value in outputs.values()]
        return main_module(self.block, self.inputs, outputs, values, self.resources)

    def add(self, layer: graph.LayerOp, name: str, rms: float | None = None) -> SSAValue:
        """The result of a layer whose elements have the root mean square `rms`, else that of its first operand."""
        graph.set_name(layer, name)
        self.block.add_op(layer)
        self.rms[layer.results[0]] = self.rms.get(layer.operands[0], 1.0) if rms is None else rms
        return layer.results[0]

    def stored(self, name: str, value: SSAValue, rms: float | None = None, scaled: float = 1.0) -> SSAValue:
        """The tensor as it is kept between layers, times `scaled`."""
        rms = self.rms[value] if rms is None else rms
        if self.precision == "f32":
            self.rms[value] = rms
            return value if scaled == 1.0 else self.binary(name + ".scaled", "mul", value, self.number(scaled))
        step = self.number(rms / STEPS)
        quantised = graph.QuantizeOp(value, step, element=si8)
        graph.set_name(quantised, f"{name}.q")
        self.block.add_op(quantised)
        return self._dequantised(name, quantised.result, rms, scaled)

    def binary(self, name: str, kind: str, a: SSAValue, b: SSAValue, rms: float | None = None) -> SSAValue:
        """A function of two tensors."""
        return self.add(graph.BinaryOp(kind, a, b), name, rms)

    def relu(self, name: str, x: SSAValue) -> SSAValue:
        """max(x, 0)."""
        return self.add(graph.UnaryOp("relu", x), name, self.rms[x] / sqrt(2))

    def conv(
        self, name: str, x: SSAValue, channels: int, kernel: Sequence[int], groups: int = 1, **window: Sequence[int]
    ) -> SSAValue:
        """A convolution with bias of [N, C, rows, columns]; its sums have a root mean square of 1."""
        shape = channels, shape_of(x)[1] // groups, *kernel
        weight, bias = self._parameters(name, shape, self.rms[x], prod(shape[1:]), channels)
        return self.add(graph.ConvOp(x, weight, bias, groups=groups, **window), name, 1.0)  # pyright: ignore[reportArgumentType]

    def gemm(self, name: str, x: SSAValue, columns: int) -> SSAValue:
        """[N, K] by weights of [K, columns], with bias."""
        shape = shape_of(x)[-1], columns
        weight, bias = self._parameters(name, shape, self.rms[x], shape[0], columns)
        return self.add(graph.GemmOp(x, weight, bias), name, 1.0)

    def linear(self, name: str, x: SSAValue, columns: int) -> SSAValue:
        """[..., K] by weights of [K, columns], without bias, stored."""
        weight, _ = self._parameters(name, (shape_of(x)[-1], columns), self.rms[x], shape_of(x)[-1], 0)
        return self.stored(name, self.add(graph.MatmulOp(x, weight), name, 1.0))

    def constant(self, name: str, values: Array, element: Attribute) -> SSAValue:
        """A constant tensor, beside the text."""
        self.resources[name] = values
        made = graph.WeightOp(name, tensor(values.shape, element))
        self.block.add_op(made)
        made.result.name_hint = name
        return made.result

    def number(self, value: float) -> SSAValue:
        """An f32 scalar, in the text."""
        made = graph.WeightOp(f"number{value!r}", tensor((), f32), np.array(value, np.float32))
        self.block.add_op(made)
        self.rms[made.result] = abs(value)
        return made.result

    def spread(self, name: str, shape: tuple[int, ...], mean: float, deviation: float) -> SSAValue:
        """f32 parameters of a normalisation, evenly from `mean - deviation` to `mean + deviation`."""
        values = self._random(name).uniform(mean - deviation, mean + deviation, shape)
        return self.constant(name, values.astype(np.float32), f32)

    def _parameters(
        self, name: str, shape: tuple[int, ...], rms: float, fan_in: int, channels: int
    ) -> tuple[SSAValue, SSAValue | None]:
        """Weights that keep sums of `fan_in` products with elements of `rms` near 1, and a bias for `channels`."""
        random = self._random(name)
        scale = 1 / (WEIGHT_RMS * rms * sqrt(fan_in))
        weights = random.integers(-127, 128, shape, dtype=np.int8)
        biases = random.integers(-BIAS, BIAS + 1, channels, dtype=np.int32) if channels else None
        if self.precision == "f32":
            weight = self.constant(f"{name}.weight", weights.astype(np.float32) * np.float32(scale), f32)
            if biases is None:
                return weight, None
            return weight, self.constant(f"{name}.bias", biases.astype(np.float32) / np.float32(STEPS * 8), f32)
        weight = self._dequantised(f"{name}.weight", self.constant(f"{name}.weight", weights, si8), step=scale)
        if biases is None:
            return weight, None
        step = scale * rms / STEPS
        counts = np.rint(biases / (STEPS * 8 * step)).astype(np.int32)
        return weight, self._dequantised(f"{name}.bias", self.constant(f"{name}.bias", counts, i32), step=step)

    def _dequantised(
        self, name: str, value: SSAValue, rms: float = 1.0, scaled: float = 1.0, step: float = 0.0
    ) -> SSAValue:
        layer = graph.DequantizeOp(value, self.number(scaled * (step or rms / STEPS)))
        return self.add(layer, f"{name}.dq", rms * scaled)

    def _integers(self, value: SSAValue) -> SSAValue:
        """A tensor as it is stored."""
        if self.precision == "f32":
            return value
        if not isinstance(value.owner, graph.DequantizeOp):  # moved after it was stored
            value = self.stored("result", value)
        assert isinstance(value.owner, graph.DequantizeOp)
        return value.owner.x

    def _random(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, crc32(name.encode())])


__all__ = ["PRECISIONS", "Maker", "Precision"]
