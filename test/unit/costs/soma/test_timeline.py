"""When tiles and transfers run: small cases by hand, and random ones against a slow model with explicit sets."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from tilewright.costs.soma import Fusion, hardware
from tilewright.zoo.schedule_networks import Layer, Network, Shape, schedule_network

from .witness import Plan, plan
from .witness_prices import Transfers, double_buffered, evaluate, timeline

MACHINE = hardware(8, 1, 4, 256, 512)
LATE = "a tile waits for a transfer that may begin only after it"


def two_layers() -> Plan:
    """Two 1x1 layers of 32 x 32 pixels; positions 0 and 1; tensors: load, weights, kept, weights, store."""
    shape = Shape(32, 32, 32)
    layers = Layer("a", "conv", shape, external=(0,)), Layer("b", "conv", shape, (0,))
    network = Network("two", (("x", shape),), layers)
    found = plan(network, MACHINE, Fusion((0, 1), (0,), (), (1,)), 1)
    return replace(found, tile_cycles=np.array([100, 50]), transfer_cycles=np.array([30, 10, 0, 20, 40]))


def transfers(found: Plan, order: Sequence[int], **lives: tuple[int, int]) -> Transfers:
    """Default lives but those given as t<number>=(start, end)."""
    start, end = found.tensors.start.copy(), found.tensors.end.copy()
    for name, life in lives.items():
        start[int(name[1:])], end[int(name[1:])] = life
    return Transfers(np.array(order), start, end)


def test_loads_run_beside_tiles():
    """Load and weights 0 to 40, tile 40 to 140, weights of b beside it 40 to 60, tile 140 to 190, store at its end."""
    found = two_layers()
    times = timeline(found, double_buffered(found))
    assert double_buffered(found).order.tolist() == [1, 0, 3, 4]
    assert times.tile_begin.tolist() == [40, 140]
    assert times.transfer_begin.tolist() == [0, 10, 40, 190]
    assert times.latency_cycles == 230


def test_a_load_may_come_before_all_tiles():
    found = two_layers()
    times = timeline(found, transfers(found, (1, 0, 3, 4), t3=(-1, 2)))
    assert times.transfer_begin.tolist() == [0, 10, 40, 190]
    first = timeline(found, transfers(found, (3, 1, 0, 4), t3=(-1, 2)))
    assert first.transfer_begin.tolist() == [0, 20, 30, 210]
    assert first.latency_cycles == 250


def test_a_load_that_may_only_begin_with_its_tile_stalls_it():
    """Weights of b may start at position 1 only: from 140, and the tile waits for them."""
    found = two_layers()
    times = timeline(found, transfers(found, (1, 0, 3, 4), t3=(1, 2)))
    assert times.transfer_begin.tolist() == [0, 10, 140, 200 + 10]
    assert times.tile_begin.tolist() == [40, 160]
    assert times.latency_cycles == 250


def test_a_store_before_a_load_that_must_come_first_is_illegal():
    found = two_layers()
    assert timeline(found, transfers(found, (1, 0, 4, 3))).violation == LATE
    assert evaluate(found, transfers(found, (1, 0, 4, 3))).as_json()["latency_cycles"] is None


@pytest.mark.parametrize(
    ("life", "message"),
    [
        ({"t3": (2, 3)}, r"tensor 3 lives during \[2, 3\) but is used at 1"),
        ({"t3": (0, 1)}, r"tensor 3 lives during \[0, 1\) but is used at 1"),
        ({"t4": (0, 2)}, r"tensor 4 lives during \[0, 2\) but is used at 1"),
    ],
)
def test_lives_without_their_use_are_illegal(life: dict[str, tuple[int, int]], message: str):
    found = two_layers()
    times = timeline(found, transfers(found, (1, 0, 3, 4), **life))
    assert times.latency_cycles == 0
    with pytest.raises(ValueError, match=message):
        raise ValueError(times.violation)


def test_a_missing_transfer_is_illegal():
    found = two_layers()
    assert timeline(found, transfers(found, (1, 0, 3))).violation == "a transfer is missing"


def test_more_than_the_buffer_is_told():
    found = two_layers()
    small = replace(found, machine=replace(MACHINE, buffer_bytes=1000))
    price = evaluate(small)
    assert price.latency_cycles == 230
    assert price.violations == (f"{price.max_buffer_bytes} bytes of buffer where there are 1000",)


def slow(found: Plan, given: Transfers) -> int | None:
    """Latency by the text of the model: what is needed at each position as a set; None where illegal."""
    tensors, order, count = found.tensors, given.order.tolist(), len(found.tile_cycles)
    stores = {x for x in order if tensors.kind[x] == 2}
    done: set[int] = set()
    queue = list(order)
    late: list[int] = []
    comp = dram = 0

    def execute(position: int) -> None:
        nonlocal dram
        tensor = queue.pop(0)
        if tensor in stores and tensors.position[tensor] == position:
            dram = max(dram, comp)
        dram += int(found.transfer_cycles[tensor])
        done.add(tensor)

    for position in range(-1, count):
        if late:
            for _ in late:
                execute(position)
            late, comp = [], max(comp, dram)
        comp += int(found.tile_cycles[position]) if position >= 0 else 0
        while queue:
            tensor = queue[0]
            own = tensor in stores and tensors.position[tensor] == position
            if given.start[tensor] > position or (own and dram < comp):
                dram = max(dram, comp)
                break
            if dram + found.transfer_cycles[tensor] > comp:
                break
            execute(position)
        need = {x for x in queue if x not in stores and tensors.position[x] == position + 1}
        need |= {x for x in queue if x in stores and given.end[x] == position + 1}
        need = set(queue) if position == count - 1 else need
        while need - done - set(late):
            tensor = queue[0]
            if given.start[tensor] > position:
                late = queue[: max(queue.index(x) for x in need - done) + 1]
                layer = found.tile_layer[position + 1] if position + 1 < count else -1
                if any(x in stores or given.start[x] != position + 1 or tensors.layer[x] != layer for x in late):
                    return None
                break
            execute(position)
        if need:
            comp = max(comp, dram)
    return max(comp, dram)


def shaken(found: Plan, random: Random) -> Transfers:
    """Random lives; transfers near the order of their deadlines, so that about half are legal."""
    tensors, start, end = found.tensors, found.tensors.start.copy(), found.tensors.end.copy()
    rank: dict[int, float] = {}
    reach, late = random.choice((0.0, 0.0, 0.5, 3.0)), random.random() < 0.5
    for tensor in found.moved.tolist():
        position = int(tensors.position[tensor])
        if tensors.kind[tensor] == 2:
            death = random.randint(position + 1, len(found.tile_cycles))
            end[tensor] = death
            rank[tensor] = random.uniform(position, death - 1)
        else:
            start[tensor] = max(-1, position - random.choice((0, 1, 1, 3, 8) if late else (1, 1, 3, 8)))
            rank[tensor] = position - 0.5 + random.uniform(-reach, 0)
    return Transfers(np.array(sorted(rank, key=rank.__getitem__)), start, end)


@pytest.mark.parametrize("seed", range(60))
def test_random_transfers(seed: int):
    random = Random(seed)
    network = schedule_network("gpt2_small_prefill", 64)
    order = tuple(range(len(network.layers)))
    groups = tuple(sorted(random.sample(order, random.randint(0, 2))))
    cuts = tuple(sorted(set(random.sample(order[1:], random.randint(0, 3))) - set(groups)))
    tiles = tuple(random.choice((1, 1, 2, 4)) for _ in {0, *groups, *cuts})
    found = plan(network, MACHINE, Fusion(order, groups, cuts, tiles), 4)
    given = shaken(found, random)
    times, expected = timeline(found, given), slow(found, given)
    assert (None if times.violation else times.latency_cycles) == expected
    if expected is not None:
        assert (np.diff(times.tile_begin) >= found.tile_cycles[:-1]).all()
        assert (np.diff(times.transfer_begin) >= found.transfer_cycles[given.order][:-1]).all()
        assert expected >= max(found.compute_cycles, found.dram_cycles)
