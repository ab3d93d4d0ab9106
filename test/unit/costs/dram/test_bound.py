"""Bounds over all schedules, against every schedule of small networks and by hand."""

from collections.abc import Iterator
from itertools import permutations, product
from random import Random

import numpy as np
import pytest

from tilewright.costs.dram import Model, net_tables, score, workspace
from tilewright.costs.dram.bound import (
    Extents,
    case_of,
    least_product,
    lower_bound,
    needed_maps,
    needed_of_input,
    order_bound,
    start_bound,
)
from tilewright.costs.dram.bound_room import Rooms, room_bound
from tilewright.costs.dram.emit import FITS
from tilewright.costs.dram.tables import Ints
from tilewright.costs.soma import hardware
from tilewright.costs.soma.blocks import splits
from tilewright.zoo.schedule_networks import Layer, Network, Shape, schedule_network

MACHINE = hardware(8, 1, 4, 256, 512)
SOMA = Model(MACHINE.array, 8 << 20, 16, 0, 256, 0)


def chain(random: Random, layers: int) -> Network:
    """Convolutions and sums of few sizes; some read the layer before the last too."""
    found: list[Layer] = []
    for number in range(layers):
        shape = Shape(random.choice((64, 128, 256)), 8, 8)
        kernel = random.choice(((1, 1), (3, 3)))
        if number == 0:
            found.append(Layer("l0", "conv", shape, external=(0,), kernel=kernel))
        elif number > 1 and random.random() < 0.3 and found[-1].shape == found[-2].shape:
            found.append(Layer(f"l{number}", "eltwise", found[-1].shape, (number - 2, number - 1), operands=2))
        else:
            source = number - 1 - (number > 1 and random.random() < 0.2)
            found.append(Layer(f"l{number}", "conv", shape, (source,), kernel=kernel))
    return Network("chain", (("x", Shape(64, 8, 8)),), tuple(found))


def states(network: Network, exact: int) -> Iterator[Ints]:
    """Every order, all cuts, up to 8 tiles; in the exact model weights that stay and that come for each tile."""
    count = len(network.layers)
    for order in permutations(range(count)):
        if any(order.index(p) > order.index(i) for i, row in enumerate(network.layers) for p in row.producers):
            continue
        for cuts in product((0, 1, 2), repeat=count - 1):
            heads = 1 + sum(map(bool, cuts))
            for tiles in product((1, 2, 4, 8) if heads < 3 else (1, 2), repeat=heads):
                for streamed in (0, 3) if exact else (0,):
                    state = np.zeros((4, count), np.int64)
                    state[0], state[1] = order, (2, *cuts)
                    state[2, state[1] > 0], state[3, state[1] > 0] = tiles, streamed
                    yield state


def least(network: Network, model: Model, batch: int) -> tuple[float, float, float]:
    """The least latency, energy and product of all schedules, with all the ways to decide transfers."""
    far = float("inf")
    net, best = net_tables(network), (far, far, far)
    work = workspace(net, 512)
    for state in states(network, model.exact):
        for policy in range(4):
            if score(net, model, splits(4), batch, state, work, model.buffer_bytes, policy) == FITS:
                cycles, energy = float(work.tally[0]), float(work.energy[-1])
                best = min(best[0], cycles), min(best[1], energy), min(best[2], cycles * energy)
    return best


@pytest.mark.parametrize("model", [SOMA, SOMA._replace(exact=1)], ids=["soma", "exact"])
@pytest.mark.parametrize("seed", range(4))
def test_below_every_schedule_of_small_chains(seed: int, model: Model):
    random = Random(seed)
    network, batch = chain(random, 4), random.choice((1, 4))
    weights = sum(map(network.weight_bytes, range(4)))
    for share in (0.4, 0.8):
        given = model._replace(buffer_bytes=int(share * weights) + 60_000, bandwidth=random.choice((4, 16, 64)))
        bound, (best, energy, product_of_both) = lower_bound(network, given, batch), least(network, given, batch)
        assert bound.latency_cycles <= best
        assert bound.energy_pj <= energy * (1 + 1e-9)
        assert least_product(network, given, batch, bound) <= product_of_both * (1 + 1e-9)
        case = case_of(network, given, batch)
        assert max(order_bound(case)[0], room_bound(case, 0)[0]) <= best


def test_the_order_bound_by_hand():
    """64 channels in and out, 64 pixels: the input and two weights come before `b`, which then computes 16 cycles.

    A 1x1 convolution by 64 x 64 on cores of 16 x 32, four by four of them, takes 64 x 4 x 2 / 16 cycles and no less
    than reading 4096 + 4096 bytes at 256 a cycle.
    """
    shape = Shape(64, 8, 8)
    layers = (Layer("a", "conv", shape, external=(0,)), Layer("b", "conv", shape, (0,)))
    case = case_of(Network("two", (("x", shape),), layers), SOMA, 1)
    assert case.floors[1].cycles == 32
    whole, work = 4096 / 16, case.floors[0].linear
    pixel = 64 / 16
    assert order_bound(case)[0] == pytest.approx(2 * 256 + pixel + (1 - 1 / 64) * work + 32)
    assert work < whole


def test_pixels_that_a_stride_skips_cost_energy():
    """`b` reads every second row and column of `a`: less than all pixels are paid for, and no less than are made."""
    layers = (
        Layer("a", "conv", Shape(128, 8, 8), external=(0,), kernel=(3, 3)),
        Layer("b", "conv", Shape(128, 4, 4), (0,), stride=(2, 2)),
    )
    network = Network("skipping", (("x", Shape(64, 8, 8)),), layers)
    model = SOMA._replace(exact=1, bandwidth=256)
    bound, (_, energy, both) = lower_bound(network, model, 1), least(network, model, 1)
    assert 0.95 * energy < bound.energy_pj <= energy
    assert bound.energy_pj * bound.latency_cycles <= least_product(network, model, 1, bound) <= both


def test_first_layers_wait_for_inputs_and_weights():
    """All of `b` and `c` waits for all of `a`; `a` can do little before its input and weights have come."""
    shape = Shape(128, 64, 1)
    layers = (
        Layer("a", "conv", shape, external=(0,)),
        Layer("t", "transpose", Shape(64, 128, 1), (0,), permutation=(1, 0, 2)),
        Layer("b", "conv", Shape(1024, 128, 1), (1,)),
        Layer("c", "conv", Shape(256, 128, 1), (2,)),
    )
    network = Network("waiting", (("x", shape),), layers)
    given = SOMA._replace(exact=1, bandwidth=64)
    case = case_of(network, given, 1)
    value, _ = start_bound(case)
    whole = (128 * 64 + 128 * 128) / 64
    rest = sum(floor.cycles for floor in case.floors[1:])
    assert whole / 2 + rest < value <= lower_bound(network, given, 1).latency_cycles
    assert value <= least(network, given, 1)[0]


def test_dear_energy_takes_cycles():
    """The bound of energy x latency lies above the product of both bounds where cores must choose."""
    network = schedule_network("gpt2_small_prefill")
    model = SOMA._replace(exact=1)
    bound = lower_bound(network, model, 1)
    assert least_product(network, model, 1, bound) > 1.02 * bound.energy_pj * bound.latency_cycles


def needed_pixels(network: Network, number: int) -> dict[int, Extents]:
    """For layer `number` and those that it depends on, rows and columns at least that one of its pixels needs."""
    found = {number: (1, 1)}
    for reader in range(number, -1, -1):
        if reader in found:
            for producer, (rows, columns) in needed_maps(network, reader, found[reader]):
                known = found.get(producer, (0, 0))
                found[producer] = max(known[0], rows), max(known[1], columns)
    return found


def test_attention_needs_the_whole_prompt():
    network = schedule_network("gpt2_small_prefill", 64)
    last = next(i for i, layer in enumerate(network.layers) if layer.name == "ffn2")
    needed = needed_pixels(network, last)
    assert needed[0] == (64, 1)
    assert needed[last - 1] == (1, 1)


@pytest.mark.parametrize("name", ["gpt2_small_prefill", "resnet50", "randwire_small"])
def test_what_all_layers_need_of_the_input_is_what_each_needs(name: str):
    network = schedule_network(name)
    every = needed_of_input(network, network.dag.everything)
    for number in range(0, len(network.layers), 5):
        one = needed_pixels(network, number)
        assert every[number] == {reader: one[reader] for reader in one if network.layers[reader].external}


def test_maps_after_layers_in_order_are_those_of_sets():
    for seed in range(20):
        rooms = Rooms(case_of(chain(Random(seed), 7), SOMA, 1))
        for count in range(8):
            done = (1 << count) - 1
            assert rooms.maps_after[count] == rooms.maps(done, done)


def test_whole_weights_hold_gpt2_far_above_its_work():
    """The schedule found is within 1.5 % of the bound, which stands 12.6 % above all work and all traffic."""
    bound = lower_bound(schedule_network("gpt2_small_prefill"), SOMA, 1)
    assert bound.latency_cycles == 640512
    assert bound.latency_cycles > 1.12 * max(bound.compute_cycles, bound.dram_bytes / 16)
    assert "ffn2" in bound.binding


def test_the_room_bound_needs_whole_weights_and_maps():
    """`b` follows `a`: when `a` ends, its weights and its map are in the buffer, and the rest of `b` has to come."""
    shape = Shape(256, 8, 8)
    layers = (
        Layer("a", "conv", shape, external=(0,), kernel=(3, 3)),
        Layer("b", "conv", shape, (0,), kernel=(3, 3)),
        Layer("c", "conv", shape, (1,), kernel=(3, 3)),
    )
    network = Network("three", (("x", Shape(16, 8, 8)),), layers)
    weights = 9 * 256 * 256
    model = SOMA._replace(buffer_bytes=weights + 100_000)
    case = case_of(network, model, 1)
    value, reason = room_bound(case, 0)
    out = 256 * 64
    late = 2 * weights + out // 2 + out + 9 * 16 * 256 - model.buffer_bytes
    assert value >= case.floors[0].cycles + late / 16
    assert value <= least(network, model, 1)[0]
    assert "buffer" in reason
    assert room_bound(case, 1e9)[0] == 1e9
