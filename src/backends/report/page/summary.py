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
from .layout import layout_of

if TYPE_CHECKING:
    from ...program import Program


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
