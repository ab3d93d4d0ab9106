"""Image networks of the zoo as graph modules: convolutions, pools, sums and concatenations of their layer tables.

Relu follows every convolution and sum, but depthwise convolutions, those whose only reader is a sum, and the last
layer.  A pool of the whole map is an average, others are maxima.
"""

from dataclasses import dataclass, field
from math import prod, sqrt

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import shape_of
from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Layer, Network
from .maker import Maker

RECTIFIED_MEAN = 1 / sqrt(3.14159265)
"""Mean over root mean square of the positive part of a normal variable."""


def image_module(network: Network, maker: Maker, batch: int) -> ModuleOp:
    """The network on `batch` images; `TilewrightError` (kind `unsupported`) where a table has other layers."""
    return _Images(network, maker, batch).module()


@dataclass
class _Images:
    network: Network
    maker: Maker
    batch: int
    made: list[SSAValue] = field(default_factory=list[SSAValue])
    given: list[SSAValue] = field(default_factory=list[SSAValue])
    concatenations: dict[tuple[SSAValue, ...], SSAValue] = field(default_factory=dict[tuple[SSAValue, ...], SSAValue])

    def module(self) -> ModuleOp:
        network = self.network
        self.given = [self.maker.input(name, (self.batch, *shape)) for name, shape in network.inputs]
        for number, layer in enumerate(network.layers):
            self.made.append(self._layer(number, layer))
        ends = [number for number, readers in enumerate(network.consumers) if not readers]
        return self.maker.module({network.layers[number].name: self.made[number] for number in ends})

    def _layer(self, number: int, layer: Layer) -> SSAValue:
        sources = [self.made[i] for i in layer.inputs] + [self.given[i] for i in layer.external]
        match layer.kind:
            case "conv" | "group_conv" if not layer.weights_from:
                x = self._conv(number, layer, self._joined(sources))
            case "fc":
                x = self._dense(layer, self._joined(sources))
            case "pool":
                x = self._pool(number, layer, self._joined(sources))
            case "eltwise":
                x = self._sum(layer, sources)
            case "pointwise":
                return self._joined(sources)
            case "upsample":
                x = self._repeated(layer, self._joined(sources))
            case _:
                expected = "convolutions, pools, sums and enlargements"
                where = f"{self.network.name}, layer {layer.name}"
                raise TilewrightError("unsupported", where, expected, layer.kind)
        if layer.kind in ("conv", "fc", "eltwise") and self._is_rectified(number):
            x = self.maker.relu(f"{layer.name}.relu", x)
        return self.maker.stored(layer.name, x)

    def _is_rectified(self, number: int) -> bool:
        readers = self.network.consumers[number]
        summed = len(readers) == 1 and self.network.layers[readers[0]].kind == "eltwise"
        return bool(readers) and not (summed and self.network.layers[number].kind == "conv")

    def _joined(self, sources: list[SSAValue]) -> SSAValue:
        """One map, or several along channels."""
        if len(sources) == 1:
            return sources[0]
        key = tuple(sources)
        if key not in self.concatenations:
            maker, name = self.maker, f"concat{len(self.concatenations)}"
            rms = sqrt(sum(maker.rms[x] ** 2 * shape_of(x)[1] for x in key) / sum(shape_of(x)[1] for x in key))
            self.concatenations[key] = maker.stored(name, maker.add(graph.ConcatOp(key, axis=1), name, rms))
        return self.concatenations[key]

    def _conv(self, number: int, layer: Layer, x: SSAValue) -> SSAValue:
        window = {"strides": layer.stride, "pads": self._pads(number)}
        return self.maker.conv(layer.name, x, layer.shape.channels, layer.kernel, layer.groups, **window)

    def _dense(self, layer: Layer, x: SSAValue) -> SSAValue:
        """All elements of a sample to so many channels: [N, channels]."""
        maker = self.maker
        if len(shape_of(x)) > 2:
            size = prod(shape_of(x)[1:])
            x = maker.add(graph.ReshapeOp(x, (self.batch, size)), f"{layer.name}.flat")
        return maker.gemm(layer.name, x, layer.shape.channels)

    def _pool(self, number: int, layer: Layer, x: SSAValue) -> SSAValue:
        maker, given = self.maker, self.network.input_shapes[number]
        if layer.kernel == (given.height, given.width) and layer.shape[1:] == (1, 1):
            mean = graph.ReduceOp("mean", x, axes=[2, 3], keepdims=True)
            return maker.add(mean, layer.name, maker.rms[x] * RECTIFIED_MEAN)
        window = {"kernel": layer.kernel, "strides": layer.stride, "pads": self._pads(number)}
        return maker.add(graph.PoolOp("max", x, **window), layer.name)  # pyright: ignore[reportArgumentType]

    def _pads(self, number: int) -> list[int]:
        """Before each axis, then after each."""
        layer, given = self.network.layers[number], self.network.input_shapes[number]
        before = self.network.padding(number)
        after = [
            max(0, (made - 1) * stride + kernel - extent - pad)
            for made, stride, kernel, extent, pad in zip(
                layer.shape[1:], layer.stride, layer.kernel, given[1:], before, strict=True
            )
        ]
        return [*before, *after]

    def _sum(self, layer: Layer, sources: list[SSAValue]) -> SSAValue:
        """Equal parts of the concatenation, added up."""
        parts: list[SSAValue] = []
        waiting: list[SSAValue] = []
        for x in sources:
            waiting.append(x)
            if sum(shape_of(one)[1] for one in waiting) == layer.shape.channels:
                parts.append(self._joined(waiting))
                waiting = []
        if waiting or len(parts) != layer.operands:
            found = f"{len(parts)} whole operands of {layer.operands}"
            raise TilewrightError("network", layer.name, "sources that make up whole operands", found)
        total = parts[0]
        for place, part in enumerate(parts[1:], 2):
            name = layer.name if place == len(parts) else f"{layer.name}.{place}"
            rms = sqrt(self.maker.rms[total] ** 2 + self.maker.rms[part] ** 2)
            total = self.maker.binary(name, "add", total, part, rms)
            if place < len(parts):
                total = self.maker.stored(name, total)
        return total

    def _repeated(self, layer: Layer, x: SSAValue) -> SSAValue:
        scales = [made // given for made, given in zip((self.batch, *layer.shape), shape_of(x), strict=True)]
        return self.maker.add(graph.ResizeOp(x, scales=scales), layer.name)
