"""Layers that exceed a buffer on their own: cut, and read several times where they must be."""

from itertools import product
from random import Random

import pytest

from tilewright.costs.fusion import (
    WHOLE,
    Buffers,
    Edge,
    Input,
    Layer,
    LayerGraph,
    Platform,
    Shape,
    SubgraphCost,
    SubgraphPricer,
    Window,
    layer_graph,
)
from tilewright.costs.fusion.alone import counts_of_pieces
from tilewright.costs.fusion.values import KIB
from tilewright.zoo.paper_networks import network


def single(window: Window, channels: int, shape: Shape, given: Shape, groups: int = 1) -> LayerGraph:
    """One layer with weights."""
    reduction, taps = given.channels // groups, window.kernel * window.kernel
    layer = Layer("y", "conv", shape, (Edge(-1, window, window),), channels * reduction * taps, reduction, taps, groups)
    return LayerGraph("single", (Input("x", given),), (layer,))


def cost_of(pricer: SubgraphPricer, buffers: Buffers, layer: int = 0) -> SubgraphCost:
    cost = pricer.cost([layer], buffers)
    assert cost is not None
    return cost


def test_fc_weights_of_vgg16():
    """102 MB through a buffer of 1.125 MB, once: the 25 KB that they multiply stay."""
    graph = layer_graph(network("vgg16"))
    layer = next(v for v, item in enumerate(graph.layers) if item.name == "fc6")
    pricer = SubgraphPricer(graph)
    cost = cost_of(pricer, pricer.buffers, layer)
    assert (cost.weight_bytes, cost.input_bytes, cost.output_bytes) == (25088 * 4096, 25088, 4096)
    assert cost.weight_demand_bytes <= 1152 * KIB
    assert pricer.buffers.holds(cost.global_demand_bytes, cost.weight_demand_bytes)
    # 64 samples do not fit, but 32 do: the weights come twice
    many = SubgraphPricer(graph, batch=64)
    found = cost_of(many, many.buffers, layer)
    assert (found.passes, found.weight_bytes, found.input_bytes) == (2, 2 * 25088 * 4096, 64 * 25088)


def test_maps_are_read_once_per_piece_where_neither_fits():
    """1x1, 64 channels to 64, maps of 64 x 64 bytes x 64: 1 KiB holds a quarter of the weights, 256 bytes no band."""
    graph = single(Window(), 64, Shape(64, 64, 64), Shape(64, 64, 64))
    cost = cost_of(SubgraphPricer(graph, Platform(align_bytes=1)), Buffers(256, KIB))
    assert cost.passes == 4
    assert (cost.weight_bytes, cost.input_bytes, cost.output_bytes) == (64 * 64, 4 * 64**3, 64**3)
    # a band of one column stays: weights come once for each
    some = cost_of(SubgraphPricer(graph, Platform(align_bytes=1)), Buffers(64 * 64 + 16, KIB))
    assert (some.passes, some.weight_bytes, some.input_bytes) == (64, 64 * 64 * 64, 64**3)


def test_independent_channels_are_read_once():
    """Depthwise: the channels of a piece are all that it reads."""
    window = Window(3, 1, 1)
    graph = single(window, 64, Shape(64, 32, 32), Shape(64, 32, 32), groups=64)
    pricer = SubgraphPricer(graph, Platform(align_bytes=1))
    whole = pricer.ways([0])[0]
    cost = cost_of(pricer, Buffers(whole.global_demand_bytes // 8, 1 << 20))
    assert (cost.ema_bytes, cost.passes) == (whole.ema_bytes, 1)


def test_a_second_operand_is_cut_like_weights():
    shape = Shape(32, 128, 1)
    layer = Layer("p", "conv", Shape(128, 128, 1), (Edge(-1), Edge(-2, WHOLE, WHOLE)), 0, 32, 1)
    graph = LayerGraph("product", (Input("q", shape), Input("k", shape)), (layer,))
    cost = cost_of(SubgraphPricer(graph, Platform(align_bytes=1)), Buffers(2048, 0))
    # a quarter of the keys stays, or the queries are read in bands; each of them at least once
    assert cost.passes > 1
    assert cost.input_bytes >= 2 * shape.volume
    assert cost.global_demand_bytes <= 2048


@pytest.mark.parametrize("seed", range(6))
def test_more_room_is_never_worse(seed: int):
    random = Random(seed)
    kernel, groups = random.choice((1, 3, 5)), random.choice((1, 1, 8))
    window = Window(kernel, 1, kernel // 2)
    graph = single(window, 16, Shape(16, 12, 12), Shape(8, 12, 12), groups)
    pricer = SubgraphPricer(graph, Platform(align_bytes=1), batch=random.choice((1, 4)))
    least = pricer.ways([0])[0].ema_bytes
    grid = [32, 64, 128, 256, 512, 1024, 4096, 1 << 16]
    found = {pair: pricer.cost([0], Buffers(*pair)) for pair in product(grid, grid)}
    ema = {pair: cost.ema_bytes for pair, cost in found.items() if cost is not None}
    assert min(ema.values()) == least
    for (a, w), value in ema.items():
        for other in ((a, w * 2), (a * 2, w)):
            assert ema.get(other, value) <= value
    for pair, cost in found.items():
        if cost is None:
            error = pricer.why([0], Buffers(*pair))
            assert error is not None
            assert error.demand > error.bound


def loads(size: int, extent: int, window: Window, bands: int) -> int:
    """Columns that bands of results read, each with its own."""
    width = -(-extent // bands)
    total = 0
    for first in range(0, extent, width):
        last = min(first + width, extent) - 1
        start, end = first * window.stride - window.pad, last * window.stride - window.pad + window.reach
        total += min(end, size) - max(start, 0)
    return total


@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (3, 1), (4, 2), (3, 3)])
@pytest.mark.parametrize("bands", [1, 2, 4, 8])
def test_bands_read_what_they_share_twice(kernel: int, stride: int, bands: int):
    window, extent = Window(kernel, stride), 16
    size = (extent - 1) * stride + kernel
    graph = single(window, 1, Shape(1, extent, extent), Shape(1, size, size))
    pricer = SubgraphPricer(graph, Platform(align_bytes=1), tiles=[(1, 1)])
    reads = {way.input_bytes for way in pricer.ways([0])}
    assert loads(size, extent, window, bands) * size in reads


def test_nothing_fits():
    graph = single(Window(3, 1, 1), 16, Shape(16, 8, 8), Shape(16, 8, 8))
    pricer = SubgraphPricer(graph, Platform(align_bytes=1))
    error = pricer.why([0], Buffers(100, 1 << 20))
    assert error is not None
    assert error.resource == "global buffer"
    assert pricer.cost([0], Buffers(int(error.demand), 1 << 20)) is not None
    assert pricer.cost([0], Buffers(int(error.demand) - 1, 1 << 20)) is None


@pytest.mark.parametrize("units", [1, 2, 7, 64, 1000, 4096])
def test_all_sizes_of_pieces(units: int):
    counts = counts_of_pieces(units).tolist()
    assert sorted({-(-units // n) for n in counts}) == sorted({-(-units // n) for n in range(1, units + 1)})
    assert len(counts) == len({-(-units // n) for n in counts})


def test_few_counts_of_pieces_of_very_many_channels():
    counts = counts_of_pieces(1 << 34)
    assert (counts[0], counts[-1]) == (1, 1 << 34)
    assert len(counts) < 500
    assert (counts[1:] <= 2 * counts[:-1]).all()
