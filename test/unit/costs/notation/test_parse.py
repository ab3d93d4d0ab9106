"""Two witnesses of the notation: plain Python against the compiled model, on random fusions of small networks."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tilewright.costs.dram import Model, Timetable, net_tables, score, timetable, workspace
from tilewright.costs.dram.emit import FITS
from tilewright.costs.notation import (
    INPUT,
    OUTPUT,
    WEIGHT,
    Choices,
    Move,
    Parsed,
    check_capacity,
    check_schedule,
    parse,
    times_of,
    transfer_cycles,
)
from tilewright.costs.notation.price_file import double_buffered, energy_by_place, price_transfers, soma_parsed
from tilewright.costs.soma import Fusion, hardware
from tilewright.costs.soma.blocks import splits
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.zoo.schedule_networks import Layer, Network, Shape, schedule_network

from ..soma.witness import plan
from ..soma.witness_prices import double_buffered as witnessed
from ..soma.witness_prices import evaluate
from .reference import reference

ARRAY = hardware(8, 1, 4, 256, 512).array
MODEL = Model(ARRAY, 8 << 20, 16, 0, 256, 1)


def five() -> Network:
    """Five layers as in SoMa's figure 4: the third has no weights, the last reads the second and the fourth."""
    shape = Shape(16, 8, 8)
    return Network(
        "five",
        (("x", Shape(8, 8, 8)),),
        (
            Layer("a", "conv", shape, external=(0,), kernel=(3, 3)),
            Layer("b", "conv", shape, (0,), kernel=(3, 3)),
            Layer("c", "pool", Shape(16, 4, 4), (1,), kernel=(2, 2), stride=(2, 2)),
            Layer("d", "conv", shape, (1,)),
            Layer("e", "fc", Shape(10, 1, 1), (2,), kernel=(4, 4)),
        ),
    )


def tokens(network: Network) -> bool:
    """Whether it is a transformer block, of which few cuts are possible."""
    return network.name.startswith("gpt2")


def random_state(network: Network, random: Random, batch: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    count = len(network.layers)
    state = np.zeros((4, count), np.int64)
    state[0] = range(count)
    for place in range(count):
        state[1, place] = 2 if place == 0 else random.choice((0, 0, 1, 2))
        if state[1, place]:
            state[2, place] = random.choice((1, batch) if tokens(network) else (1, 1, 2, 4, batch, 2 * batch))
            state[3, place] = random.choice((0, 1, 2, 3))
    return state


def both(table: Timetable, batch: int, model: Model) -> tuple[Parsed, list[Move]]:
    """A table's parsing, which is that of the reference, and its transfers."""
    choices = Choices(table.fusion, batch, table.streamed, table.reused)
    parsed = parse(table.network, choices, model)
    tiles, tensors = reference(table.network, choices)
    assert [*parsed.tiles] == [(tile.layer, tile.tile) for tile in tiles]
    assert [*parsed.tensors] == tensors
    moves = [
        Move(parsed.number[item.kind, item.layer, item.tile, item.source], item.start, item.end)
        for item in table.transfers
    ]
    return parsed, moves


@pytest.mark.parametrize(
    "name", ["five", "resnet50", "gpt2_small_prefill", "gpt2_small_decode", "randwire_small", "unet"]
)
def test_both_witnesses_agree(name: str):
    """Tiles, sizes, use of the buffer at each position, and cycles are equal."""
    network = five() if name == "five" else schedule_network(name, 65 if "gpt2" in name else None)
    random, seen = Random(name), 0
    net = net_tables(network)
    for trial in range(12):
        batch = random.choice((1, 2, 4))
        model = Model(ARRAY, 64 << 20, 16, random.choice((0, 30)), 256, 1)
        state = random_state(network, random, batch)
        work = workspace(net, 4096)
        if score(net, model, splits(4), batch, state, work, model.buffer_bytes, trial % 4) != FITS:
            continue
        seen += 1
        table = timetable(network, net, state, work)
        parsed, moves = both(table, batch, model)
        assert [(tile.layer, tile.tile) for tile in parsed.tiles] == [*zip(table.tile_layer, table.tile_index)]
        assert [parsed.tensors[m.tensor].size_bytes for m in moves] == [t.size_bytes for t in table.transfers]
        check_schedule(parsed, moves)
        assert check_capacity(parsed, moves, model.buffer_bytes) == table.usage_bytes.tolist()
        cycles = transfer_cycles(parsed, model.bandwidth, model.latency)
        times = times_of(parsed, moves, cycles)
        assert times.latency_cycles == table.latency_cycles
        assert list(times.tile_begin) == table.tile_begin.tolist()
    assert seen > 3


def test_figure():
    """Figure 4 of the paper: {a, b} in two tiles, a fine-grained cut, c and d, a DRAM cut, e."""
    parsed = parse(five(), Choices(Fusion((0, 1, 2, 3, 4), (4,), (2,), (2, 1, 1)), 1), MODEL)
    assert [(tile.layer, tile.tile) for tile in parsed.tiles] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (2, 0),
        (3, 0),
        (4, 0),
    ]
    names = [(t.kind, t.layer, t.tile, t.first, t.last) for t in parsed.tensors if t.moves]
    assert names == [
        (INPUT, 0, 0, 0, 1),
        (WEIGHT, 0, 0, 0, 3),
        (WEIGHT, 1, 0, 1, 4),
        (INPUT, 0, 1, 2, 3),
        (WEIGHT, 3, 0, 5, 6),
        (INPUT, 4, 0, 6, 7),
        (WEIGHT, 4, 0, 6, 7),
        (OUTPUT, 2, 0, 4, 5),
        (OUTPUT, 3, 0, 5, 6),
        (OUTPUT, 4, 0, 6, 7),
    ]
    kept = [(t.layer, t.tile, t.first, t.last) for t in parsed.tensors if not t.moves]
    assert kept == [(0, 0, 0, 2), (1, 0, 1, 6), (0, 1, 2, 4), (1, 1, 3, 6)]
    columns = [tile.region.columns for tile in reference(five(), parsed.choices)[0]]
    assert columns[:4] == [(0, 5), (0, 4), (3, 8), (4, 8)]


def legal() -> tuple[Parsed, list[Move]]:
    parsed = parse(five(), Choices(Fusion((0, 1, 2, 3, 4), (4,), (2,), (2, 1, 1)), 1), MODEL)
    number = parsed.number
    lives = [
        ((WEIGHT, 0, 0, -1), -1, 3),
        ((INPUT, 0, 0, 0 - 1), -1, 1),
        ((WEIGHT, 1, 0, -1), 0, 4),
        ((INPUT, 0, 1, -1), 1, 3),
        ((WEIGHT, 3, 0, -1), 2, 6),
        ((OUTPUT, 2, 0, -1), 4, 6),
        ((WEIGHT, 4, 0, -1), 5, 7),
        ((INPUT, 4, 0, 2), 6, 7),
        ((OUTPUT, 3, 0, -1), 5, 7),
        ((OUTPUT, 4, 0, -1), 6, 7),
    ]
    return parsed, [Move(number[key], *life) for key, *life in lives]


def test_legal_schedule_has_the_times_of_the_figure():
    """Ten cycles a tile, one byte a cycle: the times follow from the rules by hand."""
    parsed, moves = legal()
    check_schedule(parsed, moves)
    times = times_of(replace(parsed, tile_cycles=(10,) * 7), moves, (4,) * len(parsed.tensors))
    assert times.tile_begin == (8, 18, 28, 38, 48, 58, 72)
    assert times.move_begin == (0, 4, 8, 18, 28, 58, 62, 68, 72, 82)
    assert times.latency_cycles == 86


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m[1:], "expected one transfer, found none"),
        (lambda m: [m[0], *m], "expected one transfer, found two"),
        (lambda m: [m[0]._replace(start=-2), *m[1:]], "a life from -1 to 0"),
        (lambda m: [m[0]._replace(start=1), *m[1:]], "a life from -1 to 0"),
        (lambda m: [m[0]._replace(end=4), *m[1:]], "a life until 3"),
        (lambda m: [*m[:9], m[9]._replace(start=5)], "a life from 6, when it is made"),
        (lambda m: [*m[:9], m[9]._replace(end=8)], "a life until 7 to 7"),
        (lambda m: [*m[:5], m[7], m[5], m[6], *m[8:]], "all stores of c before it"),
        (lambda m: [m[0], m[1], m[3], m[2]._replace(start=0), *m[4:]], None),
        (lambda m: [m[0], m[2], m[3]._replace(start=2), m[1], *m[4:]], "a place in the order after"),
    ],
)
def test_rules(change: object, words: str | None):
    parsed, moves = legal()
    changed = change(moves)  # type: ignore[operator]
    if words is None:
        check_schedule(parsed, changed)
        return
    with pytest.raises(TilewrightError, match=words):
        check_schedule(parsed, changed)


def test_capacity_tells_what_is_missing_and_where():
    parsed, moves = legal()
    peak = max(check_capacity(parsed, moves, 1 << 20))
    with pytest.raises(InfeasibleError) as caught:
        check_capacity(parsed, moves, peak - 100)
    assert caught.value.demand == peak
    assert "100 bytes more" in caught.value.lever
    assert "position" in caught.value.subject


def test_tiles_that_cannot_be_cut_are_refused():
    with pytest.raises(TilewrightError, match="use fewer tiles"):
        parse(five(), Choices(Fusion((0, 1, 2, 3, 4), (4,), (2,), (2, 1, 7)), 1), MODEL)


def test_work_is_bounded():
    """A tile count out of all proportion is refused before anything is cut."""
    with pytest.raises(TilewrightError, match="at most 262144 tiles"):
        parse(five(), Choices(Fusion((0, 1, 2, 3, 4), (), (), (1 << 60,)), 1), MODEL)


def test_soma_schedules_in_the_exact_model():
    """Each reader loads for itself; halos on both sides cost energy, and the buffer may lack a byte."""
    network, machine = schedule_network("resnet50"), hardware(8, 1, 4, 256, 512)
    fusion = Fusion(tuple(range(72)), (0, 70), (10,), (4, 2, 1))
    soma, exact = (soma_parsed(network, machine, fusion, 2, model) for model in (0, 1))
    assert [tensor.key for tensor in soma.tensors] == [tensor.key for tensor in exact.tensors]
    made = plan(network, machine, fusion, 2)
    given, expected = double_buffered(soma), evaluate(made)
    assert all((one == other).all() for one, other in zip(given, vars(witnessed(made)).values(), strict=True))
    price: Any = price_transfers(soma, given, machine)
    again: Any = price_transfers(exact, given, machine)
    assert price == {key: value for key, value in expected.as_json().items() if key != "energy_by_place_pj"} | {
        "energy_pj": pytest.approx(expected.energy_pj, rel=1e-12)
    }
    assert exact.energy_pj > soma.energy_pj
    tight = replace(machine, buffer_bytes=again["max_buffer_bytes"] - 1)
    assert price_transfers(exact, given, tight)["violations"] != []
    assert sum(energy_by_place(soma, machine).values()) == pytest.approx(soma.energy_pj, rel=1e-12)


def test_a_tile_that_fits_no_core_is_told():
    layer = Layer("a", "conv", Shape(64, 100, 1), external=(0,), kernel=(2000, 1))
    network = Network("wide", (("x", Shape(64, 2100, 1)),), (layer,))
    with pytest.raises(TilewrightError, match="tiles that the cores can compute"):
        soma_parsed(network, hardware(8, 1, 4, 256, 512), Fusion((0,), (), (), (1,)), 1)
