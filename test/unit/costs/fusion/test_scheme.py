"""The execution scheme: the paper's worked examples, and schemes executed element by element."""

from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from tilewright.costs.fusion import (
    POINT,
    WHOLE,
    Axis,
    Buffers,
    Edge,
    Held,
    Input,
    Layer,
    LayerGraph,
    Platform,
    RegionManager,
    RingPadding,
    Scheme,
    Shape,
    Window,
    layer_graph,
    scheme_of,
)
from tilewright.errors import InfeasibleError
from tilewright.zoo.paper_networks import network

from .executor import Executor, main, random_graph, side, spots

ROOMY = Platform(buffers=Buffers(1 << 30), regions=1000, align_bytes=1)


def line(names: tuple[str, ...], *layers: tuple[str, int, list[tuple[int, int, int]]]) -> LayerGraph:
    """Layers (name, extent, [(producer, kernel, stride)]) on single rows without padding."""
    return LayerGraph(
        "line",
        tuple(Input(name, Shape(1, 1, 41)) for name in names),
        tuple(
            Layer(name, "conv", Shape(1, 1, extent), tuple(Edge(p, POINT, Window(k, s)) for p, k, s in edges))
            for name, extent, edges in layers
        ),
    )


def columns(scheme: Scheme) -> dict[str, Axis]:
    return {source.name: source.columns for source in scheme.sources}


FIGURE_5 = line(("-2", "-1"), ("0", 20, [(-1, 3, 2)]), ("1", 38, [(-1, 3, 1), (-2, 3, 1)]), ("2", 40, [(-2, 1, 1)]))


def test_figure_4():
    """A 1x1 tile of node 3 needs 1x1 of node 2 and 3x3 of node 1, not the 2x2 and 5x5 that 5x5 of node -1 give."""
    square = [Window(k, s) for k, s in ((5, 2), (1, 1), (3, 2), (1, 1))]
    wide, narrow = Shape(1, 25, 25), Shape(1, 11, 11)
    graph = LayerGraph(
        "figure 4",
        (Input("-1", wide),),
        (
            Layer("0", "conv", narrow, (Edge(-1, square[0], square[0]),)),
            Layer("1", "conv", wide, (Edge(-1, square[1], square[1]),)),
            Layer("2", "conv", narrow, (Edge(1, square[2], square[2]),)),
            Layer("3", "eltwise", narrow, (Edge(0), Edge(2))),
        ),
    )
    held = {
        source.name: (source.rows.held, source.columns.held) for source in scheme_of(graph, range(4), (1, 1)).sources
    }
    assert held == {"-1": (5, 5), "0": (1, 1), "1": (3, 3), "2": (1, 1), "3": (1, 1)}
    assert 5 * 5 - 3 * 3 == 16  # what the production-centric scheme keeps of node 1 beyond that
    assert 2 * 2 - 1 * 1 == 3  # and of node 2


def test_figure_5():
    """Offsets 4, 2, 2, 2, 2; sizes 6, 4, 2, 2, 2; updates 1, 2, 1, 2, 2."""
    found = columns(scheme_of(FIGURE_5, range(3), (1, 2)))
    names = ("-2", "-1", "0", "1", "2")
    assert [found[name].delta for name in names] == [4, 2, 2, 2, 2]
    assert [found[name].held for name in names] == [6, 4, 2, 2, 2]
    assert [found[name].updates for name in names] == [1, 2, 1, 2, 2]


def test_figure_6():
    """What the buffer holds after the updates of the first two elementary operations, [first:last] inclusive."""
    scheme = scheme_of(FIGURE_5, range(3), (1, 2))
    held: dict[str, list[tuple[int, int]]] = {}
    for update in scheme.updates():
        axis = update.source.columns
        if update.row == 0 and 0 <= update.column // axis.updates < 2:
            window = axis.window(update.column)
            held.setdefault(update.source.name, []).append((window.start, window.stop - 1))
    assert held == {
        "-2": [(0, 5), (4, 9)],
        "-1": [(0, 3), (2, 5), (4, 7), (6, 9)],
        "0": [(0, 1), (2, 3)],
        "1": [(0, 1), (2, 3), (4, 5), (6, 7)],
        "2": [(0, 1), (2, 3), (4, 5), (6, 7)],
    }


def test_figure_7():
    """Tiles of 4 by 4 that overlap by 1: column 5 stays in MAIN, the first row of columns 6 to 8 comes out of SIDE."""
    window = Window(4, 3, 1)
    graph = LayerGraph(
        "figure 7", (Input("x", Shape(1, 23, 23)),), (Layer("y", "conv", Shape(1, 8, 8), (Edge(-1, window, window),)),)
    )
    source = scheme_of(graph, [0], (1, 1), ROOMY).by_number[-1]
    assert (source.rows.held, source.columns.held, source.rows.kept) == (4, 4, 1)
    before = main(source, 2, 1) | side(source, 2, 1)
    assert main(source, 2, 2) == spots(range(5, 9), range(5, 9))
    assert main(source, 2, 1) & main(source, 2, 2) == spots(range(5, 9), [5])
    assert side(source, 2, 1) & main(source, 2, 2) == spots([5], range(6, 9))
    assert not before & spots(range(6, 9), range(6, 9))
    assert source.main.size == 4 * 4
    assert source.side is not None
    assert source.side.size == 23 - 4


def test_a_long_branch_beside_a_short_one_needs_more_than_the_largest_window():
    """Three layers of 3 beside a shortcut: the paper's maximum over readers, 3, lacks the element that is awaited."""
    window = Window(3, 1, 1)
    shape = Shape(1, 1, 40)
    layers = [Layer(f"{i}", "conv", shape, (Edge(i - 1, POINT, window),)) for i in range(4)]
    graph = LayerGraph("shortcut", (Input("x", shape),), (*layers, Layer("sum", "add", shape, (Edge(0), Edge(3)))))
    scheme = scheme_of(graph, range(5), (1, 1), ROOMY)
    assert columns(scheme)["0"].held == 4
    run = Executor(graph, scheme)
    run.run()
    assert run.live(0) == 4


def shrunk(scheme: Scheme, number: int, axis: str) -> Scheme:
    """The scheme with one position fewer of a source, the first."""

    def change(source: Held) -> Held:
        if source.number != number:
            return source
        if axis == "rows":
            return replace(source, rows=replace(source.rows, low=source.rows.low + 1))
        return replace(source, columns=replace(source.columns, low=source.columns.low + 1))

    return replace(scheme, sources=tuple(map(change, scheme.sources)))


@pytest.mark.parametrize("seed", range(120))
def test_every_read_finds_its_element(seed: int):
    """Random graphs with every kind of window, wholes, results that leave, any tile."""
    random = Random(seed)
    graph = random_graph(random, random.randint(1, 6), random.randint(4, 12), dense=False)
    nodes = sorted(random.sample(range(len(graph)), random.randint(1, len(graph))))
    scheme = scheme_of(graph, nodes, (random.choice((1, 1, 2, 3)), random.choice((0, 1, 2, 3, 5))), ROOMY)
    run = Executor(graph, scheme)
    run.run()
    for source in scheme.sources:
        allocated = source.main.size + (source.side.size if source.side is not None else 0)
        assert run.live(source.number) <= run.peak[source.number] <= allocated
        if source.number in nodes and source.leaves:
            assert len(run.made[source.number]) == graph.layers[source.number].shape.volume


@pytest.mark.parametrize("seed", range(60))
def test_reads_out_of_bounds_find_the_rows_around_a_map(seed: int):
    """Rows before and after those of maps are held when they are read, and no more of them than some round needs."""
    random = Random(seed)
    graph = random_graph(random, random.randint(1, 6), random.randint(4, 12), dense=False)
    rooms: dict[int, RingPadding] = {}
    for layer in graph.layers:
        for producer, rows, _ in layer.edges:
            last = (layer.shape.height - 1) * rows.stride - rows.pad + rows.reach
            after = max(0, last - graph.source(producer).shape.height)
            before, behind, columns = rooms.get(producer, RingPadding(0, 0, 2))
            rooms[producer] = RingPadding(max(before, rows.pad), max(behind, after), columns)
    scheme = scheme_of(graph, range(len(graph)), (random.choice((1, 1, 2, 3)), 0), ROOMY, rooms=rooms)
    Executor(graph, scheme).run()
    for source in scheme.sources:
        if not source.whole and source.number in rooms:
            rounds = range(source.rows.first, source.rows.last + 1)
            assert source.rows.held == max(len(source.rows.window(index)) for index in rounds)
            shape = graph.source(source.number).shape
            assert source.main.size == source.rows.held * (shape.width + 2) * shape.channels


@pytest.mark.parametrize("seed", range(40))
def test_one_element_fewer_fails(seed: int):
    """On lines, where windows have no holes: all that is allocated is made and still to be read at some time."""
    random = Random(seed)
    graph = random_graph(random, random.randint(1, 6), 60, dense=True, flat=True)
    scheme = scheme_of(graph, range(len(graph)), (1, random.choice((1, 2, 3))), ROOMY)
    run = Executor(graph, scheme)
    run.run()
    assert {s.number: s.main.size for s in scheme.sources} == {s.number: run.live(s.number) for s in scheme.sources}


@pytest.mark.parametrize("seed", range(8))
def test_one_row_or_column_fewer_fails(seed: int):
    random = Random(seed)
    graph = random_graph(random, random.randint(1, 4), 28, dense=True)
    scheme = scheme_of(graph, range(len(graph)), (random.choice((1, 2)), random.choice((1, 2, 3))), ROOMY)
    Executor(graph, scheme).run()
    read = {source.number for source in scheme.sources if not source.whole} - graph.exits
    checked = 0
    for number in sorted(read):
        for axis in ("rows", "columns"):
            with pytest.raises(AssertionError, match=r"does not hold|made twice"):
                Executor(graph, shrunk(scheme, number, axis)).run()
            checked += 1
    assert checked


def test_regions_lie_apart_and_add_up():
    graph = layer_graph(network("googlenet"))
    scheme = scheme_of(graph, range(5, 14), (1, 4))
    regions = [r for source in scheme.sources for r in (source.main, source.side) if r is not None]
    ends = [0, *(region.end for region in regions)]
    assert [region.start for region in regions] == ends[:-1]
    assert scheme.demand_bytes == ends[-1]


def test_stages_share_what_is_not_whole():
    """Attention: keys and values are complete before scores begin."""
    rows, keys = Shape(8, 16, 1), Shape(16, 16, 1)
    graph = LayerGraph(
        "attention",
        (Input("x", rows),),
        (
            Layer("q", "conv", rows, (Edge(-1),)),
            Layer("k", "conv", rows, (Edge(-1),)),
            Layer("s", "conv", keys, (Edge(0), Edge(1, WHOLE, WHOLE))),
            Layer("n", "pointwise", keys, (Edge(2),)),
        ),
    )
    scheme = scheme_of(graph, range(4), (1, 1), ROOMY)
    stages = {source.name: (source.stage, source.whole) for source in scheme.sources}
    # x is read in both stages, and so loaded once and kept
    assert stages == {"x": (0, True), "k": (0, True), "q": (1, False), "s": (1, False), "n": (1, False)}
    assert scheme.demand_bytes == 2 * rows.volume + 8 + 2 * 16
    Executor(graph, scheme).run()
    order = [update.source.name for update in scheme.updates()]
    assert order.index("s") > max(i for i, name in enumerate(order) if name == "k")


def test_the_table_of_regions_has_a_depth():
    graph = layer_graph(network("googlenet"))
    small = Platform(regions=8)
    with pytest.raises(InfeasibleError, match="at most 8 regions of region manager, found 9 regions"):
        scheme_of(graph, range(5, 14), (1, 1), small)


def test_the_buffer_has_a_size():
    manager = RegionManager(8, depth=4, capacity_bytes=64)
    manager.region("a", 9)
    assert manager.region("b", 8).start == 16
    with pytest.raises(InfeasibleError, match="at least 65"):
        RegionManager(1, depth=4, capacity_bytes=64).region("c", 65)
    manager.release_to(1)
    assert (manager.end, manager.peak_bytes) == (16, 24)


def test_updates_of_one_operation_interleave():
    order = [update.source.name for update in islice(scheme_of(FIGURE_5, range(3), (1, 2)).updates(), 2, 10)]
    assert order == ["-2", "-1", "0", "1", "2", "-1", "1", "2"]
