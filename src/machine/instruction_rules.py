"""What the instructions of an accelerator must satisfy: words of bits, and bindings of fields to capabilities."""

from collections.abc import Iterator

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import access_dims, accesses
from .complaint import Complaint, exactly, repeated
from .loop_rules import loop_complaints
from .model import Capability, Field, Machine, Mnemonic, OperandBinding
from .stage_rules import stage_complaints

MAX_WORD_BITS = 1 << 13


def instruction_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule, in the order of the rules."""
    broken = list(_isa(machine))
    yield from broken
    if broken:
        return
    mnemonics = machine.mnemonics
    yield from repeated([(m.name, f"mnemonic {m.name}") for m in mnemonics], "mnemonics with different names")
    marks = [(" ".join([str(m.opcode), *_constants(machine, m)]), f"mnemonic {m.name}") for m in mnemonics]
    yield from repeated(marks, "each opcode once")
    for item in machine.header:
        yield from _field("header", item)
    for mnemonic in mnemonics:
        broken = list(_word(machine, mnemonic))
        yield from broken or (() if machine.control in ("loops", "stages") else _meaning(machine, mnemonic))
    if machine.control == "loops":
        yield from loop_complaints(machine)
    if machine.control == "stages":
        yield from stage_complaints(machine)


def _constants(machine: Machine, mnemonic: Mnemonic) -> list[str]:
    """What tells instructions of one opcode apart: bits and values of the constant fields."""
    values = {item.name: item.constant for item in mnemonic.fields if item.constant is not None}
    places = [place for place in machine.word(mnemonic).fields if place.name in values]
    return [f"{place.offset_bits}+{place.width_bits}={values[place.name]}" for place in places]


def _isa(machine: Machine) -> Iterator[Complaint]:
    align, width = machine.instruction_align_bits, machine.instruction_bits
    if not 1 <= machine.opcode_bits <= 32:
        yield Complaint("isa", "opcode_bits of 1 to 32", f"{machine.opcode_bits}")
    if align < 8 or align % 8 or align > MAX_WORD_BITS:
        yield Complaint("isa", "an alignment of whole bytes", f"{align} bits")
    if width % 8 or not 0 <= width <= MAX_WORD_BITS:
        yield Complaint("isa", f"a width of whole bytes of at most {MAX_WORD_BITS} bits", f"{width} bits")
    plain = [item.name for item in machine.header if not item.signed and not item.enum]
    words = [*([machine.signal] if machine.signal else []), *(name for pair in machine.waits for name in pair)]
    for name in words:
        if name not in plain:
            expected = f"signal and wait on unsigned ifields of the header ({', '.join(plain)})"
            yield Complaint("isa", expected, f"`{name}`")
    if machine.waits and not machine.signal:
        yield Complaint("isa", "a `signal` that instructions can wait for", "only `wait`")


def _field(owner: str, item: Field) -> Iterator[Complaint]:
    subject = f"field {owner}.{item.name}"
    if item.name == "OPCODE":
        yield Complaint(subject, "another name than that of the opcode", "`OPCODE`")
    if not 1 <= item.width_bits <= 63 + item.signed:
        yield Complaint(subject, "a width of 1 to 63 bits (64 if signed)", f"{item.width_bits}")
        return
    if item.constant is not None and (item.enum or not 0 <= item.constant < 1 << item.width_bits):
        yield Complaint(subject, f"a constant of {item.width_bits} bits", f"{item.constant}")
    if item.signed and item.enum:
        yield Complaint(subject, "an efield without a sign", "a signed one")
    yield from repeated([(name, subject) for name, _ in item.enum], "enumerators with different names")
    yield from repeated([(str(code), subject) for _, code in item.enum], "enumerators with different codes")
    for name, code in item.enum:
        if not 0 <= code < 1 << item.width_bits:
            highest = (1 << item.width_bits) - 1
            expected = f"codes of {item.width_bits} bits (up to {highest})"
            yield Complaint(subject, expected, f"{name} = {code}", "widen it")


def _word(machine: Machine, mnemonic: Mnemonic) -> Iterator[Complaint]:
    """The word: opcode, unit, fields that exist once, fit and do not overlap."""
    subject = f"mnemonic {mnemonic.name}"
    if not 0 <= mnemonic.opcode < 1 << machine.opcode_bits:
        yield Complaint(subject, f"an opcode of {machine.opcode_bits} bits", f"{mnemonic.opcode}", "widen opcode_bits")
    if mnemonic.unit not in [unit.name for unit in machine.units]:
        known = ", ".join(unit.name for unit in machine.units) or "none declared"
        yield Complaint(subject, f"a unit among {known}", f"`{mnemonic.unit}`")
    for item in mnemonic.fields:
        yield from _field(mnemonic.name, item)
    headers = [(item.name, "field header." + item.name) for item in machine.header]
    own = [(item.name, f"field {mnemonic.name}.{item.name}") for item in mnemonic.fields]
    yield from repeated([*headers, *own], "fields of a word with different names")
    if mnemonic.named and not any(item.name == mnemonic.named and item.enum for item in mnemonic.fields):
        yield Complaint(subject, "an efield of its own to be named by", f"`{mnemonic.named}`")
    yield from _overlaps(machine, mnemonic)


def _overlaps(machine: Machine, mnemonic: Mnemonic) -> Iterator[Complaint]:
    word = machine.word(mnemonic)
    limit = machine.instruction_bits or MAX_WORD_BITS
    header = [item.name for item in machine.header]
    fields = sorted(word.fields, key=lambda item: item.offset_bits)
    for before, item in zip([None, *fields], fields, strict=False):
        subject = f"field {'header' if item.name in header else mnemonic.name}.{item.name}"
        end = item.offset_bits + item.width_bits
        if end > limit or item.offset_bits < 0:
            first, last = (word.bits - end, word.bits - item.offset_bits) if machine.little else (item.offset_bits, end)
            found = f"bits {first} to {last - 1} of {mnemonic.name}"
            yield Complaint(subject, f"fields inside words of {limit} bits", found, "widen the word or shrink fields")
        if before is not None and before.offset_bits + before.width_bits > item.offset_bits:
            expected = f"fields of {mnemonic.name} that do not overlap"
            bit = word.bits - 1 - item.offset_bits if machine.little else item.offset_bits
            found = f"bit {bit} in {before.name} and in {item.name}"
            yield Complaint(subject, expected, found, "move one with `at`")


def _meaning(machine: Machine, mnemonic: Mnemonic) -> Iterator[Complaint]:
    subject = f"mnemonic {mnemonic.name}"
    capability = machine.executed(mnemonic)
    if capability is None:
        named = f"`{mnemonic.node}.{mnemonic.capability}`" if mnemonic.capability else "no `execute`"
        owners = (*machine.computes, *machine.links)
        choices = ", ".join(f"{owner.name}.{c.name}" for owner in owners for c in owner.capabilities)
        yield Complaint(subject, f"a capability to execute among {choices or 'none declared'}", named)
        return
    yield from _extents(machine, mnemonic, capability)
    yield from _operands(machine, mnemonic, capability)
    yield from _scalars(machine, mnemonic, capability)
    yield from _flags(machine, mnemonic, capability)


def _ifield(machine: Machine, mnemonic: Mnemonic, word: str, what: str, unsigned: bool) -> Iterator[Complaint]:
    """`word` is an integer literal or an ifield."""
    if word.isdigit():
        return
    item = machine.fields_of(mnemonic).get(word)
    if item is None or item.enum or (unsigned and item.signed):
        kind = "an unsigned ifield" if unsigned else "an ifield"
        yield Complaint(f"mnemonic {mnemonic.name}", f"{kind} or a number for {what}", f"`{word}`")


def _extents(machine: Machine, mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    limits = {dim.name: dim.limit for dim in capability.dims}
    subject = f"mnemonic {mnemonic.name}"
    named = [dim for dim, _ in mnemonic.extents]
    unbound = next((dim for dim in limits if dim not in named), None)
    lever = f"bind a field or a number to {unbound}: `extents {unbound} FIELD`" if unbound is not None else ""
    yield from exactly(subject, "extents of", limits, named, lever)
    if not limits:
        yield Complaint(subject, f"a capability with dims, as {mnemonic.node}.{mnemonic.capability} has not", "none")
    for dim, word in mnemonic.extents:
        yield from _ifield(machine, mnemonic, word, f"the extent of {dim}", True)
        if word.isdigit() and not 1 <= int(word) <= limits.get(dim, 1):
            yield Complaint(subject, f"an extent of {dim} from 1 to {limits.get(dim, 1)}", word)


def _operands(machine: Machine, mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    bound = [operand.operand for operand in mnemonic.operands]
    subject = f"mnemonic {mnemonic.name}"
    yield from exactly(subject, "operands", capability.operands, bound)
    dims = {access.tensor: access_dims(access) for access in accesses(capability.statement) if access_dims(access)}
    for operand in mnemonic.operands:
        if operand.operand not in capability.operands:
            continue
        yield from _place(machine, mnemonic, capability, operand)
        yield from _operand_types(machine, mnemonic, capability, operand)
        what = f"strides of {operand.operand} for"
        yield from exactly(subject, what, dims.get(operand.operand, ()), [dim for dim, _ in operand.strides])
        for dim, word in operand.strides:
            yield from _ifield(machine, mnemonic, word, f"the stride of {operand.operand} over {dim}", False)


def _place(
    machine: Machine, mnemonic: Mnemonic, capability: Capability, operand: OperandBinding
) -> Iterator[Complaint]:
    """The operand's memory is linked the right way with what executes."""
    subject = f"mnemonic {mnemonic.name}"
    memories = machine.memory_by_name
    if operand.memory not in memories:
        yield Complaint(subject, f"a memory for {operand.operand} among {', '.join(memories)}", f"`{operand.memory}`")
        return
    written = operand.operand == capability.operands[0]
    ends = {link.name: (link.src, link.dst) for link in machine.links}
    if mnemonic.node in ends:
        right = operand.memory == ends[mnemonic.node][written]
    else:
        right = ((mnemonic.node, operand.memory) if written else (operand.memory, mnemonic.node)) in ends.values()
    if not right:
        way = f"to write {operand.operand}" if written else f"to read {operand.operand}"
        yield Complaint(subject, f"a memory that {mnemonic.node} is linked with {way}", operand.memory, "add a link")
    what = f"the address of {operand.operand}"
    yield from _ifield(machine, mnemonic, operand.address, what, True)
    if memories[operand.memory].instances_x * memories[operand.memory].instances_y != 1:
        yield Complaint(subject, f"one instance of {operand.memory}, which the address is in", "several")
    if memories[operand.memory].depth is None:
        yield Complaint(subject, f"a depth of {operand.memory}, for addresses in it", "none")
    if operand.address.isdigit() and int(operand.address) >= memories[operand.memory].capacity_bytes:
        yield Complaint(subject, f"{what} inside {operand.memory}", operand.address)


def _operand_types(
    machine: Machine, mnemonic: Mnemonic, capability: Capability, operand: OperandBinding
) -> Iterator[Complaint]:
    """The element type is one that the capability takes there, or an efield of such types."""
    item = machine.fields_of(mnemonic).get(operand.type_name)
    names = [name for name, _ in item.enum] if item is not None and item.enum else [operand.type_name]
    column = capability.operands.index(operand.operand)
    allowed = list(dict.fromkeys(row[column] for row in capability.types if column < len(row)))
    for name in names:
        if name not in allowed:
            found = f"`{name}`" if name in ELEMENT_TYPES or item is not None else f"`{name}`, no efield of types"
            expected = f"element types of {operand.operand} among {', '.join(allowed)}"
            yield Complaint(f"mnemonic {mnemonic.name}", expected, found)


def _scalars(machine: Machine, mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    """Function variables by efields of functions, immediates by fields as wide as their types."""
    subject = f"mnemonic {mnemonic.name}"
    fields = machine.fields_of(mnemonic)
    yield from exactly(subject, "functions", dict(capability.functions), [name for name, _ in mnemonic.functions])
    for variable, name in mnemonic.functions:
        allowed = dict(capability.functions).get(variable, ())
        if name not in fields or not {n for n, _ in fields[name].enum or (("", 0),)} <= set(allowed):
            yield Complaint(subject, f"an efield for {variable} with names among {', '.join(allowed)}", f"`{name}`")
    types = dict(capability.immediates)
    yield from exactly(subject, "immediates", types, [name for name, _ in mnemonic.immediates])
    for immediate, name in mnemonic.immediates:
        bits = 8 * ELEMENT_TYPES[types[immediate]].itemsize if types.get(immediate) in ELEMENT_TYPES else 0
        item = fields.get(name)
        if item is None or item.enum or item.signed or item.width_bits < bits:
            yield Complaint(subject, f"an unsigned ifield of at least {bits} bits for {immediate}", f"`{name}`")


def _flags(machine: Machine, mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    subject = f"mnemonic {mnemonic.name}"
    fields = machine.fields_of(mnemonic)
    if mnemonic.accumulate:
        item = fields.get(mnemonic.accumulate)
        if item is None or item.width_bits != 1 or item.enum or item.signed or capability.statement.reduce == "=":
            found = f"`{mnemonic.accumulate}`"
            yield Complaint(subject, "an ifield of 1 bit to accumulate with, and a statement that reduces", found)
    for name in filter(None, (mnemonic.spread_x, mnemonic.spread_y)):
        names = [n for n, _ in fields[name].enum] if name in fields else []
        if not names or not set(names) <= {"none", *capability.splits}:
            allowed = ", ".join(("none", *capability.splits))
            yield Complaint(subject, f"an efield to spread with, of names among {allowed}", f"`{name}`")
