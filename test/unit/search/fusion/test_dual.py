"""Bounds from prices on units, against all partitions of small random graphs."""

from __future__ import annotations

from itertools import combinations
from math import inf
from random import Random

import numpy as np
import pytest

from tilewright.costs.fusion import Edge, Input, Layer, LayerGraph, Shape
from tilewright.search.fusion import Scene, Space
from tilewright.search.fusion.dual import Dual, dual_of, list_all
from tilewright.search.fusion.first import MOST_NEAR, firsts_of
from tilewright.search.fusion.flow import cheapest_sets, closures_of
from tilewright.search.fusion.lattice import TooLargeError
from tilewright.search.fusion.relaxed import Chains
from tilewright.search.fusion.space import Evaluator
from tilewright.search.fusion.units import Room, Units, units_of

from .plain import PlainPricer, partitions, random_graph
from .test_relaxed import Regions


def chains_of(graph: LayerGraph, weights: float = 120.0, regions: float = 4.0) -> Chains:
    scene = Scene(graph, Space(graph.producers), weight_capacity=weights)
    bytes_of_layers = [layer.weight_bytes for layer in graph.layers]
    return Chains(units_of(scene.space, scene.tolls("ema"), bytes_of_layers, Room(weights, regions)))


def without_lists(chains: Chains) -> Dual:
    """All first units but those that are always alone as minimum cuts."""
    dual = dual_of(chains)
    count = len(chains.units.heads)
    firsts = firsts_of(chains.units.tables(range(count)), chains.room)
    around = [firsts.near(first) for first in range(count)]
    listed = list_all(around, chains.room, 1)
    known = listed.firsts.tolist()
    assert all(len(around[first].units) == 1 for first in known)
    return Dual(chains, listed, closures_of(around, [v for v in range(count) if v not in known], dual.chains.room))


def least_of(chains: Chains, evaluator: Evaluator) -> tuple[float, list[int]]:
    return min((evaluator.total(groups), groups) for groups in partitions(evaluator.space))


@pytest.mark.parametrize("seed", range(30))
def test_no_partition_is_below_the_bound(seed: int):
    """At every step from the best partition's prices, and at random ones; groups listed, and as minimum cuts."""
    graph = random_graph(seed, 7, 0.2 + seed % 4 * 0.15)
    chains = chains_of(graph, regions=(4.0, inf)[seed % 2])
    evaluator = Evaluator(
        chains.units.space, Regions(graph) if seed % 2 == 0 else PlainPricer(graph, global_bytes=10**9)
    )
    least, best = least_of(chains, evaluator)
    base, count = chains.units.tolls.rest(0), len(chains.units.heads)
    for dual in (dual_of(chains), without_lists(chains)):
        dual.begin(best)
        while dual.improve(least - base, 20):
            pass
        assert base <= base + dual.best <= least * (1 + 1e-12)
        random = np.random.default_rng(seed)
        for _ in range(5):
            found, _, _ = dual.bound(40 * random.random(count), 30 * random.random((count, 3)))
            assert base + found <= least


def test_the_best_prices_nearly_reach_the_best_partition():
    """The dual of set partition often says just what it costs; absorbed layers, and circles of groups, are relaxed."""
    found: list[float] = []
    for seed in range(12):
        graph = random_graph(seed, 7, 0.3)
        chains = chains_of(graph, regions=inf)
        least, best = least_of(chains, Evaluator(chains.units.space, PlainPricer(graph, global_bytes=10**9)))
        base = chains.units.tolls.rest(0)
        dual = dual_of(chains)
        dual.begin(best)
        dual.improve(least - base, 400)
        found.append((base + dual.best) / least)
    assert min(found) > 0.8
    assert sum(share > 1 - 1e-9 for share in found) >= 6


@pytest.mark.parametrize("seed", range(10))
def test_listed_groups_are_all_that_there_are(seed: int):
    """Connected, with all that is between their units, within the room, none twice."""
    graph = random_graph(seed, 8, 0.35)
    chains = chains_of(graph)
    units, count = chains.units, len(chains.units.heads)
    firsts = firsts_of(units.tables(range(count)), chains.room)
    listed = list_all([firsts.near(first) for first in range(count)], chains.room, 10_000)
    found = [tuple(listed.members[a:b]) for a, b in zip(listed.starts[:-1], listed.starts[1:], strict=True)]
    assert len(set(found)) == len(found)
    assert [group[0] for group in found] == np.repeat(listed.firsts, np.diff(listed.begins)).tolist()
    after, reads = firsts.after, firsts.reads | firsts.reads.T
    wanted = set[tuple[int, ...]]()
    for size in range(1, count + 1):
        for group in combinations(range(count), size):
            between = [x for x in range(count) if after[list(group), x].any() and after[x, list(group)].any()]
            whole = sum(units.layers(i) for i in group)
            if set(between) <= set(group) and (size == 1 or _fits(chains, firsts.close, group)):
                reached = {group[0]}
                for _ in group:
                    reached |= {i for i in group if reads[i, sorted(reached)].any()}
                assert whole
                if reached == set(group):
                    wanted.add(group)
    assert {tuple(map(int, group)) for group in found} == wanted


def _fits(chains: Chains, close: np.ndarray, group: tuple[int, ...]) -> bool:
    units = chains.units
    weights = sum(units.weight(i, False) for i in group)
    results = {*group, *np.flatnonzero(close[list(group)].any(axis=0)).tolist()}
    return weights <= 120.0 and len(results) + sum(len(units.absorbed[i]) for i in group) <= 4.0


@pytest.mark.parametrize("seed", range(20))
def test_a_minimum_cut_is_below_every_group(seed: int):
    """Whatever the prices on units and on room, with what is known of readers that cannot be together."""
    graph = random_graph(seed, 8, 0.35)
    chains = chains_of(graph, weights=100.0, regions=5.0)
    dual, count = without_lists(chains), len(chains.units.heads)
    firsts = firsts_of(chains.units.tables(range(count)), chains.room)
    listed = list_all([firsts.near(first) for first in range(count)], chains.room, 10_000)
    random = Random(seed)
    for _ in range(10):
        prices = np.array([random.choice((0.0, 30.0, 90.0)) * random.random() for _ in range(count)])
        tolls = np.array([[random.choice((0.0, 50.0)) * random.random() for _ in range(3)] for _ in range(count)])
        values, slopes, excess = np.zeros(count), np.ones(count), np.zeros((count, 3))
        cheapest_sets(dual.closures, prices, tolls, values, slopes, excess)
        for k, first in enumerate(listed.firsts):
            if first not in dual.closures.firsts:
                continue
            for g in range(listed.begins[k], listed.begins[k + 1]):
                group = listed.members[listed.starts[g] : listed.starts[g + 1]]
                assert values[first] <= listed.costs[g] - prices[group].sum() + 1e-9


def test_where_more_units_are_near_than_can_be_looked_at_it_says_so():
    """Layers without weights in a row, all of which may be together."""
    layers = tuple(Layer(f"l{i}", "conv", Shape(1, 2, 2), (Edge(i - 1),), 0) for i in range(MOST_NEAR + 2))
    graph = LayerGraph("row", (Input("x", Shape(1, 2, 2)),), layers)
    units = Units(
        Space(graph.producers),
        Scene(graph, Space(graph.producers)).tolls("ema"),
        [0] * len(layers),
        Room(9.0, inf),
        tuple(range(len(layers))),
        ((),) * len(layers),
    )
    with pytest.raises(TooLargeError):
        dual_of(Chains(units))
