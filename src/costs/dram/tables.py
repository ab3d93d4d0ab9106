"""A network and a machine as compiled functions take them, the arrays that pricing fills, and how they are compiled."""

from collections.abc import Sequence
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ...zoo.schedule_networks.layers import KINDS, Layer, Network
from ..compiled import bare, compile_with
from ..soma.hardware import CoreArray

compiled = compile_with(nogil=True, _nrt=False)
"""Other Python threads go on while the function runs, which makes no arrays."""

inner = bare
"""For functions that only compiled code calls and that make no arrays."""


FC, POOL, ELTWISE, POINTWISE, TRANSPOSE, UPSAMPLE, REARRANGE = range(2, len(KINDS))
"""Kinds of layers; those up to FC are products."""

Layers = IntEnum(
    "Layers",
    "KIND CHANNELS HEIGHT WIDTH INPUT_CHANNELS INPUT_HEIGHT INPUT_WIDTH KERNEL_HEIGHT KERNEL_WIDTH STRIDE_HEIGHT "
    "STRIDE_WIDTH PAD_ABOVE PAD_LEFT GROUPS OPERANDS AXIS_0 AXIS_1 AXIS_2 WEIGHT_BYTES GROUP_CHANNELS GROUP_FILTERS "
    "MADE_WEIGHTS ALIKE",
    start=0,
)
"""Columns of the table of layers; AXIS_i is the axis of the input that a transpose puts at axis i; ALIKE is the first
layer whose tiles cost the same.
"""

AS_INPUT, AS_WEIGHTS = 1, 2
"""How a layer uses a source; both bits may be set."""

Edges = IntEnum("Edges", "SOURCE ROLE CHANNELS TWIN LAYER", start=0)
"""Rows of the table of edges: the layer read, or -1 - i for network input i; how; its channels; the next edge with the
same source, the first after the last; the layer that reads.
"""


class Net(NamedTuple):
    """A network as arrays.

    `layers` has a row per layer.  Layer i has the `edges` (columns) from `first_edge[i]` to `first_edge[i + 1]`, from
    layers ascending and then from network inputs; `reader` from `first_reader` lists the layers that read layer i.
    """

    layers: Ints
    edges: Ints
    first_edge: Ints
    reader: Ints
    first_reader: Ints


class Model(NamedTuple):
    """A machine and the way to price it.

    `exact` is 0 for SoMa's arithmetic and 1 for the repaired one.  `bandwidth` is bytes per cycle of DRAM, of which
    each transfer first waits `latency` cycles; `write_port` bytes per cycle into the buffer of `buffer_bytes`.
    """

    array: CoreArray
    buffer_bytes: int
    bandwidth: int
    latency: int
    write_port: int
    exact: int


def net_tables(network: Network) -> Net:
    """`network` as arrays."""
    rows = [[*_row(network, number, layer)] for number, layer in enumerate(network.layers)]
    sources = [[*layer.producers, *(-1 - i for i in layer.external)] for layer in network.layers]
    roles = [[_role(layer, source) for source in given] for layer, given in zip(network.layers, sources, strict=True)]
    channels_of = [[network.map_shape(source).channels for source in given] for given in sources]
    seen: dict[object, int] = {}
    for number, row in enumerate(rows):
        row.append(seen.setdefault((*row, *roles[number], *channels_of[number]), number))
    channels = [item for given in channels_of for item in given]
    first, source = ragged(sources)
    role, layer = ragged(roles)[1], np.repeat(np.arange(len(rows)), np.diff(first))
    edges = np.stack([source, role, np.array(channels, np.int64), _twins(source), layer])
    first_reader, reader = ragged(network.consumers)
    return Net(np.array(rows, np.int64), edges, first, reader, first_reader)


def ragged(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Where each row begins, and the values of all rows, one after another."""
    first = np.array([0, *accumulate(len(row) for row in rows)], np.int64)
    return first, np.array([value for row in rows for value in row], np.int64)


def _twins(source: Ints) -> Ints:
    """For each edge the next with the same source, the first after the last."""
    ring: dict[int, list[int]] = {}
    for edge, number in enumerate(source.tolist()):
        ring.setdefault(number, []).append(edge)
    found = np.zeros(len(source), np.int64)
    for edges in ring.values():
        found[edges] = np.roll(edges, -1)
    return found


def _row(network: Network, number: int, layer: Layer) -> tuple[int, ...]:
    return (
        KINDS.index(layer.kind),
        *layer.shape,
        *network.input_shapes[number],
        *layer.kernel,
        *layer.stride,
        *network.padding(number),
        layer.groups,
        layer.operands,
        *layer.permutation,
        network.weight_bytes(number),
        *network.group_shape(number),
        bool(layer.weights_from),
    )


def _role(layer: Layer, source: int) -> int:
    if source < 0:
        return AS_INPUT
    return AS_INPUT * (source in layer.inputs) + AS_WEIGHTS * (source in layer.weights_from)


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
    "FREE_HEAD BOUND_HEAD STORE_HEAD UNFINISHED MADE DONE CHANNEL UNCUT",
    start=0,
)
"""Places of the tally: latency and total cycles, the largest use of the buffer at no prefetch and where, counts.

For the prefetcher: the next free and bound load and store, the first unfinished store, stores made and transfers begun
so far, when the channel is free.  UNCUT is the last layer of a fused group that cannot be cut into its tiles.
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
