"""The least cycles of layers by the instructions of a machine, whatever tiles and chunks they are cut into.

An instruction does best where its extents fill the lanes and instances that they are divided by, and where what it
reads once serves most: that holds of formulas that round divisions up and grow with what is read.
"""

from __future__ import annotations

from collections.abc import Callable

from ...zoo.schedule_networks.layers import Layer, Network, Shape
from .instructions import ADD, MAXIMUM, MOVE, REQUANT, Issue
from .issue_price import least_product, least_vector
from .tables import Model
from .workspace import issue_scratch

MANY = 16 * 720720
"""A multiple of all lanes and instances there may be."""

Known = dict[tuple[int, ...], float]
LeastOverTiles = Callable[[Layer, tuple[int, int], float, float], float]


def product_floor(
    network: Network,
    number: int,
    pixels: tuple[int, int],
    model: Model,
    batch: int,
    over_tiles: LeastOverTiles,
    known: Known,
) -> tuple[float, float]:
    """Cycles of a layer of products, and cycles for each pixel times the pixels; `known` is kept between layers."""
    layer = network.layers[number]
    channels, filters = network.group_shape(number)
    parts = [[channels]]
    if layer.groups == 1 and not layer.weights_from:
        parts.append([shape.channels for shape in _sources(network, layer)])
    each = min(sum(_least(model.issue, layer, filters, part, known) for part in given) for given in parts)
    each *= filters * layer.groups * batch
    full = layer.kernel[0] * layer.kernel[1]
    cycles = over_tiles(layer, pixels, each * full, 0.0) - each * _missing(network, number)
    return max(0.0, cycles), each * full * pixels[0] * pixels[1]


def _sources(network: Network, layer: Layer) -> list[Shape]:
    return [network.layers[i].shape for i in layer.inputs] + [network.inputs[i][1] for i in layer.external]


def _least(issue: Issue, layer: Layer, filters: int, channels: int, known: Known) -> float:
    """Cycles for each result and tap of one group that reads `channels`."""
    key = filters, channels, *layer.shape[1:], *layer.kernel
    if key not in known:
        known[key] = _search(issue, layer, filters, channels)
    return known[key]


def _search(issue: Issue, layer: Layer, filters: int, channels: int) -> float:
    block = int(issue.spreads.max())
    rows, columns = (-(-size // block) * block for size in layer.shape[1:])
    windows = {(tall, wide) for tall in (1, layer.kernel[0]) for wide in (1, layer.kernel[1])}
    values = issue_scratch()[1]
    return min(least_product(issue, values, filters, (MANY, rows, columns, channels), window) for window in windows)


def _missing(network: Network, number: int) -> int:
    """Pairs of a pixel and a tap of its window that lie outside of the map."""
    layer, given, pads = network.layers[number], network.input_shapes[number], network.padding(number)
    found, full = 1, 1
    for axis in (0, 1):
        count, size = layer.shape[1 + axis], given[1 + axis]
        kernel, stride = layer.kernel[axis], layer.stride[axis]
        inside = [
            range(max(0, at), min(size, at + kernel)) for at in range(-pads[axis], count * stride - pads[axis], stride)
        ]
        found *= sum(map(len, inside))
        full *= count * kernel
    return full - found


def vector_floor(network: Network, number: int, area: int, model: Model) -> float:
    """Cycles of a layer without products whose map has `area` pixels in all samples."""
    layer, issue = network.layers[number], model.issue
    values = issue_scratch()[1]
    size = area * layer.shape.channels
    if layer.kind == "pool":
        missing = _missing(network, number) * (area // max(1, layer.shape.height * layer.shape.width) + 1)
        taps = size * layer.kernel[0] * layer.kernel[1] - missing * layer.shape.channels
        return max(0, taps) * least_vector(issue, values, MAXIMUM, MANY)
    if layer.kind == "eltwise" and layer.operands > 1:
        add = (layer.operands - 1) * least_vector(issue, values, ADD, MANY)
        return size * (add + least_vector(issue, values, REQUANT, MANY))
    return size * least_vector(issue, values, MOVE, MANY)
