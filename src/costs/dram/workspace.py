"""The arrays that pricing a fusion fills."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .tables import Floats, Ints, Net

State = IntEnum("State", "ORDER CUT TILES STREAMED", start=0)
"""Rows of a state, a fusion that moves change in place, by place in the order.

ORDER lists layers; CUT is LAYER_GROUP or FUSED_GROUP where such a group begins, JOINED elsewhere; TILES counts the
tiles of a fused group that begins here; STREAMED has the bits STREAMING where its weights are loaded again for each
tile instead of staying, and REUSED where it takes from earlier fused groups, and its tiles from those before, what
these have loaded for themselves.
"""

STREAMING, REUSED = 1, 2

JOINED, FUSED_GROUP, LAYER_GROUP = 0, 1, 2

Stages = IntEnum(
    "Stages", "GROUP FUSED FIRST STEP TILES SAMPLES CHANNELS LEFT TILE_CYCLES KEPT_UNTIL DISTANCE MOVES", start=0
)
"""Rows of the table of stages, by layer: numbers of its layer group and fused group; position of its first tile,
distance between, count; samples and channels of a tile; stores to come; cycles of a tile; end of the last tile of a
reader in a later fused group of its layer group, distance to the last reader in its own, whether results go to DRAM.
"""

Ranges = IntEnum("Ranges", "ROW_FROM ROW_TO COLUMN_FROM COLUMN_TO", start=0)
"""First index of the table of ranges: [from, to) of rows and of columns, by layer and class."""

Loads = IntEnum(
    "Loads", "SIZE CYCLES POSITION LAST EDGE TILE SOURCE EARLY START END_CYCLES BLOCKED FREE BOUND", start=0
)
"""Rows of the table of loads, by position of first use: bytes, cycles, that position, the one after the last use; edge
of the network, or -1 - layer for weights; the reader's tile; the layer whose stores come first, or -1.  EARLY is 1
where room is kept at the position before the use.  The prefetcher fills start, end and the last position at
which there was no room.  Apart from these, FREE and BOUND list the loads that wait for no stores and that do.
"""

Stores = IntEnum("Stores", "SIZE CYCLES POSITION USED LAYER TILE END END_CYCLES", start=0)
"""Rows of the table of stores: bytes, cycles, position that makes it, the one after the last use on chip, layer, tile;
the prefetcher fills the end of its life and of its transfer.
"""

Positions = IntEnum("Positions", "CYCLES ARRIVAL USAGE BEGIN RESULT", start=0)
"""Rows of the table of positions: cycles of the tile, when its loads are there; at position + 1, bytes in use; when the
tile begins, bytes of its result.
"""

Tally = IntEnum(
    "Tally",
    "LATENCY DRAM_BYTES COMPUTE_CYCLES DRAM_CYCLES PEAK PEAK_POSITION POSITIONS LOADS STORES FREE BOUND "
    "FREE_HEAD BOUND_HEAD STORE_HEAD UNFINISHED MADE DONE CHANNEL",
    start=0,
)
"""Places of the tally: latency and total cycles, the largest use of the buffer at no prefetch and where, counts.

For the prefetcher: the next free and bound load and store, the first unfinished store, stores made and transfers begun
so far, when the channel is free.
"""


class Workspace(NamedTuple):
    """All of them.

    `edge_load` is by edge the last load made for it, bytes that a tile reads, and the first load made for it (-1:
    none, -2: none is needed);
    `sequence` the transfers in order (-1 - i for store i); `energy` is pJ by layer of a tile, and at the end of all.
    `price_keys` and `price_energy` keep prices of tiles.
    """

    stages: Ints
    ranges: Ints
    edge_load: Ints
    loads: Ints
    stores: Ints
    positions: Ints
    sequence: Ints
    tally: Ints
    energy: Floats
    price_keys: Ints
    price_energy: Floats


def workspace(net: Net, positions: int, classes: int = 64, prices: int = 1 << 14) -> Workspace:
    """Room for `positions` tiles in all, `classes` of rows and of columns, and `prices` of tiles (a power of two)."""
    layers, edges = len(net.layers), net.edges.shape[1]
    loads = positions * 3 + layers + edges
    keys = np.empty((prices, 3), np.int64)
    keys[:, 0] = -1
    return Workspace(
        np.zeros((len(Stages), layers), np.int64),
        np.zeros((len(Ranges), layers, classes), np.int64),
        np.zeros((3, edges), np.int64),
        np.zeros((len(Loads), loads), np.int64),
        np.zeros((len(Stores), positions), np.int64),
        np.zeros((len(Positions), positions + 2), np.int64),
        np.zeros(loads + positions, np.int64),
        np.zeros(len(Tally), np.int64),
        np.zeros(layers + 1),
        keys,
        np.empty(prices),
    )
