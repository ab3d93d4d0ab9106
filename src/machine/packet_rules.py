"""What control model `packets` must satisfy: resources, registers and fields that exist, meanings that are bound."""

import string
from collections.abc import Iterable, Iterator

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import access_dims, accesses
from .complaint import Complaint, exactly, repeated
from .model import Capability, Machine
from .packets import PackedMnemonic, PacketIsa, Place, RegisterFile

MAX_WORDS = 64
MAX_REGISTERS = 1 << 12
MAX_ALTERNATIVES = 64
MAX_VECTOR_BYTES = 1 << 12


def packet_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule, in the order of the rules."""
    subject, isa = f"acg {machine.name}", machine.packets
    if isa is None:
        return
    if machine.control != "packets" or machine.mnemonics:
        found = f"control {machine.control}" if machine.control != "packets" else "mnemonics with opcodes"
        yield Complaint(subject, "control packets, and packed mnemonics alone, where there is a packet", found)
    if not 1 <= isa.words <= MAX_WORDS:
        yield Complaint("packet", f"1 to {MAX_WORDS} words", f"{isa.words}")
    yield from repeated([(name, "packet") for name in isa.resources], "resources with different names")
    files = {file.name: file for file in isa.files}
    yield from repeated([(file.name, f"registers {file.name}") for file in isa.files], "files with different names")
    for file in isa.files:
        yield from _file(machine, isa, file)
    if isa.base not in files:
        yield Complaint("packet", f"a register file for addresses among {', '.join(files) or 'none'}", f"`{isa.base}`")
    names = [(item.name, f"mnemonic {item.name}") for item in isa.mnemonics]
    yield from repeated(names, "mnemonics with different names")
    for item in isa.mnemonics:
        broken = [*_fields(isa, item), *_needs(isa, item), *_loop(isa, item)]
        yield from broken or _meaning(machine, isa, item)


def _file(machine: Machine, isa: PacketIsa, file: RegisterFile) -> Iterator[Complaint]:
    subject = f"registers {file.name}"
    memory = machine.memory_by_name.get(file.memory)
    if memory is None or memory.offchip:
        yield Complaint(subject, "a memory on chip", f"`{file.memory}`")
        return
    if not (1 <= file.width_bytes <= MAX_VECTOR_BYTES and 1 <= file.count <= MAX_REGISTERS):
        found = f"{file.count} of {file.width_bytes} bytes"
        yield Complaint(subject, f"at most {MAX_REGISTERS} registers of at most {MAX_VECTOR_BYTES} bytes", found)
        return
    if file.width_bytes * file.count > memory.capacity_bytes:
        found = f"{file.width_bytes * file.count} bytes"
        yield Complaint(subject, f"registers within the {memory.capacity_bytes} bytes of {memory.name}", found)
    narrow = min(f.width_bytes for f in isa.files if f.memory == file.memory)
    if narrow < 1 or file.width_bytes % narrow:
        yield Complaint(subject, f"a multiple of the narrowest file's {narrow} bytes", f"{file.width_bytes}")
        return
    yield from _text(subject, file.syntax, [str(i) for i in range(file.width_bytes // narrow)])


def _text(subject: str, syntax: str, known: Iterable[str]) -> Iterator[Complaint]:
    """Text with names in braces, each known; no formats, no attributes of them."""
    known = list(known)
    try:
        parts = list(string.Formatter().parse(syntax))
    except ValueError as error:
        yield Complaint(subject, "text with names in braces", str(error))
        return
    for _, name, form, conversion in parts:
        if name is not None and (name not in known or form or conversion):
            yield Complaint(subject, f"names in braces among {', '.join(known) or 'none'}", f"`{{{name}}}`")


def _fields(isa: PacketIsa, item: PackedMnemonic) -> Iterator[Complaint]:
    subject = f"mnemonic {item.name}"
    files = [file.name for file in isa.files]
    for name, file in item.registers:
        if file not in files:
            yield Complaint(subject, f"a register file for {name} among {', '.join(files)}", f"`{file}`")
    for field in item.fields:
        if not 1 <= field.width_bits <= 63:
            yield Complaint(f"field {item.name}.{field.name}", "a width of 1 to 63 bits", f"{field.width_bits}")
    names = [*(name for name, _ in item.registers), *(field.name for field in item.fields)]
    yield from repeated([(name, subject) for name in names], "fields with different names")
    yield from _text(subject, item.syntax, [*names, *(["label"] if item.loop is not None else [])])


def _needs(isa: PacketIsa, item: PackedMnemonic) -> Iterator[Complaint]:
    subject = f"mnemonic {item.name}"
    for need in item.needs:
        unknown = [name for together in need for name in together if name not in isa.resources]
        if unknown:
            yield Complaint(subject, f"resources among {', '.join(isa.resources) or 'none'}", f"`{unknown[0]}`")
        if len(need) > MAX_ALTERNATIVES:
            yield Complaint(subject, f"at most {MAX_ALTERNATIVES} ways to meet a need", f"{len(need)}")
    if not 1 <= item.words <= isa.words:
        yield Complaint(subject, f"1 to {isa.words} words, those of a packet", f"{item.words}")
    if not 1 <= item.latency_packets <= MAX_WORDS or not 1 <= item.align_bytes <= MAX_VECTOR_BYTES:
        found = f"{item.latency_packets}, {item.align_bytes}"
        yield Complaint(subject, f"a latency up to {MAX_WORDS}, an alignment up to {MAX_VECTOR_BYTES}", found)


def _loop(isa: PacketIsa, item: PackedMnemonic) -> Iterator[Complaint]:
    subject, files = f"mnemonic {item.name}", dict(item.registers)
    numbers = [field.name for field in item.fields if not field.signed]
    if item.loop is None:
        return
    trips = item.loop.trips
    if files.get(trips) != isa.base and (trips not in numbers or item.loop.level < 0):
        yield Complaint(subject, f"a register of {isa.base} or an unsigned ifield for the trips", f"`{trips}`")
    if item.loop.level > 8 or (item.loop.level >= 0 and not item.loop.suffix):
        yield Complaint(subject, "a level of at most 8 with the text that ends it", f"level {item.loop.level}")
    if item.capability:
        yield Complaint(subject, "a loop or something to execute", "both")


def _meaning(machine: Machine, isa: PacketIsa, item: PackedMnemonic) -> Iterator[Complaint]:
    subject = f"mnemonic {item.name}"
    capability = machine.executed(item)
    if item.loop is not None:
        return
    if capability is None:
        named = f"`{item.node}.{item.capability}`" if item.capability else "no `execute`"
        yield Complaint(subject, "a capability to execute", named)
        return
    limits = {dim.name: dim.limit for dim in capability.dims}
    extents = dict(item.extents)
    if sorted(extents) != sorted(limits) or not all(w.isdigit() and 1 <= int(w) <= limits[d] for d, w in item.extents):
        expected = ", ".join(f"{dim} up to {limit}" for dim, limit in limits.items()) or "none"
        yield Complaint(subject, f"extents as numbers: {expected}", ", ".join(f"{d} {w}" for d, w in item.extents))
        return
    wrong = list(exactly(subject, "operands", capability.operands, [place.operand for place in item.places]))
    yield from wrong
    if wrong:
        return
    for place in item.places:
        yield from _place(machine, isa, item, capability, place)
    types = {place.operand: place.type_name for place in item.places}
    row = tuple(types[operand] for operand in capability.operands)
    if row not in capability.types:
        yield Complaint(subject, f"types that {item.node}.{item.capability} takes", ", ".join(row))
    yield from _scalars(isa, item, capability)


def _place(
    machine: Machine, isa: PacketIsa, item: PackedMnemonic, capability: Capability, place: Place
) -> Iterator[Complaint]:
    subject, files = f"mnemonic {item.name}", {name: file for name, file in item.registers}
    by_name = {file.name: file for file in isa.files}
    base = by_name.get(files.get(place.base, ""))
    signed = [field.name for field in item.fields]
    where = f"{place.operand} {place.memory}[{place.base}]"
    if base is None or (place.offset and place.offset not in signed):
        yield Complaint(subject, "register fields as bases and ifields as offsets of operands", where)
        return
    if place.memory in machine.offchip:
        if base.name != isa.base or place.rotated:
            yield Complaint(subject, f"an address in a register of {isa.base}, not rotated", where)
    elif base.memory != place.memory or place.offset:
        yield Complaint(subject, f"a register of {place.memory}, or a memory off chip", where)
    if place.rotated and files.get(place.rotated) != isa.base:
        yield Complaint(subject, f"a register of {isa.base} to rotate by", f"`{place.rotated}`")
    if place.type_name not in ELEMENT_TYPES:
        yield Complaint(subject, "an element type", f"`{place.type_name}`")
        return
    wanted = {access.tensor: access_dims(access) for access in accesses(capability.statement)}[place.operand]
    strides = dict(place.strides)
    if sorted(strides) != sorted(wanted) or not all(word.isdigit() for word in strides.values()):
        yield Complaint(subject, f"strides of {place.operand} for {', '.join(wanted) or 'none'}", f"{strides}")
        return
    extents = dict(item.extents)
    size = ELEMENT_TYPES[place.type_name].itemsize
    reach = size + sum(int(word) * (int(extents[dim]) - 1) for dim, word in strides.items())
    if place.memory not in machine.offchip and reach > base.width_bytes:
        yield Complaint(subject, f"an operand {place.operand} within {base.width_bytes} bytes", f"{reach}", "narrow it")
    links = {(link.src, link.dst) for link in machine.links}
    node = tuple(item.node.split("->"))
    written = place.operand == capability.operands[0]
    ends = (item.node, place.memory) if written else (place.memory, item.node)
    if not (place.memory == node[written] if len(node) == 2 else ends in links):
        yield Complaint(subject, f"a memory that {item.node} is linked with for {place.operand}", place.memory)


def _is_word(text: str) -> bool:
    return text.removeprefix("-").isdigit() and -(1 << 31) <= int(text) < 1 << 31


def _scalars(isa: PacketIsa, item: PackedMnemonic, capability: Capability) -> Iterator[Complaint]:
    subject = f"mnemonic {item.name}"
    choices = dict(capability.functions)
    functions = dict(item.functions)
    if sorted(functions) != sorted(choices) or any(fn not in choices.get(v, ()) for v, fn in item.functions):
        yield Complaint(subject, f"a function for each of {', '.join(choices) or 'none'}", f"{functions}")
    names = [field.name for field in item.fields]
    immediates = dict(item.immediates)
    wanted = [name for name, _ in capability.immediates]
    if sorted(immediates) != sorted(wanted) or any(word not in names for word in immediates.values()):
        yield Complaint(subject, f"an ifield for each immediate ({', '.join(wanted) or 'none'})", f"{immediates}")
    files, held = {file.name: file for file in isa.files}, dict(item.registers)
    for name, number in item.given:
        file = files.get(held.get(name, ""))
        if file is None or file.width_bytes != files[isa.base].width_bytes or not _is_word(number):
            expected = f"a register as wide as those of {isa.base}, and a number that it holds"
            yield Complaint(subject, expected, f"{name} {number}")
    advance = item.advance
    if advance is not None and (advance.base not in dict(item.registers) or advance.offset not in names):
        yield Complaint(subject, "an advance of a register field by an ifield", f"{advance.base}, {advance.offset}")
