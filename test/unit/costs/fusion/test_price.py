"""Cycles, energy and demand of groups, worked out from the updates of their schemes and by hand."""

from collections import Counter
from math import ceil
from random import Random

import pytest

from tilewright.costs.fusion import (
    Buffers,
    Edge,
    Input,
    Layer,
    LayerGraph,
    Platform,
    Scheme,
    Shape,
    SubgraphPricer,
    Window,
    layer_graph,
    scheme_of,
)
from tilewright.zoo.paper_networks import network

PLATFORM = Platform(buffers=Buffers(1 << 30, 1 << 30), regions=1 << 20)
WINDOW = Window(3, 1, 1)


def blocks(scheme: Scheme) -> dict[int, Counter[tuple[int, int]]]:
    """How often each layer makes blocks of so many rows and columns."""
    found: dict[int, Counter[tuple[int, int]]] = {number: Counter() for number in scheme.members}
    for update in scheme.updates():
        rows, columns = len(update.rows), len(update.columns)
        if update.source.number in found and rows and columns:
            found[update.source.number][rows, columns] += 1
    return found


def cycles(layer: Layer, made: Counter[tuple[int, int]]) -> int:
    """Fewest cycles over all ways to use the 4x4 array of 8x8 products, the same for all blocks."""
    together = max(1, min(8 // layer.reduction, 8 // (layer.shape.channels // layer.groups)))
    best: list[int] = []
    for x in "gkcpq":
        for y in "gkcpq":
            ways = {name: 4 ** (x + y).count(name) for name in "gkcpq"}
            if ways["p"] == 16 or ways["q"] == 16:
                continue
            steps = ceil(layer.groups / (together * ways["g"])) * ceil(layer.reduction / (8 * ways["c"]))
            steps *= ceil(layer.shape.channels // layer.groups / (8 * ways["k"])) * layer.taps
            best.append(
                steps * sum(n * ceil(rows / ways["p"]) * ceil(cols / ways["q"]) for (rows, cols), n in made.items())
            )
    return min(best)


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("resnet50", range(2, 12)), ("googlenet", range(5, 20)), ("randwire_a", range(10, 40)), ("vgg16", range(3, 9))],
)
def test_cycles_are_those_of_the_updates(name: str, nodes: range):
    graph = layer_graph(network(name))
    for way in SubgraphPricer(graph, PLATFORM).ways(nodes):
        scheme = scheme_of(graph, nodes, way.tile, PLATFORM)
        assert way.compute_cycles == sum(cycles(graph.layers[v], made) for v, made in blocks(scheme).items())
        assert way.global_demand_bytes == scheme.demand_bytes


@pytest.mark.parametrize("tile", [(1, 1), (2, 3), (2, 0)])
def test_demand_is_that_of_the_scheme(tile: tuple[int, int]):
    for name in ("nasnet", "transformer"):
        graph = layer_graph(network(name))
        pricer = SubgraphPricer(graph, PLATFORM, tiles=[tile])
        random = Random(0)
        for _ in range(4):
            first = random.randrange(len(graph) - 20)
            nodes = range(first, first + random.randint(1, 20))
            scheme = scheme_of(graph, nodes, tile, PLATFORM)
            assert pricer.ways(nodes)[0].global_demand_bytes == scheme.demand_bytes


def two_layers() -> LayerGraph:
    """Convolutions of 3x3 and 1x1 on 4x4 positions, 8 channels to 16 to 32."""
    x, y, z = Shape(8, 4, 4), Shape(16, 4, 4), Shape(32, 4, 4)
    return LayerGraph(
        "two",
        (Input("x", x),),
        (
            Layer("y", "conv", y, (Edge(-1, WINDOW, WINDOW),), 16 * 8 * 9, 8, 9),
            Layer("z", "conv", z, (Edge(0),), 32 * 16, 16, 1),
        ),
    )


def test_energy_by_hand():
    """Tiles of 2x2: four blocks of each layer."""
    platform = Platform(
        mac_pj=1e-3,
        dram_read_pj=1.0,
        dram_write_pj=2.0,
        global_read_pj=10.0,
        global_write_pj=30.0,
        weight_read_pj=500.0,
        weight_write_pj=7000.0,
    )
    cost = SubgraphPricer(two_layers(), platform, tiles=[(2, 2)]).cost([0, 1])
    assert cost is not None
    macs = 16 * 16 * 72 + 32 * 16 * 16
    weights, given, made = 16 * 72 + 32 * 16, 8 * 16, 32 * 16
    # windows of 4x4 of x, blocks of 2x2 of y, once for each 8 channels that elements make together: 16 in one go of
    # two, 32 of four (rows or columns take the other axis)
    read = 4 * (8 * 16 * 1 + 16 * 4 * 1)
    # x keeps two rows of four columns once
    side = 2 * 2 * 4 * 8
    energy = 1e-3 * macs + (1 + 7000) * weights + (1 + 30) * given + (2 + 10) * made
    energy += 500 * 4 * weights + 10 * read + 30 * (16 * 16 + 32 * 16) + (10 + 30) * side
    assert cost.energy_pj == pytest.approx(energy)
    assert cost.ema_bytes == weights + given + made


def test_samples_share_weights():
    one, many = (SubgraphPricer(two_layers(), PLATFORM, batch=batch).cost([0, 1]) for batch in (1, 64))
    assert one is not None
    assert many is not None
    assert many.weight_bytes == one.weight_bytes
    assert (many.input_bytes, many.output_bytes) == (64 * one.input_bytes, 64 * one.output_bytes)
    assert many.compute_cycles == 64 * one.compute_cycles
    assert many.global_demand_bytes == one.global_demand_bytes
    assert many.energy_pj < 64 * one.energy_pj


def test_cores_share_weights_and_divide_maps():
    graph = layer_graph(network("resnet50"))
    nodes = range(2, 12)
    found = [SubgraphPricer(graph, PLATFORM, cores=cores, tiles=[(1, 1)]).cost(nodes) for cores in (1, 2, 4)]
    costs = [cost for cost in found if cost is not None]
    assert len(costs) == 3
    for cores, cost in zip((1, 2, 4), costs, strict=True):
        assert cost.ema_bytes == costs[0].ema_bytes
        assert cost.weight_demand_bytes == ceil(costs[0].weight_demand_bytes / cores)
        assert cost.transfer_cycles == ceil(cost.ema_bytes / (16 * cores))
        assert cost.compute_cycles * cores == pytest.approx(costs[0].compute_cycles, rel=0.02)
    demands = [cost.global_demand_bytes for cost in costs]
    assert demands == sorted(demands, reverse=True)
    energies = [cost.energy_pj for cost in costs]
    assert energies == sorted(energies)


def test_a_map_that_is_read_as_a_whole_is_divided_over_cores():
    graph = layer_graph(network("gpt"))
    scores = next(v for v, layer in enumerate(graph.layers) if len(layer.edges) == 2 and layer.edges[1].rows.whole)
    demands = [
        way.global_demand_bytes
        for cores in (1, 4)
        for way in SubgraphPricer(graph, PLATFORM, cores=cores, tiles=[(1, 1)]).ways([scores])[:1]
    ]
    keys = 64 * 512
    assert demands[0] - demands[1] == keys - keys // 4
