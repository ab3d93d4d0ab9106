"""A decided schedule as plain values: every tile and transfer with its times, and what the buffer holds."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...algebra.element import Ints
from ...zoo.schedule_networks.layers import Network
from ..soma.tiling import INPUT, OUTPUT, WEIGHT, Fusion
from .tables import (
    FUSED_GROUP,
    JOINED,
    LAYER_GROUP,
    REUSED,
    STREAMING,
    Edges,
    Loads,
    Net,
    Positions,
    Stages,
    State,
    Stores,
    Tally,
    Workspace,
)


@dataclass(frozen=True)
class Transfer:
    """A tensor that passes through DRAM: `kind` is INPUT, WEIGHT or OUTPUT of tile `tile` of `layer`.

    `source` is the layer that an input comes from, -1 - i for network input i, -1 else.  It lives in the buffer from
    position `start` to the end of `end - 1`, and moves from cycle `begin` for `cycles`.
    """

    kind: int
    layer: int
    tile: int
    source: int
    size_bytes: int
    start: int
    end: int
    begin: int
    cycles: int


@dataclass(frozen=True)
class Timetable:
    """A schedule in order of execution.

    `tile_layer`, `tile_index`, `tile_begin`, `tile_cycles` go by position; `usage_bytes` by position + 1, position -1
    being before all tiles; `transfers` are in the channel's order.  `streamed` tells for each fused group whether its
    weights are loaded again for each tile, `reused` whether it takes what earlier ones have loaded.
    """

    network: Network
    fusion: Fusion
    streamed: tuple[bool, ...]
    reused: tuple[bool, ...]
    tile_layer: Ints
    tile_index: Ints
    tile_begin: Ints
    tile_cycles: Ints
    transfers: tuple[Transfer, ...]
    usage_bytes: Ints
    latency_cycles: int
    compute_cycles: int
    dram_cycles: int
    dram_bytes: int
    energy_pj: float

    @cached_property
    def max_buffer_bytes(self) -> int:
        """The largest use of the buffer."""
        return int(self.usage_bytes.max())


def fusion_of(state: Ints) -> Fusion:
    """A state as a fusion."""
    cut = state[State.CUT]
    return Fusion(
        tuple(int(layer) for layer in state[State.ORDER]),
        tuple(int(place) for place in np.flatnonzero(cut == LAYER_GROUP)),
        tuple(int(place) for place in np.flatnonzero(cut == FUSED_GROUP)),
        tuple(int(tiles) for tiles in state[State.TILES][cut != JOINED]),
    )


def state_of(fusion: Fusion, streamed: tuple[bool, ...] = (), reused: tuple[bool, ...] = ()) -> Ints:
    """A fusion as a state, the inverse of `fusion_of`; what its fused groups stream and reuse, if anything."""
    state = np.zeros((4, len(fusion.order)), np.int64)
    state[State.ORDER] = fusion.order
    state[State.CUT, list(fusion.cuts)] = FUSED_GROUP
    state[State.CUT, [0, *fusion.groups]] = LAYER_GROUP
    heads = np.flatnonzero(state[State.CUT])
    state[State.TILES, heads] = fusion.tiles
    for flags, bit in ((streamed, STREAMING), (reused, REUSED)):
        if flags:
            state[State.STREAMED, heads] += bit * np.array(flags, np.int64)
    return state


def timetable(network: Network, net: Net, state: Ints, work: Workspace) -> Timetable:
    """The schedule that `work` holds after `score` of `state`."""
    tally = work.tally
    positions = int(tally[Tally.POSITIONS])
    layer, index = tiles_in(work)
    loads, stores = work.loads[:, : tally[Tally.LOADS]].T.tolist(), work.stores[:, : tally[Tally.STORES]].T.tolist()
    transfers = tuple(_transfer(net, loads, stores, item) for item in work.sequence[: tally[Tally.DONE]].tolist())
    return Timetable(
        network,
        fusion_of(state),
        tuple(bool(item & STREAMING) for item in state[State.STREAMED][state[State.CUT] != JOINED]),
        tuple(bool(item & REUSED) for item in state[State.STREAMED][state[State.CUT] != JOINED]),
        layer,
        index,
        work.positions[Positions.BEGIN, :positions].copy(),
        work.positions[Positions.CYCLES, :positions].copy(),
        transfers,
        _usage(work),
        int(tally[Tally.LATENCY]),
        int(tally[Tally.COMPUTE_CYCLES]),
        int(tally[Tally.DRAM_CYCLES]),
        int(tally[Tally.DRAM_BYTES]),
        float(work.energy[-1]),
    )


def tiles_in(work: Workspace) -> tuple[Ints, Ints]:
    """Layer and number of the tile at each position."""
    stages = work.stages
    layer, index = np.zeros((2, int(work.tally[Tally.POSITIONS])), np.int64)
    for number in range(stages.shape[1]):
        tiles = np.arange(stages[Stages.TILES, number])
        places = stages[Stages.FIRST, number] + tiles * stages[Stages.STEP, number]
        layer[places], index[places] = number, tiles
    return layer, index


def load_key(net: Net, row: list[int]) -> tuple[int, int, int, int]:
    """What names a load: kind, layer, tile, source."""
    edge = row[Loads.EDGE]
    if edge < 0:
        return WEIGHT, -1 - edge, row[Loads.TILE], -1
    return INPUT, int(net.edges[Edges.LAYER, edge]), row[Loads.TILE], int(net.edges[Edges.SOURCE, edge])


def _transfer(net: Net, loads: list[list[int]], stores: list[list[int]], item: int) -> Transfer:
    if item < 0:
        row = stores[-1 - item]
        begin = row[Stores.END_CYCLES] - row[Stores.CYCLES]
        life = row[Stores.POSITION], row[Stores.END]
        where = OUTPUT, row[Stores.LAYER], row[Stores.TILE], -1
        return Transfer(*where, row[Stores.SIZE], *life, begin, row[Stores.CYCLES])
    row = loads[item]
    begin = row[Loads.END_CYCLES] - row[Loads.CYCLES]
    return Transfer(*load_key(net, row), row[Loads.SIZE], row[Loads.START], row[Loads.LAST], begin, row[Loads.CYCLES])


def _usage(work: Workspace) -> Ints:
    """Use of the buffer; room kept for a load that came later than it could is free."""
    usage = work.positions[Positions.USAGE, : work.tally[Tally.POSITIONS] + 1].copy()
    for row in work.loads[:, : work.tally[Tally.LOADS]].T:
        if row[Loads.EARLY] and row[Loads.START] >= row[Loads.POSITION]:
            usage[row[Loads.POSITION]] -= row[Loads.SIZE]
    return usage
