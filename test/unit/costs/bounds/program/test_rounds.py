"""Rounds of layers before a dense layer, against all programs and all times."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from tilewright.costs.bounds.program.last_reads import Chains, counts_of, read_bytes, read_once
from tilewright.costs.bounds.program.network import Network, Step
from tilewright.costs.bounds.program.rounds import Layer, Rounds, rounds_of
from tilewright.costs.bounds.program.traffic import Traffic

from .test_bound import EDGE, Floats, bound, last_reads

Place = tuple[int, int]

Made = tuple[frozenset[Place], frozenset[tuple[str, Place]], frozenset[tuple[Place, Place]], frozenset[Place]]
"""Elements that are made, weights on chip (of the layer or of places), products that are done, and places that are."""


def rounds(net: Floats, output: int, room_bytes: int) -> int:
    """What the term says on `edge16` with so many bytes on chip."""
    small = replace(EDGE, memories=(EDGE.memories[0], replace(EDGE.memories[1], banks=1, depth=room_bytes)))
    (cycles,) = (n for name, n in bound(net, output, machine=small).terms.items() if name.startswith("rounds"))
    return cycles


def network(rows: int, columns: int, units: int, taps: int = 1) -> tuple[Floats, int]:
    """Elements that take a cycle each, all of which a layer reads with the same weights, 16 bytes of each of its taps
    or `units` of them, and what it makes of them a dense layer with 16 bytes for each place."""
    net, size, dims = Floats(), (rows, columns), {"y": rows, "x": columns}
    numbers = net.kernel("Y[p] = sigmoid(B[])", (128,), {"p": 128}, B=net.tensor())
    made = net.kernel("Y[y, x] += B[p]", size, dims | {"p": 128}, B=numbers)
    value = net.kernel("Y[y, x] = relu(A[y, x])", size, dims, A=made)
    weight = net.tensor(taps, 4 * units)
    place = f"y + r - {taps // 2}, x"
    text = f"Y[y, x] += A[{place}] * W[r, p]"
    value = net.kernel(text, size, dims | {"r": taps, "p": 4 * units}, padded="A", A=value, W=weight)
    value = net.kernel("Y[y, x] = relu(A[y, x])", size, dims, A=value)
    return net, net.kernel("Y[n] += A[y, x] * W[n, y, x]", (4,), dims | {"n": 4}, A=value, W=net.tensor(4, *size))


def fewest_cycles(rows: int, columns: int, units: int, taps: int, room: int) -> int:
    """Of all programs that make an element and load 16 bytes in each cycle; all else takes no time."""
    places = list(product(range(rows), range(columns)))
    shared = [(tap, unit) for tap in range(taps) for unit in range(units)]
    operand = {
        (at, weight): (at[0] + weight[0] - taps // 2, at[1])
        for at, weight in product(places, shared)
        if 0 <= at[0] + weight[0] - taps // 2 < rows
    }
    loads: list[tuple[str, Place]] = [("shared", at) for at in shared] + [("own", at) for at in places]
    states: set[Made] = {(frozenset(), frozenset(), frozenset(), frozenset())}
    cycles = 0
    while not any(len(done) == len(places) for *_, done in states):
        cycles += 1
        following: set[Made] = set()
        for made, held, products, done in states:
            more = [made | {at} for at in places if at not in made] or [made]
            useful = [load for load in loads if load not in held and (load[0] == "shared" or load[1] not in done)]
            for now, load, dropped in product(more, useful, [None, *held]):
                chip = (held - {dropped}) | {load}
                if len(chip) > room:
                    continue
                all_products = products | {key for key in operand if ("shared", key[1]) in chip and operand[key] in now}
                left = {key[0] for key in operand if key not in all_products}
                read = {at for kind, at in chip if kind == "own" and at not in left}
                following.add((now, chip, all_products, done | read))
        states = following
    return cycles


@pytest.mark.parametrize(
    ("rows", "columns", "units", "taps", "room"),
    [
        (2, 2, 1, 1, 1),
        (2, 2, 2, 1, 1),
        (2, 2, 2, 1, 2),
        (2, 2, 3, 1, 2),
        (2, 2, 1, 3, 1),
        (2, 2, 1, 3, 2),
        (2, 3, 1, 1, 1),
    ],
)
def test_rounds_against_all_programs(rows: int, columns: int, units: int, taps: int, room: int):
    """A cycle more makes the numbers that are summed, and the other layers take a part of one."""
    net, y = network(rows, columns, units, taps)
    assert rounds(net, y, 16 * room) <= fewest_cycles(rows, columns, units, taps, room) + 2


def fewest_in_rounds(elements: int, units: int) -> int:
    """Of programs that make some elements, then load the layer's weights once more and those of these elements while
    they make others."""
    ends = {(0, made): made for made in range(1, elements + 1)}
    for made in range(1, elements + 1):
        for before in range(1, made):
            for earlier in range(before):
                end = ends[earlier, before] + max(made - before, units + before - earlier)
                ends[before, made] = min(ends.get((before, made), end), end)
    return min(end + elements - before for (before, made), end in ends.items() if made == elements)


@pytest.mark.parametrize("units", [4, 8])
def test_weights_come_again_in_each_round(units: int):
    """Programs in rounds are not much slower than the bound, which is above that of weights that come once."""
    net, y = network(8, 8, units)
    fewest = fewest_in_rounds(64, units)
    assert max(last_reads(net, y, 16), 0.93 * fewest) < rounds(net, y, 16) <= fewest + 2


def least_by_times(found: Rounds, share: float) -> float:
    """The same as `least_end`, over all times in steps of a cycle, of two layers."""
    parts, best = len(found.left), np.inf
    sizes = [layer.bytes for layer in found.layers]
    for times in combinations_with_replacement(range(30), parts):
        if any(time < row @ found.cycles for time, row in zip(times, found.made, strict=True)):
            continue
        again, end = [0.0] * parts, 0.0
        for i in reversed(range(parts)):
            loads = [0.0]
            for j in range(i + 1, parts):
                fewest = [float(sum(sizes))]
                for at, layer in enumerate(found.layers):
                    alone = np.maximum(found.made[i], layer.before[j]) @ found.cycles
                    for part in np.arange(0, 1 + share, share):
                        more = max(
                            0.0, (part * layer.channels[j] - found.made[i] * (layer.channels[j] > 0)) @ found.cycles
                        )
                        if alone + more <= times[i]:
                            fewest.append(sum(sizes[at:]) - part * sizes[at])
                loads.append(min(fewest) + again[j])
            end = max(end, times[i] + max(0.0, found.left[i] - found.room_bytes + max(loads)) / found.load_rate)
            again[i] = max(0.0, max(loads) - found.room_bytes)
        best = min(best, end)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_times_against_all_times(seed: int):
    """Three parts and two layers, of which the first has one step before it and the second has two."""
    random = np.random.default_rng(seed)
    work = np.sort(random.integers(0, 10, (3, 3)).cumsum(axis=0), axis=1)[:, ::-1].astype(float)
    some = np.floor(work * random.choice([0.5, 0.8, 1.0]))
    nothing = np.zeros(3)
    first = Layer(int(random.integers(1, 8)), np.outer(nothing, nothing), some * [1, 0, 0])
    second = Layer(int(random.integers(1, 8)), some * [1, 0, 0], some * [0, 1, 0])
    left = np.sort(random.integers(4, 30, 3))[::-1].astype(float)
    found = Rounds(work, np.array([0.4, 0.3, 0.3]), left, [first, second], int(random.integers(0, 4)), 2.0)
    least, fewest = found.least_end(1.0), least_by_times(found, 0.125)
    assert least <= fewest + 1e-6
    assert least >= fewest - 2


def convolutions(count: int, channels: int, size: int) -> tuple[Network, int]:
    """So many of 3 x 3 with zeros around, the largest of 2 x 2, and a dense layer; the value of the largest."""
    net, value = Floats(), 0
    value = net.tensor(channels, size, size)
    for _ in range(count):
        dims = {"k": channels, "y": size, "x": size, "c": channels, "r": 3, "s": 3}
        text = "Y[k, y, x] += A[c, y + r - 1, x + s - 1] * W[k, c, r, s]"
        weight = net.tensor(channels, channels, 3, 3)
        value = net.kernel(text, (channels, size, size), dims, padded="A", A=value, W=weight)
    dims = {"k": channels, "y": size // 2, "x": size // 2}
    shape = tuple(dims.values())
    last = net.kernel("Y[k, y, x] max= A[k, 2 * y + r, 2 * x + s]", shape, dims | {"r": 2, "s": 2}, A=value)
    y = net.kernel("Y[n] += A[k, y, x] * W[n, k, y, x]", (4,), dims | {"n": 4}, A=last, W=net.tensor(4, *shape))
    return net.network([y]), last


def around(places: Iterable[Place], size: int, taps: Iterable[Place]) -> set[Place]:
    moved = {(y + r, x + s) for (y, x), (r, s) in product(places, taps)}
    return {(y, x) for y, x in moved if 0 <= y < size and 0 <= x < size}


def test_what_a_missing_weight_needs_against_all_choices_of_places():
    """Of the third convolution's weights one of any tap is not read: of the second one a channel is made, of the first
    one all that this needs."""
    channels, size = 2, 6
    network, last = convolutions(4, channels, size)
    steps = [step for step in network.steps if isinstance(step, Step)]
    chains = Chains({step.target: step for step in steps}, [value.shape for value in network.values])
    reader, weight = steps[-1], steps[-1].reads[1]
    once, sizes = read_once(chains, reader, weight), read_bytes(network, Traffic(network).needs)
    assert once is not None
    assert once.value == last
    found = rounds_of(network, chains, steps, np.ones(len(steps)), sizes, (reader, weight, once))
    assert found is not None
    _, left, (_, third) = found  # the last one's weights are each read for a channel
    assert left[0] == network.values[weight.value].bytes
    square, corners = list(product((-1, 0, 1), (-1, 0, 1))), list(product((0, 1), (0, 1)))
    positions = list(product(range(size // 2), range(size // 2)))
    taps = {at: len(around([at], size, square)) * channels**2 for at in product(range(size), range(size))}
    windows = {(y, x): around({(2 * y + r, 2 * x + s) for r, s in corners}, size, square) for y, x in positions}
    counts = counts_of((channels, size // 2, size // 2), 0)
    for number in range(1, len(positions) + 1):
        fewest, first = np.inf, np.inf
        for chosen, tap in product(combinations(positions, number), square):
            read = around(set[Place]().union(*(windows[at] for at in chosen)), size, [tap])
            fewest = min(fewest, sum(taps[at] for at in read))
            first = min(first, sum(taps[at] for at in around(read, size, square)))
        parts = -(-counts // channels) == number
        for points, least in ((third.channels[parts, 1], fewest), (third.before[parts, 0], first)):
            assert (points <= least * (1 + 1e-9)).all()
            assert (points >= 0.8 * least).all()
        assert not third.before[:, 1:].any()
