"""Bounds on what a layer's group leaves out, against all sets of layers and all partitions."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tilewright.search.fusion import Scene, Space
from tilewright.search.fusion.forced import Separation
from tilewright.search.fusion.space import Evaluator

from .plain import PlainPricer, partitions, random_graph


def cases(seed: int) -> Separation:
    random = Random(seed)
    weights = [float(random.randint(0, 9)) for _ in range(7)]
    barred = [v != 2 and random.random() < 0.2 for v in range(7)]
    results = [(float(random.randint(1, 20)), random.sample(range(7), random.randint(2, 4))) for _ in range(6)]
    return Separation(weights, 2, barred, results, weights[2] + random.randint(0, 20))


def cheapest(case: Separation, within: float) -> float:
    """Over all sets with the centre, without what is barred."""
    costs: list[float] = []
    for chosen in product((False, True), repeat=len(case.weights)):
        if chosen[case.centre] and not any(a and b for a, b in zip(chosen, case.barred, strict=True)):
            if sum(w for w, inside in zip(case.weights, chosen, strict=True) if inside) <= within:
                costs.append(sum(price for price, layers in case.results if len({chosen[v] for v in layers}) == 2))
    return min(costs)


@pytest.mark.parametrize("seed", range(30))
def test_no_set_within_the_capacity_costs_less(seed: int):
    case = cases(seed)
    bound, least = case.bound(), cheapest(case, case.capacity)
    assert cheapest(case, 1e9) * (1 - 1e-6) <= bound <= least


def test_equal_branches_fill_the_capacity():
    """Six branches of weight 2 and price 5 around a centre: of a capacity of 8, four are out."""
    case = Separation([0.0] + [2.0] * 6, 0, [False] * 7, [(5.0, (0, v)) for v in range(1, 7)], 4.0)
    assert case.bound() == pytest.approx(20.0)


@pytest.mark.parametrize("seed", range(25))
def test_no_partition_is_below_the_bound(seed: int):
    graph = random_graph(seed, 7, 0.2 + seed % 4 * 0.15)
    scene = Scene(graph, Space(graph.producers), weight_capacity=120.0)
    evaluator = Evaluator(scene.space, PlainPricer(graph, global_bytes=10**9))
    assert scene.bound(evaluator) <= min(map(evaluator.total, partitions(scene.space)))
