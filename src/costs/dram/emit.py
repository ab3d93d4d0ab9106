"""Compiled: a fusion's tiles in order, and the loads, stores and local tensors that they need."""

from __future__ import annotations

from ..soma.blocks import Split
from .boxes import Cuts, cut_group
from .compiled import inner
from .staying import cell_of, is_there, source_box, stays
from .tables import EDGE_LAYER, SOURCE, SOURCE_CHANNELS, TWIN, WEIGHT_BYTES, Ints, Model, Net
from .tile_price import price_tile
from .workspace import (
    BOUND,
    BOUND_LOAD,
    BOX_CHANNELS,
    COLUMN_FROM,
    COLUMN_TO,
    COMPUTE_CYCLES,
    CUT,
    CYCLES,
    DISTANCE,
    DRAM_BYTES,
    DRAM_CYCLES,
    FIRST,
    FREE,
    FREE_LOAD,
    FUSED,
    GROUP,
    JOINED,
    KEPT_UNTIL,
    LAYER_GROUP,
    LAYER_TILES,
    LEFT,
    LOAD_CYCLES,
    LOAD_EDGE,
    LOAD_LAST,
    LOAD_POSITION,
    LOAD_SIZE,
    LOAD_SOURCE,
    LOAD_TILE,
    LOADS,
    MOVES,
    ORDER,
    POSITIONS,
    RESULT,
    REUSED,
    ROW_FROM,
    ROW_TO,
    SAMPLES,
    STEP,
    STORE_CYCLES,
    STORE_LAYER,
    STORE_POSITION,
    STORE_SIZE,
    STORE_TILE,
    STORE_USED,
    STORES,
    STREAMED,
    STREAMING,
    TILE_CYCLES,
    TILES,
    USAGE,
    Workspace,
)

FITS, UNCUTTABLE, TOO_BIG_FOR_CORES, TOO_MANY, OVERFLOW = range(5)
"""Outcomes: a fused group that cannot be cut so, a tile no blocking of which fits the cores' buffers, more tiles or
loads than there is room for in the workspace, and more than the buffer at some position.
"""


@inner
def place_layers(state: Ints, stages: Ints) -> int:
    """Fill the first rows of `stages`; the number of positions."""
    count, group, fused, position, low = state.shape[1], -1, -1, 0, 0
    while low < count:
        high = low + 1
        while high < count and state[CUT, high] == JOINED:
            high += 1
        fused += 1
        if low == 0 or state[CUT, low] == LAYER_GROUP:
            group += 1
        tiles = state[TILES, low]
        for place in range(low, high):
            layer = state[ORDER, place]
            stages[GROUP, layer] = group
            stages[FUSED, layer] = fused
            stages[FIRST, layer] = position + place - low
            stages[STEP, layer] = high - low
            stages[LAYER_TILES, layer] = tiles
            stages[LEFT, layer] = 0
        position += (high - low) * tiles
        low = high
    return position


@inner
def _keep(net: Net, stages: Ints, layer: int) -> None:
    """Fill the last rows of `stages`: how long results stay."""
    low, high = net.first_reader[layer], net.first_reader[layer + 1]
    stages[MOVES, layer] = low == high
    stages[DISTANCE, layer] = stages[KEPT_UNTIL, layer] = 0
    for place in range(low, high):
        reader = net.reader[place]
        if stages[FUSED, reader] == stages[FUSED, layer]:
            distance = stages[FIRST, reader] - stages[FIRST, layer]
            stages[DISTANCE, layer] = max(stages[DISTANCE, layer], distance)
        elif stages[GROUP, reader] == stages[GROUP, layer]:
            end = stages[FIRST, reader] + (stages[LAYER_TILES, reader] - 1) * stages[STEP, reader] + 1
            stages[KEPT_UNTIL, layer] = max(stages[KEPT_UNTIL, layer], end)
        else:
            stages[MOVES, layer] = 1


@inner
def _transfer_cycles(model: Model, size: int) -> int:
    return model.latency + -(-size // model.bandwidth)


@inner
def _add_load(
    loads: Ints, tally: Ints, model: Model, size: int, life: tuple[int, int], edge: int, tile: int, source: int
) -> int:
    row = tally[LOADS]
    loads[LOAD_SIZE, row] = size
    loads[LOAD_CYCLES, row] = _transfer_cycles(model, size)
    loads[LOAD_POSITION, row] = life[0]
    loads[LOAD_LAST, row] = life[1]
    loads[LOAD_EDGE, row] = edge
    loads[LOAD_TILE, row] = tile
    loads[LOAD_SOURCE, row] = source
    if source < 0:
        loads[FREE_LOAD, tally[FREE]] = row
        tally[FREE] += 1
    else:
        loads[BOUND_LOAD, tally[BOUND]] = row
        tally[BOUND] += 1
    tally[LOADS] = row + 1
    return row


@inner
def _add_store(work: Workspace, model: Model, size: int, position: int, used: int, layer: int, tile: int) -> None:
    stores, row = work.stores, work.tally[STORES]
    stores[STORE_SIZE, row] = size
    stores[STORE_CYCLES, row] = _transfer_cycles(model, size)
    stores[STORE_POSITION, row] = position
    stores[STORE_USED, row] = used
    stores[STORE_LAYER, row] = layer
    stores[STORE_TILE, row] = tile
    work.stages[LEFT, layer] += 1
    work.tally[STORES] = row + 1


@inner
def _source_bytes(net: Net, stages: Ints, ranges: Ints, layer: int, edge: int, cell: tuple[int, int]) -> int:
    above, below, first, last = source_box(net, stages, ranges, layer, edge, cell)
    return stages[SAMPLES, layer] * net.edges[SOURCE_CHANNELS, edge] * (below - above) * (last - first)


@inner
def _joint_bytes(net: Net, work: Workspace, one: int, two: int, cell: tuple[int, int]) -> int:
    """Bytes of the smallest box that holds what edges `one` and `two` read of one source."""
    stages, ranges, layer = work.stages, work.ranges, net.edges[EDGE_LAYER, one]
    above, below, first, last = source_box(net, stages, ranges, layer, one, cell)
    top, bottom, left, right = source_box(net, stages, ranges, net.edges[EDGE_LAYER, two], two, cell)
    rows, columns = max(below, bottom) - min(above, top), max(last, right) - min(first, left)
    return stages[SAMPLES, layer] * net.edges[SOURCE_CHANNELS, one] * rows * columns


@inner
def _joins_load(net: Net, model: Model, work: Workspace, edge: int, tile: int, cell: tuple[int, int], at: int) -> bool:
    """Whether another layer of the fused group loads from the same source for this tile; that load then serves both."""
    loads, fused = work.loads, work.stages[FUSED, net.edges[EDGE_LAYER, edge]]
    twin = net.edges[TWIN, edge]
    while twin != edge:
        row = work.edge_load[0, twin]
        if work.stages[FUSED, net.edges[EDGE_LAYER, twin]] == fused and row < work.tally[LOADS]:
            if loads[LOAD_EDGE, row] == twin and loads[LOAD_TILE, row] == tile:
                size = max(loads[LOAD_SIZE, row], _joint_bytes(net, work, edge, twin, cell))
                loads[LOAD_SIZE, row] = size
                loads[LOAD_CYCLES, row] = _transfer_cycles(model, size)
                loads[LOAD_LAST, row] = max(loads[LOAD_LAST, row], at + 1)
                return True
        twin = net.edges[TWIN, twin]
    return False


@inner
def emit(net: Net, model: Model, splits: tuple[Split, ...], batch: int, state: Ints, work: Workspace) -> int:
    """Fill `work` with tiles, loads, stores and the use of the buffer without prefetch; the outcome."""
    tally, stages = work.tally, work.stages
    for place in range(len(tally)):
        tally[place] = 0
    work.energy[len(work.energy) - 1] = 0.0
    work.edge_load[2] = -1
    positions = place_layers(state, stages)
    tally[POSITIONS] = positions
    if positions + 2 > work.positions.shape[1]:
        return TOO_MANY
    for position in range(positions + 2):
        work.positions[USAGE, position] = 0
    low, count = 0, state.shape[1]
    while low < count:
        high = low + 1
        while high < count and state[CUT, high] == JOINED:
            high += 1
        cuts = cut_group(stages, work.ranges, net, state[ORDER], (low, high), state[TILES, low], batch, model.exact)
        if cuts.samples == 0:
            return UNCUTTABLE
        for place in range(low, high):
            _keep(net, stages, state[ORDER, place])
        for tile in range(state[TILES, low]):
            outcome = _emit_tile(net, model, splits, state, work, (low, high), cuts, tile, batch)
            if outcome != FITS:
                return outcome
        low = high
    _sum_up(work)
    return FITS


@inner
def _price(
    net: Net, model: Model, splits: tuple[Split, ...], work: Workspace, layer: int, cell: tuple[int, int]
) -> bool:
    """Work out what a tile reads and costs; False where the cores cannot."""
    stages, ranges, read = work.stages, work.ranges, 0
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        work.edge_load[1, edge] = _source_bytes(net, stages, ranges, layer, edge, cell)
        read += work.edge_load[1, edge]
    height = ranges[ROW_TO, layer, cell[0]] - ranges[ROW_FROM, layer, cell[0]]
    width = ranges[COLUMN_TO, layer, cell[1]] - ranges[COLUMN_FROM, layer, cell[1]]
    box = stages[SAMPLES, layer], stages[BOX_CHANNELS, layer], height, width
    cycles, energy = price_tile(work, net, model, splits, layer, box, read)
    stages[TILE_CYCLES, layer], work.energy[layer] = cycles, energy
    return cycles > 0


@inner
def _emit_tile(
    net: Net,
    model: Model,
    splits: tuple[Split, ...],
    state: Ints,
    work: Workspace,
    span: tuple[int, int],
    cuts: Cuts,
    tile: int,
    batch: int,
) -> int:
    """Tile number `tile` of the layers at places `span` of the order, and what it needs."""
    row, column = cell_of(model, cuts, tile)
    changed = tile == 0 or (model.exact > 0 and cuts.rows * cuts.columns > 1)
    ranges, stages = work.ranges, work.stages
    for place in range(span[0], span[1]):
        layer = state[ORDER, place]
        if changed and not _price(net, model, splits, work, layer, (row, column)):
            return TOO_BIG_FOR_CORES
        loads = work.tally[LOADS] + 1 + net.first_edge[layer + 1] - net.first_edge[layer]
        if loads > work.loads.shape[1]:
            return TOO_MANY
        position = stages[FIRST, layer] + tile * stages[STEP, layer]
        work.positions[CYCLES, position] = stages[TILE_CYCLES, layer]
        work.energy[len(work.energy) - 1] += work.energy[layer]
        _emit_loads(net, model, work, layer, tile, cuts, position, state[STREAMED, span[0]], batch)
        height = ranges[ROW_TO, layer, row] - ranges[ROW_FROM, layer, row]
        width = ranges[COLUMN_TO, layer, column] - ranges[COLUMN_FROM, layer, column]
        size = stages[SAMPLES, layer] * stages[BOX_CHANNELS, layer] * height * width
        end = max(stages[KEPT_UNTIL, layer], position + 1 + stages[DISTANCE, layer])
        if stages[MOVES, layer]:
            _add_store(work, model, size, position, end, layer, tile)
        work.positions[RESULT, position] = size
        work.positions[USAGE, position + 1] += size
        work.positions[USAGE, end + 1] -= size
    return FITS


@inner
def _emit_loads(
    net: Net, model: Model, work: Workspace, layer: int, tile: int, cuts: Cuts, position: int, how: int, batch: int
) -> None:
    """Loads of what the layer's tile at `position` reads from DRAM."""
    stages, loads, tally = work.stages, work.loads, work.tally
    cell = cell_of(model, cuts, tile)
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        source = net.edges[SOURCE, edge]
        if source >= 0 and stages[GROUP, source] == stages[GROUP, layer]:
            continue
        if model.exact and _joins_load(net, model, work, edge, tile, cell, position):
            continue
        if model.exact and how & REUSED:
            if tile > 0 and is_there(net, model, work, edge, tile, cuts):
                row = work.edge_load[0, edge]
                loads[LOAD_LAST, row] = position + 1
                continue
            end = position + (stages[LAYER_TILES, layer] - 1) * stages[STEP, layer] + 1
            if tile == 0:
                work.edge_load[2, edge] = -2 if stays(net, work, edge, end, batch) else -1
            if work.edge_load[2, edge] == -2:
                continue
        life, size = (position, position + 1), work.edge_load[1, edge]
        if tile == 0:
            work.edge_load[2, edge] = tally[LOADS]
        work.edge_load[0, edge] = _add_load(loads, tally, model, size, life, edge, tile, max(source, -1))
    weights = net.layers[layer, WEIGHT_BYTES]
    if weights > 0 and (tile == 0 or how & STREAMING):
        last = position if how & STREAMING else position + (stages[LAYER_TILES, layer] - 1) * stages[STEP, layer]
        _add_load(loads, tally, model, weights, (position, last + 1), -1 - layer, tile, -1)


@inner
def _sum_up(work: Workspace) -> None:
    """Totals, and the use of the buffer where every load comes with its tile."""
    tally, loads, stores, positions = work.tally, work.loads, work.stores, work.positions
    for row in range(tally[LOADS]):
        positions[USAGE, loads[LOAD_POSITION, row] + 1] += loads[LOAD_SIZE, row]
        positions[USAGE, loads[LOAD_LAST, row] + 1] -= loads[LOAD_SIZE, row]
        tally[DRAM_BYTES] += loads[LOAD_SIZE, row]
        tally[DRAM_CYCLES] += loads[LOAD_CYCLES, row]
    for row in range(tally[STORES]):
        tally[DRAM_BYTES] += stores[STORE_SIZE, row]
        tally[DRAM_CYCLES] += stores[STORE_CYCLES, row]
    total = 0
    for place in range(tally[POSITIONS] + 1):
        total += positions[USAGE, place]
        positions[USAGE, place] = total
    for position in range(tally[POSITIONS]):
        tally[COMPUTE_CYCLES] += positions[CYCLES, position]
