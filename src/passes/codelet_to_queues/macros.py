"""Macro-mnemonics in code generation: a rule is bound like one instruction, and expands when it is emitted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...algebra.element import element_dtype
from ...algebra.expr import access_dims, accesses
from ...errors import TilewrightError
from ...machine import Capability, Field, Machine
from ...machine.macro_rules import KEEP
from ...machine.macros import Macro
from .dependences import Span
from .isa import Binding, OperandSlot, find_capability

Value = tuple[int, int, Mapping[int, int]]
"""Index into the concrete row; index into the macro's row (-1: the code under -1); codes to translate by, or none."""


@dataclass(frozen=True)
class Step:
    """One instruction of an expansion: its binding and how its fields follow from the macro's row."""

    binding: Binding
    values: tuple[Value, ...]
    sources: tuple[str, ...]  # per operand of the binding, the macro's operand that its address is of

    def row(self, row: Sequence[int]) -> list[int]:
        """The fields of the instruction."""
        found = [0] * len(self.binding.fields)
        for index, source, codes in self.values:
            value = -1 if source < 0 else row[source]
            found[index] = codes[value] if codes else value
        return found

    def spans(self, row: Sequence[int], memories: Mapping[str, int]) -> list[Span]:
        """What the instruction touches, target first."""
        found: list[Span] = []
        for slot in self.binding.operands:
            low = high = 0
            for dim, index in self.binding.extents.items():
                stride = row[slot.strides[dim]] if dim in slot.strides else slot.fixed_strides.get(dim, 0)
                low += min(0, stride * (row[index] - 1))
                high += max(0, stride * (row[index] - 1))
            names = {code: name for name, code in slot.types.items()}
            element = slot.type_name or names[row[slot.type_field]]
            address = row[slot.address]
            found.append(Span(memories[slot.memory], address + low, address + high + element_dtype(element).itemsize))
        return found


@dataclass(frozen=True)
class Expansion:
    """The instructions of a macro."""

    name: str
    steps: tuple[Step, ...]

    def instructions(
        self, row: Sequence[int], memories: Mapping[str, int]
    ) -> Iterator[tuple[Binding, list[int], list[Span]]]:
        """Each instruction with its row and spans; `TilewrightError` where one destroys what a later one reads."""
        written: list[tuple[str, Span]] = []
        for step in self.steps:
            filled = step.row(row)
            target, *reads = step.spans(filled, memories)
            for name, span in zip(step.sources[1:], reads, strict=True):
                for other, old in written:
                    if other != name and old[0] == span[0] and old[1] < span[2] and span[1] < old[2]:
                        expected = f"{other} and {name} of macro {self.name} apart in memory"
                        raise TilewrightError("unsupported", f"macro {self.name}", expected, "shared bytes")
            written.append((step.sources[0], target))
            yield step.binding, filled, [target, *reads]


def macro_bindings(machine: Machine, bindings: Mapping[tuple[str, str], Sequence[Binding]]) -> Iterator[Binding]:
    """A binding for each macro of the machine, of the same form as those of its mnemonics."""
    concrete = {b.mnemonic.name: b for found in bindings.values() for b in found}
    for macro in machine.macros:
        capability = find_capability(machine, macro.node, macro.capability)
        yield _bind(machine, macro, capability, concrete)


def _bind(machine: Machine, macro: Macro, capability: Capability, concrete: Mapping[str, Binding]) -> Binding:
    fields, index = _row(machine, macro, capability)
    places = {operand: (memory, element) for operand, memory, element in macro.places}
    dims = {a.tensor: access_dims(a) for a in accesses(capability.statement)}
    slots = tuple(
        OperandSlot(
            name,
            places[name][0],
            index[name],
            places[name][1],
            -1,
            {},
            {d: index[f"{name}.{d}"] for d in dims[name]},
            {},
        )
        for name in capability.operands
    )
    steps = tuple(_step(concrete[e.mnemonic], dict(e.values), fields, index) for e in macro.emissions)
    first = steps[0].binding
    return Binding(
        first.number,
        first.mnemonic,
        capability,
        first.unit,
        fields,
        slots,
        {dim.name: index[dim.name] for dim in capability.dims},
        {name: index[name] for name, _ in capability.functions},
        {name: index[name] for name, _ in capability.immediates},
        index[KEEP] if any(value == KEEP for e in macro.emissions for _, value in e.values) else -1,
        {},
        Expansion(macro.name, steps),
    )


def _row(machine: Machine, macro: Macro, capability: Capability) -> tuple[tuple[Field, ...], dict[str, int]]:
    """The facts of an operation as a row of fields wide enough for all of them, after the header's."""
    fields: list[Field] = list(machine.header)
    index: dict[str, int] = {}

    def add(name: str, enum: Sequence[str] = (), signed: bool = False) -> None:
        index[name] = len(fields)
        fields.append(Field(name, 63, signed, tuple((word, code) for code, word in enumerate(enum))))

    for name in capability.operands:
        add(name)
    for access in accesses(capability.statement):
        for dim in access_dims(access):
            if f"{access.tensor}.{dim}" not in index:
                add(f"{access.tensor}.{dim}", signed=True)
    for name in (*(d.name for d in capability.dims), *(name for name, _ in capability.immediates), KEEP):
        add(name)
    for name, choices in capability.functions:
        add(name, choices)
    return tuple(fields), index


def _step(binding: Binding, given: Mapping[str, str], fields: Sequence[Field], index: Mapping[str, int]) -> Step:
    values: list[Value] = []
    for place, item in enumerate(binding.fields):
        if item.constant is not None:
            values.append((place, -1, {-1: item.constant}))
        elif item.name in given:
            values.append(_value(place, item, given[item.name], fields, index))
    sources = tuple(given.get(binding.fields[slot.address].name, "") for slot in binding.operands)
    return Step(binding, tuple(values), sources)


def _value(place: int, item: Field, value: str, fields: Sequence[Field], index: Mapping[str, int]) -> Value:
    codes = dict(item.enum)
    if value in codes:
        return place, -1, {-1: codes[value]}
    if value.lstrip("-").isdigit():
        return place, -1, {-1: int(value)}
    source = fields[index[value]]
    return place, index[value], {code: codes[name] for name, code in source.enum}
