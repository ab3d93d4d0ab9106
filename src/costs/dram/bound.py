"""What no schedule of a network can beat: latency and energy over all fusions, tilings and orders of transfers.

Every value is a floor of the model in use: the pixels that windows touch, MACs at the utilisation of the best way to
cut a layer over the cores, every byte that must cross DRAM once.  Three arguments bound the latency: all work of one
resource; a layer's work and that of all that depend on it, after what it depends on has been loaded; and the weights
from a layer on that cannot have been in the buffer when it ends, loaded after all work before that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...zoo.schedule_networks.layers import Layer, Network
from ..soma.blocks import splits
from ..soma.hardware import DRAM_PJ, MAC_PJ, VECTOR_PJ, CoreArray
from .tables import Model


@dataclass(frozen=True)
class Bound:
    """Least latency with the argument that gives it, least energy and least DRAM traffic."""

    latency_cycles: int
    energy_pj: float
    dram_bytes: int
    compute_cycles: int
    binding: str


@dataclass(frozen=True)
class _Floor:
    """A layer at its best: cycles, pJ, and bytes of each network input that it reads."""

    cycles: float
    energy_pj: float
    inputs: tuple[tuple[int, int], ...]


def lower_bound(network: Network, model: Model, batch: int) -> Bound:
    """A bound below every schedule of `batch` samples of `network` in `model`."""
    pixels = _touched(network, model)
    floors = [_floor(network, number, pixels, model, batch) for number in range(len(network.layers))]
    weights = [network.weight_bytes(number) for number in range(len(network.layers))]
    moved = sum(weights) + _crossing(network, floors, batch, model)
    compute = sum(floor.cycles for floor in floors)
    latency, binding = _latency(network, model, floors, weights, moved)
    energy = sum(floor.energy_pj for floor in floors) + DRAM_PJ * moved
    return Bound(int(latency), energy, moved, int(compute), binding)


def _latency(network: Network, model: Model, floors: list[_Floor], weights: list[int], moved: int) -> tuple[float, str]:
    rate = model.bandwidth
    compute = sum(floor.cycles for floor in floors)
    first = min(
        weights[i] * (not model.exact) for i, layer in enumerate(network.layers) if layer.external and not layer.inputs
    )
    best = compute + first / rate + 2 * model.latency, "compute"
    best = max(best, (moved / rate + 2 * model.latency, "DRAM traffic"))
    before, after = _relatives(network)
    for number, layer in enumerate(network.layers):
        if not layer.has_macs or layer.groups > 1:
            continue
        own = weights[number]
        late = [floors[i].cycles for i in _members(after[number])]
        loaded = sum(weights[i] for i in _members(before[number])) + (0 if model.exact else own)
        path = loaded / rate + floors[number].cycles + sum(late)
        best = max(best, (path, f"weights up to {layer.name}, then its work and all that depends on it"))
        rest = own + sum(weights[i] for i in _members(after[number])) - model.buffer_bytes
        if rest > 0:
            early = floors[number].cycles + sum(floors[i].cycles for i in _members(before[number]))
            binding = f"work up to {layer.name}, then the weights that the buffer could not hold by then"
            best = max(best, (early + rest / rate, binding))
    return best


def _relatives(network: Network) -> tuple[list[int], list[int]]:
    """For each layer the sets, as bits, of those that it depends on and that depend on it."""
    count = len(network.layers)
    before, after = [0] * count, [0] * count
    for number, layer in enumerate(network.layers):
        for producer in layer.producers:
            before[number] |= before[producer] | 1 << producer
    for number in reversed(range(count)):
        for producer in network.layers[number].producers:
            after[producer] |= after[number] | 1 << number
    return before, after


def _members(bits: int) -> list[int]:
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _touched(network: Network, model: Model) -> list[tuple[int, int]]:
    """Rows and columns of each layer's map that must be computed: those that a later window touches."""
    rows = [0] * len(network.layers)
    columns = [0] * len(network.layers)
    for number in reversed(range(len(network.layers))):
        shape = network.layers[number].shape
        if not network.consumers[number]:
            rows[number], columns[number] = (1 << shape.height) - 1, (1 << shape.width) - 1
        for producer in network.layers[number].producers:
            high, wide = _reach(network, number, producer, rows[number], columns[number], model)
            rows[producer] |= high
            columns[producer] |= wide
    return [(high.bit_count(), wide.bit_count()) for high, wide in zip(rows, columns, strict=True)]


def _reach(network: Network, reader: int, producer: int, rows: int, columns: int, model: Model) -> tuple[int, int]:
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
        _windows(bits, sizes[axis], layer.kernel[axis], layer.stride[axis], pads[axis], exact=bool(model.exact))
        for axis, bits in enumerate((rows, columns))
    ]
    return found[0], found[1]


def _shrunk(bits: int, times: int) -> int:
    found = 0
    for place in _members(bits):
        found |= 1 << place // times
    return found


def _windows(bits: int, size: int, kernel: int, stride: int, pad: int, *, exact: bool) -> int:
    """Places of an axis of `size` that windows at the places in `bits` touch.

    Where the first tile's window, clipped by the padding, is shorter than the stride, SoMa's model counts that only.
    """
    length = kernel if exact else min(kernel, max(1, kernel - pad))
    if stride == 1 and length == kernel:
        spread = bits
        for offset in range(1, kernel):
            spread |= bits << offset
        return (spread >> pad) & ((1 << size) - 1)
    window, found = (1 << length) - 1, 0
    for place in _members(bits):
        found |= window << (place * stride)
    found = found >> pad if exact or length == kernel else found
    return found & ((1 << size) - 1)


def _floor(network: Network, number: int, pixels: list[tuple[int, int]], model: Model, batch: int) -> _Floor:
    layer = network.layers[number]
    rows, columns = pixels[number]
    area = rows * columns * batch
    inputs = _external(network, number, pixels[number], model, batch)
    if layer.has_macs:
        cycles, energy = _mac_floor(network, number, layer, pixels[number], model, batch)
    else:
        cycles, energy = _vector_floor(layer, area, model)
    return _Floor(cycles, energy, inputs)


def _external(
    network: Network, number: int, pixels: tuple[int, int], model: Model, batch: int
) -> tuple[tuple[int, int], ...]:
    """(network input, bytes) that the layer must load."""
    layer, found = network.layers[number], list[tuple[int, int]]()
    for i in layer.external:
        shape = network.inputs[i][1]
        high, wide = shape.height, shape.width
        if layer.kind in ("conv", "group_conv", "pool"):
            high = min(high, pixels[0] * min(layer.stride[0], layer.kernel[0]))
            wide = min(wide, pixels[1] * min(layer.stride[1], layer.kernel[1]))
            if not model.exact:
                pads = network.padding(number)
                high = min(high, pixels[0] * max(1, min(layer.stride[0], layer.kernel[0] - pads[0])))
                wide = min(wide, pixels[1] * max(1, min(layer.stride[1], layer.kernel[1] - pads[1])))
        found.append((i, shape.channels * high * wide * batch))
    return tuple(found)


def _crossing(network: Network, floors: list[_Floor], batch: int, model: Model) -> int:
    """Bytes of network inputs and outputs; SoMa's model loads an input for each layer that reads it."""
    given: dict[int, int] = {}
    for floor in floors:
        for number, size in floor.inputs:
            given[number] = max(given.get(number, 0), size) if model.exact else given.get(number, 0) + size
    out = 0
    for number, layer in enumerate(network.layers):
        if not network.consumers[number]:
            out += layer.shape.channels * layer.shape.height * layer.shape.width * batch
    return sum(given.values()) + out


def _vector_floor(layer: Layer, area: int, model: Model) -> tuple[float, float]:
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
    return cycles, energy


def _mac_floor(
    network: Network, number: int, layer: Layer, touched: tuple[int, int], model: Model, batch: int
) -> tuple[float, float]:
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
    cycles = _least_over_tiles(layer, touched, least * batch, port) * groups / together
    area = touched[0] * touched[1] * batch
    if groups == 1:
        cycles = max(cycles, (area * channels + weights) / array.read_port)
    if model.exact:
        cycles = max(cycles, area * filters * groups / model.write_port)
    return cycles, _mac_energy(array, area, channels, filters, window) * groups


def _least_over_tiles(layer: Layer, touched: tuple[int, int], each: float, port: float) -> float:
    """Cycles of a layer at `each` per pixel, where a later stride skips some of its pixels.

    Only borders between tiles are skipped: a tile of h rows of which every s-th is touched computes (h - 1) s + 1 of
    them, and reads all weights for `port` cycles.
    """
    sizes = layer.shape.height, layer.shape.width
    if touched == sizes:
        return max(each * sizes[0] * sizes[1], port)
    spans: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for axis in range(2):
        count, step = touched[axis], -(-sizes[axis] // touched[axis])
        extent = np.arange(1, count + 1)
        tiles = count / extent
        spans.append((tiles, tiles * ((extent - 1) * step + 1)))
    pixels = np.minimum(np.outer(spans[0][1], spans[1][1]), sizes[0] * sizes[1])
    return float(np.maximum(each * pixels, port * np.outer(spans[0][0], spans[1][0])).min())


def _mac_energy(array: CoreArray, area: int, channels: int, filters: int, window: int) -> float:
    """pJ of one group: every operand moved as seldom as blocks in the cores allow."""
    macs, results, weights = area * channels * filters * window, area * filters, window * channels * filters
    lanes = min(-(-filters // (array.lanes * ways)) * ways for ways in (1, array.side))
    vectors = min(-(-channels // (array.vector * ways)) * ways for ways in (1, array.side))
    energy = MAC_PJ * macs + macs / filters * lanes * array.al1_read + area * channels * array.al1_write
    energy += weights * max(1.0, area / array.sums) * array.wl1_read + weights * array.wl1_write
    sums = macs / channels * vectors
    energy += sums * array.ol1_write + (sums + results) * array.ol1_read
    energy += results * (array.ol2_read + array.ol2_write + array.buffer_write)
    return energy + (area * channels + weights) * array.buffer_read
