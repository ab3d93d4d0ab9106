"""Cuts of an order against all cuts, and within their budget."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from tilewright.algebra.dag import union
from tilewright.costs.fusion import Buffers, layer_graph
from tilewright.costs.fusion.pricer import SubgraphPricer
from tilewright.search.fusion.capacity import Choices, shared_buffers
from tilewright.search.fusion.space import Space
from tilewright.search.fusion.stretches import Stretches
from tilewright.zoo.paper_networks import network
from tilewright.zoo.schedule_networks.layers import INPUT, Table

CANDIDATES = tuple(Buffers(size) for size in (900, 1500, 2500, 4000, 9000))


def choices_of(layers: int) -> Choices:
    table = Table("toy", (4, 12, 12))
    name = INPUT
    for number in range(layers):
        name = table.conv(f"l{number}", name, 4 + 3 * (number % 3), 3, 1 + (number == 4))
    graph = layer_graph(table.network())
    return Choices(Space(graph.producers), SubgraphPricer(graph, metric="energy"), "energy", CANDIDATES)


def all_cuts(choices: Choices, count: int) -> np.ndarray:
    best = np.full(len(CANDIDATES), np.inf)
    for number in range(count):
        for inner in combinations(range(1, count), number):
            places = (0, *inner, count)
            groups = [(1 << last) - (1 << first) for first, last in pairwise(places)]
            best = np.minimum(best, choices.totals(groups))
    return best


def test_with_enough_prices_all_cuts_are_found():
    choices = choices_of(7)
    live = [0.0, 5.0, 3.0, 4.0, 1.0, 6.0, 2.0, 0.0]
    costs, came = Stretches(choices, range(7), live, 1000).shortest()
    assert costs == pytest.approx(all_cuts(choices_of(7), 7))
    for candidate in range(len(CANDIDATES)):
        groups = Stretches(choices, range(7), live, 1000).groups(came[:, candidate])
        assert choices.totals(groups)[candidate] == pytest.approx(costs[candidate])


@pytest.mark.parametrize("most", [0, 3, 12])
def test_few_prices_are_enough_for_an_answer(most: int):
    choices = choices_of(7)
    stretches = Stretches(choices, range(7), [0.0] * 8, most)
    costs, came = stretches.shortest()
    assert np.isfinite(costs).any()
    assert choices.evaluations <= most + 7
    assert union(stretches.groups(came[:, int(np.argmin(costs))])) == 127


def test_cells_that_repeat_are_priced_once():
    graph = layer_graph(network("nasnet"))
    space = Space(graph.producers)
    choices = Choices(space, SubgraphPricer(graph, metric="energy"), "energy", shared_buffers()[-1:])
    live = [float(place % 10) for place in range(len(graph) + 1)]
    costs, _ = Stretches(choices, range(len(graph)), live, 150).shortest()
    assert np.isfinite(costs).all()
    assert choices.evaluations <= 150 < choices.groups // 2
