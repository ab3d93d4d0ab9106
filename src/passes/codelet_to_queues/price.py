"""What an instruction costs by the machine's own statements: cycles, energy and bytes of memories off chip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, prod

from ...algebra.byte_regions import make_region
from ...algebra.element import element_dtype
from ...algebra.expr import Strided, accesses_of
from ...costs.mapping.formula import Formula, compile_formula
from ...machine import Machine
from .isa import Binding, OperandSlot


@dataclass(frozen=True)
class Price:
    """An instruction's cycles, energy, and bytes read and written off chip; `resource` is what it occupies alone."""

    cycles: int
    energy_pj: float
    dram_bytes: int
    resource: str


@dataclass(frozen=True)
class _Kind:
    """What is the same for all instructions of a binding; `fields` are those on which their price depends."""

    cycles: Formula
    energy: Formula
    resource: str
    latency_cycles: int
    bytes_per_cycle: float
    fields: tuple[int, ...]
    spread: tuple[tuple[int, Mapping[int, str], int], ...]  # field, dim by code, instances
    read: frozenset[str]


MOST_PRICED = 1 << 16
"""Prices that are remembered of a machine."""


class Prices:
    """Prices of the instructions of a machine.

    A row is priced as the machine says: the capability's formulas over its extents, at least the bytes of a link over
    its bandwidth, the latency of links, and the energy of each byte that an operand touches (once per instruction).
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.kinds: dict[tuple[int, str], _Kind] = {}
        self.known: dict[tuple[int, str, tuple[int, ...]], Price] = {}

    def of(self, binding: Binding, row: Sequence[int]) -> Price:
        """The price of an instruction."""
        key = binding.number, binding.capability.name
        kind = self.kinds.get(key)
        if kind is None:
            kind = self.kinds[key] = _kind(self.machine, binding)
        values = (*key, tuple([row[index] for index in kind.fields]))
        price = self.known.get(values)
        if price is None:
            if len(self.known) >= MOST_PRICED:
                self.known.clear()
            price = self.known[values] = self._price(kind, binding, row)
        return price

    def _price(self, kind: _Kind, binding: Binding, row: Sequence[int]) -> Price:
        env = _environment(kind, binding, row)
        energy, dram_bytes, moved = float(kind.energy(env)), 0, 0
        for slot in binding.operands:
            memory, size = self.machine.memory_by_name[slot.memory], _touched(binding, slot, row)
            target = slot is binding.operands[0]
            read = slot.name in kind.read or (target and binding.accumulate >= 0 and row[binding.accumulate] == 1)
            energy += size * (memory.write_energy_pj_per_byte * target + memory.read_energy_pj_per_byte * read)
            dram_bytes += size * (target + read) * memory.offchip
            moved = max(moved, size)
        cycles = max(0, ceil(float(kind.cycles(env))))
        if kind.bytes_per_cycle < inf:
            cycles = max(cycles, ceil(moved / kind.bytes_per_cycle))
        return Price(cycles + kind.latency_cycles, energy, dram_bytes, kind.resource)


def _environment(kind: _Kind, binding: Binding, row: Sequence[int]) -> dict[str, int]:
    """What formulas may name."""
    extents = {dim.name: 1 for dim in binding.capability.dims}
    extents |= {dim: row[index] for dim, index in binding.extents.items()}
    ways = {f"{dim}_ways": 1 for dim in extents}
    for index, dims, instances in kind.spread:
        if row[index] in dims:
            ways[f"{dims[row[index]]}_ways"] *= instances
    return {**extents, **ways, "ops": prod(extents.values())}


def _touched(binding: Binding, slot: OperandSlot, row: Sequence[int]) -> int:
    """Different bytes of an operand."""
    name = slot.type_name or next(name for name, code in slot.types.items() if code == row[slot.type_field])
    steps = [(row[binding.extents[dim]], row[index]) for dim, index in slot.strides.items() if dim in binding.extents]
    steps += [(row[binding.extents[d]], stride) for d, stride in slot.fixed_strides.items() if d in binding.extents]
    return make_region(element_dtype(name).itemsize, steps).byte_count()


def _kind(machine: Machine, binding: Binding) -> _Kind:
    capability = binding.capability
    cycles, energy = compile_formula(capability.cycles), compile_formula(capability.energy_pj)
    fields = {*binding.extents.values(), *binding.spread.values(), binding.accumulate}
    for slot in binding.operands:
        fields |= {slot.type_field, *slot.strides.values()}
    read = frozenset(a.tensor for a in accesses_of(capability.statement.value) if isinstance(a, Strided))
    used = tuple(sorted(index for index in fields if index >= 0))
    name = capability.node.replace(" ", "")
    link = next((link for link in machine.links if link.name == name), None)
    if link is not None:
        rate = link.bandwidth_bytes_per_cycle
        return _Kind(cycles, energy, link.channel or link.name, link.latency_cycles, rate, used, (), read)
    node = machine.compute_by_name[name]
    instances = {"x": node.instances_x, "y": node.instances_y}
    spread = tuple(
        (index, {code: dim for dim, code in binding.fields[index].enum if dim != "none"}, instances[axis])
        for axis, index in binding.spread.items()
    )
    return _Kind(cycles, energy, name, _latency(machine, binding, name), inf, used, spread, read)


def _latency(machine: Machine, binding: Binding, node: str) -> int:
    """The largest latency of the links between a node and its operands' memories."""
    memories = {slot.memory for slot in binding.operands}
    ends = [(link, {link.src, link.dst}) for link in machine.links]
    return max((link.latency_cycles for link, both in ends if node in both and memories & both), default=0)
