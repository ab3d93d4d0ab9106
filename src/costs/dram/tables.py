"""A network and a machine as the compiled functions take them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...zoo.schedule_networks.layers import KINDS, Layer, Network
from ..soma.hardware import CoreArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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
    channels_of = [
        [(network.layers[i].shape if i >= 0 else network.inputs[-1 - i][1]).channels for i in given]
        for given in sources
    ]
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
