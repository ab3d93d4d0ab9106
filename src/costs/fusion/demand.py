"""Compiled: MAIN and SIDE regions (Cocco, section 3.2) and what they add up to.

The rows of a tile that the next row of tiles reads again pass through SIDE, a queue of as many columns as do not lie in
MAIN: MAIN and SIDE together hold what is still to be read, and nothing else.
"""

from __future__ import annotations

from ..soma.compiled import compiled
from .columns import GraphColumns, Ints
from .trace import Trace


@compiled
def row_step(net: GraphColumns, s: Trace, u: int, tile_rows: int) -> int:
    """Rows that source `u` advances per row of tiles: all layers of a stage keep step."""
    return tile_rows * (net.rate[0, u] // s.divisor[net.component[u]])


@compiled
def first_round(delta: int, lead: int) -> int:
    """The round that makes position 0."""
    return -((lead - 1 + delta) // delta)


@compiled
def held(delta: int, lead: int, low: int, last: int, extent: int) -> int:
    """Most positions below `extent` that lie between `i * delta + low` and `i * delta + delta + lead`.

    Rounds i are those from `first_round` to `last // delta`.
    """
    best = 0
    middle = min(-low, extent - delta - lead)
    for near in (middle // delta, -(-middle // delta)):
        i = max(first_round(delta, lead), min(near, last // delta))
        best = max(best, min(i * delta + delta + lead, extent) - max(i * delta + low, 0))
    return best


@compiled
def kept(delta: int, lead: int, low: int, last: int, extent: int) -> int:
    """Most positions that one round leaves to the next."""
    first, end = first_round(delta, lead), last // delta - 1
    best = 0
    middle = min(-low - delta, extent - delta - lead)
    if end >= first:
        for near in (middle // delta, -(-middle // delta)):
            i = max(first, min(near, end))
            best = max(best, min(i * delta + delta + lead, extent) - max(i * delta + delta + low, 0))
    return best


@compiled
def region(net: GraphColumns, s: Trace, u: int, tile: Ints, cores: int) -> tuple[int, int]:
    """Positions of the MAIN and the SIDE region of source `u`; `cores` share what is whole and divide the columns."""
    height, width = net.extent[0, u], net.extent[1, u]
    if s.whole[u]:
        return -(-height * width // cores), 0
    rows, columns = row_step(net, s, u, tile[0]), tile[1] * s.delta[u]
    if s.seen[u] == 0:
        return min(rows, height) * min(columns, width), 0
    high = held(rows, s.lead[0, u], s.low[0, u], s.last[0, u], height)
    wide = held(columns, s.lead[1, u], s.low[1, u], s.last[1, u], width)
    again = kept(rows, s.lead[0, u], s.low[0, u], s.last[0, u], height)
    reach = min(width, s.last[1, u] // columns * columns + columns + s.lead[1, u])
    if cores > 1 and width >= cores:
        reach = min(reach, -(-reach // cores) + max(0, wide - columns))
    return high * wide, again * max(0, reach - wide)


@compiled
def demand(
    net: GraphColumns, s: Trace, members: Ints, outside: int, tile: Ints, cores: int, align: int
) -> tuple[int, int]:
    """Bytes and count of all regions: what is whole, and the stage with most of the rest; positions of `s.side`."""
    stages = 1
    for v in members:
        stages = max(stages, s.depth[v] + 1)
    for stage in range(2 * stages):
        s.sums[stage] = 0
    whole, wholes = 0, 0
    for place in range(len(members) + outside):
        u = members[place] if place < len(members) else s.outside[place - len(members)]
        main, side = region(net, s, u, tile, cores)
        s.side[u] = side
        pixel = net.pixel_bytes[u]
        size = -(-main * pixel // align) * align + -(-side * pixel // align) * align
        count = 1 + (side > 0)
        if s.whole[u]:
            whole, wholes = whole + size, wholes + count
        else:
            s.sums[2 * s.depth[u]] += size
            s.sums[2 * s.depth[u] + 1] += count
    most, regions = 0, 0
    for stage in range(stages):
        most = max(most, s.sums[2 * stage])
        regions = max(regions, s.sums[2 * stage + 1])
    return int(whole + most), int(wholes + regions)
