"""Compiled: the consumption-centric flow (Cocco, section 3.1), from the results of a group back to what it loads.

Along each axis source u is updated in rounds: round i makes positions up to `i * delta + delta + lead` (exclusive) and
keeps those from `i * delta + low` on; the first round is the one that makes position 0.  What a reader makes in a round
fixes what its sources must hold in that round, hence `lead` and `low`; `delta` is the least common multiple of what the
readers consume.  Where one size is enough for all readers it is the paper's, their maximum; where branches of different
depth meet, or paddings differ, elements wait for the slower branch, and `lead - low` has room for them.

A source that some reader needs as a whole before it begins divides the group into stages, run one after another; what
one stage leaves for a later one is kept whole.
"""

from math import gcd

import numpy as np

from ...algebra.element import Ints
from ..compiled import bare, bare_entry
from .tables import COMPONENT, END_EDGE, EXTENT, FIRST_EDGE, IS_WHOLE, PAD, RATE, REACH, READERS, SOURCE, STRIDE

STAMP, DEPTH, WHOLE, SEEN, INSIDE = range(5)
"""Of a source in the group being looked at: the group it was last seen in (twice its number, one more for sources
outside of it), its stage counted from the last (outside: the first that reads it), whether all of it is kept, its
readers in its stage and in the group."""

DELTA, LEAD, LOW, LAST = 5, 6, 8, 10
"""The update along columns for tiles of 1; by axis `lead`, `low`, and what divided by the update is the last round in
which a reader makes something."""

OUTSIDE, DIVISOR, SIDE, BYTES, REGIONS = 12, 13, 14, 15, 16
"""Lists of other things: the sources outside of the group; by component the common divisor of the rates of its last
layers; for `demand` positions of SIDE by source, bytes and regions by stage."""

NEED, STEP, TRACE_FIELDS = 17, 18, 19
"""Of a source: its first so many rows are made or loaded, nobody reads those after them; its update along rows for a
tile of 1."""


def new_trace(sources: int) -> Ints:
    """A row for each of so many layers and network inputs."""
    return np.full((sources, TRACE_FIELDS), -1, np.int64)


@bare_entry
def trace(layers: Ints, edges: Ints, sources: Ints, s: Ints, members: Ints, number: int) -> int:
    """Fill `s` for the group of `members` (ascending); the count of sources outside."""
    for v in members:
        _open(s, v, 2 * number)
        s[sources[v, COMPONENT], DIVISOR] = 0
    _find_stages(layers, edges, s, members, 2 * number)
    outside = 0
    for place in range(len(members) - 1, -1, -1):
        v = members[place]
        _close(sources, s, v)
        for e in range(layers[v, FIRST_EDGE], layers[v, END_EDGE]):
            u = edges[e, SOURCE]
            if s[u, STAMP] < 2 * number:
                _open(s, u, 2 * number + 1)
                s[u, DEPTH] = s[v, DEPTH]
                s[outside, OUTSIDE] = u
                outside += 1
            s[u, INSIDE] += 1
            if edges[e, IS_WHOLE] or s[u, DEPTH] != s[v, DEPTH]:
                s[u, WHOLE] = 1
                s[u, DEPTH] = max(s[u, DEPTH], s[v, DEPTH])
            else:
                _pull(edges, sources, s, v, e, u)
    for place in range(len(members) + outside):
        u = members[place] if place < len(members) else s[place - len(members), OUTSIDE]
        if s[u, STAMP] == 2 * number or not s[u, WHOLE]:
            s[u, STEP] = sources[u, RATE] // s[sources[u, COMPONENT], DIVISOR]
    return outside


@bare
def _open(s: Ints, u: int, stamp: int) -> None:
    s[u, STAMP] = stamp
    s[u, DEPTH] = 0
    s[u, WHOLE] = 0
    s[u, SEEN] = 0
    s[u, INSIDE] = 0
    s[u, NEED] = 0


@bare
def _close(sources: Ints, s: Ints, v: int) -> None:
    """All readers of layer `v` are known: where none is in its stage it sets the pace; what leaves is made in full."""
    if s[v, SEEN] == 0:
        s[v, DELTA], s[v, NEED] = 1, sources[v, EXTENT]
        for axis in range(2):
            s[v, LEAD + axis] = s[v, LOW + axis] = 0
            s[v, LAST + axis] = sources[v, EXTENT + axis] - 1
        root = sources[v, COMPONENT]
        s[root, DIVISOR] = gcd(s[root, DIVISOR], sources[v, RATE])
    elif s[v, WHOLE] or s[v, INSIDE] < sources[v, READERS]:
        s[v, NEED] = sources[v, EXTENT]
        for axis in range(2):
            s[v, LOW + axis] = min(s[v, LOW + axis], s[v, LEAD + axis])
            s[v, LAST + axis] = max(s[v, LAST + axis], sources[v, EXTENT + axis] - 1 - s[v, LEAD + axis])


@bare
def _pull(edges: Ints, sources: Ints, s: Ints, v: int, e: int, u: int) -> None:
    """What layer `v` makes per round, as a demand on its source `u`."""
    step = s[v, DELTA] * edges[e, STRIDE + 1]
    s[u, DELTA] = step if s[u, SEEN] == 0 else s[u, DELTA] // gcd(s[u, DELTA], step) * step
    for axis in range(2):
        stride, pad = edges[e, STRIDE + axis], edges[e, PAD + axis]
        first = max(s[v, LEAD + axis], s[v, LOW + axis])
        lead = s[v, LEAD + axis] * stride + edges[e, REACH + axis] - stride - pad
        low = first * stride - pad
        last = (sources[v, EXTENT + axis] - 1 - first) * stride
        if s[u, SEEN]:
            lead, low = max(lead, s[u, LEAD + axis]), min(low, s[u, LOW + axis])
            last = max(last, s[u, LAST + axis])
        s[u, LEAD + axis], s[u, LOW + axis], s[u, LAST + axis] = lead, low, last
    s[u, SEEN] += 1
    read = (s[v, NEED] - 1) * edges[e, STRIDE] + edges[e, REACH] - edges[e, PAD]
    s[u, NEED] = max(s[u, NEED], min(read, sources[u, EXTENT]))


@bare
def _find_stages(layers: Ints, edges: Ints, s: Ints, members: Ints, stamp: int) -> None:
    """Each layer as late as its readers allow, but those that nobody reads as early as their sources are there."""
    staged = False
    for place in range(len(members) - 1, -1, -1):
        v = members[place]
        for e in range(layers[v, FIRST_EDGE], layers[v, END_EDGE]):
            u = edges[e, SOURCE]
            if s[u, STAMP] == stamp:
                staged |= edges[e, IS_WHOLE] > 0
                s[u, SEEN] += 1
                s[u, DEPTH] = max(s[u, DEPTH], s[v, DEPTH] + edges[e, IS_WHOLE])
    if staged:
        _advance_ends(layers, edges, s, members, stamp)
    for v in members:
        s[v, SEEN] = 0


@bare
def _advance_ends(layers: Ints, edges: Ints, s: Ints, members: Ints, stamp: int) -> None:
    for v in members:
        if s[v, SEEN]:
            continue
        earliest = -1
        for e in range(layers[v, FIRST_EDGE], layers[v, END_EDGE]):
            u = edges[e, SOURCE]
            if s[u, STAMP] == stamp:
                depth = s[u, DEPTH] - edges[e, IS_WHOLE]
                earliest = depth if earliest < 0 else min(earliest, depth)
        s[v, DEPTH] = max(earliest, 0)
