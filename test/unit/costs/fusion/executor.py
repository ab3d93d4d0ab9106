"""Groups executed element by element, with nothing but what their scheme says to keep; and random graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product
from random import Random

from tilewright.costs.fusion import POINT, WHOLE, Axis, Edge, Held, Input, Layer, LayerGraph, Scheme, Shape, Window

Spot = tuple[int, int]


def spots(rows: Iterable[int], columns: Iterable[int]) -> set[Spot]:
    return set(product(rows, columns))


class Executor:
    """Memory contents of each source, and when each element is made and last read."""

    def __init__(self, graph: LayerGraph, scheme: Scheme) -> None:
        self.graph, self.scheme = graph, scheme
        self.present: dict[int, set[Spot]] = {source.number: set() for source in scheme.sources}
        self.made: dict[int, dict[Spot, int]] = {source.number: {} for source in scheme.sources}
        self.read: dict[int, dict[Spot, int]] = {source.number: {} for source in scheme.sources}
        self.peak: Counter[int] = Counter()
        self.time = 0

    def run(self) -> None:
        for update in self.scheme.updates():
            source = update.source
            fresh = spots(update.rows, update.columns)
            assert not fresh & self.made[source.number].keys(), "made twice"
            if source.number in self.scheme.members:
                self.compute(source.number, fresh)
            self.made[source.number] |= dict.fromkeys(fresh, self.time)
            self.hold(source, update.row, update.column, fresh)
            self.time += 1

    def compute(self, number: int, fresh: set[Spot]) -> None:
        held, inside = self.scheme.by_number, range(self.graph.layers[number].shape.height)
        for edge in self.graph.layers[number].edges:
            extent, around = self.graph.source(edge.producer).shape, held[edge.producer].rows
            for row, column in fresh:
                if row not in inside:  # is filled, not computed
                    continue
                rows = positions(edge.rows, row, extent.height, around.before, around.after)
                needed = spots(rows, positions(edge.columns, column, extent.width))
                assert needed <= self.present[edge.producer], f"{number} reads what {edge.producer} does not hold"
                self.read[edge.producer] |= dict.fromkeys(needed, self.time)

    def hold(self, source: Held, row: int, column: int, fresh: set[Spot]) -> None:
        """Keep MAIN and SIDE, forget the rest."""
        there = self.present[source.number] | fresh
        if not source.whole:
            there &= main(source, row, column) | side(source, row, column)
        assert fresh <= there
        self.present[source.number] = there
        self.peak[source.number] = max(self.peak[source.number], len(there))

    def live(self, number: int) -> int:
        """Most elements at a time that are made and still to be read."""
        changes: Counter[int] = Counter()
        for spot, time in self.made[number].items():
            changes[time] += 1
            changes[max(time, self.read[number].get(spot, time)) + 1] -= 1
        most = now = 0
        for time in sorted(changes):
            now += changes[time]
            most = max(most, now)
        return most


def main(source: Held, row: int, column: int) -> set[Spot]:
    return spots(source.rows.window(row), source.columns.window(column))


def side(source: Held, row: int, column: int) -> set[Spot]:
    """Rows of the row of tiles before for columns to come, rows for the next one of columns that are gone."""
    columns, end = source.columns.window(column), source.columns.window(source.columns.last).stop
    coming = spots(common(source.rows, row - 1), range(columns.stop, end))
    return coming | spots(common(source.rows, row), range(columns.start))


def common(axis: Axis, index: int) -> range:
    """Positions of round `index` that the next one needs."""
    if not axis.first <= index < axis.last:
        return range(0)
    now, then = axis.window(index), axis.window(index + 1)
    return range(then.start, max(then.start, now.stop))


def positions(window: Window, index: int, extent: int, before: int = 0, after: int = 0) -> list[int]:
    if window.whole:
        return list(range(extent))
    start = index * window.stride - window.pad
    return [p for p in range(start, start + window.reach, window.dilation) if -before <= p < extent + after]


def random_window(random: Random, dense: bool) -> Window:
    kernel = random.choice((1, 1, 2, 3, 3, 4, 5))
    stride = random.choice([s for s in (1, 1, 1, 2, 2, 3) if not dense or s <= kernel])
    dilation = 1 if dense else random.choice((1, 1, 2, 3))
    reach = dilation * (kernel - 1) + 1
    return Window(kernel, stride, random.randrange(reach), dilation)


def result(random: Random, window: Window, extent: int) -> int:
    """An extent that the windows give, the padding at the end drawn."""
    after = random.randrange(window.reach)
    return (extent + window.pad + after - window.reach) // window.stride + 1


def random_graph(random: Random, count: int, extent: int, *, dense: bool, flat: bool = False) -> LayerGraph:
    """Layers whose windows fit each other where that can be, wholes where not.

    `dense` has no holes in windows or between them, `flat` single rows.
    """
    inputs = tuple(Input(f"x{i}", Shape(1, extent + i, extent)) for i in range(2))
    layers: list[Layer] = []
    while len(layers) < count:
        edge, shape = first_edge(random, inputs, layers, dense)
        if min(shape) < 1:
            continue
        edges = [edge]
        for producer in random.sample(range(-2, len(layers)), min(random.randint(0, 2), len(layers))):
            given = layers[producer] if producer >= 0 else inputs[-1 - producer]
            edges.append(fitting(random, producer, shape, given.shape, dense))
        layers.append(Layer(f"l{len(layers)}", "any", shape, tuple(edges)))
    leaving = tuple(i for i in range(count) if random.random() < 0.2)
    graph = LayerGraph("random", inputs, tuple(layers), leaving)
    return flattened(graph) if flat else graph


def flattened(graph: LayerGraph) -> LayerGraph:
    inputs = tuple(Input(item.name, Shape(1, 1, item.shape.width)) for item in graph.inputs)
    layers = (
        Layer(
            layer.name,
            layer.kind,
            Shape(1, 1, layer.shape.width),
            tuple(Edge(edge.producer, POINT, edge.columns) for edge in layer.edges),
        )
        for layer in graph.layers
    )
    return LayerGraph("flat", inputs, tuple(layers), graph.outputs)


def first_edge(random: Random, inputs: tuple[Input, ...], layers: list[Layer], dense: bool) -> tuple[Edge, Shape]:
    producer = random.randrange(-2, len(layers))
    given = (layers[producer] if producer >= 0 else inputs[-1 - producer]).shape
    rows, columns = random_window(random, dense), random_window(random, dense)
    shape = Shape(1, result(random, rows, given.height), result(random, columns, given.width))
    return Edge(producer, rows, columns), shape


def fitting(random: Random, producer: int, shape: Shape, given: Shape, dense: bool) -> Edge:
    """Windows through which `shape` reads `given`, drawn until they meet it."""
    pair: list[Window] = []
    for extent, read in zip(shape[1:], given[1:], strict=True):
        tries = [POINT, *(random_window(random, dense) for _ in range(30))]
        good = [w for w in tries if 0 <= (extent - 1) * w.stride + w.reach - w.pad - read < w.reach and w.pad < w.reach]
        pair.append(random.choice(good) if good else WHOLE)
    return Edge(producer, *pair)
