"""What a part of a value needs, against all points one by one."""

import tracemalloc
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from random import Random

import pytest

from tilewright.algebra.expr import Access, accesses, dims_of
from tilewright.algebra.parser import parse_statement
from tilewright.costs.bounds.program.coordinates import MOST, count, members, run, within
from tilewright.costs.bounds.program.demand import Demand, elements, need, union
from tilewright.costs.bounds.program.network import Join, Network, NetworkBuilder, Step, View
from tilewright.costs.mapping.problem import Buffer, Group, Kernel

Points = set[tuple[int, ...]]

KERNELS = (
    ("Y[k, p] += X[c, p + r - 1] * W[k, c, r]", {"Y": (2, 7), "X": (3, 7), "W": (2, 3, 3)}, "X"),
    ("Y[k, p] += X[c, 2 * p + 2 * r - 2] * W[k, c, r]", {"Y": (2, 4), "X": (3, 7), "W": (2, 3, 3)}, "X"),
    ("Y[p, q] max= X[2 * p + r - 1, q + s - 1]", {"Y": (4, 5), "X": (7, 5)}, "X"),
    ("Y[p] max= X[3 * p + r]", {"Y": (4,), "X": (12,)}, ""),
    ("Y[i] = X[i, i]", {"Y": (5,), "X": (5, 6)}, ""),
    ("Y[2 * i + j] = X[j, i]", {"Y": (8,), "X": (2, 4)}, ""),
    ("Y[i + 2, j] = X[i, j]", {"Y": (6, 3), "X": (3, 3)}, ""),
    ("Y[i, j] = X[i, 2 * j + 1] + B[i]", {"Y": (4, 3), "X": (4, 9), "B": (4,)}, ""),
    ("Y[i] += X[i, j] * V[j]", {"Y": (4,), "X": (4, 5), "V": (5,)}, ""),
)


def network_of(text: str, shapes: Mapping[str, tuple[int, ...]], extents: Mapping[str, int], padded: str) -> Network:
    """One kernel as a network."""
    statement = parse_statement(text)
    names = tuple(shapes)
    kernel = Kernel("k", statement, tuple(zip(names, names)), tuple((n, "f32") for n in names), False, tuple(padded))
    buffers = tuple(Buffer(n, shape, "f32", 4, n != "Y", n == "Y") for n, shape in shapes.items())
    builder = NetworkBuilder()
    inputs = {n: builder.add_tensor(shape, 4) for n, shape in shapes.items() if n != "Y"}
    held = builder.add_group(Group(tuple(extents.items()), (kernel,), buffers), inputs)
    return builder.network([held["Y"]])


def extents_of(text: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Extents of dims that index an axis alone are those of the axis; the others are 3, or what fits."""
    found: dict[str, int] = {}
    for access in accesses(parse_statement(text)):
        assert isinstance(access, Access)
        for index, size in zip(access.indices, shapes[access.tensor]):
            if type(index).__name__ == "Name":
                found[index.id] = min(found.get(index.id, size), size)  # type: ignore[union-attr]
    for dim in dims_of(parse_statement(text)):
        found.setdefault(dim, {"j": 2, "i": 4 if "2 *" in text else 3}.get(dim, 3))
    return found


def exact(step: Step, shapes: list[tuple[int, ...]], wanted: Points) -> tuple[int, dict[int, Points]]:
    """Points within bounds that write what is wanted, and what they read of each value, by looking at all."""
    dims = list(step.kernel.dims)
    points, reads = 0, dict[int, Points]()
    for at in product(*(range(step.extents[dim]) for dim in dims)):
        place = dict(zip(dims, at))
        if tuple(form.evaluate(place) for form in step.kernel.target.forms) not in wanted:
            continue
        found = {read.value: tuple(form.evaluate(place) for form in read.forms) for read in step.reads}
        if all(0 <= i < n for value, at in found.items() for i, n in zip(at, shapes[value])):
            points += 1
            for value, element in found.items():
                reads.setdefault(value, set()).add(element)
    return points, reads


def places(demand: Demand, shape: tuple[int, ...]) -> Iterator[Points]:
    """All sets of elements that a demand may mean."""
    axes = [
        [list(members(axis))] if axis >= 0 else [range(i, i - axis) for i in range(n + axis + 1)]
        for axis, n in zip(demand, shape)
    ]
    for choice in product(*axes):
        yield {tuple(int(i) for i in at) for at in product(*choice)}


def random_demand(random: Random, shape: tuple[int, ...]) -> Demand:
    return tuple(run(random.randint(1, n), n) if random.random() < 0.5 else random.randrange(1, 1 << n) for n in shape)


@pytest.mark.parametrize(("text", "shapes", "padded"), KERNELS)
def test_needs_are_never_above_what_all_points_need(text: str, shapes: dict[str, tuple[int, ...]], padded: str):
    network = network_of(text, shapes, extents_of(text, shapes), padded)
    step, sizes = network.steps[0], [value.shape for value in network.values]
    assert isinstance(step, Step)
    random = Random(0)
    for _ in range(60):
        demand = random_demand(random, shapes["Y"])
        found = need(step, demand, sizes)
        for wanted in places(demand, shapes["Y"]):
            points, reads = exact(step, sizes, wanted)
            assert found.points <= points
            for value, box in found.reads:
                assert any(part <= reads.get(value, set()) for part in places(box, sizes[value]))


@pytest.mark.parametrize(("text", "shapes", "padded"), [KERNELS[i] for i in (0, 1, 2, 3, 5, 7, 8)])
def test_what_all_results_need_is_exact(text: str, shapes: dict[str, tuple[int, ...]], padded: str):
    network = network_of(text, shapes, extents_of(text, shapes), padded)
    step, sizes = network.steps[0], [value.shape for value in network.values]
    assert isinstance(step, Step)
    everything = tuple((1 << n) - 1 for n in shapes["Y"])
    points, reads = exact(step, sizes, set(product(*(range(n) for n in shapes["Y"]))))
    found = need(step, everything, sizes)
    assert found.points == points
    assert {value: elements(box) for value, box in found.reads} == {value: len(part) for value, part in reads.items()}


def test_points_of_a_window_are_those_of_the_place_where_they_are_fewest():
    """Of three results in a row the first and the last have two taps of three at a border."""
    text, shapes, padded = KERNELS[0]
    network = network_of(text, shapes, extents_of(text, shapes), padded)
    step, sizes = network.steps[0], [value.shape for value in network.values]
    assert isinstance(step, Step)
    assert need(step, (-1, -3), sizes).points == 3 * (2 + 3 + 3)


def test_boxes_together():
    assert union((0b0011, 0b1), (0b0110, 0b1)) == (0b0111, 0b1)
    assert union((0b0011, 0b11), (0b0100, 0b01)) == (0b0011, 0b11)  # the larger one: together they are no box
    assert union(None, (0b1,)) == (0b1,)


def test_views_and_joins():
    sizes = [(1, 6), (2, 3), (4, 3), (6, 3)]
    assert need(View(0, 1), (0b11, 0b111), sizes).reads == ((0, (1, 0b111111)),)
    assert need(View(0, 1), (0b10, 0b111), sizes).reads == ((0, (1, 0b111000)),)
    assert need(View(0, 1), (0b11, -1), sizes).reads == ((0, (1, -1)),)  # some element of it
    assert need(Join((1, 2), 0, 3), (0b001110, 0b101), sizes).reads == ((1, (0b10, 0b101)), (2, (0b11, 0b101)))
    assert prod(sizes[3]) == 18


@pytest.mark.parametrize("sizes", [(2, 4), (1, 5, 2), (3, 3, 1)])
def test_what_a_run_needs_of_joined_values(sizes: tuple[int, ...]):
    """Wherever it is: what is said of each source is reached, or one of some sources is."""
    total, sources = sum(sizes), range(len(sizes))
    shapes = [*((size,) for size in sizes), (total,)]
    owners = [source for source in sources for _ in range(sizes[source])]
    for length in range(1, total):
        found = need(Join(tuple(sources), 0, len(sizes)), (-length,), shapes)
        for start in range(total - length + 1):
            reached = owners[start : start + length]
            assert all(reached.count(source) >= count(box) for source, (box,) in found.reads)
            assert found.reads or any(reached.count(source) >= count(box) for source, (box,) in found.either)


def test_axes_that_are_too_long_to_look_at_are_not_listed():
    axis = (1 << MOST + 1) - 1
    tracemalloc.start()
    try:
        assert within((axis,), (((1,), 0, 1),)) == (0, (0,))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
