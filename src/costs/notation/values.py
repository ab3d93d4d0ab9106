"""Tiles, tensors and schedules in the tensor-centric notation."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network
from ..dram import Model, Net, Workspace, net_tables, score, state_of, workspace
from ..dram.emit import FITS, OVERFLOW, TOO_MANY, UNCUTTABLE
from ..dram.tables import Edges, Loads, Positions, Stages, Tally
from ..dram.timetable import load_key, tiles_in
from ..soma.blocks import splits
from ..soma.tiling import INPUT, OUTPUT, WEIGHT, Fusion, check_fusion, tiles_of

__all__ = ["INPUT", "OUTPUT", "WEIGHT", "Choices", "Move", "Parsed", "Tensor", "Tile"]


@dataclass(frozen=True)
class Choices:
    """The layer-fusion attributes: order, DRAM cuts, fine-grained cuts and tiling numbers, for `batch` samples.

    By fused group, `streamed` tells whether weights are loaded again for each tile instead of staying, and `reused`
    whether layers take from earlier fused groups of their layer group, and their tiles from those before, what these
    loaded from DRAM.
    """

    fusion: Fusion
    batch: int
    streamed: tuple[bool, ...] = ()
    reused: tuple[bool, ...] = ()

    def flags(self, group: int) -> tuple[bool, bool]:
        """(streamed, reused) of fused group number `group`."""
        return bool(self.streamed and self.streamed[group]), bool(self.reused and self.reused[group])


class Tile(NamedTuple):
    """Tile number `tile` of `layer`."""

    layer: int
    tile: int


class Tensor(NamedTuple):
    """What lies in the buffer: `kind` of tile `tile` of `layer`.

    `source` is the layer that an input comes from, -1 - i for network input i, -1 else.  It is first read, or made, at
    position `first`; no tile reads it from position `last` on.  `moves` tells whether it passes through DRAM.
    """

    kind: int
    layer: int
    tile: int
    source: int
    size_bytes: int
    first: int
    last: int
    moves: bool

    @property
    def key(self) -> tuple[int, int, int, int]:
        """What names it: kind, layer, tile, source."""
        return self.kind, self.layer, self.tile, self.source


@dataclass(frozen=True)
class Parsed:
    """The layer-fusion attributes worked out: tiles in order with their cycles, `tensors`, and the energy of all."""

    network: Network
    choices: Choices
    tiles: tuple[Tile, ...]
    tile_cycles: tuple[int, ...]
    tensors: tuple[Tensor, ...]
    energy_pj: float

    @cached_property
    def number(self) -> dict[tuple[int, int, int, int], int]:
        """The number of each tensor by its key."""
        return {tensor.key: number for number, tensor in enumerate(self.tensors)}

    def describe(self, number: int) -> str:
        """A tensor in words."""
        tensor = self.tensors[number]
        name = self.network.layers[tensor.layer].name
        if tensor.kind == WEIGHT:
            return f"weights of {name}" + (f" for tile {tensor.tile}" if tensor.tile else "")
        if tensor.kind == OUTPUT:
            return f"result of {name}, tile {tensor.tile}"
        layers, inputs = self.network.layers, self.network.inputs
        source = layers[tensor.source].name if tensor.source >= 0 else inputs[-1 - tensor.source][0]
        return f"input of {name}, tile {tensor.tile}, from {source}"


class Move(NamedTuple):
    """A tensor that passes through DRAM: it lives in the buffer from position `start` to the end of `end - 1`.

    A load may begin once the tile before `start` is done; a store must be complete before tile `end` begins.
    """

    tensor: int
    start: int
    end: int


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
