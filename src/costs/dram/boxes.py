"""Compiled: the parts of feature maps that tiles of a fused group make and read.

Rows and columns of a map are cut independently, so a layer's tiles have row ranges by class of row and column ranges by
class of column.  SoMa's model has one class of each, the tile at the origin; the exact one has as many as there are
cuts.
"""

from math import gcd
from typing import NamedTuple

from ...algebra.element import Ints
from .tables import (
    AS_INPUT,
    AS_WEIGHTS,
    ELTWISE,
    FC,
    POINTWISE,
    POOL,
    REARRANGE,
    TRANSPOSE,
    UPSAMPLE,
    Edges,
    Layers,
    Net,
    Ranges,
    Stages,
    inner,
)


class Cuts(NamedTuple):
    """Into how many parts samples, rows and columns are cut, and how many classes of rows and columns that makes."""

    samples: int
    rows: int
    columns: int
    row_classes: int
    column_classes: int


@inner
def source_range(
    net: Net, layer: int, role: int, vertical: bool, low: int, high: int, other: int, channels: int
) -> tuple[int, int]:
    """Rows (`vertical`) or columns of a source that layer `layer` reads for its rows or columns [low, high).

    `other` and `channels` are the extents of the tile along its other axes.
    """
    layers = net.layers
    kind: int = layers[layer, Layers.KIND]
    first, last = 1 << 40, 0
    if role & AS_WEIGHTS:
        extent = (
            layers[layer, Layers.GROUP_CHANNELS]
            if vertical
            else layers[layer, Layers.KERNEL_HEIGHT] * layers[layer, Layers.KERNEL_WIDTH]
        )
        first, last = 0, extent
    if not role & AS_INPUT:
        return first, last
    size = layers[layer, Layers.INPUT_HEIGHT] if vertical else layers[layer, Layers.INPUT_WIDTH]
    if kind in (FC, REARRANGE):
        return 0, max(last, size)
    if kind == TRANSPOSE:
        axis = 1 if vertical else 2
        if layers[layer, Layers.AXIS_0] == axis:
            return 0, max(last, channels)
        own = layers[layer, Layers.AXIS_1] if vertical else layers[layer, Layers.AXIS_2]
        return (min(first, low), max(last, high)) if own == axis else (0, max(last, other))
    if kind in (ELTWISE, POINTWISE):
        return min(first, low), max(last, high)
    if kind == UPSAMPLE:
        times = (layers[layer, Layers.HEIGHT] if vertical else layers[layer, Layers.WIDTH]) // size
        return min(first, low // times), max(last, -(-high // times))
    stride, kernel, pad = (
        layers[layer, Layers.STRIDE_WIDTH],
        layers[layer, Layers.KERNEL_WIDTH],
        layers[layer, Layers.PAD_LEFT],
    )
    if vertical:
        stride, kernel, pad = (
            layers[layer, Layers.STRIDE_HEIGHT],
            layers[layer, Layers.KERNEL_HEIGHT],
            layers[layer, Layers.PAD_ABOVE],
        )
    begin = min(max(0, low * stride - pad), size - 1)
    end = max(begin + 1, min((high - 1) * stride + kernel - pad, size))
    return min(first, begin), max(last, end)


@inner
def source_channels(net: Net, layer: int, edge: int, height: int, width: int, channels: int) -> int:
    """Channels of a source that layer `layer` reads: all those of a concatenation, as SoMa counts."""
    layers = net.layers
    kind: int = layers[layer, Layers.KIND]
    found = 0
    if net.edges[Edges.ROLE, edge] & AS_WEIGHTS:
        found = net.edges[Edges.CHANNELS, edge]
    if not net.edges[Edges.ROLE, edge] & AS_INPUT:
        return found
    given = layers[layer, Layers.INPUT_CHANNELS]
    if kind == TRANSPOSE:
        given = (
            channels if layers[layer, Layers.AXIS_0] == 0 else (height if layers[layer, Layers.AXIS_1] == 0 else width)
        )
    elif kind in (ELTWISE, POINTWISE, POOL, UPSAMPLE):
        given = channels
    return max(found, given)


@inner
def factor(count: int, height: int, width: int, rows: bool, columns: bool) -> tuple[int, int]:
    """Cuts along height and width, `count` in all, of tiles as near to square as divisors allow; (0, 0) for none."""
    if count > (height if rows else 1) * (width if columns else 1):
        return 0, 0
    high, wide = (count, 1) if rows else (1, count)
    if rows and columns:
        wide = _nearest(count, height, width)
        high = count // wide
    if high > (height if rows else 1) or wide > (width if columns else 1):
        return 0, 0
    return high, wide


@inner
def _nearest(count: int, height: int, width: int) -> int:
    floor = int((count * width // height) ** 0.5)
    while floor * floor > count * width // height:
        floor -= 1
    while (floor + 1) * (floor + 1) <= count * width // height:
        floor += 1
    below, above = 0, 0
    for divisor in range(1, min(floor, count) + 1):
        if count % divisor == 0:
            below = divisor
    for divisor in range(floor + 1, count + 1):
        if count % divisor == 0:
            above = divisor
            break
    if below == 0 or above == 0:
        return above + below
    ratio = height / width
    return below if abs(count / below - ratio * below) < abs(count / above - ratio * above) else above


@inner
def _fixed_axes(stages: Ints, net: Net, order: Ints, low: int, high: int, group: int) -> tuple[bool, bool]:
    """Whether rows and columns may be cut: not where a transpose in the group turns them into something else."""
    rows, columns = True, True
    for place in range(low, high):
        layer: int = order[place]
        layers = net.layers
        if layers[layer, Layers.KIND] != TRANSPOSE:
            continue
        for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
            source: int = net.edges[Edges.SOURCE, edge]
            if source >= 0 and stages[Stages.FUSED, source] == group:
                rows &= layers[layer, Layers.AXIS_0] != 1 and layers[layer, Layers.AXIS_1] != 0
                columns &= layers[layer, Layers.AXIS_0] != 2 and layers[layer, Layers.AXIS_2] != 0
    return rows, columns


@inner
def _cut_axes(stages: Ints, ranges: Ints, net: Net, layer: int, cuts: Cuts, exact: int) -> None:
    """Tiles of a layer that no other in the group reads."""
    height, width = net.layers[layer, Layers.HEIGHT], net.layers[layer, Layers.WIDTH]
    stages[Stages.CHANNELS, layer] = net.layers[layer, Layers.CHANNELS]
    if exact == 0:
        ranges[Ranges.ROW_FROM, layer, 0] = ranges[Ranges.COLUMN_FROM, layer, 0] = 0
        ranges[Ranges.ROW_TO, layer, 0] = -(-height // cuts.rows)
        ranges[Ranges.COLUMN_TO, layer, 0] = -(-width // cuts.columns)
        return
    for i in range(cuts.rows):
        ranges[Ranges.ROW_FROM, layer, i] = i * height // cuts.rows
        ranges[Ranges.ROW_TO, layer, i] = (i + 1) * height // cuts.rows
    for i in range(cuts.columns):
        ranges[Ranges.COLUMN_FROM, layer, i] = i * width // cuts.columns
        ranges[Ranges.COLUMN_TO, layer, i] = (i + 1) * width // cuts.columns


@inner
def _clear(stages: Ints, ranges: Ints, layer: int, cuts: Cuts) -> None:
    stages[Stages.CHANNELS, layer] = 0
    for i in range(cuts.row_classes):
        ranges[Ranges.ROW_FROM, layer, i], ranges[Ranges.ROW_TO, layer, i] = 1 << 40, 0
    for i in range(cuts.column_classes):
        ranges[Ranges.COLUMN_FROM, layer, i], ranges[Ranges.COLUMN_TO, layer, i] = 1 << 40, 0


@inner
def _reach_back(stages: Ints, ranges: Ints, net: Net, layer: int, edge: int, cuts: Cuts, exact: int) -> None:
    """Widen the tiles of the source of `edge` to what `layer` reads."""
    source, role, channels = net.edges[Edges.SOURCE, edge], net.edges[Edges.ROLE, edge], stages[Stages.CHANNELS, layer]
    height = ranges[Ranges.ROW_TO, layer, 0] - ranges[Ranges.ROW_FROM, layer, 0]
    width = ranges[Ranges.COLUMN_TO, layer, 0] - ranges[Ranges.COLUMN_FROM, layer, 0]
    if exact == 0:
        given = source_channels(net, layer, edge, height, width, channels)
        stages[Stages.CHANNELS, source] = max(stages[Stages.CHANNELS, source], given)
    else:
        stages[Stages.CHANNELS, source] = net.edges[Edges.CHANNELS, edge]
    for i in range(cuts.row_classes):
        low, high = source_range(
            net, layer, role, True, ranges[Ranges.ROW_FROM, layer, i], ranges[Ranges.ROW_TO, layer, i], width, channels
        )
        ranges[Ranges.ROW_FROM, source, i] = min(ranges[Ranges.ROW_FROM, source, i], low)
        ranges[Ranges.ROW_TO, source, i] = max(ranges[Ranges.ROW_TO, source, i], high)
    for i in range(cuts.column_classes):
        low, high = source_range(
            net,
            layer,
            role,
            False,
            ranges[Ranges.COLUMN_FROM, layer, i],
            ranges[Ranges.COLUMN_TO, layer, i],
            height,
            channels,
        )
        ranges[Ranges.COLUMN_FROM, source, i] = min(ranges[Ranges.COLUMN_FROM, source, i], low)
        ranges[Ranges.COLUMN_TO, source, i] = max(ranges[Ranges.COLUMN_TO, source, i], high)


@inner
def cut_group(
    stages: Ints, ranges: Ints, net: Net, order: Ints, span: tuple[int, int], tiles: int, batch: int, exact: int
) -> Cuts:
    """Fill the boxes of the layers at places `span` of `order`, cut into `tiles`; cuts of 0 samples where impossible.

    Layers without readers in the group are cut, into samples first; a producer's tile holds what any reader in the
    group takes of it for one tile.
    """
    low, high = span
    group = stages[Stages.FUSED, order[low]]
    rows, columns = _fixed_axes(stages, net, order, low, high, group)
    samples = gcd(batch, tiles)
    nothing, cuts = Cuts(0, 0, 0, 0, 0), Cuts(0, 0, 0, 1, 1)
    room = ranges.shape[2]
    for place in range(high - 1, low - 1, -1):
        stages[Stages.CHANNELS, order[place]] = -1
    for place in range(high - 1, low - 1, -1):
        layer: int = order[place]
        stages[Stages.SAMPLES, layer] = batch // samples
        if stages[Stages.CHANNELS, layer] == -1:
            if exact == 0 or cuts.rows == 0:
                shape = net.layers[layer, Layers.HEIGHT], net.layers[layer, Layers.WIDTH]
                tall, wide = factor(tiles // samples, shape[0], shape[1], rows, columns)
                if tall == 0 or tall > room or wide > room:
                    return nothing
                cuts = Cuts(samples, tall, wide, tall if exact else 1, wide if exact else 1)
            elif cuts.rows > net.layers[layer, Layers.HEIGHT] or cuts.columns > net.layers[layer, Layers.WIDTH]:
                return nothing
            _cut_axes(stages, ranges, net, layer, cuts, exact)
        for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
            source: int = net.edges[Edges.SOURCE, edge]
            if source >= 0 and stages[Stages.FUSED, source] == group:
                if stages[Stages.CHANNELS, source] == -1:
                    _clear(stages, ranges, source, cuts)
                _reach_back(stages, ranges, net, layer, edge, cuts, exact)
    return cuts
