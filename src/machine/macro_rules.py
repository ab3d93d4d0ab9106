"""What macro-mnemonics must satisfy: known instructions, every field bound, every value within its field."""

from collections.abc import Iterator

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import access_dims, accesses
from .complaint import Complaint, exactly, repeated
from .macros import Emission, Macro
from .model import Capability, Field, Machine, Mnemonic

KEEP = "keep"


def macro_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule, in the order of the rules."""
    yield from repeated([(m.name, f"macro {m.name}") for m in machine.macros], "macros with different names")
    for macro in machine.macros:
        subject = f"macro {macro.name}"
        known = {c.name: c for node in machine.computes if node.name == macro.node for c in node.capabilities}
        capability = known.get(macro.capability)
        if capability is None:
            yield Complaint(subject, "a capability of a compute node", f"`{macro.node}.{macro.capability}`")
        elif not macro.emissions:
            yield Complaint(subject, "instructions to emit", "none")
        else:
            yield from _places(machine, macro, capability)
            for emission in macro.emissions:
                yield from _emission(machine, macro, capability, emission)


def facts(capability: Capability) -> list[str]:
    """What the values of a macro may name."""
    strides = [f"{access.tensor}.{dim}" for access in accesses(capability.statement) for dim in access_dims(access)]
    dims = [dim.name for dim in capability.dims]
    functions = [name for name, _ in capability.functions]
    immediates = [name for name, _ in capability.immediates]
    return list(dict.fromkeys((*capability.operands, *strides, *dims, *functions, *immediates, KEEP)))


def _places(machine: Machine, macro: Macro, capability: Capability) -> Iterator[Complaint]:
    subject = f"macro {macro.name}"
    named = [operand for operand, _, _ in macro.places]
    wrong = list(exactly(subject, "places of", capability.operands, named))
    yield from wrong
    if wrong:
        return
    types = {operand: element for operand, _, element in macro.places}
    row = tuple(types[operand] for operand in capability.operands)
    if row not in capability.types:
        yield Complaint(subject, f"types that {capability.node}.{capability.name} takes", " ".join(row))
    memories = machine.memory_by_name
    for operand, memory, _ in macro.places:
        if memory not in memories:
            yield Complaint(subject, f"a memory for {operand} among {', '.join(memories)}", f"`{memory}`")


def _emission(machine: Machine, macro: Macro, capability: Capability, emission: Emission) -> Iterator[Complaint]:
    subject = f"macro {macro.name}"
    mnemonic = next((m for m in machine.mnemonics if m.name == emission.mnemonic), None)
    if mnemonic is None:
        known = ", ".join(m.name for m in machine.mnemonics) or "none declared"
        yield Complaint(subject, f"mnemonics among {known}", f"`{emission.mnemonic}`")
        return
    fields = {item.name: item for item in mnemonic.fields if item.constant is None}
    yield from repeated([(name, subject) for name, _ in emission.values], f"each field of {mnemonic.name} once")
    for name in fields:
        if name not in dict(emission.values):
            yield Complaint(subject, f"a value for field {mnemonic.name}.{name}", "none", f"add `{name} 0`")
    for name, value in emission.values:
        if name not in fields:
            yield Complaint(subject, f"fields of {mnemonic.name} ({', '.join(fields)})", f"`{name}`")
        else:
            yield from _value(machine, macro, capability, mnemonic, fields[name], value)


def _value(
    machine: Machine, macro: Macro, capability: Capability, mnemonic: Mnemonic, item: Field, value: str
) -> Iterator[Complaint]:
    """A value fits its field, also at the limits of what it stands for."""
    subject, where = f"macro {macro.name}", f"{mnemonic.name}.{item.name}"
    codes = [name for name, _ in item.enum]
    functions = dict(capability.functions)
    if value in codes:
        return
    if value in functions and item.enum:
        missing = [name for name in functions[value] if name not in codes]
        if missing:
            yield Complaint(
                subject, f"a code of {where} for every function that {value} may be", f"none for {missing[0]}"
            )
        return
    if item.enum or value in functions:
        yield Complaint(subject, f"one of {', '.join(codes) or 'the facts of the operation'} for {where}", f"`{value}`")
        return
    if value.lstrip("-").isdigit():
        if not item.lowest <= int(value) <= item.highest:
            yield Complaint(subject, f"{item.lowest} to {item.highest} in {where}", value, "widen the field")
        return
    if value not in facts(capability):
        yield Complaint(subject, f"a fact of {capability.node}.{capability.name} for {where}", f"`{value}`")
        return
    highest = _highest(machine, macro, capability, value)
    if highest is not None and highest > item.highest:
        expected = f"values of {value} up to {highest} in {where}"
        yield Complaint(subject, expected, f"{item.width_bits} bits, up to {item.highest}", "widen the field")
    yield from _memory(macro, mnemonic, item, value)


def _highest(machine: Machine, macro: Macro, capability: Capability, value: str) -> int | None:
    """The largest value of a fact; None for strides, which only the program says."""
    places = {operand: memory for operand, memory, _ in macro.places}
    if value in places:
        return next((m.capacity_bytes - 1 for m in machine.memories if m.name == places[value]), None)
    immediates = dict(capability.immediates)
    if value in immediates and immediates[value] in ELEMENT_TYPES:
        return (1 << 8 * ELEMENT_TYPES[immediates[value]].itemsize) - 1
    return next((dim.limit for dim in capability.dims if dim.name == value), 1 if value == KEEP else None)


def _memory(macro: Macro, mnemonic: Mnemonic, item: Field, value: str) -> Iterator[Complaint]:
    """An operand's address goes to an instruction that looks for it in the operand's memory."""
    places = {operand: memory for operand, memory, _ in macro.places}
    for operand in mnemonic.operands:
        if operand.address == item.name and value in places and places[value] != operand.memory:
            expected = f"an operand in {operand.memory} for {mnemonic.name}.{item.name}"
            yield Complaint(f"macro {macro.name}", expected, f"{value} in {places[value]}")
