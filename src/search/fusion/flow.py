"""Compiled: minimum cuts, by shortest augmenting paths (Dinic 1970), of many small networks."""

from typing import NamedTuple

import numpy as np

from ...costs.compiled import bare, compiled
from .closure import Closures
from .cuts import Floats, Ints

ENDLESS = 1 << 60
"""The room of an arc that no minimum cut cuts."""

UNITS = float(1 << 44)
"""Costs are rounded down to integers; all of a network are together below this."""


class Network(NamedTuple):
    """Arcs in pairs, there and back; `first[v]` is the last one added at v, `next` leads to the one before it.

    `level`, `here`, `queue`, `path` are for the search.
    """

    first: Ints
    next: Ints
    ends: Ints
    room: Ints
    level: Ints
    here: Ints
    queue: Ints
    path: Ints


@compiled
def cheapest_sets(
    closures: Closures, prices: Floats, tolls: Floats, values: Floats, slopes: Floats, excess: Floats
) -> None:
    """For each first unit the least cost of a closed set beyond the prices of its units, at most 0.

    Uses of resources beyond 1 cost `tolls` (a row for each first unit).  Where the cost is below 0, the units of the
    set are counted off in `slopes`, and `excess` says what it uses beyond 1.
    """
    nodes, arcs = np.diff(closures.nodes).max(), np.diff(closures.arcs).max()
    pairs = 2 * (nodes + arcs + 2)
    network = Network(
        np.zeros(nodes + 2, np.int64),
        np.zeros(pairs, np.int64),
        np.zeros(pairs, np.int64),
        np.zeros(pairs, np.int64),
        np.zeros(nodes + 2, np.int64),
        np.zeros(nodes + 2, np.int64),
        np.zeros(nodes + 2, np.int64),
        np.zeros(nodes + 3, np.int64),
    )
    costs = np.zeros(nodes)
    for k in range(len(closures.firsts)):
        first = closures.firsts[k]
        begin, count = closures.nodes[k], closures.nodes[k + 1] - closures.nodes[k]
        for i in range(count):
            unit = closures.units[begin + i]
            costs[i] = closures.fixed[begin + i] - (prices[unit] if unit >= 0 else 0.0)
            for r in range(tolls.shape[1]):
                costs[i] += tolls[first, r] * closures.uses[begin + i, r]
        value = _cut(closures, k, costs, count, network) - tolls[first].sum()
        values[first] = min(0.0, value)
        excess[first] = 0.0
        if value < 0:
            excess[first] -= 1.0
            for i in range(count):
                if network.level[i] >= 0:
                    excess[first] += closures.uses[begin + i]
                    if closures.units[begin + i] >= 0:
                        slopes[closures.units[begin + i]] -= 1.0


@bare
def _cut(closures: Closures, k: int, costs: Floats, count: int, network: Network) -> float:
    """The cost of the cheapest closed set with node 0, or less; its nodes have a level that is not below 0."""
    total = 0.0
    for i in range(count):
        total += abs(costs[i])
    scale = UNITS / max(total, 1e-300)
    source, sink, pair = count, count + 1, 0
    for v in range(count + 2):
        network.first[v] = -1
    paid = int(np.floor(costs[0] * scale))
    pair = _join(network, pair, source, 0, ENDLESS)
    for i in range(1, count):
        cost = int(np.floor(costs[i] * scale))
        if cost < 0:
            paid += cost
            pair = _join(network, pair, source, i, -cost)
        elif cost > 0:
            pair = _join(network, pair, i, sink, cost)
    for p in range(closures.arcs[k], closures.arcs[k + 1]):
        pair = _join(network, pair, closures.begins[p], closures.ends[p], ENDLESS)
    return float((paid + _flow(network, source, sink)) / scale)


@bare
def _join(network: Network, pair: int, begin: int, end: int, room: int) -> int:
    network.ends[pair], network.room[pair] = end, room
    network.next[pair], network.first[begin] = network.first[begin], pair
    network.ends[pair + 1], network.room[pair + 1] = begin, 0
    network.next[pair + 1], network.first[end] = network.first[end], pair + 1
    return pair + 2


@bare
def _levels(network: Network, source: int, sink: int) -> bool:
    """How many arcs with room lead to each node; whether any lead to the sink."""
    for v in range(sink + 1):
        network.level[v] = -1
        network.here[v] = network.first[v]
    network.level[source], network.queue[0] = 0, source
    place, end = 0, 1
    while place < end:
        v = network.queue[place]
        place += 1
        p = network.first[v]
        while p >= 0:
            after = network.ends[p]
            if network.room[p] > 0 and network.level[after] < 0:
                network.level[after] = network.level[v] + 1
                network.queue[end] = after
                end += 1
            p = network.next[p]
    return bool(network.level[sink] >= 0)


@bare
def _flow(network: Network, source: int, sink: int) -> int:
    """The largest flow."""
    total = 0
    while _levels(network, source, sink):
        depth, v = 0, source
        while True:
            if v == sink:
                depth, passed = _push(network, depth)
                total += passed
                v = network.ends[network.path[depth] ^ 1]
                continue
            p = network.here[v]
            while p >= 0 and (network.room[p] <= 0 or network.level[network.ends[p]] != network.level[v] + 1):
                p = network.next[p]
            network.here[v] = p
            if p >= 0:
                network.path[depth] = p
                depth += 1
                v = network.ends[p]
            elif v == source:
                break
            else:
                network.level[v] = -1
                depth -= 1
                v = network.ends[network.path[depth] ^ 1]
    return int(total)


@bare
def _push(network: Network, depth: int) -> tuple[int, int]:
    """Fill the path of so many arcs; how many lead to the first that is full, and what passed."""
    least = ENDLESS
    for d in range(depth):
        least = min(least, int(network.room[network.path[d]]))
    full = depth
    for d in range(depth - 1, -1, -1):
        p = network.path[d]
        network.room[p] -= least
        network.room[p ^ 1] += least
        if network.room[p] == 0:
            full = d
    return full, least
