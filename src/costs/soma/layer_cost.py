"""What a tile of a layer reads and costs."""

from __future__ import annotations

from typing import NamedTuple

from ...zoo.schedule_networks.layers import Network
from .blocks import Work
from .hardware import Hardware
from .tile_cost import TileCost, mac_cost, vector_cost


class Box(NamedTuple):
    """A tile of a feature map: samples, channels, height, width."""

    batch: int
    channels: int
    height: int
    width: int

    @property
    def size_bytes(self) -> int:
        """Its size at one byte per element."""
        return self.batch * self.channels * self.height * self.width


def input_box(network: Network, number: int, tile: Box) -> Box:
    """What layer `number` reads of its concatenated input for `tile`.

    Every tile is taken for the first one, whose window begins in the padding above and left of the map.
    """
    layer, given = network.layers[number], network.input_shapes[number]
    if layer.kind in ("fc", "rearrange"):
        return Box(tile.batch, *given)
    if layer.kind == "transpose":
        extents = [0, 0, 0]
        for place, axis in enumerate(layer.permutation):
            extents[axis] = tile[1 + place]
        return Box(tile.batch, *extents)
    if layer.kind in ("eltwise", "pointwise"):
        return tile
    if layer.kind == "upsample":
        tall, wide = layer.shape.height // given.height, layer.shape.width // given.width
        return tile._replace(height=-(-tile.height // tall), width=-(-tile.width // wide))
    above, left = network.padding(number)
    height = min((tile.height - 1) * layer.stride[0] + layer.kernel[0] - above, given.height)
    width = min((tile.width - 1) * layer.stride[1] + layer.kernel[1] - left, given.width)
    return Box(tile.batch, tile.channels if layer.kind == "pool" else given.channels, height, width)


def source_box(network: Network, consumer: int, producer: int, tile: Box) -> Box:
    """What layer `consumer` reads of the result of layer `producer` for `tile`.

    Where several producers are concatenated, the box spans the channels of them all.
    """
    layer, channels = network.layers[consumer], network.layers[producer].shape.channels
    boxes: list[Box] = []
    if producer in layer.weights_from:
        kernel = layer.kernel[0] * layer.kernel[1]
        boxes.append(Box(tile.batch, channels, network.group_shape(consumer)[0], kernel))
    if producer in layer.inputs:
        boxes.append(input_box(network, consumer, tile))
    return union(boxes)


def union(boxes: list[Box]) -> Box:
    """The smallest box that holds each of `boxes`, all anchored at the origin."""
    return Box(*(max(extents) for extents in zip(*boxes, strict=True)))


def tile_cost(network: Network, number: int, tile: Box, machine: Hardware) -> TileCost:
    """Cost of `tile` of layer `number`."""
    layer = network.layers[number]
    if not layer.has_macs:
        return vector_cost(tile.size_bytes * layer.operands * layer.kernel[0] * layer.kernel[1], machine)
    channels, filters = network.group_shape(number)
    batch, groups = tile.batch, -(-tile.channels // filters) if layer.groups > 1 else 1
    if groups == 1:
        filters = tile.channels
    if layer.weights_from:
        batch, groups = 1, groups * batch
    return mac_cost(
        Work(batch, channels, filters, tile.height, tile.width, *layer.kernel, *layer.stride, groups), machine
    )
