"""Compiled: a fusion's tiles in order, and the loads, stores and local tensors that they need."""

from ...algebra.element import Ints
from ..soma.blocks import Split
from .boxes import Cuts, cut_group, source_range
from .tables import (
    JOINED,
    LAYER_GROUP,
    REUSED,
    STREAMING,
    Edges,
    Layers,
    Loads,
    Model,
    Net,
    Positions,
    Ranges,
    Stages,
    State,
    Stores,
    Tally,
    Workspace,
    compiled,
    inner,
)
from .tile_price import price_tile


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
        while high < count and state[State.CUT, high] == JOINED:
            high += 1
        fused += 1
        if low == 0 or state[State.CUT, low] == LAYER_GROUP:
            group += 1
        tiles = state[State.TILES, low]
        for place in range(low, high):
            layer = state[State.ORDER, place]
            stages[Stages.GROUP, layer] = group
            stages[Stages.FUSED, layer] = fused
            stages[Stages.FIRST, layer] = position + place - low
            stages[Stages.STEP, layer] = high - low
            stages[Stages.TILES, layer] = tiles
            stages[Stages.LEFT, layer] = 0
        position += (high - low) * tiles
        low = high
    return position


@inner
def _keep(net: Net, stages: Ints, layer: int) -> None:
    """Fill the last rows of `stages`: how long results stay."""
    low, high = net.first_reader[layer], net.first_reader[layer + 1]
    stages[Stages.MOVES, layer] = low == high
    stages[Stages.DISTANCE, layer] = stages[Stages.KEPT_UNTIL, layer] = 0
    for place in range(low, high):
        reader = net.reader[place]
        if stages[Stages.FUSED, reader] == stages[Stages.FUSED, layer]:
            distance = stages[Stages.FIRST, reader] - stages[Stages.FIRST, layer]
            stages[Stages.DISTANCE, layer] = max(stages[Stages.DISTANCE, layer], distance)
        elif stages[Stages.GROUP, reader] == stages[Stages.GROUP, layer]:
            end = stages[Stages.FIRST, reader] + (stages[Stages.TILES, reader] - 1) * stages[Stages.STEP, reader] + 1
            stages[Stages.KEPT_UNTIL, layer] = max(stages[Stages.KEPT_UNTIL, layer], end)
        else:
            stages[Stages.MOVES, layer] = 1


@inner
def _transfer_cycles(model: Model, size: int) -> int:
    return model.latency + -(-size // model.bandwidth)


@inner
def _add_load(
    loads: Ints, tally: Ints, model: Model, size: int, life: tuple[int, int], edge: int, tile: int, source: int
) -> int:
    row = tally[Tally.LOADS]
    loads[Loads.SIZE, row] = size
    loads[Loads.CYCLES, row] = _transfer_cycles(model, size)
    loads[Loads.POSITION, row] = life[0]
    loads[Loads.LAST, row] = life[1]
    loads[Loads.EDGE, row] = edge
    loads[Loads.TILE, row] = tile
    loads[Loads.SOURCE, row] = source
    if source < 0:
        loads[Loads.FREE, tally[Tally.FREE]] = row
        tally[Tally.FREE] += 1
    else:
        loads[Loads.BOUND, tally[Tally.BOUND]] = row
        tally[Tally.BOUND] += 1
    tally[Tally.LOADS] = row + 1
    return row


@inner
def _add_store(work: Workspace, model: Model, size: int, position: int, used: int, layer: int, tile: int) -> None:
    stores, row = work.stores, work.tally[Tally.STORES]
    stores[Stores.SIZE, row] = size
    stores[Stores.CYCLES, row] = _transfer_cycles(model, size)
    stores[Stores.POSITION, row] = position
    stores[Stores.USED, row] = used
    stores[Stores.LAYER, row] = layer
    stores[Stores.TILE, row] = tile
    work.stages[Stages.LEFT, layer] += 1
    work.tally[Tally.STORES] = row + 1


@inner
def _source_bytes(net: Net, stages: Ints, ranges: Ints, layer: int, edge: int, cell: tuple[int, int]) -> int:
    above, below, first, last = source_box(net, stages, ranges, layer, edge, cell)
    return stages[Stages.SAMPLES, layer] * net.edges[Edges.CHANNELS, edge] * (below - above) * (last - first)


@inner
def _joint_bytes(net: Net, work: Workspace, one: int, two: int, cell: tuple[int, int]) -> int:
    """Bytes of the smallest box that holds what edges `one` and `two` read of one source."""
    stages, ranges, layer = work.stages, work.ranges, net.edges[Edges.LAYER, one]
    above, below, first, last = source_box(net, stages, ranges, layer, one, cell)
    top, bottom, left, right = source_box(net, stages, ranges, net.edges[Edges.LAYER, two], two, cell)
    rows, columns = max(below, bottom) - min(above, top), max(last, right) - min(first, left)
    return stages[Stages.SAMPLES, layer] * net.edges[Edges.CHANNELS, one] * rows * columns


@inner
def _joins_load(net: Net, model: Model, work: Workspace, edge: int, tile: int, cell: tuple[int, int], at: int) -> bool:
    """Whether another layer of the fused group loads from the same source for this tile; that load then serves both."""
    loads, fused = work.loads, work.stages[Stages.FUSED, net.edges[Edges.LAYER, edge]]
    twin = net.edges[Edges.TWIN, edge]
    while twin != edge:
        row = work.edge_load[0, twin]
        if work.stages[Stages.FUSED, net.edges[Edges.LAYER, twin]] == fused and row < work.tally[Tally.LOADS]:
            if loads[Loads.EDGE, row] == twin and loads[Loads.TILE, row] == tile:
                size = max(loads[Loads.SIZE, row], _joint_bytes(net, work, edge, twin, cell))
                loads[Loads.SIZE, row] = size
                loads[Loads.CYCLES, row] = _transfer_cycles(model, size)
                loads[Loads.LAST, row] = max(loads[Loads.LAST, row], at + 1)
                return True
        twin = net.edges[Edges.TWIN, twin]
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
    tally[Tally.POSITIONS] = positions
    if positions + 2 > work.positions.shape[1]:
        return TOO_MANY
    for position in range(positions + 2):
        work.positions[Positions.USAGE, position] = 0
    low, count = 0, state.shape[1]
    while low < count:
        high = low + 1
        while high < count and state[State.CUT, high] == JOINED:
            high += 1
        cuts = cut_group(
            stages, work.ranges, net, state[State.ORDER], (low, high), state[State.TILES, low], batch, model.exact
        )
        if cuts.samples == 0:
            tally[Tally.UNCUT] = state[State.ORDER, high - 1]
            return UNCUTTABLE
        for place in range(low, high):
            _keep(net, stages, state[State.ORDER, place])
        for tile in range(state[State.TILES, low]):
            outcome = _emit_tile(net, model, splits, state, work, (low, high), cuts, tile, batch)
            if outcome != FITS:
                return outcome
        low = high
    _sum_up(work)
    return FITS


@compiled
def need_alone(net: Net, state: Ints, layer: int, batch: int, work: Workspace) -> int:
    """Bytes that a tile of a layer by itself makes and reads, with its weights; -1 where it cannot be cut so.

    In `state` each layer is a group, at the place of its number.  The tile is that of SoMa's model.
    """
    stages, ranges = work.stages, work.ranges
    place_layers(state, stages)
    cuts = cut_group(stages, ranges, net, state[State.ORDER], (layer, layer + 1), state[State.TILES, layer], batch, 0)
    if cuts.samples == 0:
        return -1
    height, width = ranges[Ranges.ROW_TO, layer, 0], ranges[Ranges.COLUMN_TO, layer, 0]
    total = stages[Stages.SAMPLES, layer] * stages[Stages.CHANNELS, layer] * height * width
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        total += _source_bytes(net, stages, ranges, layer, edge, (0, 0))
    return total + net.layers[layer, Layers.WEIGHT_BYTES]


@inner
def _price(
    net: Net, model: Model, splits: tuple[Split, ...], work: Workspace, layer: int, cell: tuple[int, int]
) -> bool:
    """Work out what a tile reads and costs; False where the cores cannot."""
    stages, ranges, read = work.stages, work.ranges, 0
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        work.edge_load[1, edge] = _source_bytes(net, stages, ranges, layer, edge, cell)
        read += work.edge_load[1, edge]
    height = ranges[Ranges.ROW_TO, layer, cell[0]] - ranges[Ranges.ROW_FROM, layer, cell[0]]
    width = ranges[Ranges.COLUMN_TO, layer, cell[1]] - ranges[Ranges.COLUMN_FROM, layer, cell[1]]
    box = stages[Stages.SAMPLES, layer], stages[Stages.CHANNELS, layer], height, width
    cycles, energy = price_tile(work, net, model, splits, layer, box, read)
    stages[Stages.TILE_CYCLES, layer], work.energy[layer] = cycles, energy
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
        layer = state[State.ORDER, place]
        if changed and not _price(net, model, splits, work, layer, (row, column)):
            return TOO_BIG_FOR_CORES
        loads = work.tally[Tally.LOADS] + 1 + net.first_edge[layer + 1] - net.first_edge[layer]
        if loads > work.loads.shape[1]:
            return TOO_MANY
        position = stages[Stages.FIRST, layer] + tile * stages[Stages.STEP, layer]
        work.positions[Positions.CYCLES, position] = stages[Stages.TILE_CYCLES, layer]
        work.energy[len(work.energy) - 1] += work.energy[layer]
        _emit_loads(net, model, work, layer, tile, cuts, position, state[State.STREAMED, span[0]], batch)
        height = ranges[Ranges.ROW_TO, layer, row] - ranges[Ranges.ROW_FROM, layer, row]
        width = ranges[Ranges.COLUMN_TO, layer, column] - ranges[Ranges.COLUMN_FROM, layer, column]
        size = stages[Stages.SAMPLES, layer] * stages[Stages.CHANNELS, layer] * height * width
        end = max(stages[Stages.KEPT_UNTIL, layer], position + 1 + stages[Stages.DISTANCE, layer])
        if stages[Stages.MOVES, layer]:
            _add_store(work, model, size, position, end, layer, tile)
        work.positions[Positions.RESULT, position] = size
        work.positions[Positions.USAGE, position + 1] += size
        work.positions[Positions.USAGE, end + 1] -= size
    return FITS


@inner
def _emit_loads(
    net: Net, model: Model, work: Workspace, layer: int, tile: int, cuts: Cuts, position: int, how: int, batch: int
) -> None:
    """Loads of what the layer's tile at `position` reads from DRAM."""
    stages, loads, tally = work.stages, work.loads, work.tally
    cell = cell_of(model, cuts, tile)
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        source = net.edges[Edges.SOURCE, edge]
        if source >= 0 and stages[Stages.GROUP, source] == stages[Stages.GROUP, layer]:
            continue
        if model.exact and _joins_load(net, model, work, edge, tile, cell, position):
            continue
        if model.exact and how & REUSED:
            if tile > 0 and is_there(net, model, work, edge, tile, cuts):
                row = work.edge_load[0, edge]
                loads[Loads.LAST, row] = position + 1
                continue
            end = position + (stages[Stages.TILES, layer] - 1) * stages[Stages.STEP, layer] + 1
            if tile == 0:
                work.edge_load[2, edge] = -2 if stays(net, work, edge, end, batch) else -1
            if work.edge_load[2, edge] == -2:
                continue
        life, size = (position, position + 1), work.edge_load[1, edge]
        if tile == 0:
            work.edge_load[2, edge] = tally[Tally.LOADS]
        work.edge_load[0, edge] = _add_load(loads, tally, model, size, life, edge, tile, max(source, -1))
    weights = net.layers[layer, Layers.WEIGHT_BYTES]
    if weights > 0 and (tile == 0 or how & STREAMING):
        last = (
            position if how & STREAMING else position + (stages[Stages.TILES, layer] - 1) * stages[Stages.STEP, layer]
        )
        _add_load(loads, tally, model, weights, (position, last + 1), -1 - layer, tile, -1)


@inner
def _sum_up(work: Workspace) -> None:
    """Totals, and the use of the buffer where every load comes with its tile."""
    tally, loads, stores, positions = work.tally, work.loads, work.stores, work.positions
    for row in range(tally[Tally.LOADS]):
        positions[Positions.USAGE, loads[Loads.POSITION, row] + 1] += loads[Loads.SIZE, row]
        positions[Positions.USAGE, loads[Loads.LAST, row] + 1] -= loads[Loads.SIZE, row]
        tally[Tally.DRAM_BYTES] += loads[Loads.SIZE, row]
        tally[Tally.DRAM_CYCLES] += loads[Loads.CYCLES, row]
    for row in range(tally[Tally.STORES]):
        tally[Tally.DRAM_BYTES] += stores[Stores.SIZE, row]
        tally[Tally.DRAM_CYCLES] += stores[Stores.CYCLES, row]
    total = 0
    for place in range(tally[Tally.POSITIONS] + 1):
        total += positions[Positions.USAGE, place]
        positions[Positions.USAGE, place] = total
    for position in range(tally[Tally.POSITIONS]):
        tally[Tally.COMPUTE_CYCLES] += positions[Positions.CYCLES, position]
