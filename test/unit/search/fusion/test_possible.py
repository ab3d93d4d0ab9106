"""What proofs rely on: each part of a group that fits is possible, at any capacity."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random

import pytest

from tilewright.algebra.dag import bits
from tilewright.costs.fusion import SubgraphPricer, layer_graph
from tilewright.driver.partitions import scene_of
from tilewright.search.fusion.lattice import Lattice
from tilewright.search.fusion.possible import Possible
from tilewright.search.fusion.space import Evaluator, Space
from tilewright.zoo.paper_networks import network


def grown(space: Space, random: Random, size: int) -> int:
    mask = 1 << random.randrange(space.size)
    while mask.bit_count() < size:
        near = (space.readers(mask) | space.sources(mask)) & ~mask
        if not near:
            break
        mask |= 1 << random.choice(list(bits(near)))
    return mask


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("name", ["resnet50", "transformer", "randwire_b", "nasnet"])
def test_parts_of_groups_that_fit_are_possible(name: str, cores: int):
    """Capacities, of one memory or two, are the least with which each group fits."""
    graph, random = layer_graph(network(name)), Random(name)
    pricer = SubgraphPricer(graph, cores=cores)
    scene = scene_of(pricer)
    whole, space, left_out = scene.possible, scene.space, 0
    for number in range(14):
        group = grown(space, random, random.randint(2, 30))
        way = random.choice(pricer.ways(bits(group)))
        need, weights = float(way.global_demand_bytes), float(way.weight_demand_bytes)
        regions = float(way.regions) if whole.regions < inf else inf
        one = Possible(
            whole.weights, whole.read, whole.held, (need + weights) * cores, regions, need + weights, 1 / cores
        )
        possible = one if number % 2 else replace(one, weight_capacity=weights * cores, map_capacity=need, share=0.0)
        assert possible(group)
        assert all(possible(sum(1 << v for v in bits(group) if random.random() < 0.6)) for _ in range(5))
        left_out += not possible(group | grown(space, random, 10))
    assert left_out > 1


def test_a_proof_leaves_no_group_out():
    """Layer by layer and with all sets that are possible, the same partition is best."""
    pricer = SubgraphPricer(layer_graph(network("vgg16")))
    scene = scene_of(pricer)
    evaluator = Evaluator(scene.space, pricer)
    sound = Lattice(scene.space, evaluator, possible=scene.possible).solve()
    assert sound[0] == Lattice(scene.space, evaluator).solve()[0]
    assert scene.possible(sound[1][0])
