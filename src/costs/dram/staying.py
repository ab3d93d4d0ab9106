"""Compiled: what a tile reads, and whether the buffer has it from earlier tiles or groups."""

from __future__ import annotations

from .boxes import Cuts, source_range
from .compiled import inner
from .tables import Edges, Ints, Layers, Model, Net
from .workspace import Loads, Ranges, Stages, Tally, Workspace


@inner
def source_box(
    net: Net, stages: Ints, ranges: Ints, layer: int, edge: int, cell: tuple[int, int]
) -> tuple[int, int, int, int]:
    """[from, to) of rows, of columns of the source of `edge` that the layer reads for a tile of classes `cell`."""
    role = net.edges[Edges.ROLE, edge]
    top, bottom = ranges[Ranges.ROW_FROM, layer, cell[0]], ranges[Ranges.ROW_TO, layer, cell[0]]
    left, right = ranges[Ranges.COLUMN_FROM, layer, cell[1]], ranges[Ranges.COLUMN_TO, layer, cell[1]]
    channels = stages[Stages.CHANNELS, layer]
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
    row, layer = work.edge_load[0, edge], net.edges[Edges.LAYER, edge]
    if row >= work.tally[Tally.LOADS] or work.loads[Loads.EDGE, row] != edge:
        return False
    before = work.loads[Loads.TILE, row]
    share = cuts.rows * cuts.columns
    if before // share != tile // share or work.loads[Loads.SIZE, row] != work.edge_load[1, edge]:
        return False
    ranges, stages = work.ranges, work.stages
    then = source_box(net, stages, ranges, layer, edge, cell_of(model, cuts, before))
    return then == source_box(net, stages, ranges, layer, edge, cell_of(model, cuts, tile))


@inner
def stays(net: Net, work: Workspace, edge: int, until: int, batch: int) -> bool:
    """Whether an earlier fused group of the layer group loads all of the edge's source; it then stays `until`."""
    stages, loads, layer = work.stages, work.loads, net.edges[Edges.LAYER, edge]
    whole = (
        net.edges[Edges.CHANNELS, edge]
        * net.layers[layer, Layers.INPUT_HEIGHT]
        * net.layers[layer, Layers.INPUT_WIDTH]
        * batch
    )
    twin = net.edges[Edges.TWIN, edge]
    while twin != edge:
        other, first = net.edges[Edges.LAYER, twin], work.edge_load[2, twin]
        near = (
            stages[Stages.GROUP, other] == stages[Stages.GROUP, layer]
            and stages[Stages.FUSED, other] < stages[Stages.FUSED, layer]
        )
        if (
            near
            and _reads_gapless(net, other)
            and 0 <= first < work.tally[Tally.LOADS]
            and loads[Loads.EDGE, first] == twin
        ):
            total = 0
            for row in range(first, work.edge_load[0, twin] + 1):
                if loads[Loads.EDGE, row] == twin:
                    total += loads[Loads.SIZE, row]
            if total >= whole:
                for row in range(first, work.edge_load[0, twin] + 1):
                    if loads[Loads.EDGE, row] == twin:
                        loads[Loads.LAST, row] = max(loads[Loads.LAST, row], until)
                return True
        twin = net.edges[Edges.TWIN, twin]
    return False


@inner
def _reads_gapless(net: Net, layer: int) -> bool:
    layers = net.layers
    tall = layers[layer, Layers.KERNEL_HEIGHT] >= layers[layer, Layers.STRIDE_HEIGHT]
    return tall and layers[layer, Layers.KERNEL_WIDTH] >= layers[layer, Layers.STRIDE_WIDTH]
