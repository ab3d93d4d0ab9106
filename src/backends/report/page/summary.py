"""The answer about a compiled network, as plain data: the numbers of a run, its layers, graph, waits and advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from ....machine import Machine
from ....machine.layer_source import LayerSource
from ...simulator.energy import peak_ops_per_cycle
from ...simulator.layers import compute_array, offchip_links, unit_nodes
from ...simulator.result import SimulationResult
from ...simulator.waiting import waits_by_layer
from .advice import advice_of

if TYPE_CHECKING:
    from ...program import Program
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

SWEEPS = 12
"""Times that order and places are improved."""

MOST_POINTS = 20_000
"""Boxes and points of edges that are ordered; larger graphs stay as they are."""


@dataclass(frozen=True)
class Layout:
    """Places of boxes (`x` in widths of a box from the middle, `y` in ranks), and those that edges go through."""

    places: tuple[tuple[float, int], ...]
    edges: tuple[tuple[tuple[float, int], ...], ...]


def layout_of(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """The places of `count` boxes; edges lead from a lower number to a higher one."""
    ranks = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
    inner, readers = {target for _, target in edges}, dict[int, int]()
    for source, target in edges:
        readers[source] = min(readers.get(source, ranks[target]), ranks[target])
    for source, rank in readers.items():
        if source not in inner:  # what nothing comes before stands right above its reader
            ranks[source] = rank - 1
    return _Ranks(ranks, edges).layout()


class _Ranks:
    """Boxes, and a narrow point for each rank that an edge passes."""

    def __init__(self, ranks: Sequence[int], edges: Sequence[tuple[int, int]]) -> None:
        self.boxes = len(ranks)
        self.rank = list(ranks)
        self.paths: list[list[int]] = []
        for source, target in edges:
            passed = range(self.rank[source] + 1, self.rank[target])
            self.paths.append([source, *range(len(self.rank), len(self.rank) + len(passed)), target])
            self.rank.extend(passed)
        self.before: list[list[int]] = [[] for _ in self.rank]
        self.behind: list[list[int]] = [[] for _ in self.rank]
        for path in self.paths:
            for upper, lower in pairwise(path):
                self.before[lower].append(upper)
                self.behind[upper].append(lower)
        self.rows: list[list[int]] = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for point, rank in enumerate(self.rank):
            self.rows[rank].append(point)
        self.x = [0.0] * len(self.rank)
        for row in self.rows:
            self._spread(row, [float(i) for i in range(len(row))])

    def layout(self) -> Layout:
        """Improve the order from the top and from the bottom in turn, then read the places."""
        if len(self.rank) <= MOST_POINTS:
            for sweep in range(2 * SWEEPS):
                down = sweep % 2 == 0
                for row in self.rows if down else reversed(self.rows):
                    self._improve(row, self.before if down else self.behind, sweep < SWEEPS)
            for row in self.rows:
                self._improve(row, [a + b for a, b in zip(self.before, self.behind, strict=True)], False)
        places = [(round(x, 3), rank) for x, rank in zip(self.x, self.rank, strict=True)]
        return Layout(tuple(places[: self.boxes]), tuple(tuple(places[p] for p in path) for path in self.paths))

    def _improve(self, row: list[int], near: Sequence[Sequence[int]], reorder: bool) -> None:
        wanted = {
            point: fmean(self.x[other] for other in near[point]) if near[point] else self.x[point] for point in row
        }
        if reorder:
            row.sort(key=lambda point: wanted[point])
        self._spread(row, [wanted[point] for point in row])

    def _width(self, point: int) -> float:
        return 1.0 if point < self.boxes else 0.22

    def _spread(self, row: Sequence[int], wanted: Sequence[float]) -> None:
        """Give points of a row, in order, places as near as can be to those wanted, without overlaps.

        Least squares under a distance for each pair of neighbours: blocks of points that touch move to their mean.
        """
        blocks: list[tuple[float, int]] = []  # mean of wanted places less offsets, number of points
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + (self._width(left) + self._width(right)) / 2)
        for place, offset in zip(wanted, offsets, strict=False):
            mean, size = place - offset, 1
            while blocks and blocks[-1][0] >= mean:
                other, more = blocks.pop()
                mean, size = (mean * size + other * more) / (size + more), size + more
            blocks.append((mean, size))
        means = [mean for mean, size in blocks for _ in range(size)]
        for point, mean, offset in zip(row, means, offsets, strict=False):
            self.x[point] = mean + offset


def summary(program: Program, result: SimulationResult, name: str) -> dict[str, Any]:
    """Everything that the page tells, instruction by instruction aside."""
    answer: dict[str, Any] = {"name": name, "target": target_facts(program.machine)}
    answer |= {**result.as_dict(), "predicted": dict(program.predicted), **program.bounds(result.cycles)}
    layers: list[dict[str, Any]] = answer["layers"]
    if result.stream is not None:
        found = waits_by_layer(program, result)
        layers = [{**layer, "waits": own} for layer, own in zip(layers, found, strict=True)]
    answer["layers"] = layers
    answer["graph"] = graph_of(program.sources, [layer["nodes"] for layer in layers])
    return answer | {"advice": advice_of(answer)}


def with_levers(answer: Mapping[str, Any], explained: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with what `explain` found of the whole and of each layer, and remarks that say so."""
    found = {tuple(layer["nodes"]): layer for layer in explained["layers"]}
    nothing: dict[str, Any] = {"levers": [], "hiding": []}
    layers = [
        {**layer, **{key: found.get(tuple(layer["nodes"]), nothing)[key] for key in nothing}}
        for layer in answer["layers"]
    ]
    told = {**answer, "layers": layers, "levers": explained["levers"]}
    return {**told, "advice": advice_of(told)}


def target_facts(machine: Machine) -> dict[str, Any]:
    """What the page needs to know of the machine."""
    array, offchip = compute_array(machine), offchip_links(machine)
    peaks = {
        capability.name: peak_ops_per_cycle(node, capability)
        for node in machine.computes
        if node.name == array
        for capability in node.capabilities
    }
    links = [
        {
            "name": link.name,
            "bytes_per_cycle": link.bandwidth_bytes_per_cycle if link.bandwidth_bytes_per_cycle < inf else None,
            "latency_cycles": link.latency_cycles,
            "channel": link.channel or link.name,
            "offchip": link.name in offchip,
        }
        for link in machine.links
    ]
    memories = [
        {"name": memory.name, "capacity_bytes": memory.capacity_bytes, "offchip": memory.offchip}
        for memory in machine.memories
    ]
    nodes = unit_nodes(machine)
    units = [{"name": unit.name, "depth": unit.depth, "nodes": nodes[unit.name]} for unit in machine.units]
    facts = {"name": machine.name, "control": machine.control, "frequency_hz": machine.frequency_hz}
    return {**facts, "array": array, "array_peaks": peaks, "memories": memories, "links": links, "units": units}


def graph_of(sources: Sequence[LayerSource], layers: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The network's boxes (inputs, then layers) and edges, with their places."""
    numbers = {tuple(nodes): number for number, nodes in enumerate(layers)}
    inputs = list(dict.fromkeys((read.type, read.bytes) for read in _inputs(sources)))
    boxes: list[dict[str, Any]] = [{"name": f"input {kind}", "layer": None, "notes": {}} for kind, _ in inputs]
    first = len(boxes)
    boxes += [{"name": one.name, "layer": numbers.get(one.nodes), "notes": dict(one.notes)} for one in sources]
    place = {one.nodes[0]: first + index for index, one in enumerate(sources)}
    edges: list[dict[str, Any]] = []
    for index, one in enumerate(sources):
        for read in one.reads:
            source = place.get(read.source) if read.source else inputs.index((read.type, read.bytes))
            if source is not None and source < first + index:
                told = {"tensor": read.tensor, "type": read.type, "bytes": read.bytes, "memory": read.memory}
                edges.append({"source": source, "target": first + index, **told})
    layout = layout_of(len(boxes), [(edge["source"], edge["target"]) for edge in edges])
    boxes = [{**box, "x": x, "y": y} for box, (x, y) in zip(boxes, layout.places, strict=True)]
    return {"boxes": boxes, "edges": [{**e, "path": p} for e, p in zip(edges, layout.edges, strict=True)]}


def _inputs(sources: Sequence[LayerSource]) -> Iterator[Any]:
    yield from (read for one in sources for read in one.reads if not read.source)


def layer_texts(sources: Sequence[LayerSource], layers: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The IR of each layer, by level."""
    found = {one.nodes: dict(one.ir) for one in sources}
    return [found.get(tuple(layer["nodes"]), {}) for layer in layers]
