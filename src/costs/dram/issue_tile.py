"""Compiled: cycles of tiles by the instructions that they become, as `backends/dramcode` makes them.

Windows that leave the map, or reach from one tensor into the next, are added tap by tap; each tensor that a map lies in
takes an instruction of its own.  Where tensors lie in parts because the buffer has no whole gap, more are needed.
"""

from __future__ import annotations

from .compiled import inner
from .instructions import ADD, MAXIMUM, MOVE, REQUANT, Issue
from .issue_price import chunk_of, product_cycles, vector_cycles
from .tables import (
    AS_INPUT,
    AS_WEIGHTS,
    CHANNELS,
    ELTWISE,
    GROUP_CHANNELS,
    GROUP_FILTERS,
    GROUPS,
    HEIGHT,
    INPUT_HEIGHT,
    INPUT_WIDTH,
    KERNEL_HEIGHT,
    KERNEL_WIDTH,
    KIND,
    MADE_WEIGHTS,
    OPERANDS,
    POOL,
    ROLE,
    SOURCE_CHANNELS,
    STRIDE_HEIGHT,
    STRIDE_WIDTH,
    UPSAMPLE,
    WIDTH,
    Floats,
    Ints,
    Net,
)
from .workspace import MOST_PIECES

Place = tuple[int, int, int, int, int, int, int]
"""How a tile lies in what it reads: taps of the first and last window outside of the map (above, below, left, right),
and the tensors that hold its input along rows and columns (0 where one holds all) and samples.
"""

LOW, HIGH, TAPS = range(3)
"""Last index of the table of pieces: outputs [LOW, HIGH) of a tile along an axis, and taps that one instruction adds.
"""

MOST_BANDS = 64
"""Tensors along an axis that are told apart."""


@inner
def _one_tensor(pieces: Ints, count: int, window: tuple[int, int], before: int, after: int) -> int:
    """Pieces of `count` outputs whose input lies in one tensor, by taps with the same outputs."""
    kernel, stride = window
    found, last = 0, (count - 1) * stride + kernel - 1 - after
    for tap in range(kernel):
        low = max(0, -(-(before - tap) // stride))
        high = min(count, (last - tap) // stride + 1)
        if low >= high:
            continue
        same = found and pieces[found - 1, LOW] == low and pieces[found - 1, HIGH] == high
        if same or found == MOST_PIECES:
            pieces[found - 1, TAPS] += 1
            continue
        pieces[found, LOW], pieces[found, HIGH], pieces[found, TAPS] = low, high, 1
        found += 1
    return found


@inner
def _bands(pieces: Ints, count: int, window: tuple[int, int], before: int, bands: int) -> int:
    """Pieces of `count` outputs whose input lies in several tensors, cut evenly: a band for each, tap by tap."""
    kernel, stride = window
    bands, found = min(bands, MOST_BANDS, count), 0
    for band in range(bands):
        low, high = band * count // bands, (band + 1) * count // bands
        for tap in range(kernel):
            away = min(high - low - 1, -(-abs(tap - kernel // 2) // stride))
            border = high if tap > kernel // 2 else low
            middle = (low, high - away) if tap > kernel // 2 else (low + away, high)
            pieces[found, LOW], pieces[found, HIGH], pieces[found, TAPS] = middle[0], middle[1], 1
            found += 1
            if away and (0 < border < count or before == 0):
                at = high - away if tap > kernel // 2 else low
                pieces[found, LOW], pieces[found, HIGH], pieces[found, TAPS] = at, at + away, 1
                found += 1
    return found


@inner
def _pieces(net: Net, pieces: Ints, layer: int, vertical: bool, count: int, place: Place) -> int:
    """Pieces of a tile's `count` rows or columns."""
    layers = net.layers
    window = layers[layer, KERNEL_WIDTH], layers[layer, STRIDE_WIDTH]
    before, after, bands = place[2], place[3], place[5]
    if vertical:
        window = layers[layer, KERNEL_HEIGHT], layers[layer, STRIDE_HEIGHT]
        before, after, bands = place[0], place[1], place[4]
    if bands > 0 and window[0] <= 2 * MOST_BANDS // min(bands, MOST_BANDS) + 1:
        return _bands(pieces, count, window, before, bands)
    return _one_tensor(pieces, count, window, before, after)


@inner
def _group_products(
    net: Net,
    issue: Issue,
    known: Ints,
    values: Floats,
    layer: int,
    span: tuple[int, int],
    filters: int,
    window: tuple[int, int, int, int],
) -> int:
    """Products of groups [from, to) with `filters` outputs of each; a concatenation is read source by source."""
    channels = net.layers[layer, GROUP_CHANNELS]
    p, q, r, s = window
    total, start = 0, 0
    low, high = span[0] * channels, span[1] * channels
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        if not net.edges[ROLE, edge] & AS_INPUT:
            continue
        end = start + net.edges[SOURCE_CHANNELS, edge]
        at, upto = max(low, start), min(high, end)
        if at < upto:
            head = min(upto, -(-at // channels) * channels) - at
            if head:
                total += product_cycles(issue, known, values, (1, filters, p, q, head, r, s))
            whole = (upto - at - head) // channels
            if whole:
                total += product_cycles(issue, known, values, (whole, filters, p, q, channels, r, s))
            rest = upto - at - head - whole * channels
            if rest:
                total += product_cycles(issue, known, values, (1, filters, p, q, rest, r, s))
        start = end
    return total


@inner
def _made_border(net: Net, layer: int, at: int, high: int) -> int:
    """Where output channels from `at` on change the layer that makes their weights, at most `high`."""
    start = 0
    if not net.layers[layer, MADE_WEIGHTS]:
        return high
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        if net.edges[ROLE, edge] & AS_WEIGHTS:
            start += net.edges[SOURCE_CHANNELS, edge]
            if start > at:
                return min(start, high)
    return high


@inner
def _window_products(
    net: Net,
    issue: Issue,
    known: Ints,
    values: Floats,
    layer: int,
    samples: int,
    span: tuple[int, int],
    window: tuple[int, int, int, int],
) -> int:
    """Products of output channels `span` of a chunk over one window (rows, columns, taps along each)."""
    layers = net.layers
    p, q, r, s = window
    if layers[layer, GROUPS] == 1 and not layers[layer, MADE_WEIGHTS]:
        total = 0
        for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
            if net.edges[ROLE, edge] & AS_INPUT:
                channels = net.edges[SOURCE_CHANNELS, edge]
                total += product_cycles(issue, known, values, (samples, span[1] - span[0], p, q, channels, r, s))
        return total
    filters, total, at = layers[layer, GROUP_FILTERS], 0, span[0]
    while at < span[1]:
        end = _made_border(net, layer, at, span[1])
        while at < end:
            group, inside = at // filters, at % filters
            if inside or end - at < filters:
                upto = min(filters, inside + end - at)
                given, count, at = (group, group + 1), upto - inside, at + upto - inside
            else:
                last = end // filters
                given, count, at = (group, last), filters, last * filters
            total += _group_products(net, issue, known, values, layer, given, count, window)
    return total * samples


@inner
def _chunk_products(
    net: Net,
    issue: Issue,
    known: Ints,
    values: Floats,
    pieces: Ints,
    layer: int,
    chunk: tuple[int, int, int, int, int],
    counts: tuple[int, int],
) -> int:
    """Products of a chunk: samples, channels [from, to), rows [from, to)."""
    samples, low, high, top, bottom = chunk
    total = 0
    for i in range(counts[0]):
        rows = min(bottom, pieces[0, i, HIGH]) - max(top, pieces[0, i, LOW])
        if rows <= 0:
            continue
        for j in range(counts[1]):
            columns = pieces[1, j, HIGH] - pieces[1, j, LOW]
            window = rows, columns, pieces[0, i, TAPS], pieces[1, j, TAPS]
            total += _window_products(net, issue, known, values, layer, samples, (low, high), window)
    return total


@inner
def product_tile(
    net: Net,
    issue: Issue,
    known: Ints,
    values: Floats,
    pieces: Ints,
    layer: int,
    box: tuple[int, int, int, int],
    place: Place,
) -> int:
    """Cycles of a tile of products: its chunks one after another, each scaled while the next is made; 0 for none."""
    layers = net.layers
    samples, depth, height, width = box
    counts = (
        _pieces(net, pieces[0], layer, True, height, place),
        _pieces(net, pieces[1], layer, False, width, place),
    )
    tall, wide = layers[layer, KERNEL_HEIGHT], layers[layer, KERNEL_WIDTH]
    shared = layers[layer, GROUPS] == 1 and not layers[layer, MADE_WEIGHTS]
    filters, channels = layers[layer, GROUP_FILTERS], layers[layer, GROUP_CHANNELS]
    shape = layers[layer, GROUPS], filters, channels, tall, wide, int(shared)
    whole = counts[0] == 1 and counts[1] == 1
    nb, nk, nr = chunk_of(issue, known, values, shape, box, whole)
    if nb == 0:
        return 0
    nb = min(nb, max(1, samples // max(1, place[6])))
    made, scaled, before = 0, 0, 0
    for sample in range(0, samples, nb):
        count = min(nb, samples - sample)
        for low in range(0, depth, nk):
            high = min(low + nk, depth)
            for top in range(0, height, nr):
                bottom = min(top + nr, height)
                chunk = count, low, high, top, bottom
                made = max(made, before) + _chunk_products(net, issue, known, values, pieces, layer, chunk, counts)
                before = scaled
                extents = count, high - low, bottom - top, width, 1, 1
                scaled = max(scaled, made) + vector_cycles(issue, REQUANT, values, extents)
    return scaled


@inner
def _taps(net: Net, pieces: Ints, layer: int, vertical: bool, count: int, place: Place) -> int:
    """Pairs of a row or column of a tile and a tap of its window that lies in the map."""
    found = 0
    for i in range(_pieces(net, pieces, layer, vertical, count, place)):
        found += (pieces[i, HIGH] - pieces[i, LOW]) * pieces[i, TAPS]
    return found


@inner
def vector_tile(
    net: Net, issue: Issue, values: Floats, pieces: Ints, layer: int, box: tuple[int, int, int, int], place: Place
) -> int:
    """Cycles of a tile of a layer without products."""
    layers = net.layers
    samples, depth, height, width = box
    kind: int = layers[layer, KIND]
    bands = max(1, min(place[4], height)) * max(1, min(place[5], width)) * max(1, min(place[6], samples))
    size = samples * depth * height * width
    if kind == POOL:
        high = _taps(net, pieces[0], layer, True, height, place)
        wide = _taps(net, pieces[1], layer, False, width, place)
        return samples * vector_cycles(issue, MAXIMUM, values, (depth, high, wide, 1, 1, 1))
    part = -(-size // bands)
    if kind == ELTWISE and layers[layer, OPERANDS] > 1:
        adds = bands * (layers[layer, OPERANDS] - 1) * vector_cycles(issue, ADD, values, (1, 1, 1, part, 1, 1))
        chunks = -(-size // max(1, 2 * issue.sums))
        each = -(-size // chunks)
        return adds + chunks * vector_cycles(issue, REQUANT, values, (1, 1, 1, each, 1, 1))
    if kind == UPSAMPLE:
        bands *= (layers[layer, HEIGHT] // layers[layer, INPUT_HEIGHT]) * (
            layers[layer, WIDTH] // layers[layer, INPUT_WIDTH]
        )
    sources = 0
    for edge in range(net.first_edge[layer], net.first_edge[layer + 1]):
        sources += net.edges[ROLE, edge] & AS_INPUT
    bands *= max(1, min(sources, layers[layer, CHANNELS]))
    return bands * vector_cycles(issue, MOVE, values, (1, 1, 1, -(-size // bands), 1, 1))
