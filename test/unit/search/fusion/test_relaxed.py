"""Bounds from chains of cuts, against all partitions of small random graphs."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from random import Random

import pytest

from tilewright.algebra.dag import bits
from tilewright.costs.fusion import LayerGraph, SubgraphPricer, layer_graph
from tilewright.driver.partitions import scene_of
from tilewright.search.fusion import Scene, Space
from tilewright.search.fusion.floors import Scene as Floors
from tilewright.search.fusion.relaxed import Chains
from tilewright.search.fusion.space import Evaluator
from tilewright.search.fusion.units import Room, units_of
from tilewright.zoo.schedule_networks.layers import INPUT, Table

from .plain import PlainPricer, partitions, random_graph


def chains_of(graph: LayerGraph, weights: float = 120.0, regions: float = inf) -> Chains:
    space = Space(graph.producers)
    scene = Scene(graph, space, weight_capacity=weights)
    room = Room(weights, regions)
    return Chains(units_of(space, scene.tolls("ema"), [layer.weight_bytes for layer in graph.layers], room))


class Regions(PlainPricer):
    """Groups that have at most `most` results made or read, besides their weights."""

    most = 4

    def fits(self, inside: frozenset[int]) -> bool:
        read = {edge.producer for v in inside for edge in self.graph.layers[v].edges}
        return len(inside | read) <= self.most and self.weights(inside) <= self.weight_bytes


@pytest.mark.parametrize("seed", range(40))
def test_no_partition_is_below_the_bound(seed: int):
    """Whole, and in windows: of neighbours in the order of the layers, and with layers left out."""
    graph = random_graph(seed, 7, 0.2 + seed % 4 * 0.15)
    chains = chains_of(graph, regions=4.0)
    evaluator = Evaluator(chains.units.space, Regions(graph))
    least = min(map(evaluator.total, partitions(evaluator.space)))
    base, count = chains.units.tolls.rest(0), len(chains.units.heads)
    whole = chains.least(range(count), 1.0)
    assert base <= base + whole <= least
    edges = sorted({0, *Random(seed).sample(range(1, count), min(2, count - 1)), count})
    assert base + sum(chains.window(range(a, b)) for a, b in pairwise(edges)) <= least
    assert base + sum(map(chains.window, chains.windows())) <= least
    assert chains.least([i for i in range(count) if Random(i + seed).random() < 0.7], 1.0) <= least - base


@pytest.mark.parametrize("seed", range(30))
def test_without_absorbed_layers_the_chain_is_the_best_partition(seed: int):
    """Where weights alone limit groups, nothing is relaxed but that groups may have parts that share a load."""
    graph = random_graph(seed, 7, 0.3)
    chains = chains_of(graph)
    evaluator = Evaluator(chains.units.space, PlainPricer(graph, global_bytes=10**9))
    least = min(map(evaluator.total, partitions(evaluator.space)))
    found = chains.within(range(len(chains.units.heads)), inf, strict=True)
    assert found is not None
    parts = [part for group in found.groups for part in chains.units.space.components(group)]
    assert chains.units.space.fault(parts) is None
    assert all(evaluator.price(part) < inf for part in parts)
    assert evaluator.total(parts) >= least
    if not any(chains.units.absorbed):
        assert chains.units.tolls.rest(0) + found.cost <= least


@pytest.mark.parametrize("seed", range(20))
def test_a_known_partition_limits_the_search_and_not_its_answer(seed: int):
    graph = random_graph(seed, 7, 0.3)
    without, chains = chains_of(graph, regions=4.0), chains_of(graph, regions=4.0)
    evaluator = Evaluator(chains.units.space, Regions(graph))
    count = len(chains.units.heads)
    members = [range(count), range(count // 2), range(1, count)]
    for groups in list(partitions(evaluator.space))[seed % 5 :: 7]:
        if evaluator.total(groups) < inf:
            chains.best = groups
            chains.bounds.clear()
            for piece in members:
                assert chains.least(piece, 1.0) == without.least(piece, 1.0) <= chains.seen(piece)
                assert chains.seen(piece) == 0 or tuple(piece) in chains.solved


@pytest.mark.parametrize("seed", range(30))
def test_readers_outside_of_a_window_count(seed: int):
    """Windows of one to six units; where layers are heavy, more is known than the chains of the windows say."""
    graph = random_graph(seed, 7, 0.3 + seed % 3 * 0.2)
    scene = Scene(graph, Space(graph.producers), weight_capacity=70.0)
    evaluator = Evaluator(scene.space, PlainPricer(graph, weight_bytes=70, global_bytes=10**9))
    chains = scene.chains(evaluator)
    least = min(map(evaluator.total, partitions(evaluator.space)))
    base, count = chains.units.tolls.rest(0), len(chains.units.heads)
    for cut in range(1, count):
        pieces = [range(cut), range(cut, count)]
        assert base + sum(map(chains.window, pieces)) <= least
    assert base + sum(chains.window([i]) for i in range(count)) <= least
    outside = chains.outside
    assert outside is not None
    paid = sum(sum(outside.paid([i]).values()) for i in range(count))
    assert base <= base + paid <= least
    # alone in its window, a result costs what its heavy readers load
    apart = [i for i in range(count) if scene.bound(evaluator) > base and outside.paid([i])]
    assert all(chains.window([i]) >= outside.paid([i])[i] > 0 for i in apart)


def test_a_limit_is_an_answer_too():
    chains = chains_of(random_graph(3, 9), regions=3.0)
    members = range(len(chains.units.heads))
    least = chains.least(members, 1.0)
    below = chains.within(members, least * 0.9)
    assert below is not None
    assert (below.cost, below.groups) == (pytest.approx(least * 0.9), ())
    chains.most_cuts = 3
    assert chains.within(members, least) is None


def small_network(seed: int) -> LayerGraph:
    random = Random(seed)
    table = Table("small", (4, 10, 10))
    made = [table.conv("first", INPUT, 6, 3)]
    for number in range(5):
        reads = sorted(set(random.choices(made[-3:], k=2)))
        source = table.add(f"sum{number}", reads) if len(reads) > 1 else reads[0]
        made.append(
            table.separable(f"node{number}", source, 6, 3, 1) if number % 2 else table.conv(f"c{number}", source, 6)
        )
    return layer_graph(table.network())


@pytest.mark.parametrize("seed", range(6))
def test_it_holds_for_prices_of_groups(seed: int):
    """On the prices of the hardware, with layers that join others."""
    from dataclasses import replace

    from tilewright.costs.fusion import Buffers, Platform

    graph = small_network(seed)
    platform = replace(Platform(), buffers=Buffers(3000, 110), regions=9)
    pricer = SubgraphPricer(graph, platform)
    scene = scene_of(pricer)
    evaluator = Evaluator(scene.space, pricer)
    least = best_of_all(scene, evaluator)
    chains = scene.chains(evaluator)
    assert chains.units.room == Room(110.0, 9.0, 3000.0)
    bound = chains.units.tolls.rest(0) + sum(map(chains.window, chains.windows()))
    assert bound <= least
    assert scene.bound(evaluator) <= least


def best_of_all(scene: Floors, evaluator: Evaluator) -> float:
    """By all chains of downsets, whose groups are asked one by one."""
    space = scene.space
    costs = {0: 0.0}
    for done in sorted(downsets(space), key=int.bit_count):
        for later in downsets(space):
            group = later & ~done
            if done in costs and group and done & ~later == 0 and space.connected(group):
                costs[later] = min(costs.get(later, inf), costs[done] + evaluator.price(group))
    return costs[space.everything]


def downsets(space: Space) -> list[int]:
    found = [0]
    for number in range(space.size):
        found += [mask | 1 << number for mask in found if space.before[number] & ~mask == 0]
    return [mask for mask in found if all(space.before[v] & ~mask == 0 for v in bits(mask))]
