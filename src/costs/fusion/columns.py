"""A graph as arrays, for compiled code; axes are rows (0) and columns (1)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import TilewrightError
from .graph import Edge, Layer, LayerGraph, Window
from .platform import Platform

Ints = NDArray[np.int64]

LARGEST = 1 << 40
"""Strides along a path multiply to no more."""


class GraphColumns(NamedTuple):
    """Sources are numbered: layers first, then network inputs.

    Layer v reads the edges from `first_edge[v]` on.  By edge: `source`, whether it is `whole` (the source is complete
    before v begins), and (axis, edge) `stride`, `reach`, `pad`.  By source: (axis, source) `extent`, a position's bytes
    (`pixel_bytes`), count of edges that read it (`readers`, one more for a result that leaves the network), and (axis,
    source) `rate`, positions that it advances while the others of its `component` advance theirs.  By layer:
    `weight_bytes`, `macs`, and for each choice of axes of the array that carry positions (none, x, y, both): `steps`
    (cycles per position) and `visits` (times that a position is read).
    """

    first_edge: Ints
    source: Ints
    whole: Ints
    stride: Ints
    reach: Ints
    pad: Ints
    extent: Ints
    pixel_bytes: Ints
    readers: Ints
    rate: Ints
    component: Ints
    weight_bytes: Ints
    macs: Ints
    steps: Ints
    visits: Ints


def graph_columns(graph: LayerGraph, platform: Platform) -> GraphColumns:
    """The arrays of `graph` on the array of `platform`."""
    edges = [(v, edge) for v, layer in enumerate(graph.layers) for edge in layer.edges]
    windows = [_windows(graph, v, edge) for v, edge in edges]
    sources = [_number(graph, edge.producer) for _, edge in edges]
    pairs = [(v, source) for (v, _), source in zip(edges, sources, strict=True)]
    rate, component, whole = _rates(graph, pairs, windows)
    given = [*graph.layers, *graph.inputs]
    readers = np.bincount(sources, minlength=len(given)).astype(np.int64)
    readers[sorted(graph.exits)] += 1
    counts = [len(layer.edges) for layer in graph.layers]
    work = [_work(layer, platform) for layer in graph.layers]
    return GraphColumns(
        first_edge=np.cumsum([0, *counts], dtype=np.int64),
        source=_ints(sources),
        whole=_ints(whole),
        stride=_ints([[pair[axis].stride for pair in windows] for axis in (0, 1)]),
        reach=_ints([[pair[axis].reach for pair in windows] for axis in (0, 1)]),
        pad=_ints([[pair[axis].pad for pair in windows] for axis in (0, 1)]),
        extent=_ints([[item.shape[1 + axis] for item in given] for axis in (0, 1)]),
        pixel_bytes=_ints([item.shape.channels * item.element_bytes for item in given]),
        readers=readers,
        rate=_ints(rate),
        component=_ints(component),
        weight_bytes=_ints([layer.weight_bytes for layer in graph.layers]),
        macs=_ints([layer.macs for layer in graph.layers]),
        steps=_ints([[steps for steps, _ in row] for row in work]),
        visits=_ints([[visits for _, visits in row] for row in work]),
    )


def _ints(values: object) -> Ints:
    return np.ascontiguousarray(np.array(values, dtype=np.int64))


def _number(graph: LayerGraph, producer: int) -> int:
    return producer if producer >= 0 else len(graph) - 1 - producer


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


def _work(layer: Layer, platform: Platform) -> list[tuple[int, int]]:
    """Fewest cycles per position, and visits, with no axis, x, y or both axes given to positions."""
    x, y = platform.array
    return [_best(layer, platform, free) for free in ((x, y), (y,), (x,), ())]


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
