"""Compiled: what a tile reads, and whether the buffer has it from earlier tiles or groups."""

from __future__ import annotations

from .boxes import Cuts, source_range
from .compiled import inner
from .tables import (
    EDGE_LAYER,
    INPUT_HEIGHT,
    INPUT_WIDTH,
    KERNEL_HEIGHT,
    KERNEL_WIDTH,
    ROLE,
    SOURCE_CHANNELS,
    STRIDE_HEIGHT,
    STRIDE_WIDTH,
    TWIN,
    Ints,
    Model,
    Net,
)
from .workspace import (
    BOX_CHANNELS,
    COLUMN_FROM,
    COLUMN_TO,
    FUSED,
    GROUP,
    LOAD_EDGE,
    LOAD_LAST,
    LOAD_SIZE,
    LOAD_TILE,
    LOADS,
    ROW_FROM,
    ROW_TO,
    Workspace,
)


@inner
def source_box(
    net: Net, stages: Ints, ranges: Ints, layer: int, edge: int, cell: tuple[int, int]
) -> tuple[int, int, int, int]:
    """[from, to) of rows, of columns of the source of `edge` that the layer reads for a tile of classes `cell`."""
    role = net.edges[ROLE, edge]
    top, bottom = ranges[ROW_FROM, layer, cell[0]], ranges[ROW_TO, layer, cell[0]]
    left, right = ranges[COLUMN_FROM, layer, cell[1]], ranges[COLUMN_TO, layer, cell[1]]
    channels = stages[BOX_CHANNELS, layer]
    above, below = source_range(net, layer, role, True, top, bottom, right - left, channels)
    first, last = source_range(net, layer, role, False, left, right, bottom - top, channels)
    return above, below, first, last


@inner
def cell_of(model: Model, cuts: Cuts, tile: int) -> tuple[int, int]:
    """Classes of a tile's rows and columns: SoMa's tiles are all alike."""
    if not model.exact:
        return 0, 0
    return tile // cuts.columns % cuts.rows, tile % cuts.columns


@inner
def is_there(net: Net, model: Model, work: Workspace, edge: int, tile: int, cuts: Cuts) -> bool:
    """Whether the last load for `edge` is just what this tile reads: attention reads all keys of a sample each time."""
    row, layer = work.edge_load[0, edge], net.edges[EDGE_LAYER, edge]
    if row >= work.tally[LOADS] or work.loads[LOAD_EDGE, row] != edge:
        return False
    before = work.loads[LOAD_TILE, row]
    share = cuts.rows * cuts.columns
    if before // share != tile // share or work.loads[LOAD_SIZE, row] != work.edge_load[1, edge]:
        return False
    ranges, stages = work.ranges, work.stages
    then = source_box(net, stages, ranges, layer, edge, cell_of(model, cuts, before))
    return then == source_box(net, stages, ranges, layer, edge, cell_of(model, cuts, tile))


@inner
def stays(net: Net, work: Workspace, edge: int, until: int, batch: int) -> bool:
    """Whether an earlier fused group of the layer group loads all of the edge's source; it then stays `until`."""
    stages, loads, layer = work.stages, work.loads, net.edges[EDGE_LAYER, edge]
    whole = net.edges[SOURCE_CHANNELS, edge] * net.layers[layer, INPUT_HEIGHT] * net.layers[layer, INPUT_WIDTH] * batch
    twin = net.edges[TWIN, edge]
    while twin != edge:
        other, first = net.edges[EDGE_LAYER, twin], work.edge_load[2, twin]
        near = stages[GROUP, other] == stages[GROUP, layer] and stages[FUSED, other] < stages[FUSED, layer]
        if near and _reads_gapless(net, other) and 0 <= first < work.tally[LOADS] and loads[LOAD_EDGE, first] == twin:
            total = 0
            for row in range(first, work.edge_load[0, twin] + 1):
                if loads[LOAD_EDGE, row] == twin:
                    total += loads[LOAD_SIZE, row]
            if total >= whole:
                for row in range(first, work.edge_load[0, twin] + 1):
                    if loads[LOAD_EDGE, row] == twin:
                        loads[LOAD_LAST, row] = max(loads[LOAD_LAST, row], until)
                return True
        twin = net.edges[TWIN, twin]
    return False


@inner
def _reads_gapless(net: Net, layer: int) -> bool:
    layers = net.layers
    tall = layers[layer, KERNEL_HEIGHT] >= layers[layer, STRIDE_HEIGHT]
    return tall and layers[layer, KERNEL_WIDTH] >= layers[layer, STRIDE_WIDTH]
