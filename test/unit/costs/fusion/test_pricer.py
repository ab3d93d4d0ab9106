"""Prices of groups: traffic by its definition, capacities, errors."""

import numpy as np
import pytest

from tilewright.costs.fusion import Buffers, Metric, SubgraphPricer, layer_graph
from tilewright.errors import TilewrightError
from tilewright.zoo.paper_networks import network

GOOGLENET = layer_graph(network("googlenet"))


def test_traffic_is_weights_inputs_and_outputs():
    """Of two modules: what is read from outside once, what is read outside or leaves."""
    nodes = range(5, 20)
    pricer = SubgraphPricer(GOOGLENET, batch=3)
    cost = pricer.cost(nodes)
    assert cost is not None
    layers = GOOGLENET.layers
    outside = {e.producer for v in nodes for e in layers[v].edges} - set(nodes)
    leave = [v for v in nodes if not set(GOOGLENET.consumers[v]) <= set(nodes)]
    assert cost.weight_bytes == sum(layers[v].weight_bytes for v in nodes)
    assert cost.input_bytes == 3 * sum(GOOGLENET.source(u).shape.volume for u in outside)
    assert cost.output_bytes == 3 * sum(layers[v].output_bytes for v in leave)
    assert cost.transfer_cycles == -(-cost.ema_bytes // 16)
    assert cost.latency_cycles == max(cost.compute_cycles, cost.transfer_cycles)


def test_many_groups_are_priced_as_each_is():
    pricer = SubgraphPricer(GOOGLENET)
    groups = [[0], [0, 1], [3, 4, 5, 6], list(range(30)), list(range(40, 60))]
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    table = pricer.cost_many(np.array([v for group in groups for v in group], dtype=np.int64), starts)
    for row, group in enumerate(groups):
        cost = pricer.cost(group)
        assert (cost is not None) == table.fits[row]
        if cost is not None:
            assert (cost.ema_bytes, cost.latency_cycles) == (table.ema_bytes[row], table.latency_cycles[row])
            assert cost.energy_pj == table.energy_pj[row]
    assert not table.fits.all()


@pytest.mark.parametrize("shared", [False, True])
def test_the_capacity_that_is_named_fits_and_one_byte_less_does_not(shared: bool):
    pricer = SubgraphPricer(GOOGLENET)
    nodes = range(3, 20)
    small = Buffers(1 << 10, None if shared else 1 << 30)
    error = pricer.why(nodes, small)
    assert error is not None
    assert f"{int(error.demand)} bytes" in error.lever
    bound = int(error.demand)
    assert pricer.cost(nodes, Buffers(bound, small.weight_bytes)) is not None
    assert pricer.cost(nodes, Buffers(bound - 1, small.weight_bytes)) is None
    assert pricer.why(nodes, Buffers(bound, small.weight_bytes)) is None


def test_the_buffer_of_weights_is_named():
    pricer = SubgraphPricer(GOOGLENET)
    error = pricer.why([0, 1], Buffers(1 << 30, 9407))
    assert error is not None
    assert (error.resource, error.demand, error.bound) == ("weight buffer", 9408, 9407)


@pytest.mark.parametrize("nodes", [[], [-1], [len(GOOGLENET)]])
def test_groups_of_unknown_layers(nodes: list[int]):
    with pytest.raises(TilewrightError, match="layers from 0 to 71"):
        SubgraphPricer(GOOGLENET).cost(nodes)


@pytest.mark.parametrize("metric", ["ema", "energy", "latency"])
@pytest.mark.parametrize("buffers", [Buffers(96 << 10, 1 << 20), Buffers(600 << 10)])
def test_the_price_is_that_of_the_best_way_that_fits(metric: Metric, buffers: Buffers):
    pricer = SubgraphPricer(GOOGLENET, buffers=buffers, metric=metric)
    fits = 0
    for first in range(0, len(GOOGLENET), 3):
        for size in (1, 2, 5):
            nodes = range(first, min(first + size, len(GOOGLENET)))
            ways = [w for w in pricer.ways(nodes) if buffers.holds(w.global_demand_bytes, w.weight_demand_bytes)]
            cost = pricer.cost(nodes)
            assert (cost is None) == (not ways)
            if cost is not None:
                fits += 1
                assert cost in ways
                assert cost.value(metric) == min(way.value(metric) for way in ways)
    assert fits
