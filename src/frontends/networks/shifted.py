"""Image networks of 8-bit integers whose scales are powers of two, so that requantisation is a rounded shift.

Shapes are those of the papers (ResNet-18: He et al. 2015; MobileNet: Howard et al. 2017; SqueezeNet 1.1: Iandola et al.
2016); weights are drawn from a seed, and shifts chosen by the estimated size of sums.  The mean of a map is taken
as a small number by a power of two of its sum, 21/1024 of 49 elements.
"""

from dataclasses import dataclass
from math import log2, prod, sqrt

import numpy as np
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of, si8, tensor
from ..integer_layers import IntegerLayers

SUFFIX = "shifted"
RMS = 40.0
"""Root mean square of activations and of sums after their shift, about."""

WEIGHT_RMS = 73.6
MEANS = {1: (1, 0), 4: (1, 2), 9: (57, 9), 49: (21, 10), 169: (97, 14)}
"""Elements of a map, and its mean as a number and a shift."""


@dataclass
class _Shifted:
    layers: IntegerLayers
    random: np.random.Generator
    count: int = 0

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def shifted(self, x: SSAValue, name: str, bits: int, rectified: bool) -> SSAValue:
        """The sums by 2^bits, rounded, as bytes."""
        low = 0 if rectified else -128
        made = graph.RequantizeOp(x, self.layers.number(1), self.layers.number(bits), element=si8, axis=1, low=low)
        return self.layers.add(made, name)

    def conv(
        self,
        x: SSAValue,
        channels: int,
        kernel: int,
        step: int = 1,
        pad: int = 0,
        rectified: bool = True,
        groups: int = 1,
    ) -> SSAValue:
        layers, name = self.layers, self.name("conv")
        shape = channels, shape_of(x)[1] // groups, kernel, kernel
        w = layers.weight(f"{name}.weight", self.random.integers(-127, 128, shape).astype(np.int8))
        bits = round(log2(WEIGHT_RMS * sqrt(prod(shape[1:]))))
        most = int(RMS * 2**bits / 2)
        b = layers.weight(f"{name}.bias", self.random.integers(-most, most, channels).astype(np.int32), i32)
        made = graph.ConvOp(x, w, b, strides=[step] * 2, pads=[pad] * 4, groups=groups)
        return self.shifted(layers.add(made, f"{name}.sums"), name, bits, rectified)

    def pool(self, x: SSAValue, kernel: int, step: int, pads: list[int]) -> SSAValue:
        made = graph.PoolOp("max", x, kernel=[kernel] * 2, strides=[step] * 2, pads=pads)
        return self.layers.add(made, self.name("pool"))

    def mean(self, x: SSAValue) -> SSAValue:
        factor, bits = MEANS[prod(shape_of(x)[2:])]
        total = graph.ReduceOp("sum", self.layers.wide(x), axes=[2, 3], keepdims=True)
        sums = self.layers.add(total, self.name("total"))
        made = graph.RequantizeOp(sums, self.layers.number(factor), self.layers.number(bits), element=si8, axis=1)
        return self.layers.add(made, self.name("mean"))

    def sum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        total = self.layers.add(graph.BinaryOp("add", self.layers.wide(a), self.layers.wide(b)), self.name("sum"))
        return self.shifted(total, self.name("add"), 1, True)

    def dense(self, x: SSAValue, columns: int) -> SSAValue:
        layers, name, depth = self.layers, self.name("fc"), shape_of(x)[1]
        flat = layers.add(graph.ReshapeOp(x, (shape_of(x)[0], depth)), f"{name}.flat")
        w = layers.weight(f"{name}.weight", self.random.integers(-127, 128, (depth, columns)).astype(np.int8))
        bits = round(log2(WEIGHT_RMS * sqrt(depth)))
        return self.shifted(layers.add(graph.GemmOp(flat, w), f"{name}.sums"), name, bits, False)


def _resnet18(net: _Shifted, x: SSAValue) -> SSAValue:
    x = net.pool(net.conv(x, 64, 7, 2, 3), 3, 2, [1, 1, 1, 1])
    for channels, step in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        y = net.conv(net.conv(x, channels, 3, step, 1), channels, 3, 1, 1, rectified=False)
        if step != 1:
            x = net.conv(x, channels, 1, step, rectified=False)
        x = net.sum(y, x)
    return net.dense(net.mean(x), 1000)


def _mobilenet(net: _Shifted, x: SSAValue) -> SSAValue:
    x = net.conv(x, 32, 3, 2, 1)
    steps = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
    for channels, step in steps:
        x = net.conv(x, shape_of(x)[1], 3, step, 1, groups=shape_of(x)[1])
        x = net.conv(x, channels, 1)
    return net.dense(net.mean(x), 1000)


def _squeezenet(net: _Shifted, x: SSAValue) -> SSAValue:
    x = net.pool(net.conv(x, 64, 3, 2), 3, 2, [0, 0, 0, 0])
    for squeeze, expand, pooled in (
        *((16, 64, False), (16, 64, True), (32, 128, False), (32, 128, True)),
        *((48, 192, False), (48, 192, False), (64, 256, False), (64, 256, False)),
    ):
        x = net.conv(x, squeeze, 1)
        parts = [net.conv(x, expand, 1), net.conv(x, expand, 3, 1, 1)]
        x = net.layers.add(graph.ConcatOp(parts, axis=1), net.name("fire"))
        x = net.pool(x, 3, 2, [0, 0, 0, 0]) if pooled else x
    return net.mean(net.conv(x, 1000, 1))


NETWORKS = {"resnet18": _resnet18, "mobilenet_v1": _mobilenet, "squeezenet": _squeezenet}


def shifted_network(name: str, size: int = 224, samples: int = 1) -> ModuleOp:
    """The network (one of `NETWORKS`) on images of `size` by `size`: 8-bit integers to 8-bit integers."""
    layers = IntegerLayers.of([tensor((samples, 3, size, size), si8)])
    net = _Shifted(layers, np.random.default_rng(0))
    result = NETWORKS[name](net, layers.block.args[0])
    return layers.module(["image"], ["scores"], [result])
