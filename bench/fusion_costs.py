"""Groups of layers priced per second on one core (traffic, demand, energy, cycles), and how the time grows with size.

Groups are connected and drawn at random; of each network as many of 1 to 8 layers as of 9 to 16 and so on fit and do
not fit, as a search meets them.
"""

from __future__ import annotations

import argparse
from random import Random

import numpy as np
from measure import Report, cpu_seconds

from tilewright.algebra.dag import bits
from tilewright.costs.fusion import LayerGraph, SubgraphPricer, layer_graph
from tilewright.costs.fusion.tables import Ints
from tilewright.zoo.paper_networks import COCCO_NAMES, network

COUNT = 5000
SIZES = (1, 2, 4, 8, 16, 32)
TYPICAL = 16
SECONDS_PER_100K = 1.0
GROWTH = 1.5
"""How much longer a layer of a large group may take than one of a small group."""


def random_group(graph: LayerGraph, size: int, random: Random) -> list[int]:
    """Up to `size` layers joined by edges, ascending."""
    group = 1 << random.randrange(len(graph))
    near = group
    for _ in range(size - 1):
        near |= graph.dag.readers(near) | graph.dag.sources(near)
        free = list(bits(near & ~group))
        if not free:
            break
        near = 1 << random.choice(free)
        group |= near
        near = group
    return list(bits(group))


def packed(groups: list[list[int]]) -> tuple[Ints, Ints]:
    """Groups as `cost_many` takes them."""
    members = np.array([node for group in groups for node in group], dtype=np.int64)
    return members, np.cumsum([0, *map(len, groups)], dtype=np.int64)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    report = Report()
    per_layer: dict[int, list[float]] = {size: [] for size in SIZES}
    for name in COCCO_NAMES:
        graph = layer_graph(network(name))
        pricer, random = SubgraphPricer(graph), Random(0)
        for size in SIZES:
            groups = [random_group(graph, min(size, len(graph)), random) for _ in range(COUNT)]
            members, starts = packed(groups)
            pricer.cost_many(members, starts)
            seconds, table = cpu_seconds(lambda m=members, s=starts: pricer.cost_many(m, s), 3)
            per_layer[size].append(seconds / len(members))
            share = f"{name}: {len(members) / COUNT:.1f} layers, {table.fits.mean():.0%} fit"
            if size <= TYPICAL:
                report.add(share, seconds * 100_000 / COUNT, SECONDS_PER_100K, "s/100k")
            else:
                print(f"{share:48} {COUNT / seconds:10.4g} groups per second")
    average = {size: float(np.mean(times)) for size, times in per_layer.items()}
    for size, seconds in average.items():
        print(f"groups of up to {size:2}: {seconds * 1e9:6.0f} ns per layer")
    report.add("a layer of a group of 32, against one of 4", average[32] / average[4], GROWTH)
    report.finish()


if __name__ == "__main__":
    main()
