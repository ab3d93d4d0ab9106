"""SoMa's stages: moves keep fusions whole, the second stage's times are those of the evaluator, answers are legal."""

from random import Random

import numpy as np
import pytest

from tilewright.costs.dram import Model, net_tables, score, timetable, workspace
from tilewright.costs.soma import Fusion, hardware
from tilewright.costs.soma.blocks import splits
from tilewright.costs.soma.tiling import check_fusion
from tilewright.search.dram import Effort, Objective, framework
from tilewright.search.dram.anneal import FAR, Chain, Task, start_chain
from tilewright.search.dram.framework import anneal_fusion, seed_state
from tilewright.search.dram.living import anneal_lives, latency_of, living, settle
from tilewright.search.random_numbers import seeded
from tilewright.zoo.schedule_networks import Network, schedule_network

from ...costs.soma.witness import plan
from ...costs.soma.witness_prices import Transfers, double_buffered, evaluate, transfers_of

MACHINE = hardware(8, 1, 4, 256, 512)
MODEL = Model(MACHINE.array, 8 << 20, 16, 0, 256, 0)


def task(network: Network, batch: int) -> Task:
    return Task(net_tables(network), MODEL, splits(4), batch, 8 << 20, 1.0, 1.0, 4)


@pytest.mark.parametrize("cocco", [False, True])
@pytest.mark.parametrize(("name", "batch"), [("gpt2_small_prefill", 4), ("randwire_small", 2)])
def test_moves_keep_fusions_whole(name: str, batch: int, cocco: bool):
    network = schedule_network(name, 64) if name.startswith("gpt2") else schedule_network(name)
    given = task(network, batch)
    state = seed_state(network, given)
    work = workspace(given.net, 8192)
    chain = Chain(state, state.copy(), state.copy(), np.full(2, FAR), np.zeros(2, np.int64), seeded(3))
    first = start_chain(given, chain, work)
    assert first < FAR
    kinds: set[int] = set()
    for step in range(60):
        anneal_fusion(given, chain, work, (step * 10, step * 10 + 10, 600), cocco)
        now = chain.now
        heads = now[1] > 0
        kinds |= set(now[1].tolist())
        assert now[1, 0] == 2
        assert (now[2, heads] > 0).all()
        assert (now[2, ~heads] == 0).all()
        fusion = Fusion(
            tuple(now[0].tolist()),
            tuple(np.flatnonzero(now[1] == 2).tolist()),
            tuple(np.flatnonzero(now[1] == 1).tolist()),
            tuple(now[2, heads].tolist()),
        )
        check_fusion(network, fusion)
    assert kinds == ({0, 2} if cocco else {0, 1, 2})
    assert chain.costs[1] < first


@pytest.mark.parametrize("seed", range(8))
def test_lives_are_those_of_the_evaluator(seed: int):
    """Double buffered at first; after annealing legal, no worse, and timed as the evaluator says."""
    random = Random(seed)
    network = schedule_network("gpt2_small_prefill", 64)
    order = tuple(range(len(network.layers)))
    groups = tuple(sorted(random.sample(order[1:], random.randint(0, 2))))
    cuts = tuple(sorted(set(random.sample(order[1:], random.randint(0, 3))) - set(groups)))
    tiles = tuple(random.choice((1, 1, 2, 4)) for _ in {0, *groups, *cuts})
    made = plan(network, MACHINE, Fusion(order, groups, cuts, tiles), 4)
    given = task(network, 4)
    state = np.zeros((4, len(order)), np.int64)
    state[0], state[1, list(cuts)], state[1, [0, *groups]] = order, 1, 2
    state[2, state[1] > 0] = tiles
    work = workspace(given.net, 4096)
    score(given.net, MODEL, splits(4), 4, state, work, 0, 4)
    stages = {stage.layer: stage for stage in made.stages}
    ends = [max(s.last + 1 for s in made.stages if s.group == stages[layer].group) for layer in order]
    found = living(work, np.array(ends))
    expected = evaluate(made, double_buffered(made))
    assert latency_of(found) == expected.latency_cycles
    assert found.usage[:-1].tolist() == expected.times.usage_bytes.tolist()
    cumulative = np.cumsum(np.maximum(found.table[0], 1))
    costs, best = np.full(2, float(expected.latency_cycles)), found.table.copy()
    undo = np.zeros(4, np.int64)
    limit = max(2 << 20, expected.max_buffer_bytes)
    assert anneal_lives(found, best, cumulative, limit, 1, (0, 3000, 3000), seeded(seed), costs, undo) > 100
    assert found.usage.max() <= limit
    settle(found, work)
    table = timetable(network, given.net, state, work)
    again = evaluate(made, transfers_of(table, made))
    assert again.violations == ()
    assert again.latency_cycles == table.latency_cycles == costs[0] == latency_of(found)
    assert again.max_buffer_bytes == found.usage.max()
    assert costs[1] <= expected.latency_cycles


@pytest.mark.parametrize("cocco", [False, True])
def test_answers_are_legal_and_repeat(cocco: bool):
    network = schedule_network("gpt2_small_prefill", 128)
    effort = Effort(seed=2, rounds=300)
    one, two = (framework(network, MODEL, 2, Objective(), effort, cocco=cocco) for _ in range(2))
    assert one.timetable.transfers == two.timetable.transfers
    table = one.timetable
    made = plan(network, MACHINE, table.fusion, 2)
    given: Transfers = transfers_of(table, made)
    price = evaluate(made, given)
    assert price.violations == ()
    assert price.latency_cycles == table.latency_cycles
    assert one.double_buffered is not None
    assert table.latency_cycles <= one.double_buffered.latency_cycles
    assert all(group.tiles >= 1 for group in table.fusion.fused_groups)
