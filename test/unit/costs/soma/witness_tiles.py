"""Tiles of SoMa's model and what they cost, in Python: what the compiled functions of `costs.dram` must find."""

from collections.abc import Callable
from math import gcd, inf, isqrt
from typing import Any, NamedTuple

from numba import njit

from tilewright.costs.compiled import INTERPRETED
from tilewright.costs.soma import FusedGroup, Hardware
from tilewright.costs.soma.blocks import SHARINGS, Work, splits
from tilewright.costs.soma.hardware import MAC_PJ, VECTOR_PJ
from tilewright.costs.soma.tile_cost import best_candidate
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks.layers import Network, Shape


def entry(function: Any) -> Callable[..., Any]:
    """A function that only compiled code calls, to be called from here."""
    return function if INTERPRETED else njit(function.py_func)


_best = entry(best_candidate)


class TileCost(NamedTuple):
    """Cycles, and energy in pJ by place: global buffer, buffers in the cores, links between cores, arithmetic."""

    cycles: int
    buffer_pj: float
    core_pj: float
    hop_pj: float
    arithmetic_pj: float

    @property
    def energy_pj(self) -> float:
        """All energy but that of DRAM."""
        return self.buffer_pj + self.core_pj + self.hop_pj + self.arithmetic_pj


INFEASIBLE = TileCost(0, inf, inf, inf, inf)
"""A tile that no blocking fits into the cores' buffers."""


def vector_cost(operations: int, machine: Hardware) -> TileCost:
    """Cost of `operations` elementary operations on the vector unit, which is charged for no traffic."""
    return TileCost(-(-operations // machine.array.vector_ops), 0.0, 0.0, 0.0, VECTOR_PJ * operations)


def mac_cost(work: Work, machine: Hardware) -> TileCost:
    """Cost of `work` by the candidate of least energy x cycles; `INFEASIBLE` where there is none."""
    cycles, buffer, core, hops = _best(work, splits(machine.array.side), SHARINGS, machine.array)
    if cycles == 0:
        return INFEASIBLE
    window = work.kernel_height * work.kernel_width
    macs = work.channels * work.filters * window * work.height * work.width * work.batch * work.groups
    return TileCost(cycles, buffer, core, hops, MAC_PJ * macs)


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


def tiles_of(network: Network, group: FusedGroup, batch: int) -> dict[int, Box]:
    """The tile of each layer of `group`, the same for all its `group.tiles` tiles.

    Layers without consumers in the group are cut: first into samples, then into rows and columns of near-square tiles.
    A producer's tile holds what any consumer in the group reads for one tile, so that overlaps are computed again.
    Raises TilewrightError (kind `schedule`) where a map has fewer rows or columns than there are cuts.
    """
    found: dict[int, Box] = {}
    inside = set(group.layers)
    for number in reversed(group.layers):
        readers = [reader for reader in network.consumers[number] if reader in inside]
        if readers:
            found[number] = union([source_box(network, reader, number, found[reader]) for reader in readers])
        else:
            found[number] = _cut(network, number, group, batch)
    return found


def _cut(network: Network, number: int, group: FusedGroup, batch: int) -> Box:
    shape = network.layers[number].shape
    samples = gcd(batch, group.tiles)
    count = group.tiles // samples
    rows, columns = _fixed_axes(network, group)
    most = Shape(1, 1 if rows else shape.height, 1 if columns else shape.width)
    if count <= most.height * most.width:
        high, wide = _factor(count, shape, rows=not rows, columns=not columns)
        if high <= most.height and wide <= most.width:
            return Box(batch // samples, shape.channels, -(-shape.height // high), -(-shape.width // wide))
    raise TilewrightError(
        "schedule",
        f"layer {number} ({network.layers[number].name})",
        f"at most {batch} x {most.height} x {most.width} tiles of samples, rows and columns",
        f"{samples} x {count} tiles that divisors cannot spread over rows and columns",
        "use fewer tiles",
    )


def _fixed_axes(network: Network, group: FusedGroup) -> tuple[bool, bool]:
    """Whether rows, columns must stay whole because a transpose in the group turns them into channels or back."""
    inside = set(group.layers)
    rows = columns = False
    for number in group.layers:
        layer = network.layers[number]
        if layer.kind == "transpose" and not inside.isdisjoint(layer.producers):
            channel = layer.permutation[0]
            rows |= channel == 1 or layer.permutation[1] == 0
            columns |= channel == 2 or layer.permutation[2] == 0
    return rows, columns


def _factor(count: int, shape: Shape, *, rows: bool, columns: bool) -> tuple[int, int]:
    """Cuts along height and width, `count` in all, of tiles as near to square as divisors allow."""
    if not (rows and columns):
        return (count, 1) if rows else (1, count) if columns else (1, 1)
    floor = isqrt(count * shape.width // shape.height)
    below = max((d for d in range(1, min(floor, count) + 1) if count % d == 0), default=None)
    above = min((d for d in range(floor + 1, count + 1) if count % d == 0), default=None)
    wide = above if below is None else below if above is None else _nearer(count, shape, below, above)
    assert wide is not None
    return count // wide, wide


def _nearer(count: int, shape: Shape, below: int, above: int) -> int:
    ratio = shape.height / shape.width
    return below if abs(count / below - ratio * below) < abs(count / above - ratio * above) else above
