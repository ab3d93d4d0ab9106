"""Bounds of small networks by hand: each argument where it binds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest

from tilewright.algebra.expr import tensors_of
from tilewright.algebra.parser import parse_statement
from tilewright.costs.bounds.program import NetworkBuilder, program_bound
from tilewright.costs.bounds.program.demand import Demand, Need, need
from tilewright.costs.bounds.program.network import Join, Step, View
from tilewright.costs.mapping.binding import split_choices
from tilewright.costs.mapping.formula import compile_formula
from tilewright.costs.mapping.problem import Buffer, Group, Kernel
from tilewright.frontends.acg import load_target
from tilewright.machine import Machine

EDGE = load_target("edge16")
"""16 bytes a cycle to and from DRAM; 128 lanes of f32 in the vector unit."""


class Floats(NetworkBuilder):
    """Networks of f32 tensors."""

    def tensor(self, *shape: int) -> int:
        return self.add_tensor(shape, 4)

    def kernel(
        self,
        text: str,
        shape: Sequence[int],
        dims: dict[str, int],
        into: int | None = None,
        padded: str = "",
        **read: int,
    ) -> int:
        """A group of one kernel, whose target `Y` has this shape and may start as the value `into`."""
        names = tensors_of(parse_statement(text))
        bound = tuple((name, name) for name in names)
        types = tuple((name, "f32") for name in names)
        kernel = Kernel("kernel", parse_statement(text), bound, types, into is not None, tuple(padded))
        shapes = {"Y": tuple(shape)} | {name: self.values[value].shape for name, value in read.items()}
        buffers = tuple(Buffer(n, s, "f32", 4, n != "Y" or into is not None, n == "Y") for n, s in shapes.items())
        start = {} if into is None else {"Y": into}
        return self.add_group(Group(tuple(dims.items()), (kernel,), buffers), read | start)["Y"]

    def chain(self, value: int, length: int, size: int) -> int:
        """So many kernels one after the other on a vector: each takes size / 128 cycles."""
        for _ in range(length):
            value = self.kernel("Y[i] = sigmoid(A[i])", (size,), {"i": size}, A=value)
        return value


def bound(builder: NetworkBuilder, *outputs: int, machine: Machine = EDGE):
    return program_bound(builder.network(outputs), machine)


def test_traffic():
    """Bytes in and out once: 64 x 60 and 60 x 50 come, 64 x 50 go, 4 bytes each."""
    net = Floats()
    a, b = net.tensor(64, 60), net.tensor(60, 50)
    y = net.kernel("Y[m, n] += A[m, k] * B[k, n]", (64, 50), {"m": 64, "n": 50, "k": 60}, A=a, B=b)
    found = bound(net, y)
    assert found.dram_bytes == 4 * (64 * 60 + 60 * 50 + 64 * 50)
    assert (found.bound_by, found.cycles) == ("DRAM traffic", found.dram_bytes // 16)


def test_work_of_kernels_that_need_not_wait_for_each_other():
    net = Floats()
    x = net.tensor(1024)
    found = bound(net, net.chain(x, 100, 1024), net.chain(x, 100, 1024))
    assert (found.bound_by, found.cycles) == ("work of VPU", 2 * 100 * 1024 // 128)


def test_work_between_the_first_load_and_the_last_store():
    """An element comes, all 100 kernels work, an element goes."""
    net = Floats()
    found = bound(net, net.chain(net.tensor(1024), 100, 1024))
    assert (found.bound_by, found.cycles) == ("loads before kernel, then work of VPU", 1 + 100 * 1024 // 128 + 1)


def test_weights_before_a_kernel():
    """The vector's kernels wait for a sum of 16384 numbers, which come in 4096 cycles."""
    net = Floats()
    many = net.tensor(16384)
    total = net.kernel("Y[] += A[k]", (), {"k": 16384}, A=many)
    start = net.kernel("Y[i] = B[]", (1024,), {"i": 1024}, B=total)
    found = bound(net, net.chain(start, 100, 1024))
    assert (found.bound_by, found.cycles) == ("loads before kernel, then work of VPU", 4096 + 800 + 1)


def test_stores_after_what_every_result_needs():
    """16384 results need the sum of a vector after 100 kernels: 800 cycles, and 8 for the sum."""
    net = Floats()
    last = net.chain(net.tensor(1024), 100, 1024)
    total = net.kernel("Y[] += A[k]", (), {"k": 1024}, A=last)
    y = net.kernel("Y[i] = B[] * A[i]", (16384,), {"i": 16384}, B=total, A=net.tensor(16384))
    found = bound(net, y, machine=EDGE)
    terms = {name: cycles for name, cycles in found.terms.items() if name.startswith("what every")}
    assert list(terms.values()) == [809 + 16384 * 4 // 16]  # the work of one product is rounded up


def test_what_the_chip_has_no_room_for():
    """Of 64 KiB that are needed after 808 cycles of work, 1 KiB may have come before."""
    net = Floats()
    last = net.chain(net.tensor(1024), 100, 1024)
    total = net.kernel("Y[] += A[k]", (), {"k": 1024}, A=last)
    y = net.kernel("Y[i] = B[] * A[i]", (16384,), {"i": 16384}, B=total, A=net.tensor(16384))
    small = replace(EDGE, memories=(EDGE.memories[0], replace(EDGE.memories[1], banks=1, depth=1024)))
    found = bound(net, y, machine=small)
    assert found.bound_by == "work and loads before kernel, then what the chip had no room for"
    assert found.cycles == 808 + (65536 - 1024) // 16 + 65536 // 16
    assert bound(net, y).cycles < found.cycles


def outer(blocks: int, weights: int) -> tuple[Floats, int]:
    """Sums of products of each of some weights, four numbers in 16 bytes, with all blocks of 128 results: those take a
    cycle each, and a weight comes in one.
    """
    net = Floats()
    x = net.kernel("Y[i] = sigmoid(B[])", (128 * blocks,), {"i": 128 * blocks}, B=net.tensor())
    shapes, dims = (4 * weights,), {"n": 4 * weights, "p": 128 * blocks}
    return net, net.kernel("Y[n] += X[p] * W[n]", shapes, dims, X=x, W=net.tensor(4 * weights))


def channels(count: int, weights: int) -> tuple[Floats, int]:
    """Sums of products of each channel of 128 numbers, made in a cycle each, with as many weights of its own."""
    net = Floats()
    x = net.kernel("Y[c, p] = sigmoid(B[])", (count, 128), {"c": count, "p": 128}, B=net.tensor())
    dims = {"n": weights, "c": count, "p": 128}
    return net, net.kernel("Y[n] += X[c, p] * W[n, c]", (weights,), dims, X=x, W=net.tensor(weights, count))


def last_reads(net: Floats, output: int, room_bytes: int) -> int:
    """What the term of last reads says on `edge16` with so many bytes on chip."""
    small = replace(EDGE, memories=(EDGE.memories[0], replace(EDGE.memories[1], banks=1, depth=room_bytes)))
    (cycles,) = (n for name, n in bound(net, output, machine=small).terms.items() if name.startswith("work before the"))
    return cycles


def fewest_cycles(blocks: int, weights: int, room: int, own: bool = False) -> int:
    """Of all programs that make a block and load a weight in a cycle, of which the chip holds `room`; products and
    blocks take no time and no room.  A weight is for all blocks, or for its own.
    """
    pairs = frozenset(pair for pair in product(range(blocks), range(weights)) if not own or pair[0] == pair[1])
    states, cycles = {(0, frozenset[int](), frozenset[tuple[int, int]]())}, 0
    while not any(done == pairs for *_, done in states):
        cycles += 1
        following: set[tuple[int, frozenset[int], frozenset[tuple[int, int]]]] = set()
        for made, held, done in states:
            for loaded, dropped, more in product(range(weights), {None, *held}, (0, 1)):
                chip, now = (held - {dropped}) | {loaded}, min(blocks, made + more)
                if len(chip) <= room:
                    following.add((now, chip, done | pairs & set(product(range(now), chip))))
        states = following
    return cycles


@pytest.mark.parametrize("blocks", [1, 2, 3])
@pytest.mark.parametrize("weights", [2, 3, 4])
@pytest.mark.parametrize("room", [1, 2])
def test_last_reads_of_weights_against_all_programs(blocks: int, weights: int, room: int):
    assert last_reads(*outer(blocks, weights), 16 * room) <= fewest_cycles(blocks, weights, room)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("room", [1, 2, 3])
def test_last_reads_of_channels_against_all_programs(count: int, room: int):
    assert last_reads(*channels(count, 4), 16 * room) <= fewest_cycles(count, count, room, own=True)


def test_last_reads_of_channels():
    """The last 16th of 1024 channels is begun after 960 cycles; half of its weights may have come before."""
    net, y = channels(1024, 1)
    assert last_reads(net, y, 128) == 961 + (4096 // 16 - 128) // 16


def test_last_reads_wait_for_loads_of_what_they_need():
    """Of the second weights none is read before 16 KiB of the first have come."""
    net = Floats()
    first = net.kernel("Y[] += A[k]", (), {"k": 4096}, A=net.tensor(4096))
    y = net.kernel("Y[i] = B[] * A[i]", (4096,), {"i": 4096}, B=first, A=net.tensor(4096))
    assert last_reads(net, y, 1024) == (16384 + 16384 - 1024) // 16


def test_last_reads_of_weights():
    """Each of 16 KiB of weights is read with all of a vector, which takes 800 cycles; 1 KiB may have come before."""
    net, y = outer(800, 1024)
    assert last_reads(net, y, 1024) == 800 + (16384 - 1024) // 16
    assert last_reads(net, y, 32768) == 0


def test_last_reads_of_joined_maps():
    """A weight's channel is one of two maps, made in 20 and in 50 cycles from a third that takes 300."""
    net, size = Floats(), 128 * 10
    common = net.chain(net.tensor(size), 30, size)
    maps = [net.chain(common, length, size) for length in (2, 5)]
    rows = [net.kernel("Y[c, p] = A[p]", (1, size), {"c": 1, "p": size}, A=value) for value in maps]
    dims = {"n": 2048, "c": 2, "p": size}
    joined, weights = net.add_join(rows, 0, (2, size)), net.tensor(2048, 2)
    y = net.kernel("Y[n] += X[c, p] * W[n, c]", (2048,), dims, X=joined, W=weights)
    assert last_reads(net, y, 1024) == 320 + (16384 - 1024) // 16


def test_last_reads_look_at_each_step_of_a_chain_once(monkeypatch: pytest.MonkeyPatch):
    """Every layer reads a weight along the dim that all layers before it share."""
    asked: list[Step | View | Join] = []

    def counted(step: Step | View | Join, demand: Demand, shapes: Sequence[Sequence[int]]) -> Need:
        asked.append(step)
        return need(step, demand, shapes)

    monkeypatch.setattr("tilewright.costs.bounds.program.last_reads.need", counted)
    net, length = Floats(), 40
    y = net.tensor(128)
    for _ in range(length):
        y = net.kernel("Y[i] = A[i] + B[i]", (128,), {"i": 128}, A=y, B=net.tensor(128))
    assert bound(net, y).terms
    assert length // 2 < len(asked) <= length


def test_last_reads_of_the_taps_of_a_window():
    """Weights of the first of three taps are not read with the last two of 130 x 128 results of the vector unit."""
    net = Floats()
    x = net.kernel("Y[i] = sigmoid(B[])", (130 * 128,), {"i": 130 * 128}, B=net.tensor())
    dims = {"n": 1024, "p": 128 * 128, "r": 3}
    y = net.kernel("Y[n] += X[p + 128 * r] * W[n, r]", (1024,), dims, X=x, W=net.tensor(1024, 3))
    assert last_reads(net, y, 1024) == 128 + (3 * 4096 - 1024) // 16


def test_two_nodes_share_what_both_can_do():
    """Four lanes and one: 1000 operations take at least a fifth of that."""
    machine = load_target("uneven")
    net = Floats()
    found = bound(net, net.kernel("Y[i] = relu(A[i])", (1000,), {"i": 1000}, A=net.tensor(1000)), machine=machine)
    assert found.terms["work of PE and SIMD"] == 200


def test_latency_of_each_load_that_the_chip_can_hold():
    """40 KB in and out, 1 KiB and 8 cycles at most with each instruction of the only unit that moves."""
    machine = load_target("tiny")
    net = Floats()
    found = bound(net, net.kernel("Y[i] = relu(A[i])", (10000,), {"i": 10000}, A=net.tensor(10000)), machine=machine)
    assert found.terms["DRAM traffic"] == 2 * (10000 + 8 * 40)


@pytest.mark.parametrize(("text", "read"), [("Y[i] = A[2 * i]", 30), ("Y[i] = A[i + 7]", 30), ("Y[i] = A[0]", 1)])
def test_what_nobody_reads_need_not_come(text: str, read: int):
    net = Floats()
    found = bound(net, net.kernel(text, (30,), {"i": 30}, A=net.tensor(100)))
    assert found.dram_bytes == 4 * (read + 30)


def test_later_strides_skip_work_and_weights_of_channels():
    """Only every second result of the first kernel, and 2 of its 3 channels, have a reader."""
    net = Floats()
    x, w = net.tensor(8), net.tensor(3)
    y = net.kernel("Y[c, i] = A[i] * W[c]", (3, 8), {"c": 3, "i": 8}, A=x, W=w)
    z = net.kernel("Y[c, i] = exp(A[c, 2 * i])", (2, 4), {"c": 2, "i": 4}, A=y)
    assert bound(net, z).dram_bytes == 4 * (4 + 2 + 8)


def test_a_value_that_several_read_comes_once_and_leaves_once():
    net = Floats()
    x = net.tensor(8)
    a = net.kernel("Y[i] = exp(A[i])", (8,), {"i": 8}, A=x)
    b = net.kernel("Y[i] = A[i] + B[i]", (8,), {"i": 8}, A=x, B=x)
    flat = net.add_view(a, (2, 4))
    assert bound(net, a, b, a, flat).dram_bytes == 3 * 32
    assert bound(net, x, net.add_view(x, (2, 4))).dram_bytes == 0  # nothing has to move


def test_pieces_of_a_result_are_stored_once_and_what_they_cover_is_not_made():
    net = Floats()
    x, y = net.tensor(4), net.tensor(4)
    first = net.kernel("Y[i] = A[i]", (8,), {"i": 4}, A=x)
    both = net.kernel("Y[i + 4] = A[i]", (8,), {"i": 4}, into=first, A=y)
    assert bound(net, both).dram_bytes == 2 * 32
    over = net.kernel("Y[i] = A[i]", (8,), {"i": 8}, into=both, A=net.tensor(8))
    assert bound(net, over).dram_bytes == 2 * 32  # x and y are covered
    part = net.kernel("Y[i + 2] = A[i]", (8,), {"i": 4}, A=x)
    assert bound(net, part).dram_bytes == 2 * 16  # the rest is undefined


def test_energy_of_an_elementwise_kernel_is_that_of_its_bytes_and_operations():
    net = Floats()
    found = bound(net, net.kernel("Y[i] = relu(A[i])", (1000,), {"i": 1000}, A=net.tensor(1000)))
    off, on = EDGE.memories
    moved = off.read_energy_pj_per_byte + on.write_energy_pj_per_byte  # in
    moved += on.read_energy_pj_per_byte + on.write_energy_pj_per_byte  # worked on
    moved += on.read_energy_pj_per_byte + off.write_energy_pj_per_byte  # out
    assert found.energy_pj == pytest.approx(4000 * moved + 1000 * 0.3492, rel=1e-6)


def convolution(net: Floats, channels: int, taps: int, size: int, pad: int = 0) -> int:
    """16 channels of `size` x `size` results that sum so many channels of windows of `taps` x `taps`."""
    x = net.tensor(channels, size + taps - 1 - 2 * pad, size + taps - 1 - 2 * pad)
    dims = {"k": 16, "p": size, "q": size, "c": channels, "r": taps, "s": taps}
    text = f"Y[k, p, q] += X[c, p + r - {pad}, q + s - {pad}] * W[k, c, r, s]"
    return net.kernel(text, (16, size, size), dims, X=x, W=net.tensor(16, channels, taps, taps), padded="X" * (pad > 0))


@pytest.mark.parametrize(("channels", "taps"), [(3, 3), (1, 3), (5, 3)])
def test_sums_in_blocks_against_all_instructions(channels: int, taps: int):
    """Of sums in any instructions of `cocco_npu`, whose arrays have 4 x 4 lanes of f32, no taps may be better."""
    machine, net = load_target("cocco_npu"), Floats()
    fmac = next(c for node in machine.computes for c in node.capabilities if c.name == "fmac")
    cycles, total = compile_formula(fmac.cycles), channels * taps * taps
    costs: dict[int, float] = {}
    for split in split_choices(machine, fmac):
        ways = {f"{dim.name}_ways": 1 for dim in fmac.dims}
        for _, name, count in split:
            ways[f"{name}_ways"] *= count
        for g, k, c, r in product((1, 4), (1, 2, 4, 16), range(1, total + 1), range(1, taps * taps + 1)):
            if c * r <= total:
                box = {"g": g, "k": k, "p": 4, "q": 4, "c": c, "r": r, "s": 1}
                cost = float(cycles({**box, **ways, "ops": 16 * g * k * c * r})) / (16 * g * k)
                costs[c * r] = min(costs.get(c * r, cost), cost)
    least = [0.0]
    for number in range(1, total + 1):
        least.append(min(cost + least[max(0, number - taken)] for taken, cost in costs.items()))
    y = convolution(net, channels, taps, 8)
    found = bound(net, y, machine=machine).terms["work of MXU"]
    assert 1024 * total / 256 < found <= 1024 * least[total] * (1 + 1e-9)


def test_sums_in_blocks_at_a_border():
    """27 taps are 7 blocks of 4 where none is in the border: 6 x 6 of 8 x 8 results; others have 12 or 18."""
    net = Floats()
    found = bound(net, convolution(net, 3, 3, 8, pad=1), machine=load_target("cocco_npu"))
    points = 36 * 27 + 24 * 18 + 4 * 12
    assert found.terms["work of MXU"] == (16 * points / 4 + 16 * 36 * (7 - 27 / 4)) / 64


def test_sums_in_blocks_of_what_is_needed():
    """Of 8 rows of results 7 have a reader."""
    net = Floats()
    y = convolution(net, 3, 3, 8)
    z = net.kernel("Y[k, p, q] = exp(A[k, p, q])", (16, 7, 8), {"k": 16, "p": 7, "q": 8}, A=y)
    assert bound(net, z, machine=load_target("cocco_npu")).terms["work of MXU"] == 16 * 7 * 8 * 7 / 64


@pytest.mark.parametrize(("results", "positions"), [(5, 3), (34, 5), (5, 1), (9, 2), (6, 4)])
def test_blocks_of_results_that_two_ways_make(results: int, positions: int):
    """64 channels fill an array of `cocco_npu` with four results of a position, or four positions of a result.

    So some results may be made in fours, and the others position by position: 5 x 3 are three blocks and one.
    """
    net = Floats()
    x, w, dims = net.tensor(64, positions), net.tensor(results, 64), {"k": results, "q": positions, "c": 64}
    y = net.kernel("Y[k, q] += X[c, q] * W[k, c]", (results, positions), dims, X=x, W=w)
    found = bound(net, y, machine=load_target("cocco_npu")).terms["work of MXU"]
    ways = (-(-some // 4) * positions + (results - some) * -(-positions // 4) for some in range(results + 1))
    assert results * positions / 4 <= found <= min(ways)


@pytest.mark.parametrize(("samples", "outputs", "inputs"), [(4, 32, 32), (2, 24, 48), (5, 1, 64)])
def test_a_layer_of_few_samples_against_all_instructions(samples: int, outputs: int, inputs: int):
    """Each sample, output and input is at one place of an instruction, in whichever of its dims."""
    fmac, net = EDGE.computes[0].capabilities[1], Floats()
    x, w = net.tensor(samples, inputs), net.tensor(outputs, inputs)
    sizes = {"m": samples, "n": outputs, "k": inputs}
    y = net.kernel("Y[m, n] += X[m, k] * W[n, k]", (samples, outputs), sizes, X=x, W=w)
    found = bound(net, y).terms["work of MXU"]
    cycles, least = compile_formula(fmac.cycles), float("inf")
    few = {size: [n for n in range(1, size + 1) if n <= 8 or n % 8 == 0 or n == size] for size in sizes.values()}
    for across, along in ((samples, outputs), (outputs, samples)):  # what is in lanes of results, and in positions
        every = product((1, 2), few[across], few[along], range(1, along + 1), few[inputs], range(1, inputs + 1))
        boxes = np.array([(g, k, p, q, c, r) for g, k, p, q, c, r in every if g * k <= across and p * q <= along])
        boxes = boxes[boxes[:, 4] * boxes[:, 5] <= inputs].T
        box = dict(zip("gkpqcr", boxes, strict=True)) | {"s": 1, "ops": boxes.prod(axis=0)}
        for split in split_choices(EDGE, fmac):
            ways = {f"{dim.name}_ways": prod(n for _, name, n in split if name == dim.name) for dim in fmac.dims}
            least = min(least, float((cycles(box | ways) / box["ops"]).min()))
    points = samples * outputs * inputs
    assert points / 2048 < found <= points * least + 1
