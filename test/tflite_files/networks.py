"""Small TFLite networks with seeded weights, as the converter lays them out."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np

from .builder import Model

NONE, RELU, RELU6 = 0, 1, 3
"""Fused activations."""


class Network:
    """A graph of 8-bit integers (or f32) whose maps have about unit variance; `at` is the number of the last tensor."""

    def __init__(self, shape: Sequence[int], quantised: bool, seed: int) -> None:
        self.model, self.quantised = Model(), quantised
        self.random = np.random.default_rng(seed)
        self.scales: dict[int, float] = {}
        scaling = self._scaling(0.031, 4)
        self.at = self.model.input(shape, "int8" if quantised else "float32", **scaling)
        self.scales[self.at] = 0.031

    def _scaling(self, scale: float, zero: int) -> dict[str, Any]:
        return {"scale": scale, "zero": zero} if self.quantised else {}

    def made(self, shape: Sequence[int], activation: int = NONE, scale: float = 0.04, zero: int = 3) -> int:
        """A tensor of activations."""
        if activation == RELU6:
            scale, zero = 6 / 255, -128
        elif activation == RELU:
            scale, zero = 8 / 255, -128
        index = self.model.tensor(shape, "int8" if self.quantised else "float32", **self._scaling(scale, zero))
        self.scales[index] = scale
        return index

    def weights(self, shape: Sequence[int], inner: int, axis: int) -> tuple[int, int]:
        """Weights and bias of a layer that sums `inner` products; one scale for each channel of results."""
        channels = shape[axis]
        real = self.random.normal(0, 1.4 / sqrt(inner), shape).astype(np.float32)
        bias = self.random.normal(0, 0.2, channels).astype(np.float32)
        if not self.quantised:
            return self.model.constant(real), self.model.constant(bias)
        scale = np.abs(real).max(tuple(a for a in range(len(shape)) if a != axis)) / 127
        along = scale.reshape([-1 if a == axis else 1 for a in range(len(shape))])
        steps = np.clip(np.rint(real / along), -127, 127).astype(np.int8)
        products = (scale * self.scales[self.at]).astype(np.float32)
        w = self.model.constant(steps, scale=scale, axis=axis)
        return w, self.model.constant(np.rint(bias / products).astype(np.int32), scale=products, axis=0)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.model.shapes[self.at]

    def _window(self, kernel: Sequence[int], stride: int, same: bool, channels: int) -> tuple[int, ...]:
        rows, columns = self.shape[1:3]
        sizes = [
            -(-n // stride) if same else (n - k) // stride + 1 for n, k in zip((rows, columns), kernel, strict=True)
        ]
        return (self.shape[0], *sizes, channels)

    def conv(
        self, channels: int, kernel: Sequence[int] = (1, 1), stride: int = 1, activation: int = NONE, same: bool = True
    ) -> None:
        """CONV_2D."""
        w, b = self.weights((channels, *kernel, self.shape[3]), prod(kernel) * self.shape[3], 0)
        y = self.made(self._window(kernel, stride, same, channels), activation)
        options = {
            "Padding": int(not same),
            "StrideH": stride,
            "StrideW": stride,
            "FusedActivationFunction": activation,
        }
        self.model.node("CONV_2D", [self.at, w, b], [y], "Conv2DOptions", **options)
        self.at = y

    def depthwise(self, kernel: Sequence[int] = (3, 3), stride: int = 1, activation: int = RELU6) -> None:
        """DEPTHWISE_CONV_2D with as many results as channels."""
        channels = self.shape[3]
        w, b = self.weights((1, *kernel, channels), prod(kernel), 3)
        y = self.made(self._window(kernel, stride, True, channels), activation)
        options = {"StrideH": stride, "StrideW": stride, "FusedActivationFunction": activation, "DepthMultiplier": 1}
        self.model.node("DEPTHWISE_CONV_2D", [self.at, w, b], [y], "DepthwiseConv2DOptions", **options)
        self.at = y

    def add(self, other: int, activation: int = NONE) -> None:
        """ADD of an earlier tensor."""
        y = self.made(self.shape, activation, 0.06)
        self.model.node("ADD", [self.at, other], [y], "AddOptions", FusedActivationFunction=activation)
        self.at = y

    def pool(self, kind: str, size: int, stride: int) -> None:
        """A pool without padding; the scale stays."""
        shape = self._window((size, size), stride, False, self.shape[3])
        scaling = self._scaling(self.scales[self.at], -128)
        y = self.model.tensor(shape, "int8" if self.quantised else "float32", **scaling)
        self.scales[y] = self.scales[self.at]
        options = {"Padding": 1, "StrideH": stride, "StrideW": stride, "FilterHeight": size, "FilterWidth": size}
        self.model.node(kind, [self.at], [y], "Pool2DOptions", **options)
        self.at = y

    def mean(self) -> None:
        """MEAN of the whole image."""
        axes = self.model.constant(np.array([1, 2], np.int32))
        y = self.made((self.shape[0], self.shape[3]), NONE, 0.02, -100)
        self.model.node("MEAN", [self.at, axes], [y], "ReducerOptions", KeepDims=False)
        self.at = y

    def dense(self, channels: int) -> None:
        """FULLY_CONNECTED."""
        inner = self.model.shapes[self.at][-1]
        w, b = self.weights((channels, inner), inner, 0)
        y = self.made((*self.shape[:-1], channels))
        options = {"KeepNumDims": len(self.shape) > 2}
        self.model.node("FULLY_CONNECTED", [self.at, w, b], [y], "FullyConnectedOptions", **options)
        self.at = y

    def reshape(self, shape: Sequence[int]) -> None:
        """RESHAPE."""
        wanted = self.model.constant(np.array(shape, np.int32))
        y = self.model.tensor(
            shape, "int8" if self.quantised else "float32", **self._scaling(self.scales[self.at], -128)
        )
        self.scales[y] = self.scales[self.at]
        self.model.node("RESHAPE", [self.at, wanted], [y])
        self.at = y

    def softmax(self) -> None:
        """SOFTMAX, whose integers count 256ths."""
        y = self.model.tensor(self.shape, "int8" if self.quantised else "float32", **self._scaling(1 / 256, -128))
        self.model.node("SOFTMAX", [self.at], [y], "SoftmaxOptions", Beta=1.0)
        self.at = y

    def bytes(self) -> bytes:
        return self.model.bytes([self.at])


def mobilenet_v2() -> bytes:
    """Inverted residuals in int8."""
    net = Network((1, 32, 32, 3), True, 1)
    net.conv(8, (3, 3), 2, RELU6)
    net.depthwise()
    net.conv(8)
    for channels, stride in ((12, 2), (12, 1), (16, 2), (16, 1)):
        before = net.at
        net.conv(net.shape[3] * 6, activation=RELU6)
        net.depthwise(stride=stride)
        net.conv(channels)
        if stride == 1:
            net.add(before)
    net.conv(64, activation=RELU6)
    net.mean()
    net.dense(10)
    net.softmax()
    return net.bytes()


def resnet() -> bytes:
    """Residual blocks with ReLU in int8."""
    net = Network((1, 32, 32, 3), True, 2)
    net.conv(8, (7, 7), 2, RELU)
    net.pool("MAX_POOL_2D", 2, 2)
    for channels, stride in ((8, 1), (16, 2), (16, 1)):
        before = net.at
        net.conv(channels, (3, 3), stride, RELU)
        net.conv(channels, (3, 3))
        after = net.at
        if stride == 2:
            net.at = before
            net.conv(channels, (1, 1), 2)
            before, net.at = net.at, after
        net.add(before, RELU)
    net.pool("AVERAGE_POOL_2D", 4, 4)
    net.reshape((1, 16))
    net.dense(10)
    net.softmax()
    return net.bytes()


def keywords() -> bytes:
    """A depthwise separable network for words in sound, in int8."""
    net = Network((1, 49, 10, 1), True, 3)
    net.conv(16, (10, 4), 2, RELU)
    for _ in range(4):
        net.depthwise(activation=RELU)
        net.conv(16, activation=RELU)
    net.mean()
    net.dense(12)
    net.softmax()
    return net.bytes()


def cnn() -> bytes:
    """Convolutions and pools in f32."""
    net = Network((1, 28, 28, 1), False, 4)
    net.conv(8, (3, 3), 1, RELU, same=False)
    net.pool("MAX_POOL_2D", 2, 2)
    net.conv(16, (3, 3), 1, RELU)
    net.pool("AVERAGE_POOL_2D", 2, 2)
    net.reshape((1, 6 * 6 * 16))
    net.dense(10)
    net.softmax()
    return net.bytes()


def transformer() -> bytes:
    """A block of attention and feed-forward parts in f32; normalisation is written out."""
    net = Network((1, 16, 32), False, 5)
    before = net.at
    _normalise(net)
    query, key, value = _heads(net)
    scores = net.model.tensor((1, 4, 16, 16))
    net.model.node("BATCH_MATMUL", [query, key], [scores], "BatchMatMulOptions", AdjY=True)
    scaled, weights, mixed = (net.model.tensor(s) for s in ((1, 4, 16, 16), (1, 4, 16, 16), (1, 4, 16, 8)))
    net.model.node("MUL", [scores, net.model.constant(np.float32(8**-0.5))], [scaled], "MulOptions")
    net.model.node("SOFTMAX", [scaled], [weights], "SoftmaxOptions", Beta=1.0)
    net.model.node("BATCH_MATMUL", [weights, value], [mixed], "BatchMatMulOptions")
    net.at = mixed
    _transpose(net, (0, 2, 1, 3))
    _reshaped(net, (1, 16, 32))
    net.dense(32)
    net.add(before)
    before = net.at
    _normalise(net)
    net.dense(64)
    y = net.model.tensor(net.shape)
    net.model.node("GELU", [net.at], [y], "GeluOptions", Approximate=True)
    net.at = y
    net.dense(32)
    net.add(before)
    return net.bytes()


def _reshaped(net: Network, shape: Sequence[int]) -> None:
    y = net.model.tensor(shape)
    net.model.node("RESHAPE", [net.at], [y], "ReshapeOptions", NewShape=list(shape))
    net.at = y


def _transpose(net: Network, perm: Sequence[int]) -> None:
    y = net.model.tensor([net.shape[axis] for axis in perm])
    net.model.node("TRANSPOSE", [net.at, net.model.constant(np.array(perm, np.int32))], [y])
    net.at = y


def _heads(net: Network) -> list[int]:
    found, start = [], net.at
    for _ in range(3):
        net.at = start
        net.dense(32)
        _reshaped(net, (1, 16, 4, 8))
        _transpose(net, (0, 2, 1, 3))
        found.append(net.at)
    return found


def _normalise(net: Network) -> None:
    """`(x - mean) * rsqrt(variance + epsilon)`."""
    model, x, shape = net.model, net.at, net.shape
    axis = model.constant(np.array([len(shape) - 1], np.int32))
    small = (*shape[:-1], 1)
    mean, squares, variance, above, root = (model.tensor(s) for s in (small, shape, small, small, small))
    less, made = model.tensor(shape), model.tensor(shape)
    model.node("MEAN", [x, axis], [mean], "ReducerOptions", KeepDims=True)
    model.node("SQUARED_DIFFERENCE", [x, mean], [squares])
    model.node("MEAN", [squares, axis], [variance], "ReducerOptions", KeepDims=True)
    model.node("ADD", [variance, model.constant(np.float32(1e-5))], [above], "AddOptions")
    model.node("RSQRT", [above], [root])
    model.node("SUB", [x, mean], [less], "SubOptions")
    model.node("MUL", [less, root], [made], "MulOptions")
    net.at = made


NETWORKS = {f.__name__: f for f in (mobilenet_v2, resnet, keywords, cnn, transformer)}
