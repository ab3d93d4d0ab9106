"""A graph as tables, for compiled code; axes are rows (0) and columns (1)."""

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from ...algebra.element import Ints
from ...errors import TilewrightError
from .graph import Edge, Input, Layer, LayerGraph, Window
from .values import Platform

FIRST_EDGE, END_EDGE, WEIGHT_BYTES, MACS, STEPS, VISITS, LAYER_FIELDS = 0, 1, 2, 3, 4, 8, 12
"""Of a layer: its edges, bytes, products; and for each choice of axes of the array that carry positions (none, x, y,
both) the cycles per position, and how often a position is read."""

SOURCE, IS_WHOLE, STRIDE, REACH, PAD, EDGE_FIELDS = 0, 1, 2, 4, 6, 8
"""Of an edge: where it comes from, whether that must be complete before the reader begins, its windows by axis."""

EXTENT, PIXEL_BYTES, READERS, RATE, COMPONENT, SOURCE_FIELDS = 0, 2, 3, 4, 6, 7
"""Of a source: extents by axis, bytes of a position, count of edges that read it (one more for a result that leaves the
network), positions by axis that it advances while the others of its component advance theirs."""

LARGEST = 1 << 28
"""The strides of a network have no larger common multiple along any path; all updates divide it."""


class GraphTables(NamedTuple):
    """A row for each layer, each edge, and each source: the layers, then the network's inputs."""

    layers: Ints
    edges: Ints
    sources: Ints


@lru_cache(maxsize=1)
def graph_tables(graph: LayerGraph, platform: Platform) -> GraphTables:
    """The tables of `graph` on the array of `platform`; the last are kept: groups are asked about with many tiles."""
    edges = [(v, edge) for v, layer in enumerate(graph.layers) for edge in layer.edges]
    windows = [_windows(graph, v, edge) for v, edge in edges]
    sources = [edge.producer if edge.producer >= 0 else len(graph) - 1 - edge.producer for _, edge in edges]
    pairs = [(v, source) for (v, _), source in zip(edges, sources, strict=True)]
    rates, component, whole = _rates(graph, pairs, windows)
    readers = np.bincount(sources, minlength=len(graph) + len(graph.inputs))
    readers[sorted(graph.exits)] += 1
    ends = np.cumsum([0, *(len(layer.edges) for layer in graph.layers)])
    given = enumerate((*graph.layers, *graph.inputs))
    return GraphTables(
        _ints([_layer_row(layer, platform, *ends[v : v + 2]) for v, layer in enumerate(graph.layers)]),
        _ints([_edge_row(*row) for row in zip(sources, whole, windows, strict=True)]),
        _ints([_source_row(item, readers[u], (rates[0][u], rates[1][u]), component[u]) for u, item in given]),
    )


def _layer_row(layer: Layer, platform: Platform, first: int, end: int) -> list[int]:
    x, y = platform.array
    work = [_best(layer, platform, free) for free in ((x, y), (y,), (x,), ())]
    return [first, end, layer.weight_bytes, layer.macs, *(steps for steps, _ in work), *(visits for _, visits in work)]


def _edge_row(source: int, whole: bool, windows: tuple[Window, Window]) -> list[int]:
    fields = ([w.stride for w in windows], [w.reach for w in windows], [w.pad for w in windows])
    return [source, whole, *fields[0], *fields[1], *fields[2]]


def _source_row(item: Layer | Input, readers: int, rates: tuple[int, int], component: int) -> list[int]:
    return [*item.shape[1:], item.shape.channels * item.element_bytes, readers, *rates, component]


def _ints(values: object) -> Ints:
    return np.ascontiguousarray(np.array(values, dtype=np.int64))


def _windows(graph: LayerGraph, reader: int, edge: Edge) -> tuple[Window, Window]:
    """The windows of an edge; one result that reads a whole extent does so through one window."""
    extents = zip(graph.layers[reader].shape[1:], graph.source(edge.producer).shape[1:], edge[1:], strict=True)
    rows, columns = (_window(extent, read, window) for extent, read, window in extents)
    return rows, columns


def _window(extent: int, read: int, window: Window) -> Window:
    if extent > 1:
        return window
    return Window(read) if window.whole else window._replace(stride=1)


def _rates(
    graph: LayerGraph, pairs: list[tuple[int, int]], windows: list[tuple[Window, Window]]
) -> tuple[list[list[int]], list[int], list[bool]]:
    """Rates by axis and components of sources; which edges are whole, also because the rates along two paths differ."""
    count = len(graph) + len(graph.inputs)
    by_source: list[list[int]] = [[] for _ in range(count)]
    for number, (v, source) in enumerate(pairs):
        by_source[source].append(number)
        by_source[v].append(number)
    whole = [any(window.whole for window in pair) for pair in windows]
    rates: list[tuple[Fraction, Fraction] | None] = [None] * count
    component = [0] * count
    for root in range(count):
        if rates[root] is None:
            rates[root] = (Fraction(1), Fraction(1))
            _spread(root, pairs, windows, by_source, whole, rates, component)
    known = [pair for pair in rates if pair is not None]
    return [_integers(graph, [pair[axis] for pair in known], component) for axis in (0, 1)], component, whole


def _spread(
    root: int,
    pairs: list[tuple[int, int]],
    windows: list[tuple[Window, Window]],
    by_source: list[list[int]],
    whole: list[bool],
    rates: list[tuple[Fraction, Fraction] | None],
    component: list[int],
) -> None:
    """Give all sources that are joined with `root` their rates; edges that contradict become whole."""
    waiting = [root]
    for node in waiting:
        component[node] = root
        rate = rates[node]
        for edge in by_source[node]:
            if whole[edge] or rate is None:
                continue
            reader, source = pairs[edge]
            strides = [window.stride for window in windows[edge]]
            other = source if node == reader else reader
            factors = [Fraction(s) if node == reader else Fraction(1, s) for s in strides]
            found = (rate[0] * factors[0], rate[1] * factors[1])
            if rates[other] is None:
                rates[other] = found
                waiting.append(other)
            elif rates[other] != found:
                whole[edge] = True


def _integers(graph: LayerGraph, rates: list[Fraction], component: list[int]) -> list[int]:
    """Rates of each component times the smallest number that makes them integers without a common divisor."""
    scale: dict[int, tuple[int, int]] = {}
    for rate, root in zip(rates, component, strict=True):
        below, above = scale.get(root, (1, 0))
        scale[root] = lcm(below, rate.denominator), gcd(above, rate.numerator)
    found = [int(rate * scale[root][0] / scale[root][1]) for rate, root in zip(rates, component, strict=True)]
    if max(found, default=1) > LARGEST:
        raise TilewrightError("network", graph.name, f"strides whose product is at most {LARGEST}", str(max(found)))
    return found


def _best(layer: Layer, platform: Platform, axes: tuple[int, ...]) -> tuple[int, int]:
    """The best way to give `axes` to groups, results and reduced channels of a position."""
    reduced, made = platform.lanes
    results = layer.shape.channels // layer.groups
    together = max(1, min(reduced // layer.reduction, made // results))
    found: list[tuple[int, int]] = []
    for roles in product("gkc", repeat=len(axes)):
        ways = {role: 1 for role in "gkc"}
        for role, ways_of_axis in zip(roles, axes, strict=True):
            ways[role] *= ways_of_axis
        groups = -(-layer.groups // (together * ways["g"]))
        visits = -(-results // (made * ways["k"]))
        found.append((groups * visits * -(-layer.reduction // (reduced * ways["c"])) * layer.taps, visits))
    return min(found)
