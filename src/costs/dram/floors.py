"""The least that each layer costs: cycles, energy, and bytes of network inputs, at the best way to cut it.

Every value is a floor of the model in use: the pixels that windows touch, MACs at the utilisation of the best way to
cut a layer over the cores, every operand moved as seldom as blocks in the cores allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...algebra.dag import bits
from ...zoo.schedule_networks.layers import Layer, Network
from ..soma.blocks import Work, splits
from ..soma.hardware import MAC_PJ, VECTOR_PJ, CoreArray
from .energy_floor import least_price
from .tables import Model


@dataclass(frozen=True)
class Floor:
    """A layer at its best: cycles, cycles for each pixel times the pixels, pJ; bytes of each network input that it
    reads; rows and columns that must be computed.
    """

    cycles: float
    linear: float
    energy_pj: float
    inputs: tuple[tuple[int, int], ...]
    pixels: tuple[int, int]


def floors_of(network: Network, model: Model, batch: int) -> list[Floor]:
    """The floor of every layer for `batch` samples."""
    pixels = touched(network, model)
    return [_floor(network, number, pixels, model, batch) for number in range(len(network.layers))]


def touched(network: Network, model: Model) -> list[tuple[int, int]]:
    """Rows and columns of each layer's map that must be computed: those that a later window touches."""
    rows = [0] * len(network.layers)
    columns = [0] * len(network.layers)
    for number in reversed(range(len(network.layers))):
        shape = network.layers[number].shape
        if not network.consumers[number]:
            rows[number], columns[number] = (1 << shape.height) - 1, (1 << shape.width) - 1
        for producer in network.layers[number].producers:
            high, wide = reach(network, number, producer, rows[number], columns[number], model)
            rows[producer] |= high
            columns[producer] |= wide
    return [(high.bit_count(), wide.bit_count()) for high, wide in zip(rows, columns, strict=True)]


def reach(network: Network, reader: int, producer: int, rows: int, columns: int, model: Model) -> tuple[int, int]:
    """Rows and columns, as bits, of the producer that the reader's `rows` and `columns` touch."""
    layer = network.layers[reader]
    shape = network.layers[producer].shape
    whole = (1 << shape.height) - 1, (1 << shape.width) - 1
    if layer.kind in ("fc", "transpose", "rearrange") or producer in layer.weights_from:
        return whole
    if layer.kind in ("eltwise", "pointwise"):
        return rows, columns
    if layer.kind == "upsample":
        tall, wide = layer.shape.height // shape.height, layer.shape.width // shape.width
        return _shrunk(rows, tall), _shrunk(columns, wide)
    pads = network.padding(reader)
    sizes = shape.height, shape.width
    found = [
        _windows(places, sizes[axis], layer.kernel[axis], layer.stride[axis], pads[axis], exact=bool(model.exact))
        for axis, places in enumerate((rows, columns))
    ]
    return found[0], found[1]


def _shrunk(places: int, times: int) -> int:
    found = 0
    for place in bits(places):
        found |= 1 << place // times
    return found


def _windows(places: int, size: int, kernel: int, stride: int, pad: int, *, exact: bool) -> int:
    """Places of an axis of `size` that windows at `places` touch.

    Where the first tile's window, clipped by the padding, is shorter than the stride, SoMa's model counts that only.
    """
    length = kernel if exact else min(kernel, max(1, kernel - pad))
    if stride == 1 and length == kernel:
        spread = places
        for offset in range(1, kernel):
            spread |= places << offset
        return (spread >> pad) & ((1 << size) - 1)
    window, found = (1 << length) - 1, 0
    for place in bits(places):
        found |= window << (place * stride)
    found = found >> pad if exact or length == kernel else found
    return found & ((1 << size) - 1)


def _floor(network: Network, number: int, pixels: list[tuple[int, int]], model: Model, batch: int) -> Floor:
    layer = network.layers[number]
    rows, columns = pixels[number]
    area = rows * columns * batch
    inputs = _external(network, number, pixels[number], model, batch)
    if layer.has_macs:
        cycles, linear, energy = _mac_floor(network, number, layer, pixels[number], model, batch)
    else:
        cycles, linear, energy = _vector_floor(layer, area, model)
    return Floor(cycles, linear, energy, inputs, pixels[number])


def _external(
    network: Network, number: int, pixels: tuple[int, int], model: Model, batch: int
) -> tuple[tuple[int, int], ...]:
    """(network input, bytes) that the layer must load."""
    found = list[tuple[int, int]]()
    for i in network.layers[number].external:
        rows, columns = read_pixels(network, number, pixels, model)
        found.append((i, network.inputs[i][1].channels * rows * columns * batch))
    return tuple(found)


def read_pixels(network: Network, reader: int, pixels: tuple[int, int], model: Model) -> tuple[int, int]:
    """Rows and columns of its input that `reader` reads at least for `pixels` rows and columns of its own."""
    layer, given = network.layers[reader], network.input_shapes[reader]
    if layer.kind in ("eltwise", "pointwise"):
        return pixels
    if layer.kind == "upsample":
        times = layer.shape.height // given.height, layer.shape.width // given.width
        return -(-pixels[0] // times[0]), -(-pixels[1] // times[1])
    if layer.kind not in ("conv", "group_conv", "pool"):
        return given.height, given.width
    found = [min(given[1 + i], pixels[i] * min(layer.stride[i], layer.kernel[i])) for i in (0, 1)]
    if not model.exact:
        pads = network.padding(reader)
        for i in (0, 1):
            found[i] = min(found[i], pixels[i] * max(1, min(layer.stride[i], layer.kernel[i] - pads[i])))
    return found[0], found[1]


def _vector_floor(layer: Layer, area: int, model: Model) -> tuple[float, float, float]:
    size = area * layer.shape.channels
    operations = size * layer.operands * layer.kernel[0] * layer.kernel[1]
    cycles, energy = operations / model.array.vector_ops, VECTOR_PJ * operations
    if model.exact:
        read = size * layer.operands
        if layer.kind in ("upsample", "rearrange"):
            read = 0
        if layer.kind == "pool":
            read = size * min(layer.stride[0], layer.kernel[0]) * min(layer.stride[1], layer.kernel[1]) // 2
        cycles = max(cycles, read / model.array.read_port, size / model.write_port)
        energy += model.array.buffer_read * read + model.array.buffer_write * size
    return cycles, operations / model.array.vector_ops, energy


def _mac_floor(
    network: Network, number: int, layer: Layer, pixels: tuple[int, int], model: Model, batch: int
) -> tuple[float, float, float]:
    """Each of `groups` groups of `channels` x `filters` at the best split; parts of a tile are not rounded up."""
    array = model.array
    channels, filters = network.group_shape(number)
    groups, window = layer.groups, layer.kernel[0] * layer.kernel[1]
    grouped = groups > 1 or bool(layer.weights_from)
    together = max(1, min(array.vector // channels, array.lanes // filters)) if grouped else 1
    samples = 1 if layer.weights_from else batch
    shape, least = layer.shape, 0.0
    for split in splits(array.side):
        steps = -(-channels // (array.vector * split.channels)) * -(-filters // (array.lanes * split.filters))
        cores = min(split.batch, samples) * min(split.height, shape.height) * min(split.width, shape.width)
        cycles = window * steps / cores
        least = cycles if least == 0.0 else min(least, cycles)
    weights = window * channels * filters
    port = weights / array.read_port if groups == 1 else 0.0
    cycles = _least_over_tiles(layer, pixels, least * batch, port) * groups / together
    area = pixels[0] * pixels[1] * batch
    linear = least * area * groups / together
    if groups == 1:
        cycles = max(cycles, (area * channels + weights) / array.read_port)
    if model.exact:
        cycles = max(cycles, area * filters * groups / model.write_port)
    if model.exact:
        return cycles, linear, product_price(network, number, pixels, model, batch, 0.0)
    return cycles, linear, _mac_energy(array, area, channels, filters, window) * groups


def product_price(
    network: Network, number: int, pixels: tuple[int, int], model: Model, batch: int, cycle_pj: float
) -> float:
    """pJ of a layer of products in the exact model, and `cycle_pj` for each of its cycles."""
    layer, array = network.layers[number], model.array
    channels, filters = network.group_shape(number)
    samples, groups = (1, layer.groups * batch) if layer.weights_from else (batch, layer.groups)
    work = Work(samples, channels, filters, *layer.shape[1:], *layer.kernel, *layer.stride, 1)
    together = max(1, min(array.vector // channels, array.lanes // filters, groups)) if groups > 1 else 1
    return least_price(work, splits(array.side), pixels, together, model, cycle_pj) * groups


def _least_over_tiles(layer: Layer, pixels: tuple[int, int], each: float, port: float) -> float:
    """Cycles of a layer at `each` per pixel, where a later stride skips some of its pixels.

    Only borders between tiles are skipped: a tile of h rows of which every s-th is touched computes (h - 1) s + 1 of
    them, and reads all weights for `port` cycles.
    """
    sizes = layer.shape.height, layer.shape.width
    if pixels == sizes:
        return max(each * sizes[0] * sizes[1], port)
    spans: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for axis in range(2):
        count, step = pixels[axis], -(-sizes[axis] // pixels[axis])
        extent = np.arange(1, count + 1)
        tiles = count / extent
        spans.append((tiles, tiles * ((extent - 1) * step + 1)))
    made = np.minimum(np.outer(spans[0][1], spans[1][1]), sizes[0] * sizes[1])
    return float(np.maximum(each * made, port * np.outer(spans[0][0], spans[1][0])).min())


def _mac_energy(array: CoreArray, area: int, channels: int, filters: int, window: int) -> float:
    """pJ of one group in SoMa's model: every operand moved as seldom as blocks in the cores allow."""
    macs, results, weights = area * channels * filters * window, area * filters, window * channels * filters
    lanes = min(-(-filters // (array.lanes * ways)) * ways for ways in (1, array.side))
    vectors = min(-(-channels // (array.vector * ways)) * ways for ways in (1, array.side))
    energy = MAC_PJ * macs + macs / filters * lanes * array.al1_read + area * channels * array.al1_write
    energy += weights * max(1.0, area / array.sums) * array.wl1_read + weights * array.wl1_write
    sums = macs / channels * vectors
    energy += sums * array.ol1_write + (sums + results) * array.ol1_read
    energy += results * (array.ol2_read + array.ol2_write + array.buffer_write)
    return energy + (area * channels + weights) * array.buffer_read
