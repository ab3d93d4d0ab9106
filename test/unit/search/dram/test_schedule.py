"""The scheduler: the best of all fusions on small networks, the same on any number of threads, legal on large ones."""

from itertools import count, permutations, product

import numpy as np
import pytest

from tilewright.costs.clock import Limit, team
from tilewright.costs.dram import Model, Timetable, net_tables, score, workspace
from tilewright.costs.dram.bound import lower_bound
from tilewright.costs.dram.slices import sliced, variants
from tilewright.costs.dram.tables import FUSED_GROUP
from tilewright.costs.soma import hardware
from tilewright.costs.soma.blocks import splits
from tilewright.errors import InfeasibleError
from tilewright.search.dram import METHODS, Effort, Objective, schedule
from tilewright.search.dram.anneal import Task, anneal, start_chain
from tilewright.search.dram.schedule import new_chain, polish, room
from tilewright.search.dram.starts import alone, cost, fused, segmented, starts, uniform_state
from tilewright.zoo.schedule_networks import Layer, Network, Shape, schedule_network

from ...costs.soma.witness import plan
from ...costs.soma.witness_prices import evaluate, transfers_of

MACHINE = hardware(8, 1, 4, 256, 512)


def model(buffer_bytes: int = 8 << 20) -> Model:
    return Model(MACHINE.array, buffer_bytes, MACHINE.dram_bandwidth, 0, MACHINE.array.read_port, 0)


def diamond() -> Network:
    """Two branches of different size, added."""
    shape = Shape(256, 16, 16)
    layers = (
        Layer("stem", "conv", shape, external=(0,)),
        Layer("left", "conv", shape, (0,), kernel=(3, 3)),
        Layer("right", "conv", shape, (0,)),
        Layer("sum", "eltwise", shape, (1, 2), operands=2),
    )
    return Network("diamond", (("x", Shape(64, 16, 16)),), layers)


def exhaustive(network: Network, machine: Model, batch: int) -> float:
    """The least energy x latency over all orders, cuts and 1 to 4 tiles, with the policies that are tried last."""
    net = net_tables(network)
    work, best = workspace(net, 512), float("inf")
    for order in permutations(range(len(network.layers))):
        if any(order.index(p) > order.index(i) for i, row in enumerate(network.layers) for p in row.producers):
            continue
        for cuts in product((0, 1, 2), repeat=len(order) - 1):
            for tiles in product((1, 2, 3, 4), repeat=1 + sum(map(bool, cuts))):
                state = np.zeros((4, len(order)), np.int64)
                state[0], state[1] = order, (2, *cuts)
                state[2, np.flatnonzero(state[1])] = tiles
                for policy in range(4):
                    if score(net, machine, splits(4), batch, state, work, machine.buffer_bytes, policy) == 0:
                        best = min(best, float(work.energy[-1] * work.tally[0]))
    return best


@pytest.mark.parametrize("buffer_bytes", [700_000, 900_000])
def test_best_of_all(buffer_bytes: int):
    network, machine = diamond(), model(buffer_bytes)
    least = exhaustive(network, machine, 2)
    found = schedule(network, machine, 2, effort=Effort(rounds=6000)).timetable
    assert found.max_buffer_bytes <= buffer_bytes
    assert found.energy_pj * found.latency_cycles <= least * (1 + 1e-12)


def test_jobs_do_not_change_the_answer():
    network = schedule_network("gpt2_small_prefill", 128)
    one, two = (schedule(network, model(3 << 20), 2, effort=Effort(rounds=600, jobs=jobs)) for jobs in (1, 2))
    assert one.timetable.fusion == two.timetable.fusion
    assert one.timetable.transfers == two.timetable.transfers
    other = schedule(network, model(3 << 20), 2, effort=Effort(seed=1, rounds=600))
    assert other.timetable.latency_cycles != one.timetable.latency_cycles or other.timetable != one.timetable


@pytest.mark.parametrize("limit", [10, 200])
def test_a_time_limit_is_for_all_walks_together(limit: int, monkeypatch: pytest.MonkeyPatch):
    """By a clock that goes on by a second at each look."""
    seconds = count()
    monkeypatch.setattr(team, "seconds", lambda: float(next(seconds)))
    found = schedule(diamond(), model(), 1, effort=Effort(chains=4, rounds=10**6, time_limit_s=limit))
    assert next(seconds) <= limit + 20
    assert found.timetable.latency_cycles > 0


def test_what_is_known_of_a_smaller_buffer_is_kept():
    network, fast = schedule_network("gpt2_small_prefill"), Objective(energy_power=0.0)
    small = schedule(network, model(6 << 20), 2, fast, Effort(rounds=300)).timetable
    idle = schedule(network, model(7 << 20), 2, fast, Effort(rounds=1)).timetable
    large = schedule(network, model(7 << 20), 2, fast, Effort(rounds=1), known=[small]).timetable
    assert large.latency_cycles <= small.latency_cycles < idle.latency_cycles
    other = schedule(diamond(), model(), 1, fast, Effort(rounds=1), known=[small]).timetable
    assert other.network == diamond()


@pytest.mark.parametrize(("name", "batch"), [("resnet50", 16), ("gpt2_small_decode", 1)])
def test_legal_in_the_evaluator(name: str, batch: int):
    network = schedule_network(name)
    found = schedule(network, model(), batch, effort=Effort(rounds=300, chains=1)).timetable
    expected = plan(network, MACHINE, found.fusion, batch)
    price = evaluate(expected, transfers_of(found, expected))
    assert price.violations == ()
    assert price.latency_cycles == found.latency_cycles
    assert price.energy_pj == pytest.approx(found.energy_pj, rel=1e-12)


def rearranged() -> Network:
    """Rows and channels that change places by way of a layer that reads all of a map."""
    layers = (
        Layer("stem", "conv", Shape(256, 16, 16), external=(0,)),
        Layer("turn", "rearrange", Shape(1024, 8, 8), (0,)),
        Layer("sum", "rearrange", Shape(1024, 1, 1), (1,), kernel=(64, 1)),
        Layer("last", "conv", Shape(64, 1, 1), (2,)),
    )
    return Network("rearranged", (("x", Shape(64, 16, 16)),), layers)


@pytest.mark.parametrize("exact", [0, 1])
def test_layers_that_read_whole_maps(exact: int):
    network, machine = rearranged(), model(400_000)._replace(exact=exact)
    found = schedule(network, machine, 2, effort=Effort(rounds=500, chains=1)).timetable
    bound = lower_bound(network, machine, 2)
    assert bound.latency_cycles <= found.latency_cycles
    assert bound.energy_pj <= found.energy_pj
    assert bound.dram_bytes <= found.dram_bytes
    if not exact:
        expected = plan(network, MACHINE, found.fusion, 2)
        price = evaluate(expected, transfers_of(found, expected))
        assert (price.violations, price.latency_cycles) == ((), found.latency_cycles)


def test_weights_for_each_tile_where_they_do_not_fit_together():
    """Two layers of 1 MiB of weights each in half as much buffer: sliced, and fused by weights that come again."""
    shape = Shape(1024, 16, 16)
    layers = (
        Layer("a", "conv", shape, external=(0,)),
        Layer("b", "conv", shape, (0,)),
        Layer("c", "pointwise", shape, (1,)),
    )
    network, machine = Network("large", (("x", shape),), layers), model(1 << 20)._replace(exact=1)
    task = Task(net_tables(network), machine, splits(4), 1, 1 << 20, 1.0, 1.0, 2)
    with pytest.raises(InfeasibleError):
        alone(network, task)
    found = schedule(network, machine, 1, effort=Effort(rounds=200, chains=2)).timetable
    assert found.max_buffer_bytes <= 1 << 20
    state = fused(uniform_state(6, FUSED_GROUP, 4), 1, 5, 8, 1)
    assert state[1].tolist() == [2, 2, 0, 0, 0, 2]
    assert state[2].tolist() == [4, 8, 0, 0, 0, 4]
    assert state[3].tolist() == [0, 1, 0, 0, 0, 0]


def test_segments_are_no_worse():
    network = schedule_network("gpt2_small_prefill", 64)
    machine = model(1 << 20)._replace(exact=1)
    cut = sliced(network, machine)
    task = Task(net_tables(cut), machine, splits(4), 1, 1 << 20, 1.0, 1.0, 2)
    work = room(task)
    first = alone(cut, task, 1 << 19)
    assert cost(task, segmented(task, first, work), work) < cost(task, first, work)


def test_short_groups_are_found():
    """Two maps that do not fit beside each other: the pair in tiles, which one look at all groups must find."""
    shape = Shape(64, 64, 64)
    layers = tuple(Layer(f"l{i}", "conv", shape, (i - 1,) if i else (), () if i else (0,)) for i in range(4))
    network, machine = Network("tall", (("x", shape),), layers), model(600_000)
    task = Task(net_tables(network), machine, splits(4), 1, 600_000, 1.0, 1.0, 2)
    work, first = room(task), alone(network, task)
    chain = new_chain(first, 0, 0)
    before = start_chain(task, chain, work)
    chain.best[1, 1:] = FUSED_GROUP
    chain.costs[:] = before
    polish(task, chain, work)
    assert chain.costs[1] < before
    assert cost(task, chain.best, work) == chain.costs[1]
    assert (chain.now == chain.best).all()
    again = new_chain(first, 0, 0)
    start_chain(task, again, work)
    polish(task, again, work, Limit(0.0))
    assert (again.best == first).all()


def test_a_price_does_not_depend_on_what_was_priced_before():
    """Four samples of a prompt in 4 MiB: the best of a walk costs the same in a workspace that nothing has used."""
    machine = model(4 << 20)._replace(bandwidth=4, exact=1)
    network = list(variants(schedule_network("gpt2_small_prefill"), machine))[1]
    task = Task(net_tables(network), machine, splits(4), 4, 4 << 20, 0.0, 1.0, 2)
    work = room(task)
    chain = new_chain(starts(network, task, work), 0, 1)
    start_chain(task, chain, work)
    anneal(task, chain, work, (0, 200, 300), (0.01, 0.0001))
    assert cost(task, chain.best, room(task)) == chain.costs[1]


def test_objective():
    network = schedule_network("gpt2_small_prefill", 128)
    fast, frugal = (
        schedule(network, model(), 1, Objective(*powers), Effort(rounds=800)).timetable for powers in ((0, 1), (1, 0))
    )
    assert fast.latency_cycles <= frugal.latency_cycles
    assert frugal.energy_pj <= fast.energy_pj


def test_too_small_a_buffer_is_told():
    with pytest.raises(InfeasibleError) as raised:
        schedule(schedule_network("resnet50"), model(1 << 20), 1, effort=Effort(rounds=1))
    error = raised.value
    assert error.bound == 1 << 20
    assert error.demand > 2359296
    assert "conv_5_0_b" in error.subject
    assert f"{int(error.demand) - (1 << 20)} bytes more" in error.lever


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_search_ends_within_its_gap(method: str):
    network, machine, objective = schedule_network("gpt2_small_prefill", 128), model(3 << 20), Objective()
    search = METHODS[method]
    whole = search(network, machine, 2, objective, Effort(rounds=2000))
    bound = lower_bound(network, machine, 2)
    least = bound.energy_pj * bound.latency_cycles
    assert whole.double_buffered is not None
    gap = 1.2 * (edp(whole.double_buffered) / least - 1)
    near = [search(network, machine, 2, objective, Effort(rounds=2000, gap=gap, jobs=jobs)) for jobs in (1, 2)]
    assert edp(whole.timetable) <= edp(near[0].timetable) <= (1 + gap) * least
    assert near[0].evaluations < whole.evaluations
    assert near[0].timetable.fusion == near[1].timetable.fusion
    assert near[0].evaluations == near[1].evaluations


def edp(table: Timetable) -> float:
    return table.energy_pj * table.latency_cycles
