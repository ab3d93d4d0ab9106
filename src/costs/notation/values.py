"""Tiles, tensors and schedules in the tensor-centric notation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...algebra.allocation import LiveRange, require_bytes
from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network
from ..dram import Model, Net, Workspace, net_tables, score, state_of, workspace
from ..dram.emit import FITS, OVERFLOW, TOO_MANY, UNCUTTABLE
from ..dram.tables import Edges, Loads, Positions, Ranges, Stages, Tally
from ..dram.timetable import load_key, tiles_in
from ..soma.blocks import splits
from ..soma.tiling import INPUT, OUTPUT, WEIGHT, Fusion, check_fusion

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
    """The layer-fusion attributes worked out: tiles in order with their cycles, `tensors`, and the energy of all.

    `boxes` are samples, channels, rows and columns of a tile of each layer, the first where they differ.
    """

    network: Network
    choices: Choices
    tiles: tuple[Tile, ...]
    tile_cycles: tuple[int, ...]
    tensors: tuple[Tensor, ...]
    energy_pj: float
    boxes: tuple[tuple[int, int, int, int], ...]

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
        layer = int(work.tally[Tally.UNCUT])
        group = next(group for group in fusion.fused_groups if layer in group.layers)
        _, height, width = network.layers[layer].shape
        raise TilewrightError(
            "schedule",
            f"layer {layer} ({network.layers[layer].name})",
            f"at most {batch} x {height} x {width} tiles of samples, rows and columns",
            f"{group.tiles} tiles that divisors cannot spread over rows and columns",
            "use fewer tiles",
        )
    if outcome not in (FITS, OVERFLOW):
        raise TilewrightError("schedule", network.name, "tiles that the cores can compute", "none", "use other tiles")
    return _parsed(network, choices, net, work)


def _parsed(network: Network, choices: Choices, net: Net, work: Workspace) -> Parsed:
    layer, index = (column.tolist() for column in tiles_in(work))
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
    first = work.ranges[:, :, 0]
    high, wide = first[Ranges.ROW_TO] - first[Ranges.ROW_FROM], first[Ranges.COLUMN_TO] - first[Ranges.COLUMN_FROM]
    boxes = zip(*(c.tolist() for c in (work.stages[Stages.SAMPLES], work.stages[Stages.CHANNELS], high, wide)))
    return Parsed(network, choices, tiles, cycles, tuple(tensors), float(work.energy[-1]), tuple(boxes))


def check_schedule(parsed: Parsed, moves: Sequence[Move]) -> None:
    """Every DRAM tensor once, lives that cover uses, an order that respects dependences and can be executed.

    Raises TilewrightError (kind `schedule`).
    """
    _check_complete(parsed, moves)
    for move in moves:
        _check_life(parsed, move)
    _check_dependences(parsed, moves)
    _check_progress(parsed, moves)


def _check_complete(parsed: Parsed, moves: Sequence[Move]) -> None:
    seen: set[int] = set()
    for move in moves:
        if not parsed.tensors[move.tensor].moves:
            raise _refuse(parsed, move, "a tensor that passes through DRAM", "one that stays on chip")
        if move.tensor in seen:
            raise _refuse(parsed, move, "one transfer", "two")
        seen.add(move.tensor)
    for number, tensor in enumerate(parsed.tensors):
        if tensor.moves and number not in seen:
            raise TilewrightError("schedule", parsed.describe(number), "one transfer", "none")


def _check_life(parsed: Parsed, move: Move) -> None:
    tensor, count = parsed.tensors[move.tensor], len(parsed.tiles)
    if tensor.kind == OUTPUT:
        if move.start != tensor.first:
            raise _refuse(parsed, move, f"a life from {tensor.first}, when it is made", f"from {move.start}")
        if not tensor.last <= move.end <= count:
            raise _refuse(parsed, move, f"a life until {tensor.last} to {count}", f"until {move.end}")
        return
    if not -1 <= move.start <= tensor.first:
        raise _refuse(parsed, move, f"a life from -1 to {tensor.first}, its first use", f"from {move.start}")
    if move.end != tensor.last:
        raise _refuse(parsed, move, f"a life until {tensor.last}, after its last use", f"until {move.end}")


def _check_dependences(parsed: Parsed, moves: Sequence[Move]) -> None:
    """A layer's results are stored before any of them is loaded."""
    left: dict[int, int] = {}
    for tensor in parsed.tensors:
        if tensor.kind == OUTPUT and tensor.moves:
            left[tensor.layer] = left.get(tensor.layer, 0) + 1
    for move in moves:
        tensor = parsed.tensors[move.tensor]
        if tensor.kind == OUTPUT:
            left[tensor.layer] -= 1
        elif tensor.kind == INPUT and tensor.source >= 0 and left[tensor.source]:
            name = parsed.network.layers[tensor.source].name
            raise _refuse(parsed, move, f"all stores of {name} before it in the order", f"{left[tensor.source]} after")


def _check_progress(parsed: Parsed, moves: Sequence[Move]) -> None:
    """Nothing in the order waits for a tile that waits for something later in the order.

    Also, what a load's space held before has been stored by then.
    """
    never = len(parsed.tiles) + 1
    soonest, room = (never, -1), (never, -1)
    for move in reversed(moves):
        tensor = parsed.tensors[move.tensor]
        store = tensor.kind == OUTPUT
        # A store waits for its tile's end; a load for the tile before its life, and for the room that stores leave.
        begins, (limit, which) = (tensor.first + 1, soonest) if store else (move.start, min(soonest, room))
        if begins > limit:
            raise _refuse(
                parsed,
                move,
                f"a place in the order after {parsed.describe(which)}, which must be complete by {limit}",
                f"one before it, though it may begin at {begins} only",
            )
        soonest = min(soonest, (deadline(parsed, move), move.tensor))
        if store:
            room = min(room, (move.end - 1, move.tensor))


def deadline(parsed: Parsed, move: Move) -> int:
    """The position whose tile waits for the transfer."""
    tensor = parsed.tensors[move.tensor]
    return move.end if tensor.kind == OUTPUT else tensor.first


def check_capacity(parsed: Parsed, moves: Sequence[Move], buffer_bytes: int) -> list[int]:
    """Bytes in use at positions -1, 0, ...; InfeasibleError where that is more than `buffer_bytes`."""
    usage = [0] * (len(parsed.tiles) + 2)
    for item in live_ranges(parsed, moves).values():
        usage[item.start + 1] += item.size_bytes
        usage[item.end + 1] -= item.size_bytes
    for place in range(1, len(usage)):
        usage[place] += usage[place - 1]
    peak = max(usage)
    lever = f"{peak - buffer_bytes} bytes more of buffer would do, or shorter lives there"
    require_bytes("global buffer", peak, buffer_bytes, where(parsed, usage.index(peak) - 1), lever)
    return usage[:-1]


def where(parsed: Parsed, position: int) -> str:
    """A position in words."""
    if position < 0:
        return "before the first tile"
    if position >= len(parsed.tiles):
        return "after the last tile"
    tile = parsed.tiles[position]
    return f"position {position} (tile {tile.tile} of {parsed.network.layers[tile.layer].name})"


def live_ranges(parsed: Parsed, moves: Sequence[Move]) -> dict[int, LiveRange]:
    """What takes room in the buffer, by number of the tensor: those that move, and results that stay."""
    lives = {move.tensor: (move.start, move.end) for move in moves}
    found: dict[int, LiveRange] = {}
    for number, tensor in enumerate(parsed.tensors):
        life = (tensor.first, tensor.last) if not tensor.moves else lives.get(number)
        if life is not None:
            found[number] = LiveRange(*life, tensor.size_bytes)
    return found


def _refuse(parsed: Parsed, move: Move, expected: str, found: str) -> TilewrightError:
    return TilewrightError("schedule", parsed.describe(move.tensor), expected, found)
