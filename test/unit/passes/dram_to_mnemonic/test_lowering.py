"""Schedules executed: bytes equal to NumPy's layers, cycles as predicted, DRAM traffic as scheduled."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from tilewright.algebra.allocation import LiveRange, Part, Parts, allocate_parts
from tilewright.arrays import Array
from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.backends.simulator.result import SimulationResult
from tilewright.costs.dram.platform import buffer_of, offchip_of
from tilewright.costs.notation import Choices, Move, Parsed, live_ranges, parse
from tilewright.costs.soma import Fusion
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.interpreters.dram import random_tensors, run_network
from tilewright.passes.dram_to_mnemonic import Lowered, lower
from tilewright.passes.dram_to_mnemonic.blocks import Piece, bands, stretches
from tilewright.resources import Resources
from tilewright.zoo.schedule_networks import Layer, Network, Shape, gpt2_decode, gpt2_prefill

EDGE = load_target("edge16")


def eager(parsed: Parsed) -> list[Move]:
    """Loads as their tiles need them, stores right after theirs."""
    loads = [(t.first, 0, number) for number, t in enumerate(parsed.tensors) if t.moves and t.kind < 2]
    stores = [(t.first, 1, number) for number, t in enumerate(parsed.tensors) if t.moves and t.kind == 2]
    moves: list[Move] = []
    for first, store, number in sorted(loads + stores):
        last = parsed.tensors[number].last
        moves.append(Move(number, first, last) if store else Move(number, max(-1, first - 1), last))
    return moves


def placed(ranges: dict[int, LiveRange]) -> dict[int, Parts]:
    return dict(zip(ranges, allocate_parts([*ranges.values()], 4 << 20, 64).parts, strict=True))


def execute(
    network: Network, choices: Choices, parts: dict[int, Parts] | None = None, target: str = "edge16"
) -> tuple[Parsed, Lowered, SimulationResult, dict[str, Array]]:
    machine = load_target(target)
    parsed = parse(network, choices)
    moves = eager(parsed)
    parts = parts or placed(live_ranges(parsed, moves))
    lowered = lower(machine, (offchip_of(machine), buffer_of(machine)), parsed, moves, parts)
    inputs, weights = random_tensors(network, choices.batch, 3)
    program = Program(machine, lowered.code, lowered.tensors, Resources(weights))
    result = simulate(program, inputs)
    expected = run_network(network, inputs, weights)
    for tensor in lowered.tensors:
        if tensor.role in ("temp", "output"):
            np.testing.assert_array_equal(result.tensor(tensor.name), expected[tensor.name], tensor.name)
    assert result.cycles == lowered.times.latency_cycles
    assert result.dram_bytes == lowered.dram_bytes == sum(parsed.tensors[m.tensor].size_bytes for m in moves)
    return parsed, lowered, result, expected


def mixed() -> Network:
    """Strides, padding on either side, groups, concatenation, sums, transposes and repeated pixels."""
    return Network(
        "mixed",
        (("x", Shape(5, 13, 11)), ("y", Shape(3, 13, 11))),
        (
            Layer("a", "conv", Shape(24, 7, 6), external=(0, 1), kernel=(3, 3), stride=(2, 2)),
            Layer("b", "group_conv", Shape(24, 7, 6), (0,), kernel=(3, 3), groups=24),
            Layer("c", "group_conv", Shape(16, 7, 6), (0, 1), kernel=(1, 1), groups=8),
            Layer("d", "pool", Shape(24, 4, 3), (1,), kernel=(3, 3), stride=(2, 2)),
            Layer("e", "upsample", Shape(24, 8, 6), (3,)),
            Layer("f", "eltwise", Shape(24, 7, 6), (0, 1), operands=2),
            Layer("g", "pointwise", Shape(40, 7, 6), (2, 5)),
            Layer("h", "transpose", Shape(7, 40, 6), (6,), permutation=(1, 0, 2)),
            Layer("i", "eltwise", Shape(40, 7, 6), (6, 6, 6), operands=3),
            Layer("j", "conv", Shape(9, 5, 5), (8,), kernel=(5, 2)),
            Layer("k", "fc", Shape(10, 1, 1), (8,), kernel=(7, 6)),
        ),
    )


def random_choices(network: Network, random: Random, batch: int) -> Choices:
    count = len(network.layers)
    groups = tuple(i for i in range(1, count) if random.random() < 0.3)
    cuts = tuple(i for i in range(1, count) if i not in groups and random.random() < 0.4)
    tiles = tuple(random.choice((1, 1, 2, 3, 4, batch)) for _ in range(1 + len(groups) + len(cuts)))
    flags = tuple(random.random() < 0.5 for _ in tiles), tuple(random.random() < 0.5 for _ in tiles)
    return Choices(Fusion(tuple(range(count)), groups, cuts, tiles), batch, *flags)


def test_random_schedules_of_all_kinds_of_layers():
    """Fused or not, in tiles with halos, from one tensor or several, weights kept or streamed: the same bytes."""
    random, seen = Random(5), 0
    while seen < 5:
        choices = random_choices(mixed(), random, random.choice((1, 2)))
        try:
            parse(mixed(), choices)
        except TilewrightError:
            continue
        execute(mixed(), choices)
        seen += 1


def test_tensors_in_parts():
    """Every tensor cut after a few channels, wherever that falls in a group, an operand or a source."""
    random = Random(6)
    for trial in range(2):
        choices = Choices(Fusion(tuple(range(11)), (5,), (2, 8), (2, 1, 1, 1)), 1 + trial % 2)
        parsed = parse(mixed(), choices)
        at, parts = 0, dict[int, Parts]()
        for number, item in live_ranges(parsed, eager(parsed)).items():
            cuts = sorted(random.sample(range(1, item.slabs), min(2, item.slabs - 1)))
            firsts = [0, *cuts, item.slabs]
            own: list[Part] = []
            for first, after in pairwise(firsts):
                own.append(Part(first, at))
                at += -(-(after - first) * item.slab_bytes // 64) * 64
            parts[number] = tuple(own)
        execute(mixed(), choices, parts)


@pytest.mark.parametrize("target", ["edge16", "cloud128"])
def test_attention(target: str):
    """Weights that layers make, of one token and of a prompt, samples apart."""
    decode = gpt2_decode("decode", 48, 3, 9)
    execute(decode, Choices(Fusion(tuple(range(len(decode.layers))), (4,), (9,), (1, 2, 2)), 2), target=target)
    prefill = gpt2_prefill("prefill", 48, 3, 10)
    count = len(prefill.layers)
    choices = Choices(Fusion(tuple(range(count)), (), tuple(range(1, count)), (1,) * (count - 1) + (5,)), 1)
    execute(prefill, choices, target=target)


def test_keys_stay_from_tile_to_tile():
    """Keys come from DRAM; each tile of a sample's rows reads all of them, so they are loaded once for each sample."""
    layers = (
        Layer("q", "conv", Shape(12, 6, 1), external=(0,)),
        Layer("k", "conv", Shape(18, 4, 1), external=(1,)),
        Layer("qk", "group_conv", Shape(18, 6, 1), (0,), weights_from=(1,), groups=3),
    )
    network = Network("keys", (("x", Shape(5, 6, 1)), ("y", Shape(5, 4, 1))), layers)
    for reused, loads in ((False, 4), (True, 2)):
        choices = Choices(Fusion((0, 1, 2), (2,), (1,), (1, 1, 4)), 2, (False,) * 3, (False, False, reused))
        parsed, *_ = execute(network, choices)
        assert sum(tensor.layer == 2 and tensor.source == 1 for tensor in parsed.tensors) == loads


def test_sums_in_chunks():
    """What the schedule leaves is small: several chunks of channels and rows, each requantised behind the next."""
    layer = Layer("a", "conv", Shape(200, 24, 24), external=(0,), kernel=(3, 3))
    network = Network("one", (("x", Shape(8, 24, 24)),), (layer,))
    parsed = parse(network, Choices(Fusion((0,), (), (), (1,)), 1))
    capacity = buffer_of(EDGE).capacity_bytes
    parts = {0: (Part(0, 0),), 1: (Part(0, 65536),), 2: (Part(0, capacity - (200 * 576) - 65536),)}
    _, lowered, result, _ = execute(network, parsed.choices, parts)
    requants = result.counts.as_dict()["mnemonics"]["REQ"]
    assert requants > 4
    assert lowered.timed.tiles[0] < result.cycles


def test_no_room_for_sums_is_told():
    network = Network("one", (("x", Shape(8, 8, 8)),), (Layer("a", "conv", Shape(8, 8, 8), external=(0,)),))
    parsed = parse(network, Choices(Fusion((0,), (), (), (1,)), 1))
    top = buffer_of(EDGE).capacity_bytes - 1024
    parts = {0: (Part(0, 0),), 1: (Part(0, 1024),), 2: (Part(0, top),)}
    with pytest.raises(InfeasibleError, match="left free"):
        lower(EDGE, (offchip_of(EDGE), buffer_of(EDGE)), parsed, eager(parsed), parts)


def test_bands():
    """Five outputs under a window of three: the middle tap reaches all, the others all but one."""
    found = bands(stretches((0, 5), (3, 1, 1), 5, [[(0, 5)]]))
    assert len(found) == 1
    assert sorted(found[0].pieces[0]) == [
        Piece((0, 4), (0, 5), (2, 3)),
        Piece((0, 5), (0, 5), (1, 2)),
        Piece((1, 5), (0, 5), (0, 1)),
    ]
    assert found[0].pieces[0][0].outputs == (0, 5)


def test_bands_cover_each_tap_once():
    """Windows over maps in several overlapping tensors: each output has each of its taps exactly once."""
    random = Random(2)
    for _ in range(200):
        size, kernel, stride = random.randint(4, 20), random.randint(1, 5), random.randint(1, 3)
        pad = random.randint(0, kernel - 1)
        cuts = sorted(random.sample(range(1, size), random.randint(0, min(3, size - 1))))
        spans = [
            (max(0, low - random.randint(0, 2)), high) for low, high in zip([0, *cuts], [*cuts, size], strict=True)
        ]
        outputs = (0, (size + pad - kernel) // stride + 1)
        if outputs[1] < 1:
            continue
        seen: list[tuple[int, int]] = []
        for band in bands(stretches(outputs, (kernel, stride, pad), size, [spans])):
            first = band.pieces[0][0]
            for piece in band.pieces[0]:
                assert band.outputs[0] <= piece.outputs[0] < piece.outputs[1] <= band.outputs[1]
                for output in range(*piece.outputs):
                    for tap in range(*piece.taps):
                        seen.append((output, tap))
                        assert piece.span[0] <= output * stride - pad + tap < piece.span[1]
            assert first.outputs == band.outputs
        inside = range(size)
        wanted = [(o, t) for o in range(*outputs) for t in range(kernel) if o * stride - pad + t in inside]
        assert sorted(seen) == wanted
