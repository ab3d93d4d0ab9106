"""The parsing of section IV-A: order, cuts and tiling numbers to tiles in order and the tensors that they need."""

import numpy as np

from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network
from ..dram import Model, Net, Workspace, net_tables, score, state_of, workspace
from ..dram.emit import FITS, OVERFLOW, TOO_MANY, UNCUTTABLE
from ..dram.tables import Edges, Loads, Positions, Stages, Tally
from ..dram.timetable import load_key, tiles_in
from ..soma.blocks import splits
from ..soma.fusion import check_fusion
from ..soma.tiling import tiles_of
from .values import OUTPUT, Choices, Parsed, Tensor, Tile

MAX_TILES = 1 << 18
"""Most tiles of a schedule, over all layers."""

CLASSES = 1 << 10
"""Most rows and columns of tiles."""

NO_LIMIT = 1 << 60


def parse(network: Network, choices: Choices, model: Model, *, shared: bool = True) -> Parsed:
    """Tiles and tensors of `choices` in `model`, whatever its buffer; readers of a map load it together where `shared`.

    Raises TilewrightError (kind `schedule`) where the choices do not describe a computation of `network`.
    """
    fusion, batch = choices.fusion, choices.batch
    check_fusion(network, fusion)
    count = sum(len(group.layers) * group.tiles for group in fusion.fused_groups)
    if count > MAX_TILES:
        raise TilewrightError("schedule", network.name, f"at most {MAX_TILES} tiles", str(count))
    flags = [choices.flags(number) for number in range(len(fusion.tiles))]
    state = state_of(fusion, tuple(streamed for streamed, _ in flags), tuple(reused for _, reused in flags))
    net, free, outcome, room = net_tables(network), model._replace(buffer_bytes=NO_LIMIT), TOO_MANY, count + 2
    if not shared:
        net.edges[Edges.TWIN] = np.arange(net.edges.shape[1])
    work = workspace(net, room, CLASSES)
    while outcome == TOO_MANY and room <= MAX_TILES << 4:
        work = workspace(net, room, CLASSES)
        outcome = score(net, free, splits(model.array.side), batch, state, work, NO_LIMIT, 0)
        room *= 2
    if outcome == UNCUTTABLE:
        for group in fusion.fused_groups:
            tiles_of(network, group, batch)
    if outcome not in (FITS, OVERFLOW):
        raise TilewrightError("schedule", network.name, "tiles that the cores can compute", "none", "use other tiles")
    return _parsed(network, choices, net, work)


def _parsed(network: Network, choices: Choices, net: Net, work: Workspace) -> Parsed:
    layer, index = (column.tolist() for column in tiles_in(net, work))
    tensors: list[Tensor] = []
    for row in work.loads[:, : work.tally[Tally.LOADS]].T.tolist():
        tensors.append(Tensor(*load_key(net, row), row[Loads.SIZE], row[Loads.POSITION], row[Loads.LAST], True))
    places = np.arange(work.tally[Tally.POSITIONS])
    stages = work.stages[:, layer]
    last = np.maximum(stages[Stages.KEPT_UNTIL], places + 1 + stages[Stages.DISTANCE])
    sizes = work.positions[Positions.RESULT, : len(places)]
    for number, tile, *given in zip(
        layer, index, *(c.tolist() for c in (sizes, places, last, stages[Stages.MOVES] > 0))
    ):
        tensors.append(Tensor(OUTPUT, number, tile, -1, *given))
    tiles = tuple(Tile(*item) for item in zip(layer, index))
    cycles = tuple(work.positions[Positions.CYCLES, : len(places)].tolist())
    return Parsed(network, choices, tiles, cycles, tuple(tensors), float(work.energy[-1]))
