"""Capacities and partition together, against all partitions of small graphs under all candidates."""

from itertools import pairwise, product
from math import inf
from random import Random

import numpy as np
import pytest

from tilewright.costs.fusion import Buffers, Edge, Input, Layer, LayerGraph, Shape, layer_graph
from tilewright.costs.fusion.pricer import SubgraphPricer
from tilewright.driver.partitions import scene_of
from tilewright.errors import TilewrightError
from tilewright.search.fusion import EXPLORERS, ExploreOptions, ExploreResult, explore
from tilewright.search.fusion.capacity import Choices, separate_buffers, shared_buffers
from tilewright.search.fusion.codesign import Plan
from tilewright.search.fusion.explore import lower_bound
from tilewright.search.fusion.front import Front
from tilewright.search.fusion.space import Space
from tilewright.zoo.schedule_networks.layers import INPUT, Table

SHARED = tuple(Buffers(size) for size in (900, 1500, 2500, 4000, 9000))
SEPARATE = tuple(Buffers(a, w) for a, w in product((700, 1500, 3000), (100, 400, 1200)))


def toy() -> LayerGraph:
    """Two branches that join, and a tail."""
    table = Table("toy", (4, 12, 12))
    a = table.conv("a", INPUT, 8, 3)
    b = table.conv("b", a, 4, 3)
    c = table.conv("c", a, 4)
    d = table.add("d", [b, c])
    e = table.conv("e", d, 12, 3, 2)
    table.conv("f", e, 6)
    return layer_graph(table.network())


def partitions(space: Space, groups: tuple[int, ...] = (), number: int = 0) -> list[tuple[int, ...]]:
    if number == space.size:
        return [groups] if space.fault(groups) is None else []
    found = partitions(space, (*groups, 1 << number), number + 1)
    for place, group in enumerate(groups):
        found += partitions(space, (*groups[:place], group | 1 << number, *groups[place + 1 :]), number + 1)
    return found


def run(
    candidates: tuple[Buffers, ...], method: str, alpha: float = 0.002, samples: int = 1600, gap: float = 0.0
) -> ExploreResult:
    pricer = SubgraphPricer(toy(), metric="energy")
    options = ExploreOptions(method, alpha=alpha, samples=samples, per_candidate=samples // 8, gap=gap)
    return explore(scene_of(pricer), pricer, options, candidates)


@pytest.mark.parametrize("candidates", [SHARED, SEPARATE], ids=["shared", "separate"])
@pytest.mark.parametrize("alpha", [0.0003, 0.002, 0.02])
def test_ours_finds_the_best_of_all_and_others_nothing_better(candidates: tuple[Buffers, ...], alpha: float):
    graph = toy()
    space = Space(graph.producers)
    choices = Choices(space, SubgraphPricer(graph, metric="energy"), "energy", candidates)
    costs = choices.sizes + alpha * np.min([choices.totals(groups) for groups in partitions(space)], axis=0)
    for method in EXPLORERS:
        result = run(candidates, method, alpha)
        assert result.cost >= costs.min() * (1 - 1e-12)
        assert choices.sizes.min() < result.lower_bound <= costs.min() * (1 + 1e-9)
        assert result.proven == (result.gap < 1e-9)
        metric = sum(cost.energy_pj for cost in result.costs)
        assert result.cost == pytest.approx(result.buffers.total_bytes + alpha * metric)
        for cost in result.costs:
            assert result.buffers.holds(cost.global_demand_bytes, cost.weight_demand_bytes)
        if method in ("ours", "genetic"):
            assert result.cost == pytest.approx(costs.min())
    ours = run(candidates, "ours", alpha)
    assert ours.proven
    assert ours.evaluations <= 400


@pytest.mark.parametrize("candidates", [SHARED, SEPARATE], ids=["shared", "separate"])
def test_the_bound_of_some_candidates_is_not_above_what_they_cost(candidates: tuple[Buffers, ...]):
    graph = toy()
    space, pricer = Space(graph.producers), SubgraphPricer(graph, metric="energy")
    for count in range(1, len(candidates) + 1):
        choices = Choices(space, pricer, "energy", candidates[:count])
        totals = choices.sizes + 0.002 * np.min([choices.totals(groups) for groups in partitions(space)], axis=0)
        assert lower_bound(scene_of(pricer), choices, 0.002) <= totals.min() * (1 + 1e-12)


@pytest.mark.parametrize("method", EXPLORERS)
def test_within_the_gap_the_search_ends(method: str):
    near, whole = run(SHARED, method, gap=5.0), run(SHARED, method)
    assert near.samples < whole.samples
    assert whole.cost <= near.cost <= 6 * near.lower_bound


def test_the_front_falls_with_size():
    front = run(SHARED, "ours").front
    assert len(front) > 1
    for smaller, larger in pairwise(front):
        assert smaller.buffers.total_bytes < larger.buffers.total_bytes
        assert smaller.metric > larger.metric


def test_a_larger_alpha_buys_larger_buffers():
    sizes = [run(SHARED, "ours", alpha).buffers.total_bytes for alpha in (1e-5, 2e-3, 1.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_prices_are_those_of_the_pricer_for_the_same_buffers():
    graph = toy()
    pricer = SubgraphPricer(graph, metric="energy")
    choices = Choices(Space(graph.producers), pricer, "energy", SHARED)
    for group in ((0,), (0, 1, 2), (1, 3), (0, 1, 2, 3), (4, 5)):
        prices = choices.prices(sum(1 << number for number in group))
        for price, buffers in zip(prices, SHARED, strict=True):
            cost = pricer.cost(group, buffers)
            assert (price == inf) == (cost is None)
            assert cost is None or price <= cost.energy_pj


def test_the_candidates_of_the_paper():
    assert len(shared_buffers()) == 47
    assert len(separate_buffers()) == 31 * 31
    assert {buffers.total_bytes % 1024 for buffers in separate_buffers()} == {0}


def test_bad_options():
    with pytest.raises(TilewrightError, match="one of ours"):
        run(SHARED, "luck")
    with pytest.raises(TilewrightError, match="alpha above 0"):
        run(SHARED, "ours", -1.0)


@pytest.mark.parametrize("samples", [1, 2, 17])
@pytest.mark.parametrize("method", EXPLORERS)
def test_few_samples_are_enough_for_an_answer(method: str, samples: int):
    pricer = SubgraphPricer(toy(), metric="energy")
    result = explore(scene_of(pricer), pricer, ExploreOptions(method, samples=samples), SHARED)
    assert sorted(layer for group in result.groups for layer in group) == list(range(len(toy().layers)))


@pytest.mark.parametrize("method", EXPLORERS)
def test_a_search_whose_time_is_over_answers_with_what_it_has(method: str):
    pricer = SubgraphPricer(toy(), metric="energy")
    options = ExploreOptions(method, samples=10**6, per_candidate=1000, time_limit_s=1e-9)
    result = explore(scene_of(pricer), pricer, options, SHARED)
    assert result.samples <= 1100
    assert sorted(layer for group in result.groups for layer in group) == list(range(len(toy().layers)))


def test_windows_find_the_best_partition_of_a_candidate():
    """Windows that grow over a small network end at the best of all partitions, from single layers on."""
    pricer = SubgraphPricer(toy(), metric="energy")
    scene = scene_of(pricer)
    choices = Choices(scene.space, pricer, "energy", SHARED)
    front, random = Front(Plan(choices, 0.002), scene.tolls("energy")), Random(0)
    front.offer(tuple(1 << number for number in range(scene.space.size)))
    for _ in range(30):
        front.window(3, random, 10_000)
    assert front.costs[3] == min(choices.totals(groups)[3] for groups in partitions(scene.space))


def test_bounds_of_groups_under_a_candidate_are_below_their_prices():
    pricer = SubgraphPricer(toy(), metric="energy")
    scene = scene_of(pricer)
    choices = Choices(scene.space, pricer, "energy", SHARED)
    evaluator = choices.at(4, scene.tolls("energy").least)
    groups = {group for groups in partitions(scene.space) for group in groups}
    least = {group: evaluator.at_least(group) for group in groups}
    assert choices.evaluations == 0
    assert all(0 < least[group] <= evaluator.price(group) for group in groups)
    assert all(evaluator.at_least(group) == evaluator.price(group) for group in groups)


def test_the_first_cuts_keep_to_few_prices():
    """A chain of many layers, no two alike, with fewer prices than layers: a partition, and few prices more."""
    layers = tuple(Layer(f"l{i}", "conv", Shape(4, 16, 16), (Edge(i - 1),), 64 + i) for i in range(200))
    graph = LayerGraph("chain", (Input("x", Shape(4, 16, 16)),), layers)
    pricer = SubgraphPricer(graph, metric="energy")
    result = explore(scene_of(pricer), pricer, ExploreOptions("ours", samples=1000), SHARED)
    assert sorted(layer for group in result.groups for layer in group) == list(range(200))
    assert result.evaluations <= 110
    alone = explore(scene_of(pricer), pricer, ExploreOptions("annealing", samples=20), SHARED)
    assert result.cost < alone.cost
