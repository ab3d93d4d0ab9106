"""When the instructions of a program run: all of it but what queues of limited depth hold up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, prod

from ...algebra.element import element_dtype
from ...costs.mapping.formula import Formula, compile_formula
from ...machine import Machine
from .isa import Binding, Isa


@dataclass(frozen=True)
class _Kind:
    """What is the same for all instructions of a binding: its formula, what it occupies, and what comes on top."""

    formula: Formula
    resource: str
    latency_cycles: int
    bytes_per_cycle: float
    extents: tuple[tuple[str, int], ...]
    spread: tuple[tuple[int, Mapping[int, str], int], ...]  # field, dim by code, instances


@dataclass(frozen=True)
class _Issue:
    """An instruction: its place in the program, what it takes, and what it waits for."""

    number: int
    resource: str
    cycles: int
    waits: Sequence[tuple[int, int]]


class Clock:
    """Units that work in order, at the same time; each instruction starts when what it waits for is done.

    What it waits for is its unit, counts of other units' instructions, and its node or channel, which goes to the one
    that can start first.
    """

    def __init__(self, isa: Isa) -> None:
        self.machine = isa.machine
        self.kinds: dict[tuple[int, str], _Kind] = {}
        self.cycles: dict[tuple[int, str, tuple[int, ...]], int] = {}
        self.queues: list[list[_Issue]] = [[] for _ in isa.units]
        self.count = 0

    def issue(self, binding: Binding, row: Sequence[int], waits: Sequence[tuple[int, int]]) -> None:
        """The next instruction; `waits` are units and how many of their instructions must be done."""
        key = binding.number, binding.capability.name
        kind = self.kinds.get(key)
        if kind is None:
            kind = self.kinds[key] = _kind(self.machine, binding)
        cycles = self._cycles(kind, binding, row)
        self.queues[binding.unit].append(_Issue(self.count, kind.resource, cycles, waits))
        self.count += 1

    def end_cycle(self) -> int:
        """The cycle at which all is done."""
        ends: list[list[int]] = [[0] for _ in self.queues]
        free: dict[str, int] = {}
        for _ in range(self.count):
            ready = [
                (start, queue[len(ends[unit]) - 1].number, unit)
                for unit, queue in enumerate(self.queues)
                if len(ends[unit]) <= len(queue)
                and (start := _start(queue[len(ends[unit]) - 1], ends[unit][-1], ends, free)) is not None
            ]
            start, _, unit = min(ready)
            issue = self.queues[unit][len(ends[unit]) - 1]
            free[issue.resource] = start + issue.cycles
            ends[unit].append(start + issue.cycles)
        return max(done[-1] for done in ends)

    def _cycles(self, kind: _Kind, binding: Binding, row: Sequence[int]) -> int:
        numbers = tuple(row[index] for _, index in kind.extents) + tuple(row[index] for index, _, _ in kind.spread)
        key = binding.number, binding.capability.name, numbers
        known = self.cycles.get(key)
        if known is None:
            known = self.cycles[key] = _cycles_of(kind, binding, row)
        return known


def _start(issue: _Issue, begin: int, ends: Sequence[Sequence[int]], free: Mapping[str, int]) -> int | None:
    """When an instruction can start whose unit is free at `begin`; None where it waits for what has not started."""
    start = max(begin, free.get(issue.resource, 0))
    for unit, count in issue.waits:
        if len(ends[unit]) <= count:
            return None
        start = max(start, ends[unit][count])
    return start


def _cycles_of(kind: _Kind, binding: Binding, row: Sequence[int]) -> int:
    env = {dim.name: 1 for dim in binding.capability.dims} | {dim: row[index] for dim, index in kind.extents}
    ops = prod(env.values())
    ways = {f"{dim}_ways": 1 for dim in env}
    for index, dims, instances in kind.spread:
        if row[index] in dims:
            ways[f"{dims[row[index]]}_ways"] *= instances
    cycles = max(0, ceil(float(kind.formula({**env, **ways, "ops": ops}))))
    if kind.bytes_per_cycle < inf:
        slot = binding.operands[0]
        name = slot.type_name or next(name for name, code in slot.types.items() if code == row[slot.type_field])
        cycles = max(cycles, ceil(ops * element_dtype(name).itemsize / kind.bytes_per_cycle))
    return cycles + kind.latency_cycles


def _kind(machine: Machine, binding: Binding) -> _Kind:
    formula, extents = compile_formula(binding.capability.cycles), tuple(binding.extents.items())
    name = binding.capability.node.replace(" ", "")
    link = next((link for link in machine.links if link.name == name), None)
    if link is not None:
        rate = link.bandwidth_bytes_per_cycle
        return _Kind(formula, link.channel or link.name, link.latency_cycles, rate, extents, ())
    node = next(node for node in machine.computes if node.name == name)
    memories = {slot.memory for slot in binding.operands}
    ends = [(link, {link.src, link.dst}) for link in machine.links]
    latency = max((link.latency_cycles for link, both in ends if name in both and memories & both), default=0)
    instances = {"x": node.instances_x, "y": node.instances_y}
    spread = tuple(
        (index, {code: dim for dim, code in binding.fields[index].enum if dim != "none"}, instances[axis])
        for axis, index in binding.spread.items()
    )
    return _Kind(formula, name, latency, inf, extents, spread)
