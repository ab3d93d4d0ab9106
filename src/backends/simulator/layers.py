"""What each layer of a program took: cycles, bytes, energy, and what binds it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...machine import Machine
from ...machine.layer_table import LayerTable
from .energy import Counts, peak_ops_per_cycle

ROW = 0
"""The thread of a trace that shows layers, above those of units."""


@dataclass(frozen=True)
class Advance:
    """A stretch of time in which a layer, by its number, advances the end of the program."""

    layer: int
    start_cycle: int
    end_cycle: int


def advances(ends: Iterable[tuple[int, int]]) -> list[Advance]:
    """The stretches of time from 0 to the end; `ends` are layer and last cycle of each piece of work in order."""
    found: list[Advance] = []
    horizon = 0
    for layer, end in ends:
        if end > horizon:
            start = found.pop().start_cycle if found and found[-1].layer == layer else horizon
            found.append(Advance(layer, start, end))
            horizon = end
    return found


def layer_events(table: LayerTable, stretches: Iterable[Advance], scale: float) -> Iterator[dict[str, Any]]:
    """The events of the row; `scale` is a cycle in microseconds."""
    if not table.known:
        return
    yield {"ph": "M", "pid": 1, "tid": ROW, "name": "thread_name", "args": {"name": "layers"}}
    yield {"ph": "M", "pid": 1, "tid": ROW, "name": "thread_sort_index", "args": {"sort_index": ROW}}
    for one in stretches:
        layer = table.layers[one.layer]
        args = {"nodes": " ".join(layer.nodes)} | ({"group": layer.group} if layer.group else {})
        times = {"ts": one.start_cycle * scale, "dur": (one.end_cycle - one.start_cycle) * scale}
        yield {"ph": "X", "pid": 1, "tid": ROW, "name": layer.name, **times, "args": args}


BINDING_SHARE = 1 / 2
"""A layer is bound by what is busy for at least this part of its cycles."""

DRAM = "dram"
"""What binds a layer whose transfers to and from memories off chip take longest."""

WAITING = "waiting"
"""What binds a layer in whose cycles nothing is busy for long: latencies, and instructions that wait for others."""


@dataclass(frozen=True)
class LayerFigures:
    """What a layer took.

    `cycles` is the time by which its instructions advance the end of the program, each after those before it in the
    program; so the cycles of all layers add up to the program's, and what is hidden behind earlier layers counts 0.
    `dram_bytes` are read and written off chip, `memory_bytes` in each memory; `ops` are those of the compute array.
    `busy_cycles` says of all that does one thing at a time, `dram` among it, how long it works for the layer: alone,
    its instructions take no less than the largest.  `utilization` is the share of its peak that the compute array did
    in these cycles (in the array's busy cycles, where those are more).  `bound_by` is `dram`, or the compute node, link
    or unit that is busy longest in the layer's instructions, if at least for half of its cycles; else `waiting`.
    """

    name: str
    nodes: tuple[str, ...]
    group: str
    instructions: int
    cycles: int
    dram_bytes: int
    energy_pj: float
    utilization: float
    bound_by: str
    ops: int
    memory_bytes: Mapping[str, int]
    busy_cycles: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        plain = {"nodes": list(self.nodes), "memory_bytes": dict(self.memory_bytes)}
        return vars(self) | plain | {"busy_cycles": dict(self.busy_cycles)}


def layer_figures(
    machine: Machine, table: LayerTable, stretches: Iterable[Advance], counts: Sequence[Counts]
) -> tuple[LayerFigures, ...]:
    """The figures of all layers, from the times in which each advances the end and what its instructions did."""
    cycles, sizes = [0] * len(table.layers), [0] * len(table.layers)
    for one in stretches:
        cycles[one.layer] += one.end_cycle - one.start_cycle
    for layer, count in table.runs:
        sizes[layer] += count
    array = compute_array(machine)
    works = [_busy(machine, count) for count in counts]
    return tuple(
        LayerFigures(
            layer.name,
            layer.nodes,
            layer.group,
            size,
            own,
            count.dram_bytes(machine),
            count.energy_pj,
            _utilization(count, array, own),
            _bound(busy, own),
            count.computes[array].ops if array else 0,
            {name: one.read_bytes + one.write_bytes for name, one in count.memories.items()},
            busy,
        )
        for layer, size, own, count, busy in zip(table.layers, sizes, cycles, counts, works, strict=True)
    )


def compute_array(machine: Machine) -> str:
    """The compute node that can do most operations in a cycle; "" for a machine without one."""
    peaks = {
        node.name: max((peak_ops_per_cycle(node, capability) for capability in node.capabilities), default=0.0)
        for node in machine.computes
    }
    return max(peaks, key=lambda name: peaks[name], default="")


def _utilization(counts: Counts, array: str, cycles: int) -> float:
    node = counts.computes.get(array)
    return node.full_cycles / max(cycles, node.busy_cycles, 1) if node is not None else 0.0


def _busy(machine: Machine, counts: Counts) -> dict[str, int]:
    """Busy cycles of what does one thing at a time, of several with one name the most."""
    found: dict[str, int] = {}
    for name, cycles in _works(machine, counts):
        found[name] = max(found.get(name, 0), cycles)
    return {name: cycles for name, cycles in found.items() if cycles}


def _works(machine: Machine, counts: Counts) -> Iterator[tuple[str, int]]:
    """Busy cycles of compute nodes, channels of links, units."""
    yield from ((name, count.busy_cycles) for name, count in counts.computes.items())
    channels: dict[str, int] = {}
    for link in machine.links:
        channel = link.channel or link.name
        channels[channel] = channels.get(channel, 0) + counts.links[link.name].busy_cycles
    offchip = offchip_links(machine)
    dram = {link.channel or link.name for link in machine.links if link.name in offchip}
    yield from ((DRAM if name in dram else name, cycles) for name, cycles in channels.items())
    nodes = unit_nodes(machine)
    for name, count in counts.units.items():
        yield DRAM if nodes[name] and offchip.issuperset(nodes[name]) else name, count.busy_cycles


def unit_nodes(machine: Machine) -> dict[str, list[str]]:
    """The nodes and links that each unit drives."""
    return {
        unit.name: sorted({m.node for m in machine.mnemonics if m.unit == unit.name and m.node})
        for unit in machine.units
    }


def offchip_links(machine: Machine) -> set[str]:
    """The links that have an end off chip."""
    return {link.name for link in machine.links if link.src in machine.offchip or link.dst in machine.offchip}


def _bound(busy: Mapping[str, int], cycles: int) -> str:
    name, most = max(busy.items(), key=lambda item: item[1], default=("", 0))
    return name if most and most >= BINDING_SHARE * cycles else WAITING
