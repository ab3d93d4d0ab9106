"""Compiled: what a group with a given first unit costs, as a minimum cut (Dinic 1970) of one of many small networks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...algebra.element import Floats, Ints
from ...costs.compiled import bare, compiled, inner
from .first import Near, has, together
from .relaxed import unpacked

RESOURCES = 3
"""Weights; weights in whole multiples of one that is frequent; regions: all as shares of the room."""

FREQUENT = 1 / 100
"""Such a weight is at least this share of the room."""


class Closures(NamedTuple):
    """For each of `firsts` a network; the nodes of place k are from `nodes[k]` to `nodes[k + 1]`, its arcs likewise.

    The first node is the first unit.  `units` has the unit of a node, or -1; `fixed` what it costs without prices,
    `uses` (a row each) what it takes of the resources.  An arc has places of nodes in the network of its first unit.
    """

    firsts: Ints
    nodes: Ints
    arcs: Ints
    units: Ints
    fixed: Floats
    uses: Floats
    begins: Ints
    ends: Ints


class Draft(NamedTuple):
    """A network in the making; `used` has its number of nodes and of arcs."""

    units: Ints
    fixed: Floats
    uses: Floats
    begins: Ints
    ends: Ints
    used: Ints


def closure_of(near: Near, room: Floats) -> Draft:
    """The network of one first unit."""
    units, reads = len(near.units), int(unpacked(near.readers, len(near.units)).sum())
    nodes, arcs = units + reads + 3 * len(near.made), 4 * (reads + len(near.made))
    draft = Draft(
        np.full(nodes, -1, np.int64),
        np.zeros(nodes),
        np.zeros((nodes, RESOURCES)),
        np.zeros(arcs, np.int64),
        np.zeros(arcs, np.int64),
        np.array([units, 0]),
    )
    fill_draft(near, room, _share(near.needs[:, 0], room[0]), draft)
    return draft


@compiled
def fill_draft(near: Near, room: Floats, share: float, draft: Draft) -> None:
    """Put down nodes and arcs in arrays that are long enough; weights are counted in multiples of `share` too."""
    units, results = len(near.units), len(near.made)
    for i in range(units):
        draft.units[i] = near.units[i]
        draft.uses[i, 0] = near.needs[i, 0] / room[0]
        draft.uses[i, 1] = np.floor(near.needs[i, 0] / share) / max(1.0, np.floor(room[0] / share))
        draft.uses[i, 2] = near.needs[i, 1] / room[1]
    for q in range(results):
        members = np.zeros(0, np.int64) if q >= units else np.array([q])
        readers = np.array([i for i in range(units) if has(near.readers[q], i)], dtype=np.int64)
        _loads(near, room, q, np.concatenate((members, readers)), draft)
        _region(near, room, q, draft)
        if q < units:
            _store(near, room, q, readers, draft)
            for i in readers:
                if q == 0 or has(near.after[0], q):
                    _arc(draft, i, q)


@inner
def _node(draft: Draft, cost: float) -> int:
    place = draft.used[0]
    draft.fixed[place] = cost
    draft.used[0] += 1
    return int(place)


@inner
def _arc(draft: Draft, begin: int, end: int) -> None:
    place = draft.used[1]
    draft.begins[place], draft.ends[place] = begin, end
    draft.used[1] += 1


@inner
def _loads(near: Near, room: Floats, q: int, members: Ints, draft: Draft) -> None:
    """A load for all readers that may be together (by twos, and so on); none where the maker is with them."""
    part = np.arange(len(members))
    for a in range(len(members)):
        for b in range(a):
            if part[a] != part[b] and together(near, room, np.array([members[a], members[b]])):
                old = part[a]
                for c in range(len(members)):
                    if part[c] == old:
                        part[c] = part[b]
    for name in range(len(members)):
        size = (part == name).sum()
        own = q < len(near.units) and part[0] == name
        if size == 0 or (own and size == 1):
            continue
        node = _node(draft, near.loads[q])
        if own:
            draft.fixed[q] -= near.loads[q]
        for c in range(len(members)):
            if part[c] == name:
                _arc(draft, members[c], node)


@inner
def _region(near: Near, room: Floats, q: int, draft: Draft) -> None:
    """A region for a result that is made, or read by one that needs it."""
    node = _node(draft, 0.0)
    draft.uses[node, 2] = 1.0 / room[1]
    for i in range(len(near.units)):
        if i == q or has(near.close[q], i):
            _arc(draft, i, node)


@inner
def _store(near: Near, room: Floats, q: int, readers: Ints, draft: Draft) -> None:
    """A unit stores its result unless all of its readers are with it."""
    draft.fixed[q] += near.stores[q]
    if near.stores[q] == 0.0 or near.beyond[q] or len(readers) == 0:
        return
    if together(near, room, np.concatenate((np.array([q]), readers))):
        node = _node(draft, -near.stores[q])
        _arc(draft, node, q)
        for i in readers:
            _arc(draft, node, i)


def closures_of(around: Sequence[Near], firsts: Sequence[int], room: Floats) -> Closures:
    """The networks of `firsts`."""
    drafts = [closure_of(around[first], room) for first in firsts]
    nodes, arcs = ([int(draft.used[k]) for draft in drafts] for k in (0, 1))
    nothing = [np.zeros(0, np.int64)]
    return Closures(
        np.array(firsts, np.int64),
        np.cumsum([0, *nodes]),
        np.cumsum([0, *arcs]),
        np.concatenate([*(draft.units[:n] for draft, n in zip(drafts, nodes, strict=True)), *nothing]),
        np.concatenate([*(draft.fixed[:n] for draft, n in zip(drafts, nodes, strict=True)), np.zeros(0)]),
        np.concatenate([*(draft.uses[:n] for draft, n in zip(drafts, nodes, strict=True)), np.zeros((0, RESOURCES))]),
        np.concatenate([*(draft.begins[:n] for draft, n in zip(drafts, arcs, strict=True)), *nothing]),
        np.concatenate([*(draft.ends[:n] for draft, n in zip(drafts, arcs, strict=True)), *nothing]),
    )


def _share(weights: Floats, room: float) -> float:
    """The weight that most of all weights are: by how many units have it, times its bytes."""
    sizes, counts = np.unique(weights[weights > FREQUENT * room], return_counts=True)
    return float(sizes[np.argmax(sizes * counts)]) if len(sizes) and np.isfinite(room) else 1.0


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
