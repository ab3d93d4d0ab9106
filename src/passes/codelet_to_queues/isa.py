"""The instructions of a machine as the code generator sees them: which one does what, and which field says what.

Everything is read from the machine's bindings of mnemonics to capabilities; rows of field values have the header's
fields first, then the mnemonic's own, as in the instruction word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...algebra.element import Ints, element_dtype, is_float, limits, value_to_bits
from ...algebra.expr import Name
from ...algebra.lookup import lookup_of
from ...errors import TilewrightError
from ...machine import Capability, Field, Machine, Mnemonic

if TYPE_CHECKING:
    from .macros import Expansion
    from .plan_compute import Shape


@dataclass(frozen=True)
class OperandSlot:
    """Where an operand's address, type and strides go: indices into the row, or values that the ISA fixes."""

    name: str
    memory: str
    address: int
    type_name: str  # the fixed element type, or "" where `type_field` selects it
    type_field: int
    types: Mapping[str, int]
    strides: Mapping[str, int]  # capability dim -> index into the row
    fixed_strides: Mapping[str, int]  # capability dim -> bytes

    def allows(self, element: str, memory: str) -> bool:
        """Whether the operand may have this element type and lie in this memory."""
        return self.memory == memory and (element == self.type_name or element in self.types)


@dataclass(frozen=True)
class Binding:
    """One mnemonic bound to one capability."""

    number: int
    mnemonic: Mnemonic
    capability: Capability
    unit: int
    fields: tuple[Field, ...]  # the row: header, then own
    operands: tuple[OperandSlot, ...]  # target first
    extents: Mapping[str, int]  # capability dim -> index into the row
    functions: Mapping[str, int]
    immediates: Mapping[str, int]
    accumulate: int  # index into the row, -1 for none
    spread: Mapping[str, int]  # axis -> index into the row
    expansion: Expansion | None = None  # of a macro, whose row holds facts instead of fields

    def limit(self, dim: str) -> int:
        """Most iterations of a capability dim that an instruction can say; a dim without a field has one."""
        if dim not in self.extents:
            return 1
        capability = next(d.limit for d in self.capability.dims if d.name == dim)
        return min(capability, self.fields[self.extents[dim]].highest)

    def stride_range(self, operand: int, dim: str) -> tuple[int, int]:
        """Lowest and highest stride in bytes of an operand along a capability dim."""
        slot = self.operands[operand]
        if dim in slot.strides:
            field = self.fields[slot.strides[dim]]
            return field.lowest, field.highest
        fixed = slot.fixed_strides.get(dim, 0)
        return fixed, fixed

    def code(self, index: int, name: str) -> int:
        """The code of `name` in the efield at `index` of the row."""
        field = self.fields[index]
        codes = dict(field.enum)
        if name not in codes:
            subject = f"{self.mnemonic.name}.{field.name}"
            raise TilewrightError("target", subject, f"one of {', '.join(codes)}", name)
        return codes[name]

    def immediate_bits(self, name: str, value: float, element: str) -> int:
        """The bits of an immediate of type `element`, as its field holds them."""
        field = self.fields[self.immediates[name]]
        if not represents(element, value):
            raise TilewrightError("target", f"{self.mnemonic.name}.{field.name}", f"a value of {element}", str(value))
        bits = value_to_bits(value, element)
        if field.signed and bits >> (field.width_bits - 1):
            return bits - (1 << field.width_bits)
        return bits

    def row(
        self,
        elements: Sequence[str],
        functions: Mapping[str, str],
        immediates: Mapping[str, float],
        spread: Mapping[str, str],
    ) -> list[int]:
        """Fields of an instruction on operands of these element types; extents are 1, header and addresses 0."""
        row = [0] * len(self.fields)
        for index in self.extents.values():
            row[index] = 1
        for slot, element in zip(self.operands, elements, strict=True):
            if slot.type_field >= 0:
                row[slot.type_field] = slot.types[element]
        for variable, function in functions.items():
            row[self.functions[variable]] = self.code(self.functions[variable], function)
        types = dict(self.capability.immediates)
        for name, value in immediates.items():
            row[self.immediates[name]] = self.immediate_bits(name, value, types[name])
        self.set_spread(row, spread)
        return row

    def set_spread(self, row: list[int], spread: Mapping[str, str]) -> None:
        """Which dim runs on several instances along each axis."""
        for axis, index in self.spread.items():
            row[index] = self.code(index, spread.get(axis, "none"))

    def set_stride(self, row: list[int], operand: int, dim: str, stride: int, subject: str) -> None:
        """The stride in bytes of an operand along a dim; `TilewrightError` about `subject` if the field has no room."""
        low, high = self.stride_range(operand, dim)
        slot = self.operands[operand]
        if not low <= stride <= high:
            what = f"{slot.name} along {dim} in {self.mnemonic.node}.{self.capability.name}"
            raise TilewrightError("target", subject, f"a stride of {low} to {high} B of {what}", f"{stride} B")
        if dim in slot.strides:
            row[slot.strides[dim]] = stride


def represents(type_name: str, value: float) -> bool:
    """Whether an element type has the value (rounded, for floats)."""
    dtype = element_dtype(type_name)
    if is_float(dtype):
        return True
    low, high = limits(dtype)
    return isfinite(value) and value == int(value) and low <= value <= high


@dataclass(frozen=True)
class Control:
    """The header's part in ordering: where an instruction's own tag and its waits go."""

    size: int
    signal: int  # index into the row, -1 for none
    waits: tuple[tuple[int, int], ...]  # indices of (tag, count)


class Isa:
    """All bindings of a machine, by the capability they do; `TilewrightError` for a control model other than queues.

    `shapes` has what computes became so far, by all but their addresses (`isa_of`).
    """

    def __init__(self, machine: Machine) -> None:
        from .macros import macro_bindings  # which binds as it is done here

        if machine.control != "queues":
            subject = f"machine {machine.name}"
            raise TilewrightError("unsupported", subject, "control model `queues`", f"`{machine.control}`")
        self.machine = machine
        self.memories = {memory.name: number for number, memory in enumerate(machine.memories)}
        self.units = [unit.name for unit in machine.units] or [""]
        header = [field.name for field in machine.header]
        self.control = Control(
            len(header),
            header.index(machine.signal) if machine.signal else -1,
            tuple((header.index(tag), header.index(count)) for tag, count in machine.waits),
        )
        self.bindings: dict[tuple[str, str], list[Binding]] = {}
        self.shapes: dict[object, Shape] = {}
        for number, mnemonic in enumerate(machine.mnemonics):
            if mnemonic.capability and _has_choice(mnemonic):
                binding = self._bind(number, mnemonic)
                self.bindings.setdefault((mnemonic.node, mnemonic.capability), []).append(binding)
        for binding in list(macro_bindings(machine, self.bindings)):
            capability = binding.capability
            self.bindings.setdefault((capability.node, capability.name), []).append(binding)

    def missing(self, expected: str, found: str = "none", lever: str = "") -> TilewrightError:
        """The error about an instruction that the machine does not have."""
        return TilewrightError("target", f"machine {self.machine.name}", expected, found, lever)

    def set_headers(self, rows: Ints, units: Ints, needs: NDArray[np.int32]) -> None:
        """The tags of instructions' units, and for each unit how many of its must be done before (0: any)."""
        if self.control.signal < 0:
            return
        rows[:, self.control.signal] = units + 1
        most = int((needs > 0).sum(axis=1).max(initial=0))
        if most > len(self.control.waits):
            expected = f"at least {most} waits in an instruction's header"
            raise self.missing(expected, f"{len(self.control.waits)}")
        waited = np.argsort(needs == 0, axis=1, kind="stable")
        for (tag, place), others in zip(self.control.waits, waited.T[:most], strict=False):
            counts = np.take_along_axis(needs, others[:, None], axis=1)[:, 0]
            rows[:, tag], rows[:, place] = np.where(counts > 0, others + 1, 0), counts

    def of_capability(self, node: str, capability: str) -> list[Binding]:
        """The mnemonics that do a capability; `TilewrightError` (kind `target`) if there is none."""
        found = self.bindings.get((node, capability), [])
        if not found:
            lever = "add one to the target file"
            raise self.missing(f"a mnemonic for capability {capability} of {node}", lever=lever)
        return found

    def _moves(self, source: str, destination: str) -> list[Binding]:
        """The mnemonics that move over the link from memory `source` to memory `destination`."""
        links = (f"{source}->{destination}", f"{source} -> {destination}")
        return [b for (node, _), bindings in self.bindings.items() if node in links for b in bindings]

    def lookups(self, source: str, destination: str) -> list[Binding]:
        """The mnemonics that copy rows at indices over the link from memory `source` to memory `destination`."""
        found = self._moves(source, destination)
        return [binding for binding in found if lookup_of(binding.capability.statement) is not None]

    def copies(self, source: str, destination: str) -> list[Binding]:
        """The mnemonics that copy over the link from memory `source` to memory `destination`."""
        found = [b for b in self._moves(source, destination) if lookup_of(b.capability.statement) is None]
        if not found:
            lever = "add a link with a copy capability and a mnemonic for it"
            raise self.missing(f"a mnemonic that copies from {source} to {destination}", lever=lever)
        return found

    def fill(self, memory: str, element: str, value: float) -> Binding | None:
        """A mnemonic that sets elements of `memory` to the immediate `value`, if there is one that can say it."""
        for bindings in self.bindings.values():
            for binding in bindings:
                statement = binding.capability.statement
                value_name = statement.value
                if statement.reduce != "=" or not isinstance(value_name, Name):
                    continue
                if value_name.id not in binding.immediates:
                    continue
                type_name = dict(binding.capability.immediates)[value_name.id]
                said = represents(type_name, value) and represents(element, value)
                if said and binding.operands[0].allows(element, memory):
                    return binding
        return None

    def _bind(self, number: int, mnemonic: Mnemonic) -> Binding:
        machine = self.machine
        fields = (*machine.header, *mnemonic.fields)
        index = {field.name: i for i, field in enumerate(fields)}
        operands = {operand.operand: operand for operand in mnemonic.operands}
        capability = find_capability(machine, mnemonic.node, mnemonic.capability)
        slots: list[OperandSlot] = []
        for name in capability.operands:
            operand = operands[name]
            of_type = index.get(operand.type_name, -1)
            slots.append(
                OperandSlot(
                    name,
                    operand.memory,
                    index[operand.address],
                    "" if of_type >= 0 else operand.type_name,
                    of_type,
                    dict(fields[of_type].enum) if of_type >= 0 else {},
                    {dim: index[text] for dim, text in operand.strides if text in index},
                    {dim: int(text) for dim, text in operand.strides if text not in index},
                )
            )
        axes = (("x", mnemonic.spread_x), ("y", mnemonic.spread_y))
        return Binding(
            number,
            mnemonic,
            capability,
            self.units.index(mnemonic.unit) if mnemonic.unit else 0,
            fields,
            tuple(slots),
            {dim: index[field] for dim, field in mnemonic.extents if field in index},
            {variable: index[field] for variable, field in mnemonic.functions},
            {name: index[field] for name, field in mnemonic.immediates},
            index[mnemonic.accumulate] if mnemonic.accumulate else -1,
            {axis: index[field] for axis, field in axes if field},
        )


@lru_cache(maxsize=4)
def isa_of(machine: Machine) -> Isa:
    """The bindings of a machine, with the shapes of computes that were seen before; the last few are kept."""
    return Isa(machine)


def _has_choice(mnemonic: Mnemonic) -> bool:
    """Whether fields say where it works and how much it does; what is fixed is left to programs written by hand."""
    fixed = [word for _, word in mnemonic.extents if word.isdigit() and word != "1"]
    return not fixed and not any(operand.address.isdigit() for operand in mnemonic.operands)


def find_capability(machine: Machine, node: str, name: str) -> Capability:
    """A capability of a compute node or of a link (`A->B`); `TilewrightError` (kind `target`) if there is none."""
    wanted = node.replace(" ", "")
    for own in (one for one in (*machine.computes, *machine.links) if one.name == wanted):
        for capability in own.capabilities:
            if capability.name == name:
                return capability
    raise TilewrightError("target", f"machine {machine.name}", f"capability {name} of {node}", "none")
