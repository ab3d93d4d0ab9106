"""What a layer's reading of a result keeps on chip and loads at least, whatever its group and the tile.

Of the rows that two neighbouring results both read, all columns that are ever read stay between rows of tiles (in MAIN
or SIDE), unless one row of tiles does it all: then all rows of one window stay.
"""

import numpy as np

from ...algebra.element import Bools, Ints
from .graph import LayerGraph
from .tables import END_EDGE, EXTENT, FIRST_EDGE, IS_WHOLE, PAD, PIXEL_BYTES, REACH, SOURCE, STRIDE, GraphTables
from .tables import graph_tables as tables_of
from .values import Platform

MOST_POSITIONS = 1 << 14
"""Positions along an axis that `least_loaded` looks at; it counts those after them as not loaded."""


def least_held(graph: LayerGraph, platform: Platform, cores: int = 1) -> dict[tuple[int, int], int]:
    """For each pair of a reader and a map it reads, the bytes of that map in any group of several layers with it.

    Maps are numbered by the layers that make them, then the network's inputs.

    Groups of networks where some layer needs a whole map have stages, which share room: there only such maps count.
    The bytes of a group are at least the sum, over results, of the most that one of its readers in the group needs.
    """
    net = tables_of(graph, platform)
    staged = bool(net.edges[:, IS_WHOLE].any())
    steady = _steady(net, len(graph))
    found: dict[tuple[int, int], int] = {}
    for v in range(len(graph)):
        for e in range(*net.layers[v, FIRST_EDGE : END_EDGE + 1]):
            u = int(net.edges[e, SOURCE])
            size = int(net.sources[u, PIXEL_BYTES])
            if net.edges[e, IS_WHOLE]:
                held = -(-int(net.sources[u, EXTENT] * net.sources[u, EXTENT + 1]) // cores)
            else:
                held = 0 if staged else _positions(net, v, e, u, steady[v], cores)
            found[v, u] = max(found.get((v, u), 0), held * size)
    return found


def least_loaded(graph: LayerGraph, platform: Platform | None = None) -> dict[int, int]:
    """For each map, as edges number them, the bytes of a sample that any group loads which reads but does not make it.

    Only rows and columns that lie in a window count; a layer inside makes what its readers read at least.
    """
    net = tables_of(graph, Platform() if platform is None else platform)
    read: dict[int, list[list[Bools]]] = {}
    for v in reversed(range(len(graph))):
        made = [np.ones(min(net.sources[v, axis], MOST_POSITIONS), np.bool_) for axis in (0, 1)]
        if v not in graph.exits:
            made = [np.logical_or.reduce([flags[axis] for flags in read[v]]) for axis in (0, 1)]
        for e in range(*net.layers[v, FIRST_EDGE : END_EDGE + 1]):
            flags = [_read(net, e, axis, made[axis]) for axis in (0, 1)]
            read.setdefault(int(net.edges[e, SOURCE]), []).append(flags)
    least = {
        u: min(int(a.sum() * b.sum()) for a, b in found) * int(net.sources[u, PIXEL_BYTES]) for u, found in read.items()
    }
    return {u if u < len(graph) else len(graph) - 1 - u: size for u, size in least.items()}


def _read(net: GraphTables, e: int, axis: int, made: Bools) -> Bools:
    """Positions along an axis of the source of edge `e` in windows of the results that are `made`."""
    flags = np.zeros(min(net.sources[net.edges[e, SOURCE], EXTENT + axis], MOST_POSITIONS), np.bool_)
    if net.edges[e, IS_WHOLE]:
        return ~flags
    first = np.flatnonzero(made) * net.edges[e, STRIDE + axis] - net.edges[e, PAD + axis]
    for offset in range(min(net.edges[e, REACH + axis], len(flags) + net.edges[e, PAD + axis])):
        places = first + offset
        flags[places[(places >= 0) & (places < len(flags))]] = True
    return flags


def _steady(net: GraphTables, layers: int) -> list[bool]:
    """Whether a layer makes all of its rows and columns in any group: not where all readers leave some out."""
    steady = [True] * layers
    readers: dict[int, list[bool]] = {}
    for v in reversed(range(layers)):
        if v in readers:
            steady[v] = any(readers[v])
        for e in range(*net.layers[v, FIRST_EDGE : END_EDGE + 1]):
            edge, u = net.edges[e], int(net.edges[e, SOURCE])
            read = (net.sources[v, :2] - 1) * edge[STRIDE : STRIDE + 2] + edge[REACH : REACH + 2] - edge[PAD : PAD + 2]
            close = (edge[REACH : REACH + 2] >= edge[STRIDE : STRIDE + 2]).all() and (read >= net.sources[u, :2]).all()
            readers.setdefault(u, []).append(bool(edge[IS_WHOLE] or close) and steady[v])
    return steady


def _positions(net: GraphTables, v: int, e: int, u: int, steady: bool, cores: int) -> int:
    if not steady:
        return 1
    (window, between, read), (wide, _, reach) = (_along(net, v, e, u, axis) for axis in (0, 1))
    if cores > 1:
        wide, reach = 1, -(-reach // cores)
    return max(window * wide, min(between * reach, read * wide))


def _along(net: GraphTables, v: int, e: int, u: int, axis: int) -> tuple[int, int, int]:
    """Positions along an axis: of the smallest window, that two neighbouring windows share, and read at all."""
    extent, results = int(net.sources[u, EXTENT + axis]), int(net.sources[v, EXTENT + axis])
    stride, reach, pad = (int(net.edges[e, field + axis]) for field in (STRIDE, REACH, PAD))
    first: Ints = np.arange(results, dtype=np.int64) * stride - pad
    low, high = np.maximum(first, 0), np.minimum(first + reach, extent)
    sizes = np.maximum(high - low, 0)
    shared = np.maximum(high[:-1] - low[1:], 0)
    between = int(shared.min()) if results > 1 else 0
    # windows that leave no gap read one stretch; else each reads its own positions
    read = int(high.max() - low.min()) if stride <= reach else int(sizes.sum())
    return int(sizes.min()), between, read
