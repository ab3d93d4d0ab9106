"""Compiled: the parts of feature maps that tiles of a fused group make and read.

Rows and columns of a map are cut independently, so a layer's tiles have row ranges by class of row and column ranges by
class of column.  SoMa's model has one class of each, the tile at the origin; the exact one has as many as there are
cuts.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from .compiled import inner
from .tables import (
    AS_INPUT,
    AS_WEIGHTS,
    AXIS_0,
    AXIS_1,
    AXIS_2,
    CHANNELS,
    ELTWISE,
    FC,
    GROUP_CHANNELS,
    HEIGHT,
    INPUT_CHANNELS,
    INPUT_HEIGHT,
    INPUT_WIDTH,
    KERNEL_HEIGHT,
    KERNEL_WIDTH,
    KIND,
    PAD_ABOVE,
    PAD_LEFT,
    POINTWISE,
    POOL,
    REARRANGE,
    ROLE,
    SOURCE,
    SOURCE_CHANNELS,
    STRIDE_HEIGHT,
    STRIDE_WIDTH,
    TRANSPOSE,
    UPSAMPLE,
    WIDTH,
    Ints,
    Net,
)
from .workspace import BOX_CHANNELS, COLUMN_FROM, COLUMN_TO, FUSED, ROW_FROM, ROW_TO, SAMPLES


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
    kind: int = layers[layer, KIND]
    first, last = 1 << 40, 0
    if role & AS_WEIGHTS:
        extent = (
            layers[layer, GROUP_CHANNELS] if vertical else layers[layer, KERNEL_HEIGHT] * layers[layer, KERNEL_WIDTH]
        )
        first, last = 0, extent
    if not role & AS_INPUT:
        return first, last
    size = layers[layer, INPUT_HEIGHT] if vertical else layers[layer, INPUT_WIDTH]
    if kind in (FC, REARRANGE):
        return 0, max(last, size)
    if kind == TRANSPOSE:
        axis = 1 if vertical else 2
        if layers[layer, AXIS_0] == axis:
            return 0, max(last, channels)
        own = layers[layer, AXIS_1] if vertical else layers[layer, AXIS_2]
        return (min(first, low), max(last, high)) if own == axis else (0, max(last, other))
    if kind in (ELTWISE, POINTWISE):
        return min(first, low), max(last, high)
    if kind == UPSAMPLE:
        times = (layers[layer, HEIGHT] if vertical else layers[layer, WIDTH]) // size
        return min(first, low // times), max(last, -(-high // times))
    stride, kernel, pad = layers[layer, STRIDE_WIDTH], layers[layer, KERNEL_WIDTH], layers[layer, PAD_LEFT]
    if vertical:
        stride, kernel, pad = layers[layer, STRIDE_HEIGHT], layers[layer, KERNEL_HEIGHT], layers[layer, PAD_ABOVE]
    begin = min(max(0, low * stride - pad), size - 1)
    end = max(begin + 1, min((high - 1) * stride + kernel - pad, size))
    return min(first, begin), max(last, end)


@inner
def source_channels(net: Net, layer: int, edge: int, height: int, width: int, channels: int) -> int:
    """Channels of a source that layer `layer` reads: all those of a concatenation, as SoMa counts."""
    layers = net.layers
    kind: int = layers[layer, KIND]
    found = 0
    if net.edges[ROLE, edge] & AS_WEIGHTS:
        found = net.edges[SOURCE_CHANNELS, edge]
    if not net.edges[ROLE, edge] & AS_INPUT:
        return found
    given = layers[layer, INPUT_CHANNELS]
    if kind == TRANSPOSE:
        given = channels if layers[layer, AXIS_0] == 0 else (height if layers[layer, AXIS_1] == 0 else width)
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
        if layers[layer, KIND] != TRANSPOSE:
            continue
        for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
            source: int = net.edges[SOURCE, edge]
            if source >= 0 and stages[FUSED, source] == group:
                rows &= layers[layer, AXIS_0] != 1 and layers[layer, AXIS_1] != 0
                columns &= layers[layer, AXIS_0] != 2 and layers[layer, AXIS_2] != 0
    return rows, columns


@inner
def _cut_axes(stages: Ints, ranges: Ints, net: Net, layer: int, cuts: Cuts, exact: int) -> None:
    """Tiles of a layer that no other in the group reads."""
    height, width = net.layers[layer, HEIGHT], net.layers[layer, WIDTH]
    stages[BOX_CHANNELS, layer] = net.layers[layer, CHANNELS]
    if exact == 0:
        ranges[ROW_FROM, layer, 0] = ranges[COLUMN_FROM, layer, 0] = 0
        ranges[ROW_TO, layer, 0] = -(-height // cuts.rows)
        ranges[COLUMN_TO, layer, 0] = -(-width // cuts.columns)
        return
    for i in range(cuts.rows):
        ranges[ROW_FROM, layer, i] = i * height // cuts.rows
        ranges[ROW_TO, layer, i] = (i + 1) * height // cuts.rows
    for i in range(cuts.columns):
        ranges[COLUMN_FROM, layer, i] = i * width // cuts.columns
        ranges[COLUMN_TO, layer, i] = (i + 1) * width // cuts.columns


@inner
def _clear(stages: Ints, ranges: Ints, layer: int, cuts: Cuts) -> None:
    stages[BOX_CHANNELS, layer] = 0
    for i in range(cuts.row_classes):
        ranges[ROW_FROM, layer, i], ranges[ROW_TO, layer, i] = 1 << 40, 0
    for i in range(cuts.column_classes):
        ranges[COLUMN_FROM, layer, i], ranges[COLUMN_TO, layer, i] = 1 << 40, 0


@inner
def _reach_back(stages: Ints, ranges: Ints, net: Net, layer: int, edge: int, cuts: Cuts, exact: int) -> None:
    """Widen the tiles of the source of `edge` to what `layer` reads."""
    source, role, channels = net.edges[SOURCE, edge], net.edges[ROLE, edge], stages[BOX_CHANNELS, layer]
    height = ranges[ROW_TO, layer, 0] - ranges[ROW_FROM, layer, 0]
    width = ranges[COLUMN_TO, layer, 0] - ranges[COLUMN_FROM, layer, 0]
    if exact == 0:
        given = source_channels(net, layer, edge, height, width, channels)
        stages[BOX_CHANNELS, source] = max(stages[BOX_CHANNELS, source], given)
    else:
        stages[BOX_CHANNELS, source] = net.edges[SOURCE_CHANNELS, edge]
    for i in range(cuts.row_classes):
        low, high = source_range(
            net, layer, role, True, ranges[ROW_FROM, layer, i], ranges[ROW_TO, layer, i], width, channels
        )
        ranges[ROW_FROM, source, i] = min(ranges[ROW_FROM, source, i], low)
        ranges[ROW_TO, source, i] = max(ranges[ROW_TO, source, i], high)
    for i in range(cuts.column_classes):
        low, high = source_range(
            net, layer, role, False, ranges[COLUMN_FROM, layer, i], ranges[COLUMN_TO, layer, i], height, channels
        )
        ranges[COLUMN_FROM, source, i] = min(ranges[COLUMN_FROM, source, i], low)
        ranges[COLUMN_TO, source, i] = max(ranges[COLUMN_TO, source, i], high)


@inner
def cut_group(
    stages: Ints, ranges: Ints, net: Net, order: Ints, span: tuple[int, int], tiles: int, batch: int, exact: int
) -> Cuts:
    """Fill the boxes of the layers at places `span` of `order`, cut into `tiles`; cuts of 0 samples where impossible.

    Layers without readers in the group are cut, into samples first; a producer's tile holds what any reader in the
    group takes of it for one tile.
    """
    low, high = span
    group = stages[FUSED, order[low]]
    rows, columns = _fixed_axes(stages, net, order, low, high, group)
    samples = gcd(batch, tiles)
    nothing, cuts = Cuts(0, 0, 0, 0, 0), Cuts(0, 0, 0, 1, 1)
    room = ranges.shape[2]
    for place in range(high - 1, low - 1, -1):
        stages[BOX_CHANNELS, order[place]] = -1
    for place in range(high - 1, low - 1, -1):
        layer: int = order[place]
        stages[SAMPLES, layer] = batch // samples
        if stages[BOX_CHANNELS, layer] == -1:
            if exact == 0 or cuts.rows == 0:
                shape = net.layers[layer, HEIGHT], net.layers[layer, WIDTH]
                tall, wide = factor(tiles // samples, shape[0], shape[1], rows, columns)
                if tall == 0 or tall > room or wide > room:
                    return nothing
                cuts = Cuts(samples, tall, wide, tall if exact else 1, wide if exact else 1)
            elif cuts.rows > net.layers[layer, HEIGHT] or cuts.columns > net.layers[layer, WIDTH]:
                return nothing
            _cut_axes(stages, ranges, net, layer, cuts, exact)
        for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
            source: int = net.edges[SOURCE, edge]
            if source >= 0 and stages[FUSED, source] == group:
                if stages[BOX_CHANNELS, source] == -1:
                    _clear(stages, ranges, source, cuts)
                _reach_back(stages, ranges, net, layer, edge, cuts, exact)
    return cuts
