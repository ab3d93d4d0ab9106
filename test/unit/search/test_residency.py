"""Plans against all sets of kept maps, and against what each of their steps needs."""

import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, combinations, product
from math import inf

import pytest

from tilewright.search.network import Layer, Network, Rows
from tilewright.search.residency import RESERVE, Search, plan
from tilewright.search.steps import OFFCHIP, Plan, Span, Step

NOTHING = frozenset[int]()


def no_rows(start: int, stop: int) -> Sequence[Rows]:
    return ()


def random_network(rng: random.Random, layers: int, *, by_rows: bool = False, own_weights: bool = False) -> Network:
    """Layers that each make a map, of the last one and maybe of one before."""
    sizes = [rng.randint(1, 9)]
    made: list[Layer] = []
    for _ in range(layers):
        reads = tuple(sorted({len(sizes) - 1, rng.randrange(max(0, len(sizes) - 7), len(sizes))}))
        weights = rng.choice((0, 0, rng.randint(1, 8)))
        pieces = rng.choice(((), (-(-weights // 2),))) if weights else ()
        made.append(Layer(reads, (len(sizes),), weights, pieces, rng.choice((0, 0, 1)), by_rows))
        sizes.append(rng.randint(1, 9))
    read = {number for layer in made for number in layer.reads}
    results = frozenset(number for number in range(len(sizes)) if number not in read)
    network = Network(tuple(made), tuple(sizes), frozenset({0}), results, 0, 7 if own_weights else None)
    alone, together = (
        max(sum(whole_bytes(network, kept, place)) for place in range(layers))
        for kept in (NOTHING, frozenset(range(1, len(sizes))))
    )
    return replace(network, capacity_bytes=rng.randint(alone - 1, together + 2))


def is_inner(network: Network, number: int, start: int, stop: int) -> bool:
    """Whether nobody but the layers from `start` to before `stop` touches a map."""
    users = [place for place, layer in enumerate(network.layers) if number in (*layer.reads, *layer.makes)]
    outside = number in network.given or number in network.results
    return not outside and all(start <= place < stop for place in users)


def touched(network: Network, start: int, stop: int) -> set[int]:
    return {number for layer in network.layers[start:stop] for number in (*layer.reads, *layer.makes)}


def present(network: Network, kept: AbstractSet[int], start: int, stop: int) -> set[int]:
    """Kept maps that are on chip while some layers run."""
    found: set[int] = set()
    for number in kept:
        users = [place for place, layer in enumerate(network.layers) if number in (*layer.reads, *layer.makes)]
        if users[0] < stop and users[-1] >= start:
            found.add(number)
    return found


def whole_bytes(network: Network, kept: AbstractSet[int], place: int) -> tuple[int, int]:
    """What maps and scratch of a layer that runs as a whole need at least, and its weights, whole or in pieces."""
    layer = network.layers[place]
    on_chip = present(network, kept, place, place + 1) | touched(network, place, place + 1)
    maps = sum(network.map_bytes[number] for number in on_chip) + 2 * layer.scratch_bytes
    return maps, min((layer.weight_bytes, *layer.piece_bytes))


def fits(network: Network, kept: AbstractSet[int], place: int, room: int) -> bool:
    maps, weights = whole_bytes(network, kept, place)
    if network.weight_capacity_bytes is None:
        return maps + weights <= room
    return maps <= room and weights <= network.weight_capacity_bytes


def traffic(network: Network, steps: Sequence[Step], kept: AbstractSet[int]) -> int:
    """Bytes of maps that are moved: those not kept, by each step that touches them and is not alone with them."""
    total = 0
    for step in steps:
        maps = touched(network, step.start, step.stop)
        moved = [n for n in maps if n not in kept and not is_inner(network, n, step.start, step.stop)]
        total += sum(network.map_bytes[n] for n in moved)
    return total


def check_capacity(network: Network, found: Plan, rows: dict[tuple[int, int, int], Rows]) -> None:
    """What each step has on chip at a time fits, and steps follow each other from the first layer to the last."""
    assert [step.start for step in found.steps] == [0, *(step.stop for step in found.steps[:-1])]
    assert found.steps[-1].stop == len(network.layers)
    for step in found.steps:
        layers = network.layers[step.start : step.stop]
        if step.rows == OFFCHIP:
            assert not present(network, found.kept, step.start, step.stop)
            continue
        own = touched(network, step.start, step.stop)
        need = sum(network.map_bytes[n] for n in present(network, found.kept, step.start, step.stop))
        if step.rows:
            rings = rows[step.start, step.stop, step.rows].rings
            need += sum(rings[n] for n in own - found.kept)
        else:
            assert len(layers) == 1
            need += sum(network.map_bytes[n] for n in own - found.kept)
        need += 2 * max(layer.scratch_bytes for layer in layers)
        assert not step.piece_bytes or step.piece_bytes in layers[0].piece_bytes
        pieces = step.piece_bytes or sum(layer.weight_bytes for layer in layers)
        if network.weight_capacity_bytes is None:
            need += pieces
        else:
            assert pieces <= network.weight_capacity_bytes
        assert need <= network.capacity_bytes


def least_traffic(network: Network) -> float:
    """Of all sets of kept maps with which each layer runs as a whole; infinite where there is none."""
    room = int(network.capacity_bytes * (1 - RESERVE))
    choices = [n for n in range(len(network.map_bytes)) if n not in network.given]
    steps = [Step(place, place + 1, 0) for place in range(len(network.layers))]
    best = inf
    for kept in chain.from_iterable(combinations(choices, size) for size in range(len(choices) + 1)):
        if all(fits(network, set(kept), place, room) for place in range(len(network.layers))):
            best = min(best, traffic(network, steps, set(kept)))
    return best


def whole_plans() -> list[tuple[Network, Plan]]:
    found: list[tuple[Network, Plan]] = []
    for seed in range(200):
        rng = random.Random(seed)
        network = random_network(rng, rng.randint(1, 8), own_weights=seed % 4 == 3)
        found.append((network, plan(network, no_rows)))
    return found


WHOLE = whole_plans()


def test_a_layer_runs_from_dram_only_where_it_does_not_fit_by_itself():
    count = 0
    for network, found in WHOLE:
        room = int(network.capacity_bytes * (1 - RESERVE))
        assert all(step.stop == step.start + 1 and step.rows in (0, OFFCHIP) for step in found.steps)
        for step in found.steps:
            assert (step.rows == OFFCHIP) == (not fits(network, NOTHING, step.start, room))
            count += step.rows == OFFCHIP
        check_capacity(network, found, {})
    assert count > 20


def test_the_traffic_of_whole_layers_is_near_the_least_and_equal_where_all_maps_fit():
    total = least = full = part = 0
    for network, found in WHOLE:
        best = least_traffic(network)
        if best == inf:
            continue
        own = traffic(network, found.steps, found.kept)
        assert own >= best
        room = int(network.capacity_bytes * (1 - RESERVE))
        every = set(range(len(network.map_bytes))) - network.given
        if all(fits(network, every, place, room) for place in range(len(network.layers))):
            assert own == best
            full += 1
        else:
            part += 1
        total, least = total + own, least + best
    assert min(full, 2 * part) > 20
    assert total <= 1.05 * least


def random_rows(rng: random.Random, network: Network) -> dict[tuple[int, int, int], Rows]:
    """For each stretch of layers ways to run it, fewer rows with smaller rings; sometimes there is none."""
    found: dict[tuple[int, int, int], Rows] = {}
    count = len(network.layers)
    for start in range(count):
        for stop in range(start + 1, count + 1):
            if rng.random() < 0.2:
                continue
            for rows in (4, 2, 1):
                sizes = {n: -(-network.map_bytes[n] * rows // 8) for n in touched(network, start, stop)}
                found[start, stop, rows] = Rows(rows, sizes)
    return found


@pytest.mark.parametrize("seed", range(100))
def test_groups_fit_and_move_no_more_than_layers_by_themselves(seed: int):
    rng = random.Random(seed)
    network = random_network(rng, rng.randint(2, 7), by_rows=True, own_weights=seed % 4 == 3)
    rows = random_rows(rng, network)

    def rows_of(start: int, stop: int) -> Sequence[Rows]:
        return [rows[start, stop, count] for count in (4, 2, 1) if (start, stop, count) in rows]

    found = plan(network, rows_of)
    check_capacity(network, found, rows)
    alone = [Step(place, place + 1, 0) for place in range(len(network.layers))]
    assert traffic(network, found.steps, found.kept) <= traffic(network, alone, NOTHING)


def test_a_chain_whose_maps_do_not_fit_runs_by_rows():
    layers = tuple(Layer((n,), (n + 1,), by_rows=True) for n in range(3))
    network = Network(layers, (100,) * 4, frozenset({0}), frozenset({3}), 64)
    found = plan(network, lambda start, stop: [Rows(2, dict.fromkeys(range(start, stop + 1), 12))])
    assert found == Plan((Step(0, 3, 2),), NOTHING)


def test_layers_in_rows_have_room_to_work_side_by_side_where_weights_do_not_need_it():
    layers = tuple(Layer((n,), (n + 1,), scratch_bytes=10, by_rows=True) for n in range(3))

    def longest(weight_capacity_bytes: int | None) -> int:
        network = Network(layers, (100,) * 4, frozenset({0}), frozenset({3}), 64, weight_capacity_bytes)
        found = plan(network, lambda start, stop: [Rows(2, dict.fromkeys(range(start, stop + 1), 10))])
        return max(step.stop - step.start for step in found.steps if step.rows)

    assert longest(None) == 3  # rings of 40 bytes, and 20 between kernels
    assert longest(8) == 2  # rings of 30 bytes, and 30 between kernels


def test_large_weights_are_streamed_only_where_they_can_be_in_the_largest_pieces_that_leave_room():
    def steps(pieces: tuple[int, ...], capacity: int) -> tuple[Step, ...]:
        layer = Layer((0,), (1,), 60, pieces)
        return plan(Network((layer,), (10, 10), frozenset({0}), frozenset({1}), capacity), no_rows).steps

    assert steps((), 100) == (Step(0, 1, 0),)
    assert steps((8,), 100) == (Step(0, 1, 0, 8),)
    assert steps((8,), 200) == (Step(0, 1, 0),)
    assert steps((8,), 40) == (Step(0, 1, 0, 8),)
    assert steps((), 40) == (Step(0, 1, OFFCHIP),)
    assert steps((8, 20, 50), 100) == (Step(0, 1, 0, 20),)
    assert steps((16, 20), 40) == (Step(0, 1, 0, 16),)


def test_of_ways_by_rows_that_fit_the_one_of_least_work_is_taken():
    layers = tuple(Layer((n,), (n + 1,), by_rows=True) for n in range(3))
    network = Network(layers, (100,) * 4, frozenset({0}), frozenset({3}), 64)
    rings = dict.fromkeys(range(4), 12)
    found = plan(
        network, lambda start, stop: [Rows(8, dict.fromkeys(range(4), 40)), Rows(4, rings, 7.0), Rows(2, rings)]
    )
    assert found.steps == (Step(0, 3, 2),)


@pytest.mark.parametrize(("weights", "cycles", "rows"), [(None, 0.4, 1), (None, 0.5, 4), (100, 0.4, 4)])
def test_rings_leave_room_to_weights_that_share_their_memory(weights: int | None, cycles: float, rows: int):
    """Rings of 48 bytes pay a 64th of their traffic, 0.75 cycles at a byte a cycle, those of 20 bytes 0.31."""
    layers = tuple(Layer((n,), (n + 1,), by_rows=True) for n in range(3))
    network = Network(layers, (100,) * 4, frozenset({0}), frozenset({3}), 64, weights)
    ways = [Rows(4, dict.fromkeys(range(4), 12)), Rows(1, dict.fromkeys(range(4), 5), cycles)]
    assert plan(network, lambda start, stop: ways).steps == (Step(0, 3, rows),)


def test_a_large_map_that_is_made_by_rows_is_read_by_rows():
    def groups(large: int) -> tuple[Step, ...]:
        layers = tuple(Layer((n,), (n + 1,), by_rows=True) for n in range(3))
        network = Network(layers, (4000, 200_000, large, 4000), frozenset({0}), frozenset({3}), 100_000)
        return plan(network, lambda start, stop: [Rows(2, dict.fromkeys(range(start, stop + 1), 4000))]).steps

    assert groups(60_000) == (Step(0, 3, 2),)
    assert groups(8000) == (Step(0, 2, 2), Step(2, 3, 0))


@pytest.mark.parametrize(("input_bytes", "rows"), [(8000, 4), (1000, 0)])
def test_a_large_input_arrives_in_rows(input_bytes: int, rows: int):
    """A layer that reads it as a whole pays a part of its traffic: 125 cycles of 8000, more than a step in rows."""
    layer = Layer(reads=(0,), makes=(1,), by_rows=True)
    network = Network((layer,), (input_bytes, 500), frozenset({0}), frozenset({1}), 16384)
    found = plan(network, lambda start, stop: [Rows(4, {0: 400, 1: 100})])
    assert [step.rows for step in found.steps] == [rows]


@pytest.mark.parametrize(("cycles", "stop"), [(0.0, 1), (3000.0, 3), (2500.0, 4), (9000.0, 1)])
def test_layers_run_in_rows_while_an_input_comes_in(cycles: float, stop: int):
    """As many as have work for 8000 cycles, in which the input comes; one does where nothing is known of work."""
    layers = tuple(Layer((n,), (n + 1,), by_rows=True, cycles=cycles) for n in range(4))
    network = Network(layers, (8000, 500, 500, 500, 500), frozenset({0}), frozenset({4}), 16384)
    found = plan(network, lambda start, stop: [Rows(4, dict.fromkeys(range(start, stop + 1), 100))])
    assert (found.steps[0].rows, found.steps[0].stop) == (4, stop)


def test_the_least_map_whose_leaving_lets_a_layer_run_is_stored():
    """A map that fits nowhere is made and read by rows, if the map of 30, or that of 45, is not kept."""
    by_rows = [Layer((n,), (n + 1,), by_rows=True) for n in (1, 2)]
    layers = (Layer((0,), (1,)), *by_rows, Layer((3, 1), (4,)))
    network = Network(layers, (10, 30, 1000, 45, 10), frozenset({0}), frozenset({4}), 96)
    found = plan(network, lambda start, stop: [Rows(2, dict.fromkeys(range(start, stop + 1), 24))])
    assert found == Plan((Step(0, 1, 0), Step(1, 3, 2), Step(3, 4, 0)), frozenset({3, 4}))


def test_a_sum_is_made_where_its_last_operand_lies():
    def found(capacity: int, overwrites: tuple[int, ...]) -> Plan:
        layers = (
            Layer(reads=(0,), makes=(1,)),
            Layer(reads=(1,), makes=(2,)),
            Layer(reads=(1, 2), makes=(3,), overwrites=overwrites),
            Layer(reads=(3,), makes=(4,)),
        )
        sizes = (64, 320, 320, 320, 64)
        return plan(Network(layers, sizes, frozenset({0}), frozenset({4}), capacity), no_rows)

    assert [step.overwritten for step in found(1024, (1,)).steps] == [-1, -1, 1, -1]
    assert found(1024, ()).kept == {1, 2, 3, 4}
    assert found(800, (1,)).kept == {1, 2, 3, 4}  # two maps and not three are there at once
    assert found(800, ()).kept < {1, 2, 3, 4}
    assert [step.overwritten for step in found(1024, (0,)).steps] == [-1] * 4  # 0 comes from outside


def test_of_reloaded_weights_those_of_one_layer_are_there():
    """Four samples of 100 bytes each; the weights of three layers do not fit beside each other, those of one do."""
    layers = tuple(Layer((n,), (n + 1,), weight_bytes=500, by_sample=True) for n in range(3))
    network = Network(layers, (400,) * 4, frozenset({0}), frozenset({3}), capacity_bytes=1100, samples=4)
    again = Span(0, 3, reload=True)
    assert plan(network, no_rows, spans=[Span(0, 3)]).spans == ()
    found = plan(network, no_rows, spans=[again])
    assert found.spans == (again,)
    assert [step.rows for step in found.steps] == [0, 0, 0]
    assert found.kept == {1, 2}  # the result leaves sample by sample
    assert plan(replace(network, capacity_bytes=700), no_rows, spans=[again]).spans == ()


def test_weights_that_stay_take_the_memory_that_they_have_of_their_own():
    """Those of three layers, 1,500 bytes, beside maps of 1,000 bytes that they would have no room in."""
    layers = tuple(Layer((n,), (n + 1,), 500, (250,), by_sample=True) for n in range(3))
    span = Span(0, 3)

    def found(weight_capacity_bytes: int | None, capacity_bytes: int = 1000) -> Plan:
        network = Network(layers, (400,) * 4, frozenset({0}), frozenset({3}), capacity_bytes, weight_capacity_bytes)
        return plan(replace(network, samples=4), no_rows, spans=[span])

    assert found(1500).spans == (span,)
    assert found(1499).spans == (Span(0, 2),)
    assert found(None).spans == ()
    whole = found(None, 2400)
    assert whole.spans == (span,)
    assert not any(step.piece_bytes for step in whole.steps)  # loaded once, as wholes


def test_bytes_that_pass_are_those_of_maps_that_are_there():
    rng = random.Random(5)
    for _ in range(20):
        network = random_network(rng, 8)
        search = Search(network, no_rows, 0.5)
        for _ in range(3):
            search.kept -= {rng.choice(sorted(search.kept))}
            for start, stop in combinations(range(9), 2):
                there = present(network, search.kept, start, stop)
                assert search.passing(start, stop) == sum(network.map_bytes[n] for n in there)


@pytest.mark.parametrize(("cycles", "rows"), [(0.0, 8), (1500.0, 2), (2500.0, 4), (4000.0, 8)])
def test_few_rows_are_made_where_more_would_wait_for_an_input(cycles: float, rows: int):
    """In the 2000 cycles of traffic there is work for all tiles but the last."""
    layers = Layer((0,), (1,), by_rows=True, cycles=cycles / 2), Layer((1,), (2,), by_rows=True, cycles=cycles / 2)
    network = Network(layers, (1000, 1000, 1000), frozenset({0}), frozenset({2}), 600)
    ways = [Rows(8, {}, 0.0, tiles=2), Rows(4, {}, 100.0, tiles=4), Rows(2, {}, 200.0, tiles=8)]
    found = plan(network, lambda start, stop: ways)
    costs = {way.rows: way.cycles + max(0, 2000 - (cycles + way.cycles) * (1 - 1 / way.tiles)) for way in ways}
    assert found.steps == (Step(0, 2, rows),)
    assert not cycles or costs[rows] == min(costs.values())


@pytest.mark.parametrize("seed", range(10))
def test_a_map_that_is_made_in_parts_is_kept_or_no_part_runs_on_chip(seed: int):
    """Also beside spans, whose layers all run on chip: only the last layer that makes a part would store the map."""
    rng, layers = random.Random(seed), list[Layer]()
    sizes = [rng.randint(8, 40)]
    while len(layers) < 8:
        made = len(sizes)
        sizes.append(rng.randint(8, 40))
        layers.append(Layer((rng.randrange(max(0, made - 3), made),), (made,), rng.choice((0, 9)), by_sample=True))
        if rng.random() < 0.5:
            layers.append(Layer((rng.randrange(max(0, made - 3), made), made), (made,), by_sample=True))
    read = {number for layer in layers for number in layer.reads}
    results = frozenset(number for number in range(len(sizes)) if number not in read) | {len(sizes) - 1}
    given = Network(tuple(layers), tuple(sizes), frozenset({0}), results, 0, samples=4)
    for capacity, stop, reload in product(range(20, 200, 12), (2, 4, 8), (False, True)):
        network = replace(given, capacity_bytes=capacity)
        found = plan(network, no_rows, spans=[Span(0, stop, reload=reload)])
        apart = {step.start for step in found.steps if step.rows == OFFCHIP}
        assert not any(place in span for place in apart for span in found.spans)
        assert not any(found.kept & {*layers[place].reads, *layers[place].makes} for place in apart)
        for number in range(1, len(sizes)):
            makers = {place for place, layer in enumerate(layers) if number in layer.makes}
            assert len(makers) == 1 or number in found.kept or makers <= apart
