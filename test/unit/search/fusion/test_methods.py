"""Every method against all partitions of small random graphs, with a price of groups that is written down plainly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tilewright.algebra.dag import mask_of
from tilewright.costs.fusion import LayerGraph
from tilewright.errors import TilewrightError
from tilewright.search.fusion import METHODS, SEEDED, PartitionOptions, PartitionResult, Scene, partition
from tilewright.search.fusion.genetic import Variation
from tilewright.search.fusion.space import Evaluator, Space

from .plain import PlainPricer, partitions, random_graph


def least_cost(graph: LayerGraph) -> float:
    """By exhaustion."""
    evaluator = Evaluator(Space(graph.producers), PlainPricer(graph))
    return min(map(evaluator.total, partitions(evaluator.space)))


def run(
    graph: LayerGraph, method: str, seed: int = 0, samples: int = 1500, state: Path | None = None
) -> PartitionResult:
    options = PartitionOptions(method, seed=seed, samples=samples, state=state)
    scene = Scene(graph, Space(graph.producers), weight_capacity=120.0)
    return partition(graph, PlainPricer(graph), options, scene=scene)


EXACT = ("ours", "enumeration", "genetic", "annealing")


@pytest.mark.parametrize("seed", range(12))
def test_searches_find_the_best_of_all_partitions(seed: int):
    graph = random_graph(seed, 7)
    least = least_cost(graph)
    for method in METHODS:
        result = run(graph, method)
        assert result.cost >= least
        assert result.lower_bound <= least
        if method in EXACT:
            assert result.cost == least, method
        if method in ("ours", "enumeration"):
            assert result.proven


@pytest.mark.parametrize("method", SEEDED)
def test_a_search_ends_within_its_gap(method: str):
    graph = random_graph(8, 30)
    scene = Scene(graph, Space(graph.producers), weight_capacity=120.0)
    whole = run(graph, method)
    gap = whole.gap + 1
    near = partition(graph, PlainPricer(graph), PartitionOptions(method, samples=1500, gap=gap), scene=scene)
    assert whole.cost <= near.cost <= (1 + gap) * near.lower_bound
    assert near.samples < whole.samples or near.evaluations < whole.evaluations


@pytest.mark.parametrize("method", METHODS)
def test_partitions_are_valid_and_cost_what_is_said(method: str):
    graph = random_graph(99, 16)
    result = run(graph, method, samples=300 if method != "enumeration" else 10**6)
    space, evaluator = Space(graph.producers), Evaluator(Space(graph.producers), PlainPricer(graph))
    groups = [mask_of(group) for group in result.groups]
    assert space.fault(groups) is None
    assert evaluator.total(groups) == result.cost
    done = 0
    for group in groups:
        assert space.sources(group) & ~group & ~done == 0
        done |= group


@pytest.mark.parametrize("method", ["genetic", "annealing"])
def test_a_seed_gives_one_result_and_a_stopped_search_goes_on(method: str, tmp_path: Path):
    graph = random_graph(5, 30)
    whole = run(graph, method, seed=3, samples=1200)
    assert replace(run(graph, method, seed=3, samples=1200), cpu_s=whole.cpu_s) == whole
    state = tmp_path / "state.json"
    for samples in (400, 1200):
        result = run(graph, method, seed=3, samples=samples, state=state)
    assert result.groups == whole.groups or method == "annealing"
    assert result.samples == 1200


def test_a_state_of_another_search_is_refused(tmp_path: Path):
    state = tmp_path / "state.json"
    run(random_graph(5, 10), "genetic", samples=200, state=state)
    with pytest.raises(TilewrightError, match="use another file"):
        run(random_graph(5, 10), "annealing", samples=200, state=state)
    state.write_text(state.read_text().replace('"random"', '"luck"'))
    with pytest.raises(TilewrightError, match="the state of a search"):
        run(random_graph(5, 10), "genetic", samples=200, state=state)


def test_unknown_method_and_too_large_enumeration():
    with pytest.raises(TilewrightError, match="one of ours, genetic"):
        run(random_graph(0, 5), "luck")
    with pytest.raises(TilewrightError, match="at most 3 steps"):
        run(random_graph(0, 9), "enumeration", samples=3)


def test_an_enumeration_ends_with_its_time():
    graph = random_graph(99, 40)
    options = PartitionOptions("enumeration", samples=10**12, time_limit_s=0.05)
    scene = Scene(graph, Space(graph.producers), weight_capacity=1e9)
    result = partition(graph, PlainPricer(graph), options, scene=scene)
    assert not result.proven
    assert result.lower_bound <= result.cost == run(graph, "greedy").cost
    assert sorted(number for group in result.groups for number in group) == list(range(40))


def test_faults():
    space = Space(((), (0,), (0,), (1, 2)))
    assert space.fault([0b1111]) is None
    assert space.fault([0b0011, 0b1100]) is None
    assert space.fault([0b0001, 0b0110, 0b1000]) == "connected groups"
    assert space.fault([0b1001, 0b0110]) == "connected groups"
    assert space.fault([0b0011, 0b1000]) == "each layer in exactly one group"
    diamond = Space(((), (), (0,), (1,), (0, 3), (1, 2)))
    assert diamond.fault([0b010101, 0b101010]) == "groups that do not wait for each other in a circle"
    assert diamond.ordered([0b010101, 0b101010]) is None


@pytest.mark.parametrize("seed", range(6))
def test_variations_keep_partitions_valid(seed: int):
    graph = random_graph(seed, 25)
    space = Space(graph.producers)
    variation = Variation(space, Evaluator(space, PlainPricer(graph)), Random(seed))
    dad, mom = variation.initial(), variation.initial()
    for _ in range(60):
        child = variation.crossover(dad, mom)
        assert space.fault(child) is None
        child = variation.settle(child)
        assert space.fault(child) is None
        assert variation.evaluator.total(child) < float("inf")
        dad, mom = mom, variation.mutate(child)
        assert space.fault(mom) is None


def test_crossover_of_one_partition_with_itself_is_that_partition():
    graph = random_graph(2, 20)
    space = Space(graph.producers)
    variation = Variation(space, Evaluator(space, PlainPricer(graph)), Random(0))
    parent = variation.initial()
    assert set(variation.crossover(parent, parent)) == set(parent)
