"""The least cycles of layers by the instructions of a machine, whatever tiles and chunks they are cut into.

An instruction does best where its extents fill the lanes and instances that they are divided by, and where what it
reads once serves most: that holds of formulas that round divisions up and grow with what is read.
"""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from ...zoo.schedule_networks.layers import Layer, Network
from .instructions import ADD, DIMS, MAC, MAXIMUM, MOVE, REQUANT, Issue
from .issue_price import least_product, least_vector
from .tables import Ints, Model
from .workspace import issue_scratch

MANY = 16 * 720720
"""A multiple of all lanes and instances there may be."""

MANY_FILTERS, GRAIN = 4096, 8
"""Up to so many filters each number is tried, or those of a grain that chunks have: multiples, rests and a few."""

EXTENTS = 1, 2, 4, 6, 10, 16, 24, 40, 64, 128, 256, 512, 1024
"""Pixels along an axis of a tile between which its cost is taken at the better end."""

Known = dict[tuple[int, ...], float]


def product_floor(
    network: Network, number: int, pixels: tuple[int, int], model: Model, batch: int, known: Known
) -> tuple[float, float]:
    """Cycles of a layer of products, and cycles for each pixel times the pixels; `known` is kept between layers.

    Taps outside of the map are left out: a tile at a border has no more of them than the border is wide.
    """
    layer = network.layers[number]
    results, taps = network.group_shape(number)[1] * layer.groups * batch, layer.kernel[0] * layer.kernel[1]
    each = _each(network, number, (layer.shape.height, layer.shape.width), model.issue, known)
    within = [pixels[i] - _outside(network, number, i) / layer.kernel[i] for i in (0, 1)]
    cycles = _over_tiles(network, number, pixels, model.issue, known) * max(0.0, within[0]) * max(0.0, within[1])
    return results * taps * cycles, results * taps * each * pixels[0] * pixels[1]


def _over_tiles(network: Network, number: int, pixels: tuple[int, int], issue: Issue, known: Known) -> float:
    """Cycles for each result that is asked for, and tap, in the best of all tiles.

    Where a later stride skips pixels, a tile that has h of those asked for, each `step` apart, makes (h - 1) `step` + 1
    along an axis: more than are asked for, or few at a time with the weights read for each.
    """
    sizes = network.layers[number].shape[1:]
    spans = [_spans(*pair) for pair in zip(pixels, sizes, strict=True)]
    floors: dict[tuple[int, int], float] = {}
    least = float("inf")
    for i, j in product(range(len(spans[0])), range(len(spans[1]))):
        made = spans[0][i][0] * spans[1][j][0]
        # Smaller tiles are dearer: those that would be too dear at the price of the next larger ones are passed over.
        floors[i, j] = max(floors.get((i - 1, j), 0.0), floors.get((i, j - 1), 0.0))
        if made * floors[i, j] < least:
            floors[i, j] = _each(network, number, (spans[0][i][1], spans[1][j][1]), issue, known)
            least = min(least, made * floors[i, j])
    return least


def _spans(count: int, size: int) -> list[tuple[float, int]]:
    """For ranges of numbers up to `count` of `size` pixels, from the largest: least pixels made for each, most made."""
    step = -(-size // count)
    if step == 1:
        return [(1.0, size)]
    ends = [*(extent for extent in EXTENTS if extent < count), count]
    spans = [(1, 1), *((low + 1, high) for low, high in pairwise(ends))]
    return [(((low - 1) * step + 1) / low, min(size, (high - 1) * step + 1)) for low, high in reversed(spans)]


def _each(network: Network, number: int, sizes: tuple[int, int], issue: Issue, known: Known) -> float:
    """Cycles for each result and tap of one group, in tiles of up to `sizes` rows and columns."""
    layer = network.layers[number]
    channels, filters = network.group_shape(number)
    parts = [[channels]]
    if layer.groups == 1 and not layer.weights_from:
        parts.append([shape.channels for shape in network.sources(layer)])
    grain = 1 if layer.weights_from else GRAIN
    rows, columns = sizes
    return min(
        sum(_least(issue, layer, (filters, grain, part, rows, columns), known) for part in given) for given in parts
    )


def _least(issue: Issue, layer: Layer, sizes: tuple[int, int, int, int, int], known: Known) -> float:
    """Cycles for each result and tap; `sizes` are filters and their grain, channels, rows and columns."""
    key = *sizes, *layer.kernel
    if key not in known:
        filters, grain, channels, rows, columns = sizes
        groups, k = np.array([1, MANY], np.int64), _filters(filters, grain)
        p, q = _extents(issue, "p", rows), _extents(issue, "q", columns)
        windows = {(1, 1), layer.kernel}
        chunks, values = np.zeros((1, 3), np.int64), issue_scratch()[1]
        known[key] = min(
            least_product(issue, chunks, values, groups, k, p, q, (channels, *window)) for window in windows
        )
    return known[key]


def _filters(filters: int, grain: int) -> Ints:
    """How many filters an instruction may have."""
    found = [k for k in range(1, min(filters, MANY_FILTERS) + 1) if k <= grain or k % grain in (0, filters % grain)]
    return np.array(found + [MANY] * (filters > MANY_FILTERS), np.int64)


def _extents(issue: Issue, dim: str, size: int) -> Ints:
    """Extents up to `size` that fill the instances they may be spread over, and all of it."""
    ways = sorted({int(count) for count in issue.spreads[:, DIMS[MAC].index(dim)]})
    return np.array(sorted({size, *(size // count * count for count in ways if count <= size)}), np.int64)


def _outside(network: Network, number: int, axis: int) -> int:
    """Pairs of a row or column and a tap of its window that lie outside of the map."""
    layer, given, pad = network.layers[number], network.input_shapes[number], network.padding(number)[axis]
    count, size, kernel, stride = layer.shape[1 + axis], given[1 + axis], layer.kernel[axis], layer.stride[axis]
    places = range(-pad, count * stride - pad, stride)
    return count * kernel - sum(max(0, min(size, at + kernel) - max(0, at)) for at in places)


def vector_floor(network: Network, number: int, area: int, model: Model) -> float:
    """Cycles of a layer without products whose map has `area` pixels in all samples."""
    layer, issue = network.layers[number], model.issue
    values = issue_scratch()[1]
    size = area * layer.shape.channels
    if layer.kind == "pool":
        sizes, missing = [layer.shape[1 + axis] * layer.kernel[axis] for axis in (0, 1)], 1
        for axis in (0, 1):
            missing *= sizes[axis] - _outside(network, number, axis)
        missing = (sizes[0] * sizes[1] - missing) * (area // max(1, layer.shape.height * layer.shape.width) + 1)
        taps = size * layer.kernel[0] * layer.kernel[1] - missing * layer.shape.channels
        return max(0, taps) * least_vector(issue, values, MAXIMUM, MANY)
    if layer.kind == "eltwise" and layer.operands > 1:
        add = (layer.operands - 1) * least_vector(issue, values, ADD, MANY)
        return size * (add + least_vector(issue, values, REQUANT, MANY))
    return size * least_vector(issue, values, MOVE, MANY)
