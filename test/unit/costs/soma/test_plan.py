"""Tiles, tensors and lives of small schedules, by hand."""

from math import inf

import pytest

from tilewright.costs.soma import FusedGroup, Fusion, Hardware, hardware
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks import Layer, Network, Shape

from .witness import Plan, plan
from .witness_prices import double_buffered, evaluate
from .witness_tiles import Box, input_box, source_box, tile_cost, tiles_of

MACHINE: Hardware = hardware(8, 1, 4, 256, 512)
MAP = Shape(8, 16, 16)
CHAIN = Network(
    "chain",
    (("x", Shape(4, 16, 16)),),
    (
        Layer("a", "conv", MAP, external=(0,), kernel=(3, 3)),
        Layer("b", "conv", MAP, (0,), kernel=(3, 3)),
        Layer("c", "eltwise", MAP, (0, 1), operands=2),
    ),
)


def fused(groups: tuple[int, ...] = (0,), cuts: tuple[int, ...] = (), tiles: tuple[int, ...] = (2,)) -> Plan:
    return plan(CHAIN, MACHINE, Fusion((0, 1, 2), groups, cuts, tiles), 1)


def test_boxes_of_a_window_begin_in_the_padding():
    assert CHAIN.padding(1) == (1, 1)
    assert input_box(CHAIN, 1, Box(1, 8, 8, 16)) == Box(1, 8, 9, 16)
    assert input_box(CHAIN, 1, Box(1, 8, 16, 16)) == Box(1, 8, 16, 16)
    assert source_box(CHAIN, 2, 0, Box(1, 8, 5, 16)) == Box(1, 8, 5, 16)


def test_box_of_a_strided_pool():
    network = Network(
        "p",
        (("x", Shape(4, 13, 13)),),
        (Layer("p", "pool", Shape(4, 6, 6), external=(0,), kernel=(3, 3), stride=(2, 2)),),
    )
    assert network.padding(0) == (0, 0)
    assert input_box(network, 0, Box(2, 4, 3, 6)) == Box(2, 4, 7, 13)
    assert tile_cost(network, 0, Box(2, 4, 3, 6), MACHINE).cycles == -(-2 * 4 * 3 * 6 * 9 // 512)


def test_boxes_of_attention():
    network = Network(
        "attention",
        (("q", Shape(64, 10, 1)), ("k", Shape(64, 10, 1))),
        (
            Layer("q", "pointwise", Shape(64, 10, 1), external=(0,)),
            Layer("kt", "transpose", Shape(10, 64, 1), external=(1,), permutation=(1, 0, 2)),
            Layer("k", "pointwise", Shape(20, 64, 1), (1, 1)),
            Layer("qk", "group_conv", Shape(20, 10, 1), (0,), weights_from=(2,), groups=2),
        ),
    )
    assert network.weight_bytes(3) == 0
    assert input_box(network, 1, Box(1, 10, 32, 1)) == Box(1, 32, 10, 1)
    assert source_box(network, 3, 2, Box(1, 20, 5, 1)) == Box(1, 20, 32, 1)
    assert source_box(network, 3, 0, Box(1, 20, 5, 1)) == Box(1, 64, 5, 1)
    twice = tile_cost(network, 3, Box(2, 20, 5, 1), MACHINE)
    assert twice.cycles == 2 * tile_cost(network, 3, Box(1, 20, 5, 1), MACHINE).cycles


@pytest.mark.parametrize(
    ("shape", "batch", "count", "tile"),
    [
        ((7, 7), 4, 8, (1, 7, 4)),
        ((7, 7), 4, 2, (2, 7, 7)),
        ((16, 16), 1, 4, (1, 8, 8)),
        ((16, 16), 1, 16, (1, 4, 4)),
        ((16, 4), 1, 4, (1, 4, 4)),
        ((512, 1), 1, 16, (1, 32, 1)),
        ((5, 5), 1, 4, (1, 3, 3)),
    ],
)
def test_cuts(shape: tuple[int, int], batch: int, count: int, tile: tuple[int, int, int]):
    network = Network("n", (("x", Shape(3, *shape)),), (Layer("p", "pointwise", Shape(3, *shape), external=(0,)),))
    found = tiles_of(network, FusedGroup((0,), count, 0), batch)[0]
    assert (found.batch, found.height, found.width) == tile


def test_rows_that_become_channels_stay_whole():
    layers = (
        Layer("a", "pointwise", Shape(4, 16, 8), external=(0,)),
        Layer("t", "transpose", Shape(16, 4, 8), (0,), permutation=(1, 0, 2)),
    )
    network = Network("t", (("x", Shape(4, 16, 8)),), layers)
    assert tiles_of(network, FusedGroup((0, 1), 8, 0), 1) == {1: Box(1, 16, 4, 1), 0: Box(1, 4, 16, 1)}
    assert tiles_of(network, FusedGroup((1,), 8, 0), 1)[1] == Box(1, 16, 2, 2)
    with pytest.raises(TilewrightError, match=r"layer 1 .*at most 1 x 1 x 8 tiles"):
        tiles_of(network, FusedGroup((0, 1), 16, 0), 1)


def test_halos_are_computed_again():
    """Tiles of 8 x 16 rows: c reads 8 of b and a, b reads 9 of a."""
    stages = {stage.layer: stage for stage in fused(tiles=(2,)).stages}
    assert [stages[i].box for i in range(3)] == [Box(1, 8, 16, 9), Box(1, 8, 16, 8), Box(1, 8, 16, 8)]
    assert [(stages[i].first, stages[i].last, stages[i].step) for i in range(3)] == [(0, 3, 3), (1, 4, 3), (2, 5, 3)]


def test_tensors_of_one_fused_group():
    found = fused(tiles=(2,))
    tensors = found.tensors
    rows = list(
        zip(
            *(column.tolist() for column in (tensors.layer, tensors.kind, tensors.tile, tensors.start, tensors.end)),
            strict=True,
        )
    )
    assert rows == [
        (0, 0, 0, -1, 1),
        (0, 0, 1, 2, 4),
        (0, 1, 0, -1, 4),
        (0, 2, 0, 0, 3),
        (0, 2, 1, 3, 6),
        (1, 1, 0, 0, 5),
        (1, 2, 0, 1, 3),
        (1, 2, 1, 4, 6),
        (2, 2, 0, 2, 4),
        (2, 2, 1, 5, 6),
    ]
    assert found.moved.tolist() == [0, 1, 2, 5, 8, 9]
    assert tensors.size_bytes.tolist() == [4 * 16 * 10] * 2 + [288] + [8 * 16 * 9] * 2 + [576] + [8 * 16 * 8] * 4
    assert tensors.source[found.moved].tolist() == [-1, -1, -1, -1, -1, -1]


def test_a_later_fused_group_keeps_results_to_its_last_tile():
    """c alone, in two tiles after a and b in one: their results live until its second tile ends."""
    found = fused(cuts=(2,), tiles=(1, 2))
    assert found.tile_layer.tolist() == [0, 1, 2, 2]
    assert found.tile_index.tolist() == [0, 0, 0, 1]
    tensors = found.tensors
    assert [
        (s, e)
        for s, e, kind, moves in zip(tensors.start, tensors.end, tensors.kind, tensors.moves, strict=True)
        if kind == 2 and not moves
    ] == [(0, 4), (1, 4)]


def test_results_for_a_later_group_pass_through_dram():
    found = fused(groups=(0, 2), tiles=(1, 1))
    tensors = found.tensors
    loads = [i for i in found.moved if tensors.kind[i] == 0 and tensors.layer[i] == 2]
    assert tensors.source[loads].tolist() == [0, 1]
    assert found.dram_bytes == 4 * 256 + 288 + 576 + 5 * 2048
    assert found.dram_cycles == 64 + 18 + 36 + 5 * 128
    assert found.fusion.layer_group_count == 2


def test_double_buffered_order():
    """By start, weights first, then end, then loads before stores."""
    found = fused(tiles=(2,))
    assert double_buffered(found).order.tolist() == [2, 0, 5, 1, 8, 9]


def test_buffer_usage():
    found = fused(tiles=(2,))
    usage = evaluate(found).times.usage_bytes.tolist()
    assert usage == [
        928,
        928 + 1152 + 576,
        288 + 576 + 1152 + 1024,
        288 + 576 + 640 + 1152 + 2048,
        640 + 288 + 576 + 1152 + 1024,
        576 + 1152 + 1024,
        1152 + 1024 + 1024,
    ]


@pytest.mark.parametrize(
    ("fusion", "message"),
    [
        (Fusion((0, 1), (0,), (), (1,)), "an order of the 3 layers"),
        (Fusion((1, 0, 2), (0,), (), (1,)), "layer 1 before layer 0"),
        (Fusion((0, 1, 2), (0, 3), (), (1, 1)), "place 3"),
        (Fusion((0, 1, 2), (0,), (1,), (1,)), "2 tile counts"),
        (Fusion((0, 1, 2), (0,), (), (0,)), "positive tile counts"),
        (Fusion((0, 1, 2), (0,), (), (512,)), r"layer 2 .*at most 1 x 16 x 16 tiles"),
        (Fusion((0, 1, 2), (0,), (), (1 << 30,)), "use fewer tiles"),
    ],
)
def test_bad_fusions(fusion: Fusion, message: str):
    with pytest.raises(TilewrightError, match=message):
        plan(CHAIN, MACHINE, fusion, 1)


def test_energy_is_that_of_tiles_and_bytes():
    found = fused(tiles=(2,))
    assert found.energy["dram"] == 84 * found.dram_bytes
    assert found.energy_pj == pytest.approx(
        84 * found.dram_bytes + sum(stage.cost.energy_pj * stage.tiles for stage in found.stages)
    )
    assert evaluate(found).energy_pj == found.energy_pj


def test_a_tile_that_fits_no_core_is_told():
    network = Network(
        "wide", (("x", Shape(64, 2100, 1)),), (Layer("a", "conv", Shape(64, 100, 1), external=(0,), kernel=(2000, 1)),)
    )
    found = evaluate(plan(network, MACHINE, Fusion((0,), (), (), (1,)), 1))
    assert found.energy_pj == inf
    assert found.as_json()["latency_cycles"] is None
    assert "a tile that does not fit into the cores' buffers" in found.violations
