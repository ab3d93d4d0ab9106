"""The answer about a compiled network, as plain data: the numbers of a run, its layers, graph, waits and advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ....machine import Machine
from ....machine.layer_table import LayerSource
from ...simulator.energy import peak_ops_per_cycle
from ...simulator.layers import compute_array, offchip_links, unit_nodes
from ...simulator.result import SimulationResult
from ...simulator.waiting import MOST, WORTH, MainWait, main_wait, waits_by_layer

if TYPE_CHECKING:
    from ...program import Program


NEAR = 0.02
"""A program this near to its bound is not made faster by another schedule."""

Units = Mapping[str, Sequence[str]]
"""The nodes of each unit."""

IDLE_ARRAY = 0.5
"""An array that does less of its peak while it is busy leaves lanes idle."""


def advice_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Remarks, weightiest first: the layer that each is about (None: the whole), text, lever, and cycles lost."""
    whole = [*_about_bound(answer), *_about_room(answer)]
    layers = sorted(_about_layers(answer), key=lambda remark: -remark["cycles"])
    return whole + layers[:MOST]


def _remark(layer: int | None, cycles: float, text: str, lever: str) -> dict[str, Any]:
    return {"layer": layer, "cycles": cycles, "text": text, "lever": lever}


def _about_bound(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "gap" not in answer:
        return
    gap, bound = answer["gap"], answer["bound_by"]
    lost = answer["cycles"] - answer["lower_bound"]["cycles"]
    if gap <= NEAR:
        text = f"The program takes {_share(gap)} more cycles than any program must, by {bound}."
        lever = "Another target or network helps, no other schedule: `tilewright explain` doubles each resource."
    else:
        text = f"The program takes {_share(gap)} more cycles than the bound of all programs, which {bound} sets."
        lever = (
            "`tilewright compile --partition best` compares more ways to group layers."
            if len(answer["layers"]) > 1
            else "One layer has no other layers to be grouped with: `tilewright explain` doubles each resource."
        )
    yield _remark(None, lost, text, lever)


def _about_room(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Bytes that cross DRAM although no program must move them."""
    least = answer.get("lower_bound", {}).get("dram_bytes", 0)
    more = answer["dram_bytes"] - least
    if not least or more <= NEAR * least:
        return
    bandwidth = max(_speeds(answer).values(), default=0)
    text = f"{_bytes(more)} more than any program must cross DRAM ({_share(more / least)}): not all stays on chip."
    lever = "A larger buffer keeps more; `tilewright explain` says what twice as much is worth."
    yield _remark(None, min(more / bandwidth, answer["cycles"]) if bandwidth else 0, text, lever)


def _about_layers(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    units = {unit["name"]: unit["nodes"] for unit in answer["target"]["units"]}
    for number, layer in enumerate(answer["layers"]):
        if layer["cycles"] < WORTH * answer["cycles"]:
            continue
        wait = main_wait(layer, units)
        if wait is not None and wait.cycles >= WORTH * answer["cycles"]:
            yield _about_wait(answer, number, layer, wait, units)
        yield from _about_lanes(answer, number, layer)


def _about_wait(
    answer: Mapping[str, Any], number: int, layer: Mapping[str, Any], wait: MainWait, units: Units
) -> dict[str, Any]:
    speeds = _speeds(answer)
    links = [node for node in units[wait.for_unit] if node in speeds]
    text = f"{layer['name']}: {_work_of(wait.unit, units)} waits {wait.cycles:,} cycles for"
    if not links:
        lever = _hiding(layer) or "Smaller tiles let both work side by side."
        return _remark(number, wait.cycles, f"{text} {_work_of(wait.for_unit, units)}.", lever)
    speed = speeds[links[0]]
    what = f"{wait.what} over " if wait.what else ""
    lever = _hiding(layer) or _estimate(layer, units, speed)
    return _remark(number, wait.cycles, f"{text} {what}{links[0]} ({speed:g} B/cycle).", lever)


def _estimate(layer: Mapping[str, Any], units: Units, speed: float) -> str:
    """What may hide a wait for a link of `speed` bytes a cycle."""
    work = max((c for key, c in layer["busy_cycles"].items() if key not in ("dram", *units)), default=0)
    moved = layer["dram_bytes"]
    if work and moved / work > (1 + NEAR) * speed:
        return f"It moves {_bytes(moved)} in {work:,} cycles of work: {moved / work:.0f} B/cycle would keep step."
    return "Other layers' transfers fill the link: a larger buffer lets this layer's begin earlier."


OUTCOMES = {
    "hidden": "{of} hides them, the run takes {cycles:,.0f} cycles",
    "moved": "with {of} other layers wait instead, the run takes {cycles:,.0f} cycles",
    "left": "{of} leaves {wait_cycles:,} of them",
}
"""What `explain` found about a wait with more of a resource (`driver.explain`)."""


def _hiding(layer: Mapping[str, Any]) -> str:
    """What `explain` found to hide the wait of a layer, and what not; nothing where it did not look."""
    tried: Sequence[Mapping[str, Any]] = layer.get("hiding", ())
    ordered = sorted(tried, key=lambda one: list(OUTCOMES).index(one["wait"]))
    told = [OUTCOMES[one["wait"]].format(of=_of(one), **one) for one in ordered]
    return f"Compiled again: {'; '.join(told)}." if told else ""


def _of(one: Mapping[str, Any]) -> str:
    room = f", {_bytes(one['size_bytes'])}" if "size_bytes" in one else ""
    return f"`{one['attribute']}` {one['value']:,g} (x {one['factor']:g}{room})"


def _speeds(answer: Mapping[str, Any]) -> dict[str, float]:
    """The bandwidths of links off chip that have one."""
    links = [link for link in answer["target"]["links"] if link["offchip"] and link["bytes_per_cycle"] is not None]
    return {link["name"]: link["bytes_per_cycle"] for link in links}


def _work_of(unit: str, units: Units) -> str:
    """What a unit is called: the node or link that it serves, if that is one."""
    return units[unit][0] if len(units[unit]) == 1 else unit


def _about_lanes(answer: Mapping[str, Any], number: int, layer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    array = answer["target"]["array"]
    busy, share = layer["busy_cycles"].get(array, 0), layer["utilization"]
    if layer["bound_by"] == array and share < IDLE_ARRAY and busy:
        lost = round(busy * (1 - share))
        text = f"{layer['name']}: {array} works at {_share(share)} of its peak: lanes are idle or wait for operands."
        yield _remark(number, lost, text, f"Other lanes of {array}, more bandwidth to it, or a larger batch.")


def _share(part: float) -> str:
    return f"{100 * part:.1f} %"


def _bytes(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            break
        count /= 1000
    return f"{count:.3g} {unit}"


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
