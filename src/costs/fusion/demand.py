"""Compiled: MAIN and SIDE regions (Cocco, section 3.2) and what they add up to.

The rows of a tile that the next row of tiles reads again pass through SIDE, a queue of as many columns as do not lie in
MAIN: MAIN and SIDE together hold what is still to be read, and nothing else.
"""

from ...algebra.element import Ints
from ..compiled import bare_entry, compile_with
from .tables import EXTENT, PIXEL_BYTES
from .trace import BYTES, DELTA, DEPTH, LAST, LEAD, LOW, NEED, OUTSIDE, REGIONS, SEEN, SIDE, STEP, WHOLE

inlined = compile_with(inline="always")
"""Calls cost more than these functions: arrays are handed over by all their parts."""


@inlined
def row_step(s: Ints, u: int, tile_rows: int) -> int:
    """Rows that source `u` advances per row of tiles: all layers of a stage keep step."""
    return tile_rows * s[u, STEP]


@inlined
def first_round(delta: int, lead: int) -> int:
    """The round that makes position 0."""
    return -((lead - 1 + delta) // delta)


@inlined
def spans(delta: int, lead: int, low: int, last: int, extent: int) -> tuple[int, int, int]:
    """Most positions below `extent` between `i * delta + low` and `i * delta + delta + lead` in a round i; most that a
    round leaves to the next; and the end of all.  Rounds are those from `first_round` to `last // delta`.
    """
    ahead = delta + lead
    if low <= lead and last + lead + 1 >= extent and extent - ahead + low + 1 >= delta:
        return ahead - low, lead - low, extent  # all of some round lies within the map
    first, end = first_round(delta, lead), last // delta
    best, left = 0, 0
    middle = min(-low, extent - ahead)
    near = middle // delta
    for i in (near, near + (near * delta < middle)):
        start = max(first, min(i, end)) * delta
        best = max(best, min(start + ahead, extent) - max(start + low, 0))
    if end > first and lead > low:
        middle = min(-low - delta, extent - ahead)
        near = middle // delta
        for i in (near, near + (near * delta < middle)):
            start = max(first, min(i, end - 1)) * delta
            left = max(left, min(start + ahead, extent) - max(start + delta + low, 0))
    return best, left, min(extent, end * delta + ahead)


@inlined
def region(sources: Ints, s: Ints, u: int, tile: Ints, cores: int, narrow: int) -> tuple[int, int]:
    """Positions of the MAIN and the SIDE region of source `u`; `cores` share what is whole and divide the columns.

    A tile of 0 columns is one of full rows: all columns lie in MAIN.  With `narrow`, SIDE has all columns, as in
    programs, not only those outside of MAIN.
    """
    height, width = sources[u, EXTENT], sources[u, EXTENT + 1]
    if s[u, WHOLE]:
        return -(-height * width // cores), 0
    rows, columns = row_step(s, u, tile[0]), tile[1] * s[u, DELTA]
    if s[u, SEEN] == 0:
        return min(rows, height) * (min(columns, width) if columns else width), 0
    high, left, _ = spans(rows, s[u, LEAD], s[u, LOW], s[u, LAST], s[u, NEED])
    if tile[1] == 0:
        share = -(-width // cores) + max(0, s[u, LEAD + 1] - s[u, LOW + 1]) if 1 < cores <= width else width
        return high * min(width, share), 0
    wide, again, reach = spans(columns, s[u, LEAD + 1], s[u, LOW + 1], s[u, LAST + 1], width)
    if cores > 1 and width >= cores:
        reach = min(reach, -(-reach // cores) + again)
    if narrow and reach > wide:
        return high * wide, left * width
    return high * wide, left * max(0, reach - wide)


@bare_entry
def demand(
    sources: Ints, s: Ints, members: Ints, outside: int, tile: Ints, cores: int, align: int, limit: int, narrow: int = 0
) -> tuple[int, int]:
    """Bytes and count of all regions: what is whole, and the stage with most of the rest; SIDE is put down in `s`.

    Counting ends where `limit` bytes are passed.
    """
    stages = 1
    for v in members:
        stages = max(stages, s[v, DEPTH] + 1)
    for stage in range(stages):
        s[stage, BYTES] = s[stage, REGIONS] = 0
    whole, wholes = 0, 0
    for place in range(len(members) + outside):
        u = members[place] if place < len(members) else s[place - len(members), OUTSIDE]
        main, side = region(sources, s, u, tile, cores, narrow)
        s[u, SIDE] = side
        pixel = sources[u, PIXEL_BYTES]
        size = -(-main * pixel // align) * align + -(-side * pixel // align) * align
        count = 1 + (side > 0)
        if s[u, WHOLE]:
            whole, wholes = whole + size, wholes + count
        else:
            s[s[u, DEPTH], BYTES] += size
            s[s[u, DEPTH], REGIONS] += count
        if whole + s[s[u, DEPTH], BYTES] > limit:
            break
    most, regions = 0, 0
    for stage in range(stages):
        most = max(most, s[stage, BYTES])
        regions = max(regions, s[stage, REGIONS])
    return int(whole + most), int(wholes + regions)
