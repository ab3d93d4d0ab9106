"""RandWire: stages whose layers are wired at random (Xie et al. 2019), from Watts-Strogatz graphs with fixed seeds."""

from __future__ import annotations

from random import Random

from ...algebra.dag import Dag
from ..schedule_networks.layers import Network
from ..schedule_networks.table import INPUT, Table

NEIGHBOURS = 4
REWIRED = 0.75
"""WS(4, 0.75): the generator that the paper recommends (its section 4.1)."""


def watts_strogatz(nodes: int, neighbours: int, rewired: float, random: Random) -> list[tuple[int, int]]:
    """Edges (lower node, higher node) of a connected ring lattice with rewired edges, sorted.

    Each node starts with edges to its `neighbours / 2` successors on the ring; each edge is rewired, with probability
    `rewired`, to a node drawn evenly.  Graphs that are not connected are drawn again.
    """
    while True:
        edges = {_edge(v, (v + i) % nodes) for i in range(1, neighbours // 2 + 1) for v in range(nodes)}
        for i in range(1, neighbours // 2 + 1):
            for v in range(nodes):
                if random.random() < rewired:
                    free = [w for w in range(nodes) if w != v and _edge(v, w) not in edges]
                    edges.discard(_edge(v, (v + i) % nodes))
                    edges.add(_edge(v, free[random.randrange(len(free))]))
        dag = Dag(tuple(tuple(a for a, b in edges if b == node) for node in range(nodes)))
        if dag.connected(dag.everything):
            return sorted(edges)


def _edge(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def stage(table: Table, name: str, x: int, nodes: int, channels: int, random: Random) -> int:
    """One random stage: the first nodes have stride 2, the outputs of the last are averaged.

    A node is the weighted sum of what it reads (free where it reads one value), then Relu (free) and a separable
    convolution of 3x3.
    """
    edges = watts_strogatz(nodes, NEIGHBOURS, REWIRED, random)
    made: list[int] = []
    for node in range(nodes):
        given = [made[a] for a, b in edges if b == node]
        source = table.add(f"{name}_{node}_sum", given) if len(given) > 1 else (*given, x)[0]
        made.append(table.separable(f"{name}_{node}", source, channels, 3, 1 if given else 2))
    last = [made[node] for node in range(nodes) if all(a != node for a, _ in edges)]
    return table.add(f"{name}_mean", last) if len(last) > 1 else last[0]


def randwire_a(size: int = 224) -> Network:
    """The small regime of the paper's table 1: 32 nodes a stage, 78 channels, seed 0; `size` x `size` images."""
    random = Random(0)
    table, channels = Table("randwire_a", (3, size, size)), 78
    x = table.conv("conv2", table.conv("conv1", INPUT, channels // 2, 3, 2), channels, 3, 2)
    for index, factor in ((3, 1), (4, 2), (5, 4)):
        x = stage(table, f"conv{index}", x, 32, factor * channels, random)
    return _head(table, x)


def randwire_b() -> Network:
    """The regular regime of the paper's table 1: 16 nodes, then 32 nodes a stage, 109 channels, seed 1."""
    random = Random(1)
    table, channels = Table("randwire_b", (3, 224, 224)), 109
    x = table.conv("conv1", INPUT, channels // 2, 3, 2)
    for index, (nodes, factor) in enumerate(((16, 1), (32, 2), (32, 4), (32, 8)), 2):
        x = stage(table, f"conv{index}", x, nodes, factor * channels, random)
    return _head(table, x)


def _head(table: Table, x: int) -> Network:
    table.fc("fc", table.global_pool("pool", table.conv("classifier", x, 1280)), 1000)
    return table.network()
