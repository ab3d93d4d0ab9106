"""A machine with other numbers: its attributes by path, with the words of the `.acg` language.

`GBUF.depth`, `DRAM->GBUF.bandwidth` (a `<->` has one bandwidth), `MXU.instances_x`, `MXU.mac.k_lanes`, `LD.depth` of a
queue, `frequency`; together: `DRAM.bandwidth` of all links of a memory or node, `VPU.lanes` of all dims of its
capabilities that have lanes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from ..errors import TilewrightError
from .attributes import MEMORY_FIELDS, PORT_FIELDS
from .model import Compute, Link, Machine, Memory

Value = int | float


@dataclass(frozen=True)
class Slot:
    """A number of a machine: the collection and place of its item, the item's number, and the item with another."""

    collection: str
    place: int
    value: Value
    changed: Callable[[Any, Value], Any]


def attributes_of(machine: Machine) -> dict[str, Value]:
    """Every attribute that has a value, by path; those of several numbers are left out."""
    return {path: slots[0].value for path, slots in _slots(machine).items() if len(slots) == 1 or "->" in path}


def attribute(machine: Machine, path: str) -> Value:
    """The number of a path, the largest where it stands for several."""
    return max(slot.value for slot in _found(machine, path))


def changed(machine: Machine, path: str, value: Value) -> Machine:
    """The machine with `value` at a path."""
    slots = _found(machine, path)
    if any(isinstance(slot.value, int) for slot in slots) and value != int(value):
        raise TilewrightError("target", path, "a whole number", str(value), "give one")
    return _changed(machine, ((slot, type(slot.value)(value)) for slot in slots))


def scaled(machine: Machine, path: str, factor: float) -> Machine:
    """The machine with each number of a path multiplied; whole numbers stay whole."""
    return _changed(machine, ((slot, _times(slot.value, factor)) for slot in _found(machine, path)))


def resources_of(machine: Machine) -> tuple[str, ...]:
    """Paths of what a program may lack: room on chip, bandwidths, and the width of compute nodes that do something."""
    room = [f"{m.name}.depth" for m in machine.memories if not m.offchip and m.depth is not None]
    finite = [link for link in machine.links if link.bandwidth_bytes_per_cycle < inf]
    links = [
        f"{end}.bandwidth"
        for end in dict.fromkeys(_end_of(link, machine.offchip) for link in finite)
        if f"{end}.bandwidth" in _slots(machine)
    ]
    widths: list[str] = []
    for node in machine.computes:
        several = node.instances_x * node.instances_y > 1
        if several or any(dim.lanes > 1 for capability in node.capabilities for dim in capability.dims):
            widths.append(f"{node.name}.instances_x" if several else f"{node.name}.lanes")
    return (*room, *links, *widths)


def _end_of(link: Link, offchip: Iterable[str]) -> str:
    """The end that a link is called by: a memory off chip, else where it leads, whichever way it was written."""
    ends = (link.dst, link.src) if link.back else (link.src, link.dst)
    return next((end for end in ends if end in offchip), ends[1])


def _times(value: Value, factor: float) -> Value:
    return round(value * factor) if isinstance(value, int) else value * factor


def _found(machine: Machine, path: str) -> list[Slot]:
    slots = _slots(machine)
    if path not in slots:
        owner = path.rpartition(".")[0]
        near = [other for other in slots if other.rpartition(".")[0] == owner] or list(slots)
        raise TilewrightError("target", path, f"an attribute of {machine.name}: {', '.join(near[:40])}", "no such path")
    return slots[path]


def _changed(machine: Machine, values: Iterable[tuple[Slot, Value]]) -> Machine:
    for slot, value in values:
        if not slot.collection:
            machine = slot.changed(machine, value)
            continue
        items = list(getattr(machine, slot.collection))
        items[slot.place] = slot.changed(items[slot.place], value)
        machine = replace(machine, **{slot.collection: tuple(items)})
    return machine


def _slots(machine: Machine) -> dict[str, list[Slot]]:
    """All paths with the numbers that they stand for."""
    found: dict[str, list[Slot]] = {}
    for path, slot in _all(machine):
        found.setdefault(path, []).append(slot)
    return found


def _all(machine: Machine) -> Iterator[tuple[str, Slot]]:
    yield "frequency", Slot("", 0, machine.frequency_hz, lambda item, value: replace(item, frequency_hz=float(value)))
    for place, memory in enumerate(machine.memories):
        yield from _of_memory(place, memory)
    for place, link in enumerate(machine.links):
        yield from _of_link(place, link)
    for place, node in enumerate(machine.computes):
        yield from _of_node(place, node)
    for place, unit in enumerate(machine.units):
        yield f"{unit.name}.depth", Slot("units", place, unit.depth, _setter("depth"))


def _setter(field: str) -> Callable[[Any, Value], Any]:
    return lambda item, value: replace(item, **{field: value})


def _of_memory(place: int, memory: Memory) -> Iterator[tuple[str, Slot]]:
    def port(field: str) -> Callable[[Any, Value], Any]:
        return lambda item, value: replace(item, ports=replace(item.ports, **{field: value}))

    owners: list[tuple[Any, Mapping[str, str], Callable[[str], Callable[[Any, Value], Any]]]] = [
        (memory, MEMORY_FIELDS, _setter),
        (memory.ports, PORT_FIELDS, port),
    ]
    for owner, fields, setter in owners:
        for word, field in fields.items():
            if (value := getattr(owner, field)) is not None:
                yield f"{memory.name}.{word}", Slot("memories", place, value, setter(field))
    for axis in ("instances_x", "instances_y"):
        yield f"{memory.name}.{axis}", Slot("memories", place, getattr(memory, axis), _setter(axis))


def _of_link(place: int, link: Link) -> Iterator[tuple[str, Slot]]:
    """Both halves of a `<->` go by the name of the first, and by each of their ends."""
    name = link.reversed().name if link.back else link.name
    latency = Slot("links", place, link.latency_cycles, _setter("latency_cycles"))
    yield f"{name}.latency", latency
    if link.bandwidth_bytes_per_cycle < inf:
        slot = Slot("links", place, link.bandwidth_bytes_per_cycle, _setter("bandwidth_bytes_per_cycle"))
        for owner in (name, link.src, link.dst):
            yield f"{owner}.bandwidth", slot


def _of_node(place: int, node: Compute) -> Iterator[tuple[str, Slot]]:
    for axis in ("instances_x", "instances_y"):
        yield f"{node.name}.{axis}", Slot("computes", place, getattr(node, axis), _setter(axis))
    for number, capability in enumerate(node.capabilities):
        for position, dim in enumerate(capability.dims):

            def set_lanes(item: Compute, value: Value, number: int = number, position: int = position) -> Compute:
                capabilities, dims = list(item.capabilities), list(item.capabilities[number].dims)
                dims[position] = replace(dims[position], lanes=int(value))
                capabilities[number] = replace(capabilities[number], dims=tuple(dims))
                return replace(item, capabilities=tuple(capabilities))

            slot = Slot("computes", place, dim.lanes, set_lanes)
            yield f"{node.name}.{capability.name}.{dim.name}_lanes", slot
            if dim.lanes > 1:
                yield f"{node.name}.lanes", slot
