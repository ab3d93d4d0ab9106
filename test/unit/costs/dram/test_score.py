"""Transfers decided in one pass, priced by SoMa's evaluator: the same latency, energy and buffer; never illegal."""

from random import Random

import numpy as np
import pytest

from tilewright.costs.dram import Model, fusion_of, net_tables, score, state_of, timetable, workspace
from tilewright.costs.dram.emit import FITS, OVERFLOW
from tilewright.costs.dram.tables import Ints
from tilewright.costs.soma import hardware
from tilewright.costs.soma.blocks import splits
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks import schedule_network

from ..soma.witness import plan
from ..soma.witness_prices import evaluate, transfers_of

MACHINE = hardware(8, 1, 4, 256, 512)
MODEL = Model(MACHINE.array, MACHINE.buffer_bytes, MACHINE.dram_bandwidth, 0, MACHINE.array.read_port, 0)


def random_state(layers: int, random: Random):
    state = np.zeros((4, layers), np.int64)
    state[0] = range(layers)
    state[1] = [random.choice((0, 0, 0, 1, 2)) if i else 2 for i in range(layers)]
    state[2] = [random.choice((1, 1, 2, 3, 4, 8)) if cut else 0 for cut in state[1]]
    return state


@pytest.mark.parametrize(("name", "batch"), [("gpt2_small_prefill", 4), ("resnet50", 2), ("randwire_small", 1)])
def test_random_fusions(name: str, batch: int):
    random = Random(name)
    network = schedule_network(name, 64) if name.startswith("gpt2") else schedule_network(name)
    net = net_tables(network)
    work = workspace(net, 4096)
    outcomes: set[int] = set()
    for _ in range(40):
        state = random_state(len(network.layers), random)
        limit, policy = random.choice((1 << 20, 3 << 20, 8 << 20)), random.randrange(8)
        outcome = score(net, MODEL, splits(4), batch, state, work, limit, policy)
        outcomes.add(outcome)
        fusion = fusion_of(state)
        assert (state_of(fusion) == state).all()
        if outcome not in (FITS, OVERFLOW):
            with pytest.raises(TilewrightError):
                plan(network, MACHINE, fusion, batch)
            continue
        expected = plan(network, MACHINE, fusion, batch)
        assert work.energy[-1] == pytest.approx(expected.energy_pj, rel=1e-12)
        if outcome == FITS:
            found = timetable(network, net, state, work)
            price = evaluate(expected, transfers_of(found, expected))
            assert price.violations == ()
            assert price.latency_cycles == found.latency_cycles
            assert price.times.tile_begin.tolist() == found.tile_begin.tolist()
            assert price.times.transfer_begin.tolist() == [item.begin for item in found.transfers]
            assert price.max_buffer_bytes <= found.max_buffer_bytes <= limit
            assert found.dram_bytes == expected.dram_bytes
    assert {FITS, OVERFLOW} <= outcomes


def in_four_tiles(layers: int) -> Ints:
    """The state of one fused group of so many layers in their order."""
    state = np.zeros((4, layers), np.int64)
    state[0] = range(layers)
    state[1, 0], state[2, 0] = 2, 4
    return state


def test_room_is_what_the_evaluator_counts():
    """With no limit the peak without prefetch is the buffer use of lives that begin with their tiles."""
    network = schedule_network("resnet50")
    net = net_tables(network)
    work, state = workspace(net, 4096), in_four_tiles(len(network.layers))
    assert score(net, MODEL, splits(4), 4, state, work, 1, 0) == OVERFLOW
    assert score(net, MODEL, splits(4), 4, state, work, 1 << 40, 0) == FITS
    expected = plan(network, MACHINE, fusion_of(state), 4)
    found = transfers_of(timetable(network, net, state, work), expected)
    late = np.where(expected.tensors.kind == 2, found.start, expected.tensors.position)
    assert evaluate(expected, type(found)(found.order, late, expected.tensors.end)).max_buffer_bytes >= work.tally[4]


def test_with_room_for_all_the_channel_is_never_idle_before_the_last_load():
    network = schedule_network("resnet50")
    net = net_tables(network)
    work, state = workspace(net, 4096), in_four_tiles(len(network.layers))
    assert score(net, MODEL, splits(4), 4, state, work, 1 << 40, 0) == FITS
    found = timetable(network, net, state, work)
    begins, lives = [item.begin for item in found.transfers], [item.cycles for item in found.transfers]
    last = max(place for place, item in enumerate(found.transfers) if item.kind != 2)
    assert begins[1 : last + 1] == np.cumsum(lives)[:last].tolist()
    assert found.transfers[last].end - found.transfers[last].start > 128
