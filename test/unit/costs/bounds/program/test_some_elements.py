"""What some elements need, against all choices of them."""

from collections.abc import Iterable
from itertools import combinations, product
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.backends.simulator import simulate
from tilewright.costs.bounds.program.some_elements import Along, Places, least_positions, points_of_elements
from tilewright.driver import CompileOptions, compile

from .test_bound import Floats, last_reads

Place = tuple[int, int]

State = tuple[frozenset[tuple[int, int, int]], frozenset[Place], frozenset[Place]]
"""Elements that are made, places whose weights are on chip, and those whose weights were read."""

Windows = tuple[int, int, int, int]
"""Positions, and the step, size and zeros before it of the window that each reads."""


def reached(windows: Windows, size: int) -> list[set[int]]:
    """What each position reads of an axis of that size."""
    positions, stride, length, pad = windows
    return [set(range(max(0, p * stride - pad), min(size, p * stride - pad + length))) for p in range(positions)]


@pytest.mark.parametrize("windows", [(4, 1, 3, 1), (4, 2, 3, 1), (3, 3, 2, 0), (5, 1, 1, 0), (4, 2, 7, 3)])
def test_an_axis_against_all_subsets(windows: Windows):
    rng = np.random.default_rng(0)
    runs = reached(windows, 9)
    sizes = rng.integers(1, 9, 9).astype(float)
    along = Along(np.array([min(run) for run in runs]), np.array([max(run) + 1 for run in runs]))
    fewest = [
        min(sizes[sorted(set().union(*chosen))].sum() for chosen in combinations(runs, count))
        for count in range(len(runs) + 1)
    ]
    assert along.least(sizes).tolist() == fewest


@pytest.mark.parametrize(
    ("rows", "columns"), [((3, 1, 3, 1), (3, 1, 3, 1)), ((3, 2, 3, 1), (4, 1, 2, 0)), ((2, 2, 2, 0), (4, 2, 5, 2))]
)
def test_positions_against_all_subsets(rows: Windows, columns: Windows):
    """Never above the fewest; equal for whole rows and for all."""
    ways = [reached(rows, 8), reached(columns, 8)]
    least = least_positions(
        *(
            Along(np.array([min(run) for run in way]), np.array([max(run) + 1 for run in way])).least(np.ones(8))
            for way in ways
        )
    )
    places = [set(product(*pair)) for pair in product(*ways)]
    fewest = [min(len(set().union(*chosen)) for chosen in combinations(places, n)) for n in range(len(places) + 1)]
    assert (least <= fewest).all()
    assert least[-1] == fewest[-1]
    assert least[1] == fewest[1]
    assert least.sum() >= 0.9 * sum(fewest)


def maps(samples: int, rows: int, columns: int, channels: int) -> tuple[Floats, int, int]:
    """Two convolutions of 3 x 3 with zeros around, and the second one's largest of 2 x 2, with samples and channels
    first; the values of the first one's results and of the last."""
    net, size = Floats(), {"y": 2 * rows, "x": 2 * columns}
    value, made = net.tensor(samples, channels, 2 * rows, 2 * columns), []
    for _ in range(2):
        dims = {"b": samples, "k": channels, **size, "c": channels, "r": 3, "s": 3}
        text = "Y[b, k, y, x] += A[b, c, y + r - 1, x + s - 1] * W[k, c, r, s]"
        weight = net.tensor(channels, channels, 3, 3)
        value = net.kernel(text, (samples, channels, 2 * rows, 2 * columns), dims, padded="A", A=value, W=weight)
        made.append(value)
    dims = {"b": samples, "k": channels, "y": rows, "x": columns, "r": 2, "s": 2}
    shape = (samples, channels, rows, columns)
    last = net.kernel("Y[b, k, y, x] max= A[b, k, 2 * y + r, 2 * x + s]", shape, dims, A=value)
    return net, made[0], last


@pytest.mark.parametrize(("samples", "rows", "columns"), [(1, 2, 2), (1, 2, 3), (1, 3, 1), (3, 2, 3)])
def test_points_against_all_choices_of_elements(samples: int, rows: int, columns: int):
    """At each place the elements of all samples."""
    channels = 2
    net, first, last = maps(samples, rows, columns, channels)
    places = list(product(range(channels), range(rows), range(columns)))
    height, width = 2 * rows, 2 * columns
    taps = {
        (y, x): samples * len(around(y, height)) * len(around(x, width)) * channels * channels
        for y, x in product(range(height), range(width))
    }
    fewest = [
        min(sum(taps[at] for at in needed(chosen, height, width)) for chosen in combinations(places, count))
        for count in range(1, len(places) + 1)
    ]
    counts = np.arange(1, len(places) + 1)
    found = points_of_elements(net.network([last]), Places(last, front=1), {}, counts)
    if min(rows, columns) == 1:
        assert first not in found
    else:
        assert (found[first] <= np.array(fewest) * (1 + 1e-9)).all()
        assert found[first][-1] == pytest.approx(fewest[-1])
        assert found[first][0] == pytest.approx(fewest[0])


def around(place: int, size: int) -> range:
    return range(max(0, place - 1), min(size, place + 2))


def needed(chosen: Iterable[tuple[int, int, int]], height: int, width: int) -> set[tuple[int, int]]:
    """Positions of the first convolution that elements of the last map need."""
    found: set[tuple[int, int]] = set()
    for _, y, x in chosen:
        for v, u in product((2 * y, 2 * y + 1), (2 * x, 2 * x + 1)):
            found |= set(product(around(v, height), around(u, width)))
    return found


def dense(samples: int, rows: int, columns: int, diagonals: bool = False) -> tuple[Floats, int]:
    """Four sums of products of all of a map, each the largest of a window of 3 x 3 of another one, with zeros around,
    for each of some samples; places have weights of their own, or diagonals have.

    Elements of that one take a cycle each on the vector unit of `edge16`, and so do loads of the four weights of each.
    """
    net, size = Floats(), (samples, rows, columns)
    numbers = net.kernel("Y[p] = sigmoid(B[])", (128,), {"p": 128}, B=net.tensor())
    dims = {"b": samples, "y": rows, "x": columns}
    made = net.kernel("Y[b, y, x] += B[p]", size, dims | {"p": 128}, B=numbers)
    window = dims | {"r": 3, "s": 3}
    last = net.kernel("Y[b, y, x] max= A[b, y + r - 1, x + s - 1]", size, window, padded="A", A=made)
    weight = net.tensor(4, rows + columns - 1) if diagonals else net.tensor(4, rows, columns)
    text = f"Y[b, n] += X[b, y, x] * W[n, {'y + x' if diagonals else 'y, x'}]"
    return net, net.kernel(text, (samples, 4), dims | {"n": 4}, X=last, W=weight)


def fewest_cycles(size: tuple[int, int, int], room: int, diagonals: bool = False) -> int:
    """Of all programs that make an element and load the weights of a place, or diagonal, in each cycle; all else takes
    no time, and the chip holds the weights of `room` of these.
    """
    samples, rows, columns = size
    weights = {(y, x): (y + x, 0) if diagonals else (y, x) for y, x in product(range(rows), range(columns))}
    places = sorted(set(weights.values()))
    elements = list(product(range(samples), range(rows), range(columns)))
    windows: dict[Place, set[tuple[int, int, int]]] = {at: set() for at in places}
    for (y, x), at in weights.items():
        windows[at] |= set(product(range(samples), around(y, rows), around(x, columns)))
    states, cycles = {(frozenset[tuple[int, int, int]](), frozenset[Place](), frozenset[Place]())}, 0
    while not any(len(done) == len(places) for *_, done in states):
        cycles += 1
        following: set[State] = set()
        for made, held, done in states:
            more = [made | {at} for at in elements if at not in made] or [made]
            for now, loaded, dropped in product(more, set(places) - held - done or places[:1], {None, *held}):
                chip = (held - {dropped}) | {loaded}
                if len(chip) <= room:
                    read = {at for at in chip if windows[at] <= now}
                    following.add((frozenset(now), frozenset(chip - read), done | read))
        states = following
    return cycles


@pytest.mark.parametrize(
    ("size", "room"),
    [
        ((1, 1, 5), 1),
        ((1, 1, 5), 2),
        ((1, 2, 3), 1),
        ((1, 2, 3), 2),
        ((1, 2, 4), 1),
        ((1, 3, 3), 1),
        ((1, 6, 1), 3),
        ((2, 1, 3), 1),
        ((2, 2, 2), 1),
    ],
)
def test_dense_layers_against_all_programs(size: tuple[int, int, int], room: int):
    """A cycle more makes the numbers that are summed, and the maxima take a part of one."""
    net, y = dense(*size)
    assert last_reads(net, y, 16 * room) <= fewest_cycles(size, room) + 2


@pytest.mark.parametrize(("size", "room"), [((1, 2, 3), 1), ((1, 3, 3), 1), ((2, 2, 2), 1), ((1, 2, 4), 2)])
def test_weights_of_diagonals_against_all_programs(size: tuple[int, int, int], room: int):
    net, y = dense(*size, diagonals=True)
    assert last_reads(net, y, 16 * room) <= fewest_cycles(size, room, diagonals=True) + 2


def test_dense_layers():
    """After an element of the 15th of 16 rows, which needs 15 rows and more, the weights of two rows are still to come
    but those on chip.
    """
    net, y = dense(1, 16, 16)
    assert 16 * 16 + 16 <= last_reads(net, y, 16) <= 16 * 16 + 2 * 16


def test_dense_layers_of_some_samples():
    """The last weights are read with an element of each sample; maxima take 16 cycles a sample."""
    net, y = dense(3, 16, 16)
    assert 3 * 16 * 16 <= last_reads(net, y, 16) <= 3 * (16 * 16 + 17) + 16


@pytest.mark.parametrize("samples", [1, 2])
def test_programs_take_longer(samples: int, tmp_path: Path) -> None:
    """Eight convolutions, a pool, and a dense layer with more weights than the chip holds."""
    rng, convs = np.random.default_rng(0), range(8)
    shapes = {f"w{i}": (32, 32, 3, 3) for i in convs} | {"d": (32 * 8 * 8, 96 * samples)}
    weights = [numpy_helper.from_array(rng.random(shape, np.float32), name) for name, shape in shapes.items()]
    nodes = [helper.make_node("Conv", [f"a{i}", f"w{i}"], [f"a{i + 1}"], pads=[1] * 4) for i in convs]
    nodes.append(helper.make_node("MaxPool", ["a8"], ["p"], kernel_shape=[2, 2], strides=[2, 2]))
    nodes += [helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("MatMul", ["f", "d"], ["y"])]
    x = helper.make_tensor_value_info("a0", TensorProto.FLOAT, (samples, 32, 16, 16))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (samples, 96 * samples))
    graph = helper.make_graph(nodes, "m", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path := tmp_path / "m.onnx")
    target = "cocco_npu:GBUF.depth=8192,WBUF.depth=512"
    program = compile(path, target, options=CompileOptions(gap=10.0))
    assert program.bound_by.startswith("rounds of layers before")
    ran = simulate(program, functional=False)
    assert ran.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]
