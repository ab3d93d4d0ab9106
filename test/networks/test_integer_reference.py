"""Quantised networks against integer arithmetic written here from the ONNX file alone, bit for bit.

An integer q with scale s and zero point z stands for s (q - z).  What a layer computes exactly in integers is brought
to the scale of its QuantizeLinear by a factor m / 2^shift, m the rounded one of 31 bits, as `(acc m + half) >> shift`
(Jacob et al., CVPR 2018, section 2.2); the two terms of an addition share one shift, with factors of 20 bits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper

from tilewright import CompileOptions, compile, simulate

from ..onnx_files.networks import mobilenet, seeded_light_model
from ..onnx_files.quantized import quantized
from ..onnx_files.weights import random_inputs

Array = NDArray[Any]


@dataclass(frozen=True)
class Codes:
    """8-bit (or bias) integers, kept as int64; `scale` and `zero` are scalars or one per index of `axis`."""

    q: Array
    scale: Array
    zero: Array
    axis: int = 0

    def centred(self) -> Array:
        shape = [1] * self.q.ndim
        if self.zero.ndim:
            shape[self.axis] = -1
        return self.q - self.zero.reshape(shape)


@dataclass(frozen=True)
class Exact:
    """A result before quantisation: `at(scale)` is it in units of `scale`, rounded; then come real bounds."""

    at: Callable[[float], Array]
    low: float = -np.inf
    high: float = np.inf


def factor(ratio: float, bits: int = 31) -> tuple[int, int]:
    """`(m, shift)`, m / 2^shift nearest to ratio, 2^(bits-1) <= m < 2^bits."""
    shift = 0
    while round(Fraction(ratio) * 2**shift) < 2 ** (bits - 1):
        shift += 1
    assert shift <= 62
    assert round(Fraction(ratio) * 2**shift) < 2**bits
    return round(Fraction(ratio) * 2**shift), shift


def shifted(values: Array, shift: Array) -> Array:
    """values / 2^shift, halves up."""
    return np.floor_divide(values + (np.int64(1) << shift) // 2, np.int64(1) << shift)


def scaled(sums: Array, scale: Array) -> Exact:
    """The integers `sums` times `scale`, a scalar or one per channel (axis 1)."""

    def at(goal: float) -> Array:
        pairs = np.array([factor(float(s) / goal) for s in scale.reshape(-1)], np.int64)
        m, shift = (column.reshape(-1, *[1] * (sums.ndim - 2)) if scale.ndim else column[0] for column in pairs.T)
        return shifted(sums * m, shift)

    return Exact(at)


def added(a: Codes, b: Codes) -> Exact:
    def at(goal: float) -> Array:
        ratios = float(a.scale) / goal, float(b.scale) / goal
        _, shift = factor(max(ratios), 20)
        ma, mb = (round(Fraction(ratio) * 2**shift) for ratio in ratios)
        return shifted(a.centred() * ma + b.centred() * mb, np.array(shift))

    return Exact(at)


def windows(x: Array, node: dict[str, Any], kernel: tuple[int, ...], fill: int) -> Array:
    """`[n, c, p, q, r, s]`, padded by `fill`."""
    assert node.get("auto_pad", b"NOTSET") == b"NOTSET"
    assert not node.get("ceil_mode")
    assert set(node.get("dilations", (1,))) == {1}
    pads, strides = node.get("pads", (0,) * 4), node.get("strides", (1, 1))
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
    return sliding_window_view(x, kernel, (2, 3))[:, :, :: strides[0], :: strides[1]]


def product(x: Codes, w: Codes, bias: Codes | None, sums: Array) -> Exact:
    """Float64 sums of integers (exact below 2^53), with a bias in units of both scales."""
    total, scale = np.rint(sums).astype(np.int64), x.scale * w.scale
    if bias is not None:
        assert np.array_equal(bias.scale, scale.astype(np.float32))  # as its file says, rounded once
        total += bias.centred().reshape(-1, *[1] * (sums.ndim - 2))
    return scaled(total, scale)


def conv(node: dict[str, Any], x: Codes, w: Codes, bias: Codes | None = None) -> Exact:
    views = windows(x.centred(), node, w.q.shape[2:], 0).astype(np.float64)
    weights, groups = w.centred().astype(np.float64), node.get("group", 1)
    parts = zip(np.split(views, groups, 1), np.split(weights, groups), strict=True)
    sums = [np.moveaxis(np.tensordot(v, part, ((1, 4, 5), (1, 2, 3))), -1, 1) for v, part in parts]
    return product(x, w, bias, np.concatenate(sums, 1))


def gemm(node: dict[str, Any], x: Codes, w: Codes, bias: Codes | None = None) -> Exact:
    assert (node.get("alpha", 1.0), node.get("beta", 1.0), node.get("transA", 0)) == (1.0, 1.0, 0)
    weights = w.centred().T if node.get("transB", 0) else w.centred()
    return product(x, w, bias, x.centred().astype(np.float64) @ weights.astype(np.float64))


def mean(node: dict[str, Any], x: Codes) -> Exact:
    return scaled(x.centred().sum((2, 3), keepdims=True), x.scale / prod(x.q.shape[2:]))


def average_pool(node: dict[str, Any], x: Codes) -> Exact:
    kernel = tuple(node["kernel_shape"])
    assert not any(node.get("pads", ()))
    return scaled(windows(x.centred(), node, kernel, 0).sum((4, 5)), x.scale / prod(kernel))


def max_pool(node: dict[str, Any], x: Codes) -> Codes:
    return replace(x, q=windows(x.q, node, tuple(node["kernel_shape"]), -256).max((4, 5)))


def concat(node: dict[str, Any], *pieces: Codes) -> Exact:
    return Exact(lambda goal: np.concatenate([scaled(p.centred(), p.scale).at(goal) for p in pieces], node["axis"]))


def relu(node: dict[str, Any], x: Codes | Exact) -> Codes | Exact:
    return replace(x, low=0.0) if isinstance(x, Exact) else replace(x, q=np.maximum(x.q, x.zero))


def flatten(node: dict[str, Any], x: Codes) -> Codes:
    assert node.get("axis", 1) == 1
    return replace(x, q=x.q.reshape(len(x.q), -1))


def reshape(node: dict[str, Any], x: Codes, shape: Array) -> Codes:
    return replace(x, q=x.q.reshape([x.q.shape[i] if n == 0 else n for i, n in enumerate(shape)]))


def quantize(node: dict[str, Any], x: Array | Codes | Exact, scale: Array, zero: Array) -> Array:
    limits = np.iinfo(zero.dtype)
    if isinstance(x, np.ndarray):  # the network's input
        return np.clip(np.rint(x / scale).astype(np.int64) + int(zero), limits.min, limits.max).astype(zero.dtype)
    exact = scaled(x.centred(), x.scale) if isinstance(x, Codes) else x
    low, high = (np.rint(np.float32(bound) / scale) + zero for bound in (exact.low, exact.high))
    codes = exact.at(float(scale)) + int(zero)
    return np.clip(codes, max(low, limits.min), min(high, limits.max)).astype(zero.dtype)


def dequantize(node: dict[str, Any], q: Array, scale: Array, zero: Array | None = None) -> Codes:
    zeros = np.zeros(scale.shape, np.int64) if zero is None else zero.astype(np.int64)
    return Codes(q.astype(np.int64), scale.astype(np.float64), zeros, node.get("axis", 1))


LAYERS: dict[str, Callable[..., Any]] = {
    "Add": lambda node, a, b: added(a, b),
    "AveragePool": average_pool,
    "Concat": concat,
    "Conv": conv,
    "DequantizeLinear": dequantize,
    "Dropout": lambda node, x, *_: x,
    "Flatten": flatten,
    "Gemm": gemm,
    "GlobalAveragePool": mean,
    "MaxPool": max_pool,
    "QuantizeLinear": quantize,
    "Relu": relu,
    "Reshape": reshape,
}


def attributes(node: NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def by_integers(model: ModelProto, inputs: dict[str, Array]) -> dict[str, Array]:
    """The outputs of a network in QDQ form; their last step is `(q - z) * s` in float32."""
    values: dict[str, Any] = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    values |= inputs
    for node in model.graph.node:
        operands = [values[name] for name in node.input if name]
        values[node.output[0]] = LAYERS[node.op_type](attributes(node), *operands)
    found = {output.name: values[output.name] for output in model.graph.output}
    return {name: x.centred().astype(np.float32) * x.scale.astype(np.float32) for name, x in found.items()}


MODELS: dict[str, Callable[[], ModelProto]] = {
    "mobilenet": lambda: quantized(mobilenet(size=32, width=0.25, classes=10)),
    "mobilenet_signed": lambda: quantized(mobilenet(size=40, width=0.25, classes=10), signed=True),
    "squeezenet": lambda: quantized(seeded_light_model("squeezenet")),
    "resnet50": lambda: quantized(seeded_light_model("resnet50")),
}

FIRST_WAY = CompileOptions(gap=1000.0, prove=False)
"""Any program is near enough to the bound; that it keeps its data is seen by its results."""

SLOW = ("mobilenet_signed", "squeezenet", "resnet50")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in MODELS])
def test_bit_for_bit(name: str) -> None:
    model = MODELS[name]()
    inputs = random_inputs(model, 11)
    expected = by_integers(model, inputs)
    found = simulate(compile(model, "edge16", options=FIRST_WAY), inputs, timing=False).outputs
    assert set(found) == set(expected)
    for output, array in expected.items():
        assert len(np.unique(array)) > 5
        np.testing.assert_array_equal(found[output], array)


@pytest.mark.parametrize(("ratio", "bits"), [(1.0, 31), (0.75, 31), (3.1e-4, 31), (0.1, 20), (1 - 2**-40, 31)])
def test_factor(ratio: float, bits: int) -> None:
    m, shift = factor(ratio, bits)
    assert 2 ** (bits - 1) <= m < 2**bits
    assert abs(m / 2**shift - ratio) <= 2.0 ** -(shift + 1)
