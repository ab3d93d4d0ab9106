"""The exact model's repairs, each by a case worked by hand; bounds below every schedule; slices of layers."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from tilewright.costs.dram import Model, Timetable, net_tables, score, timetable, workspace
from tilewright.costs.dram.bound import lower_bound
from tilewright.costs.dram.emit import FITS
from tilewright.costs.dram.floors import floors_of
from tilewright.costs.dram.slices import sliced
from tilewright.costs.soma import hardware
from tilewright.costs.soma.blocks import splits
from tilewright.costs.soma.hardware import VECTOR_PJ
from tilewright.zoo.schedule_networks import Layer, Network, Shape, schedule_network

MACHINE = hardware(8, 1, 4, 256, 512)
SOMA = Model(MACHINE.array, 8 << 20, 16, 0, 256, 0)
EXACT = SOMA._replace(exact=1)


def run(
    network: Network, model: Model, groups: list[tuple[int, int, int]], batch: int = 1, reused: int = 0
) -> Timetable:
    """The layers in order, cut by (place, kind, tiles)."""
    net, state = net_tables(network), np.zeros((4, len(network.layers)), np.int64)
    state[0] = range(len(network.layers))
    for place, kind, tiles in groups:
        state[1, place], state[2, place], state[3, place] = kind, tiles, reused
    work = workspace(net, 512)
    assert score(net, model, splits(4), batch, state, work, model.buffer_bytes, 0) == FITS
    return timetable(network, net, state, work)


def one(*layers: Layer, height: int = 16, channels: int = 64) -> Network:
    return Network("case", (("x", Shape(channels, height, 16)),), layers)


def inputs(table: Timetable) -> list[int]:
    return [item.size_bytes for item in sorted(table.transfers, key=lambda item: item.tile) if item.kind == 0]


def test_interior_tiles_have_halos_on_both_sides():
    """Four tiles of four rows, 3x1 with padding 1: 5, 6, 6 and 5 rows of 64 bytes; SoMa's model takes 5 for each."""
    layer = Layer("a", "conv", Shape(64, 16, 1), external=(0,), kernel=(3, 1))
    network = Network("tall", (("x", Shape(64, 16, 1)),), (layer,))
    soma, exact = (run(network, model, [(0, 2, 4)]) for model in (SOMA, EXACT))
    assert inputs(soma) == [64 * 5] * 4
    assert inputs(exact) == [64 * 5, 64 * 6, 64 * 6, 64 * 5]


def test_tiles_share_rows_that_do_not_divide():
    """Ten rows in four tiles: 2, 3, 2 and 3 rows; SoMa's model takes 3 for each, twelve in all."""
    layer = Layer("a", "pointwise", Shape(64, 10, 1), external=(0,))
    network = Network("ten", (("x", Shape(64, 10, 1)),), (layer,))
    assert inputs(run(network, SOMA, [(0, 2, 4)])) == [64 * 3] * 4
    assert inputs(run(network, EXACT, [(0, 2, 4)])) == [64 * 2, 64 * 3, 64 * 2, 64 * 3]


def test_vector_layers_move_data_through_the_buffer():
    """16384 operations take 32 cycles at 512; the 16384 bytes that they read take 64 at 256 bytes a cycle."""
    shape = Shape(64, 16, 16)
    network = one(Layer("a", "pointwise", shape, external=(0,)))
    size, array = 64 * 16 * 16, MACHINE.array
    soma, exact = (run(network, model, [(0, 2, 1)]) for model in (SOMA, EXACT))
    assert soma.compute_cycles == size // 512
    assert exact.compute_cycles == size // 256
    traffic = size * (array.buffer_read + array.buffer_write)
    assert exact.energy_pj - soma.energy_pj == pytest.approx(traffic, rel=1e-9)
    assert soma.energy_pj == pytest.approx(VECTOR_PJ * size + 84 * 2 * size, rel=1e-12)


def test_results_pass_the_write_port():
    """16 channels to 512 at 1x1: 256 pixels take 256 x 512 / 8192 MACs; 131072 results take 512 cycles at 256 bytes."""
    network = one(Layer("a", "conv", Shape(512, 16, 16), external=(0,)), channels=16)
    soma, exact = (run(network, model, [(0, 2, 1)]) for model in (SOMA, EXACT))
    assert soma.compute_cycles < exact.compute_cycles
    assert exact.compute_cycles == 512 * 256 // 256


def test_strided_windows_read_all_that_they_reach():
    """A 2x2 window at stride 2 reads 4 pixels for each result; SoMa's model counts those of stride 1."""
    network = one(Layer("a", "conv", Shape(64, 8, 8), external=(0,), kernel=(2, 2), stride=(2, 2)))
    soma, exact = (run(network, model, [(0, 2, 1)]) for model in (SOMA, EXACT))
    assert exact.energy_pj > soma.energy_pj
    same = one(Layer("a", "conv", Shape(64, 16, 16), external=(0,)))
    soma, exact = (run(same, model, [(0, 2, 1)]) for model in (SOMA, EXACT))
    assert exact.energy_pj == pytest.approx(soma.energy_pj, rel=1e-12)


def test_transfers_have_latency():
    network = one(Layer("a", "pointwise", Shape(64, 16, 16), external=(0,)))
    exact = run(network, EXACT._replace(latency=100), [(0, 2, 1)])
    assert [item.cycles for item in exact.transfers] == [100 + 1024, 100 + 1024]


def branches() -> Network:
    shape = Shape(64, 16, 16)
    layers = (
        Layer("a", "conv", shape, external=(0,)),
        Layer("b", "conv", shape, external=(0,), kernel=(3, 3)),
        Layer("c", "eltwise", shape, (0, 1), operands=2),
    )
    return one(*layers)


def test_shared_inputs_are_loaded_once():
    """Two readers in a fused group share a load; in two fused groups where it is said to stay."""
    size = 64 * 16 * 16
    assert inputs(run(branches(), SOMA, [(0, 2, 1)])) == [size, size]
    assert inputs(run(branches(), EXACT, [(0, 2, 1)])) == [size]
    assert inputs(run(branches(), EXACT, [(0, 2, 1), (1, 1, 1)])) == [size, size]
    stays = run(branches(), EXACT, [(0, 2, 1), (1, 1, 1)], reused=2)
    assert inputs(stays) == [size]
    assert next(item for item in stays.transfers if item.kind == 0).end == 2


def first_layers(name: str) -> Network:
    """The first layers of a network, GPT-2's with 64 tokens."""
    network = schedule_network(name, 64) if name.startswith("gpt2") else schedule_network(name)
    return replace(network, layers=network.layers[:44])


@pytest.mark.parametrize("model", [SOMA, EXACT], ids=["soma", "exact"])
@pytest.mark.parametrize(("name", "batch"), [("gpt2_small_prefill", 2), ("resnet50", 2), ("inception_resnet_v1", 1)])
def test_no_schedule_is_below_the_bound(name: str, batch: int, model: Model):
    random, network = Random(name), first_layers(name)
    tight = model._replace(buffer_bytes=3 << 20)
    for variant in (network, sliced(network, tight)) if model.exact else (network,):
        net, layers = net_tables(variant), len(variant.layers)
        work, seen = workspace(net, 8192), 0
        bounds = [(size, lower_bound(network, model._replace(buffer_bytes=size), batch)) for size in (3 << 20, 1 << 40)]
        for _ in range(40):
            state = np.zeros((4, layers), np.int64)
            state[0], state[1] = range(layers), [random.choice((0,) * 9 + (1, 1, 2)) if i else 2 for i in range(layers)]
            state[2] = [random.choice((1, 1, 1, 1, 2, 4)) if cut else 0 for cut in state[1]]
            for size, bound in bounds:
                priced = model._replace(buffer_bytes=size)
                if score(net, priced, splits(4), batch, state, work, size, random.randrange(8)) == FITS:
                    seen += 1
                    assert work.tally[0] >= bound.latency_cycles
                    assert work.energy[-1] >= bound.energy_pj
                    assert work.tally[1] >= bound.dram_bytes
                    assert work.tally[2] >= bound.compute_cycles
        assert seen


def test_slices_compute_the_same():
    network = schedule_network("gpt2_small_prefill")
    cut = sliced(network, EXACT)
    assert sum(map(cut.weight_bytes, range(len(cut.layers)))) == sum(
        map(network.weight_bytes, range(len(network.layers)))
    )
    assert max(map(cut.weight_bytes, range(len(cut.layers)))) <= 8 << 16
    assert [layer.name for layer in cut.layers if layer.name.startswith("ffn1")] == [f"ffn1/{i}" for i in range(5)]
    assert cut.input_shapes[-2] == network.input_shapes[-2]
    floors = [sum(floor.cycles for floor in floors_of(item, EXACT, 1)) for item in (network, cut)]
    assert floors[1] <= 1.01 * floors[0]
    assert run(cut, EXACT, [(0, 2, 1)]).dram_bytes <= run(network, EXACT, [(0, 2, 1)]).dram_bytes


def test_slices_fill_the_lanes_but_for_the_last():
    """1600 channels are twelve and a half times as many as there are lanes."""
    layer = Layer("a", "conv", Shape(1600, 200, 1), external=(0,))
    network = Network("wide", (("x", Shape(1600, 200, 1)),), (layer,))
    cut = sliced(network, EXACT._replace(buffer_bytes=16 * 500_000))
    assert [row.shape.channels for row in cut.layers] == [256] * 6 + [64]
    assert len(sliced(network, EXACT._replace(buffer_bytes=16 * 3_000_000)).layers) == 1


def test_the_last_weights_come_in_small_parts():
    """When they are loaded, the work of one part is left; the layer before it stays whole."""
    layers = Layer("a", "fc", Shape(1024, 1, 1), external=(0,)), Layer("b", "fc", Shape(1000, 1, 1), (0,))
    cut = sliced(Network("two", (("x", Shape(1024, 1, 1)),), layers), EXACT._replace(buffer_bytes=32 << 20))
    assert [row.shape.channels for row in cut.layers] == [1024, *[256] * 3, 232]
