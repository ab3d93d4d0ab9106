"""Compiled: the consumption-centric flow (Cocco, section 3.1), from the results of a group back to what it loads.

Along each axis source u is updated in rounds: round i makes positions up to `i * delta + delta + lead` (exclusive) and
keeps those from `i * delta + low` on; the first round is the one that makes position 0.  What a reader makes in a round
fixes what its sources must hold in that round, hence `lead` and `low`; `delta` is the least common multiple of what the
readers consume.  Where one size is enough for all readers it is the paper's, their maximum; where branches of different
depth meet, or paddings differ, elements wait for the slower branch, and `lead - low` has room for them.

A source that some reader needs as a whole before it begins divides the group into stages, run one after another; what
one stage leaves for a later one is kept whole.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np

from ..soma.compiled import compiled
from .columns import GraphColumns, Ints


class Trace(NamedTuple):
    """What is known of each source (columns) in the group being looked at.

    `stamp` tells the group it was last seen in (twice the group's number, one more for sources outside of it), `depth`
    its stage counted from the last (for sources outside the first stage that reads them), `whole` that all of it is
    kept, `seen` and `inside` its readers in its stage and in the group.  `delta` is the update along columns for tiles
    of 1; in rounds after `last` (divided by the update) readers make nothing.  `outside` lists the sources outside of
    the group.  `divisor` is the common divisor of the rates of a component's last layers; `side` (positions of
    SIDE regions) and `sums` are for `demand`.
    """

    stamp: Ints
    depth: Ints
    whole: Ints
    seen: Ints
    inside: Ints
    delta: Ints
    lead: Ints
    low: Ints
    last: Ints
    outside: Ints
    divisor: Ints
    side: Ints
    sums: Ints


def new_trace(sources: int) -> Trace:
    """Room for graphs of so many layers and network inputs."""

    def row() -> Ints:
        return np.zeros(sources, np.int64)

    def pair() -> Ints:
        return np.zeros((2, sources), np.int64)

    stamp, sums = np.full(sources, -1, np.int64), np.zeros(2 * sources, np.int64)
    return Trace(stamp, row(), row(), row(), row(), row(), pair(), pair(), pair(), row(), row(), row(), sums)


@compiled
def trace(net: GraphColumns, s: Trace, members: Ints, number: int) -> int:
    """Fill `s` for the group of `members` (ascending); the count of sources outside."""
    for v in members:
        _open(s, v, 2 * number)
        s.divisor[net.component[v]] = 0
    _find_stages(net, s, members, 2 * number)
    outside = 0
    for place in range(len(members) - 1, -1, -1):
        v = members[place]
        _close(net, s, v)
        for e in range(net.first_edge[v], net.first_edge[v + 1]):
            u = net.source[e]
            if s.stamp[u] < 2 * number:
                _open(s, u, 2 * number + 1)
                s.depth[u] = s.depth[v]
                s.outside[outside] = u
                outside += 1
            s.inside[u] += 1
            if net.whole[e] or s.depth[u] != s.depth[v]:
                s.whole[u] = 1
                s.depth[u] = max(s.depth[u], s.depth[v])
            else:
                _pull(net, s, v, e, u)
    return outside


@compiled
def _open(s: Trace, u: int, stamp: int) -> None:
    s.stamp[u] = stamp
    s.depth[u] = 0
    s.whole[u] = 0
    s.seen[u] = 0
    s.inside[u] = 0


@compiled
def _close(net: GraphColumns, s: Trace, v: int) -> None:
    """All readers of layer `v` are known: where none is in its stage it sets the pace; what leaves is made in full."""
    if s.seen[v] == 0:
        s.delta[v] = 1
        for axis in range(2):
            s.lead[axis, v] = s.low[axis, v] = 0
            s.last[axis, v] = net.extent[axis, v] - 1
        root = net.component[v]
        s.divisor[root] = gcd(s.divisor[root], net.rate[0, v])
    elif s.whole[v] or s.inside[v] < net.readers[v]:
        for axis in range(2):
            s.low[axis, v] = min(s.low[axis, v], s.lead[axis, v])
            s.last[axis, v] = max(s.last[axis, v], net.extent[axis, v] - 1 - s.lead[axis, v])


@compiled
def _pull(net: GraphColumns, s: Trace, v: int, e: int, u: int) -> None:
    """What layer `v` makes per round, as a demand on its source `u`."""
    step = s.delta[v] * net.stride[1, e]
    s.delta[u] = step if s.seen[u] == 0 else s.delta[u] // gcd(s.delta[u], step) * step
    for axis in range(2):
        stride, pad = net.stride[axis, e], net.pad[axis, e]
        first = max(s.lead[axis, v], s.low[axis, v])
        lead = s.lead[axis, v] * stride + net.reach[axis, e] - stride - pad
        low = first * stride - pad
        last = (net.extent[axis, v] - 1 - first) * stride
        if s.seen[u]:
            lead, low = max(lead, s.lead[axis, u]), min(low, s.low[axis, u])
            last = max(last, s.last[axis, u])
        s.lead[axis, u], s.low[axis, u], s.last[axis, u] = lead, low, last
    s.seen[u] += 1


@compiled
def _find_stages(net: GraphColumns, s: Trace, members: Ints, stamp: int) -> None:
    """Each layer as late as its readers allow, but those that nobody reads as early as their sources are there."""
    staged = False
    for place in range(len(members) - 1, -1, -1):
        v = members[place]
        for e in range(net.first_edge[v], net.first_edge[v + 1]):
            u = net.source[e]
            if s.stamp[u] == stamp:
                staged |= net.whole[e] > 0
                s.seen[u] += 1
                s.depth[u] = max(s.depth[u], s.depth[v] + net.whole[e])
    if staged:
        _advance_ends(net, s, members, stamp)
    for v in members:
        s.seen[v] = 0


@compiled
def _advance_ends(net: GraphColumns, s: Trace, members: Ints, stamp: int) -> None:
    for v in members:
        if s.seen[v]:
            continue
        earliest = -1
        for e in range(net.first_edge[v], net.first_edge[v + 1]):
            u = net.source[e]
            if s.stamp[u] == stamp:
                depth = s.depth[u] - net.whole[e]
                earliest = depth if earliest < 0 else min(earliest, depth)
        s.depth[v] = max(earliest, 0)
