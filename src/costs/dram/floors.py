"""The least that each layer costs: cycles, energy, and bytes of network inputs, at the best way to cut it.

Every value is a floor of the model in use: the pixels that windows touch, MACs at the utilisation of the best way to
cut a layer over the cores, every operand moved as seldom as blocks in the cores allow.

The least energy on the cores in the exact model: a tile is cut over the cores, blocked and shared in one of a few ways
(`costs.soma.blocks`).  In each of them the accesses that `costs.soma.tile_cost` counts have a part that grows with the
pixels of a tile and one that comes with every tile, and the largest blocks are those of the whole map.  So tiles cost
for each pixel no less than the best of all tiles does.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from ...algebra.dag import Dag, bits, flags
from ...algebra.element import Floats, Ints
from ...zoo.schedule_networks.layers import Layer, Network
from ..soma.blocks import SHARINGS, Block, Sharing, Split, Work, block_of, ceil_div, column_limit, splits
from ..soma.hardware import BUS_BYTES, MAC_PJ, VECTOR_PJ, CoreArray
from .tables import Model, compiled, inner


@dataclass(frozen=True)
class Case:
    """`batch` samples of a network in a model, with the floor of each layer."""

    network: Network
    model: Model
    batch: int
    floors: "list[Floor]"

    @cached_property
    def weights(self) -> list[int]:
        """Bytes of weights that DRAM holds, by layer."""
        return [self.network.weight_bytes(number) for number in range(len(self.network.layers))]

    @property
    def dag(self) -> Dag:
        """Which layer reads which."""
        return self.network.dag

    @cached_property
    def _cycles(self) -> Floats:
        return np.array([floor.cycles for floor in self.floors])

    @cached_property
    def _bytes(self) -> Ints:
        return np.array(self.weights, np.int64)

    def work(self, layers: int) -> float:
        """Least cycles of a set of layers."""
        return float(self._cycles[flags(layers, len(self._cycles))].sum())

    def weight(self, layers: int) -> int:
        """Bytes of weights of a set of layers."""
        return int(self._bytes[flags(layers, len(self._bytes))].sum())


@compiled
def least_price(
    work: Work, ways: tuple[Split, ...], pixels: tuple[int, int], together: int, model: Model, cycle_pj: float
) -> float:
    """pJ of one group, and `cycle_pj` for each of its cycles; 0 where no way is left.

    `work` is its map in all samples, of which `pixels` rows and columns, evenly spread, have to be computed; the cores
    work on `together` groups at a time.
    """
    least = inf
    for split in ways:
        rows = 0
        for columns in range(column_limit(work, split, model.array), 0, -1):
            block = block_of(work, split, model.array, columns)
            if block.rows <= rows:
                continue
            rows = block.rows
            for sharing in SHARINGS[:3]:
                if _may_share(work, split, block, sharing, model.array.lanes, together):
                    least = min(least, _least_of_tiles(work, split, block, sharing, pixels, together, model, cycle_pj))
    return 0.0 if least == inf else least


@inner
def _least_of_tiles(
    work: Work,
    split: Split,
    block: Block,
    sharing: Sharing,
    pixels: tuple[int, int],
    together: int,
    model: Model,
    cycle_pj: float,
) -> float:
    """The best of all tiles one way: where every s-th row is asked for, a tile with h of them makes (h - 1) s + 1."""
    steps = ceil_div(work.height, pixels[0]), ceil_div(work.width, pixels[1])
    least = inf
    for tall in range(pixels[0] if steps[0] == 1 else 1, pixels[0] + 1):
        for wide in range(pixels[1] if steps[1] == 1 else 1, pixels[1] + 1):
            made = work.batch * ((tall - 1) * steps[0] + 1) * ((wide - 1) * steps[1] + 1)
            price = _tile_price(work, split, block, sharing, made, together, model, cycle_pj)
            least = min(least, price / (tall * wide))
    return least * pixels[0] * pixels[1]


@inner
def _may_share(work: Work, split: Split, block: Block, sharing: Sharing, lanes: int, together: int) -> bool:
    """Whether some tile can: its extents aside, cores must have filters to share, and the bus carry the blocks."""
    cores = min(block.filter_trips, split.height * split.width * split.batch)
    if not sharing.filters:
        return True
    carried = BUS_BYTES * block.filters_held * block.channels * block.rows * block.columns
    channels, filters = ceil_div(work.channels, split.channels), ceil_div(work.filters, split.filters)
    if cores == 1 or carried < channels * min(filters, block.filters_held * lanes) * together:
        return False
    return not sharing.columns or (split.filters > 1 and ceil_div(block.filter_trips, cores) > 1)


@inner
def _reach(work: Work, rows: float, columns: float) -> float:
    """Input pixels for each pixel of a tile whose halos are read once for `rows` and `columns`."""
    high, wide = min(work.stride_height, work.kernel_height), min(work.stride_width, work.kernel_width)
    return (high + (work.kernel_height - high) / rows) * (wide + (work.kernel_width - wide) / columns)


@inner
def _tile_price(
    work: Work, split: Split, block: Block, sharing: Sharing, pixels: int, together: int, model: Model, cycle_pj: float
) -> float:
    """A tile of `pixels` in all samples.

    Tiles as wide as a block run down without vertical halos between blocks; in others columns need no halos.
    """
    array, window = model.array, work.kernel_height * work.kernel_width
    tall, wide = max(1.0, work.height / split.height), max(1.0, work.width / split.width)
    plane = min(_reach(work, tall, min(wide, float(block.columns))), _reach(work, float(block.rows), wide))
    cores, trips = split.height * split.width * split.batch, block.filter_trips
    if sharing.filters:
        trips = ceil_div(trips, min(trips, cores))
    weights, results = float(window * work.channels * work.filters), float(pixels) * work.filters
    read = weights + pixels * work.channels * (_reach(work, tall, wide) if sharing.columns else plane * trips)
    rounds = weights * max(float(cores), float(pixels) / (block.rows * block.columns))
    energy = array.al1_read * pixels * work.channels * window * block.filters * split.filters
    energy += array.al1_write * pixels * work.channels * plane * trips * split.filters
    energy += array.wl1_read * rounds + array.wl1_write * (rounds if sharing.filters else weights * cores)
    sums = results * window * block.channels * split.channels
    energy += array.ol1_write * sums + array.ol1_read * (sums + split.channels * results)
    energy += results * (array.ol2_read + array.ol2_write + array.buffer_write) + array.buffer_read * read
    busy = min(split.height, work.height) * min(split.width, work.width) * min(split.batch, work.batch)
    cycles = float(pixels) * window * block.channels * block.filters / (busy * together)
    cycles = max(cycles, read / array.read_port, results / model.write_port)
    return energy + MAC_PJ * results * window * work.channels + cycle_pj * cycles


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
    spans: list[tuple[Floats, Floats]] = []
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
