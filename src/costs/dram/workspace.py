"""The arrays that pricing a fusion fills."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .tables import Floats, Ints, Net

ORDER, CUT, TILES, STREAMED = range(4)
"""Rows of a state, a fusion that moves change in place, by place in the order.

ORDER lists layers; CUT is LAYER_GROUP or FUSED_GROUP where such a group begins, JOINED elsewhere; TILES counts the
tiles of a fused group that begins here; STREAMED has the bits STREAMING where its weights are loaded again for each
tile instead of staying, and REUSED where it takes from earlier fused groups, and its tiles from those before, what
these have loaded for themselves.
"""

STREAMING, REUSED = 1, 2

JOINED, FUSED_GROUP, LAYER_GROUP = 0, 1, 2

GROUP, FUSED, FIRST, STEP, LAYER_TILES, SAMPLES = range(6)
BOX_CHANNELS, LEFT, TILE_CYCLES, KEPT_UNTIL, DISTANCE, MOVES = range(6, 12)
"""Rows of the table of stages, by layer: numbers of its layer group and fused group; position of its first tile,
distance between, count; samples and channels of a tile; stores to come; cycles of a tile; end of the last tile of a
reader in a later fused group of its layer group, distance to the last reader in its own, whether results go to DRAM.
"""

ROW_FROM, ROW_TO, COLUMN_FROM, COLUMN_TO = range(4)
"""First index of the table of ranges: [from, to) of rows and of columns, by layer and class."""

(
    LOAD_SIZE,
    LOAD_CYCLES,
    LOAD_POSITION,
    LOAD_LAST,
    LOAD_EDGE,
    LOAD_TILE,
    LOAD_SOURCE,
    LOAD_EARLY,
    LOAD_START,
    LOAD_END_CYCLES,
    LOAD_BLOCKED,
    FREE_LOAD,
    BOUND_LOAD,
) = range(13)
"""Rows of the table of loads, by position of first use: bytes, cycles, that position, the one after the last use; edge
of the network, or -1 - layer for weights; the reader's tile; the layer whose stores come first, or -1.  LOAD_EARLY is 1
where room is kept at the position before the use.  The prefetcher fills start, end and the last position at
which there was no room.  Apart from these, FREE_LOAD and
BOUND_LOAD list the loads that wait for no stores and that do.
"""

STORE_SIZE, STORE_CYCLES, STORE_POSITION, STORE_USED, STORE_LAYER, STORE_TILE, STORE_END, STORE_END_CYCLES = range(8)
"""Rows of the table of stores: bytes, cycles, position that makes it, the one after the last use on chip, layer, tile;
the prefetcher fills the end of its life and of its transfer.
"""

CYCLES, ARRIVAL, USAGE, BEGIN, RESULT = range(5)
"""Rows of the table of positions: cycles of the tile, when its loads are there; at position + 1, bytes in use; when the
tile begins, bytes of its result.
"""

LATENCY, DRAM_BYTES, COMPUTE_CYCLES, DRAM_CYCLES, PEAK, PEAK_POSITION, POSITIONS, LOADS, STORES, FREE, BOUND = range(11)
"""Places of the tally: latency and total cycles, the largest use of the buffer at no prefetch and where, counts."""

FREE_HEAD, BOUND_HEAD, STORE_HEAD, UNFINISHED, MADE, DONE, CHANNEL = range(11, 18)
"""More places of the tally, for the prefetcher: the next free and bound load and store, the first unfinished store,
stores made and transfers begun so far, when the channel is free.
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
        np.zeros((12, layers), np.int64),
        np.zeros((4, layers, classes), np.int64),
        np.zeros((3, edges), np.int64),
        np.zeros((13, loads), np.int64),
        np.zeros((8, positions), np.int64),
        np.zeros((5, positions + 2), np.int64),
        np.zeros(loads + positions, np.int64),
        np.zeros(18, np.int64),
        np.zeros(layers + 1),
        keys,
        np.empty(prices),
    )
