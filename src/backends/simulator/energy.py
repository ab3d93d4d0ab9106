"""Counts and energy: how much each memory, link, compute node, unit and mnemonic did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ...machine import Capability, Compute, Link, Machine
from .plan import Plan
from .stream import Stream


@dataclass
class MemoryCount:
    """Bytes of operands read from and written to a memory (each byte once per instruction), and their energy."""

    read_bytes: int = 0
    write_bytes: int = 0
    energy_pj: float = 0.0
    peak_bytes: int = 0  # one past the highest address that is used


@dataclass
class NodeCount:
    """What a compute node or link did."""

    issues: int = 0
    ops: int = 0
    bytes: int = 0
    busy_cycles: int = 0
    full_cycles: float = 0.0  # the cycles that the ops would take with all lanes busy
    energy_pj: float = 0.0


@dataclass
class UnitCount:
    """What a unit did."""

    instructions: int = 0
    busy_cycles: int = 0


@dataclass(frozen=True)
class Counts:
    """All counts of a run, by name."""

    memories: dict[str, MemoryCount]
    computes: dict[str, NodeCount]
    links: dict[str, NodeCount]
    units: dict[str, UnitCount]
    mnemonics: dict[str, int]

    @property
    def energy_pj(self) -> float:
        """The energy of everything."""
        groups = (self.memories, self.computes, self.links)
        return sum(item.energy_pj for group in groups for item in group.values())

    def dram_bytes(self, machine: Machine) -> int:
        """Bytes read from and written to memories off chip."""
        counts = [self.memories[memory.name] for memory in machine.memories if memory.offchip]
        return sum(count.read_bytes + count.write_bytes for count in counts)

    def add(self, other: Counts) -> None:
        """Adds what is counted for a part of the run."""
        names = ("memories", "computes", "links", "units")
        for mine, more in ((getattr(self, name), getattr(other, name)) for name in names):
            for name, item in more.items():
                for key, value in vars(item).items():
                    setattr(mine[name], key, getattr(mine[name], key) + value)
        for name, times in other.mnemonics.items():
            self.mnemonics[name] += times

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        groups = {"memories": self.memories, "computes": self.computes, "links": self.links, "units": self.units}
        plain: dict[str, Any] = {
            name: {key: dict(vars(item)) for key, item in group.items()} for name, group in groups.items()
        }
        return plain | {"mnemonics": dict(self.mnemonics)}


def counts_of(machine: Machine) -> Counts:
    """Counts of nothing yet."""
    return Counts(
        {memory.name: MemoryCount() for memory in machine.memories},
        {node.name: NodeCount() for node in machine.computes},
        {link.name: NodeCount() for link in machine.links},
        {unit.name: UnitCount() for unit in machine.units},
        {mnemonic.name: 0 for mnemonic in machine.mnemonics},
    )


def total_of(machine: Machine, parts: Sequence[Counts]) -> Counts:
    """The counts of all parts of a run."""
    total = counts_of(machine)
    for part in parts:
        total.add(part)
    return total


def price_memories(machine: Machine, counts: Counts) -> None:
    """Energy of what was read from memories and written to them."""
    for memory in machine.memories:
        used = counts.memories[memory.name]
        reads, writes = used.read_bytes, used.write_bytes
        used.energy_pj = reads * memory.read_energy_pj_per_byte + writes * memory.write_energy_pj_per_byte


def count_layers(stream: Stream, layers: Sequence[int], number: int) -> list[Counts]:
    """Counts of each of so many layers, without peaks; `layers` has that of each instruction."""
    found = [counts_of(stream.machine) for _ in range(number)]
    plans = {id(plan): plan for plan in stream.plans}
    for (layer, plan), times in Counter(zip(layers, map(id, stream.plans), strict=True)).items():
        _count_plan(stream.machine, found[layer], plans[plan], times)
    return found


def count_all(stream: Stream) -> Counts:
    """Counts of a whole program; every plan is counted once, times the instructions that share it."""
    (counts,) = count_layers(stream, [0] * len(stream), 1)
    for plan, unit in zip(stream.plans, stream.units, strict=True):
        if plan.bound is None:
            counts.units[stream.machine.units[unit].name].instructions += 1
    _count_peaks(stream, counts)
    return counts


def _count_plan(machine: Machine, counts: Counts, plan: Plan, times: int) -> None:
    if plan.bound is None:
        return
    counts.mnemonics[plan.bound.mnemonic.name] += times
    unit = counts.units[plan.bound.mnemonic.unit]
    unit.instructions += times
    unit.busy_cycles += times * plan.cycles
    for touch in plan.touches:
        memory = machine.memories[touch.memory]
        count = counts.memories[memory.name]
        reads, writes = (times * touch.byte_count * used for used in (touch.reads, touch.writes))
        count.read_bytes += reads
        count.write_bytes += writes
        count.energy_pj += reads * memory.read_energy_pj_per_byte + writes * memory.write_energy_pj_per_byte
    node = plan.bound.node
    count = counts.links[node.name] if isinstance(node, Link) else counts.computes[node.name]
    count.issues += times
    count.ops += times * plan.ops
    count.bytes += times * sum(touch.byte_count for touch in plan.touches if touch.writes)
    count.busy_cycles += times * plan.cycles
    count.full_cycles += times * full_cycles(node, plan.bound.capability, plan)
    count.energy_pj += times * plan.energy_pj


def full_cycles(node: Compute | Link, capability: Capability, plan: Plan) -> float:
    """The least cycles that a node could take: bytes over the bandwidth of a link, points over lanes and instances."""
    if isinstance(node, Link):
        return max((touch.byte_count for touch in plan.touches), default=0) / node.bandwidth_bytes_per_cycle
    return plan.ops / peak_ops_per_cycle(node, capability)


def full_cycles_of_ops(node: Compute, capability: Capability, issues: int) -> tuple[int, float]:
    """Points of so many issues at the dims' limits, and the least cycles that the node takes for them."""
    ops = issues * prod(dim.limit for dim in capability.dims)
    return ops, ops / peak_ops_per_cycle(node, capability)


def peak_ops_per_cycle(node: Compute, capability: Capability) -> float:
    """Points of the iteration space that a node can do in a cycle: lanes of all dims times instances."""
    return prod(dim.lanes for dim in capability.dims) * node.instances_x * node.instances_y


def _count_peaks(stream: Stream, counts: Counts) -> None:
    peaks = [0] * len(stream.machine.memories)
    for plan, addresses in zip(stream.plans, stream.addresses, strict=True):
        for touch, address in zip(plan.touches, addresses, strict=False):
            peaks[touch.memory] = max(peaks[touch.memory], address + touch.high)
    for memory, peak in zip(stream.machine.memories, peaks, strict=True):
        counts.memories[memory.name].peak_bytes = peak


def utilization(counts: Counts, cycles: int) -> dict[str, float]:
    """Shares of the run: of a compute node or link, how much of its peak it did; of a unit, how long it was busy."""
    total = max(cycles, 1)
    shares: dict[str, float] = {}
    for name, count in (*counts.computes.items(), *counts.links.items()):
        if count.issues:
            shares[name] = count.full_cycles / total
    return shares | {name: count.busy_cycles / total for name, count in counts.units.items() if count.instructions}
