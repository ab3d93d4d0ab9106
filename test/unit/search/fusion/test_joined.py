"""Chains over all segments, against all chains of downsets."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tilewright.costs.fusion import Buffers, LayerGraph, Platform, SubgraphPricer, layer_graph
from tilewright.driver.partitions import scene_of
from tilewright.search.fusion.joined import Joined
from tilewright.search.fusion.lattice import Lattice
from tilewright.search.fusion.space import Evaluator
from tilewright.zoo.schedule_networks.layers import INPUT, Table


def segmented(seed: int) -> LayerGraph:
    """Blocks of a few nodes, joined by single results."""
    random = Random(seed)
    table = Table("segmented", (4, 10, 10))
    last = table.conv("first", INPUT, random.choice((4, 6)), 3)
    for block in range(3):
        made = [last]
        for number in range(random.randint(1, 3)):
            reads = sorted(set(random.choices(made[-2:], k=2)))
            source = table.add(f"sum{block}{number}", reads) if len(reads) > 1 else reads[0]
            channels = table.shape(last).channels
            made.append(table.conv(f"node{block}{number}", source, channels, random.choice((1, 3))))
        last = table.add(f"join{block}", sorted({made[-1], made[-2]})) if len(made) > 2 else made[-1]
    return layer_graph(table.network())


def joined_of(graph: LayerGraph, buffers: Buffers, regions: int) -> tuple[Joined, Evaluator, float]:
    platform = replace(Platform(), buffers=buffers, regions=regions)
    pricer = SubgraphPricer(graph, platform)
    scene = scene_of(pricer)
    evaluator = Evaluator(scene.space, pricer)
    chains = scene.chains(evaluator)
    floors = [0.0] * len(chains.segments())
    least = Lattice(scene.space, evaluator, possible=scene.possible).solve()[0]
    return Joined(chains, chains.segments(), floors), evaluator, least


@pytest.mark.parametrize("seed", range(40))
def test_no_partition_is_below_the_bound(seed: int):
    graph = segmented(seed)
    weights = Random(seed).choice((200, 300, 500, 900))
    search, evaluator, least = joined_of(graph, Buffers(Random(seed).choice((1500, 3000)), weights), 5 + seed % 6)
    base = search.chains.units.tolls.rest(0)
    bound = search.bound(2 * least)
    assert bound is not None
    assert base <= base + bound <= least
    groups = search.groups()
    assert sum(groups) == evaluator.space.everything
    done = 0
    for group in groups:
        assert evaluator.space.sources(group) & ~(done | group) == 0
        done |= group


def test_a_target_below_is_an_answer_too():
    search, _, least = joined_of(segmented(1), Buffers(1500, 200), 6)
    whole = search.bound(2 * least)
    assert whole is not None
    assert whole > 0
    assert search.bound(whole * 0.9) == pytest.approx(whole * 0.9)
    search.chains.most_cuts = 1
    assert search.bound(whole) is None
