"""What a machine of control model `stages` must satisfy: tokens, micro-ops, shadows, and actions bound to fields.

The meaning of the actions is in `backends.stages`.
"""

from collections.abc import Iterator

from ..algebra.expr import Strided
from .complaint import Complaint, repeated, role_complaints
from .model import Capability, Field, Machine, Memory, Mnemonic, OperandBinding
from .stages import ELEMENTWISE, FUNCTION_CODES, LOOPS, TokenQueue, index_bits, kind_of, row_bytes

ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "copy": (("chip", "offchip", "rows", "columns", "stride"), ("above", "below", "left", "right")),
    "walk": (("first", "end"), ("unshadowed",)),
    "finish": ((), ()),
}
"""Action -> roles that it must have, and roles that it may have: fields, or numbers.

`copy` moves rows of elements between `chip` and `offchip` addresses, both in elements; rows are `stride` apart off chip
and lie one after another on chip, with zeros around them.  `walk` runs the micro-ops from `first` to before `end`;
`unshadowed` 1 leaves shadows as they are.  Where an operand that is read and written is bound twice, the first binding
is where it is; code generation makes the second the same.
"""

MAX_LOOP_BITS = 32


def stage_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule of a machine of control model `stages`."""
    stages = machine.stages
    if stages is None or machine.signal or machine.waits:
        found = "none" if stages is None else "`signal` or `wait`"
        yield Complaint(f"acg {machine.name}", "tokens, by which stages wait for each other", found)
        return
    yield from _tokens(machine, stages.tokens)
    yield from _microops(machine)
    for narrow, original in stages.shadows:
        yield from _shadow(machine, narrow, original)
    yield from repeated([(b, f"shadow {a}") for a, b in stages.shadows], "one shadow of a memory")
    channels = sorted({link.channel or link.name for link in machine.links})
    if stages.fetch and stages.fetch not in channels:
        yield Complaint("fetch", f"a channel of links among {', '.join(channels)}", f"`{stages.fetch}`")
    for mnemonic in machine.mnemonics:
        yield from _action(machine, mnemonic)


def _tokens(machine: Machine, tokens: tuple[TokenQueue, ...]) -> Iterator[Complaint]:
    yield from repeated([(queue.name, f"token {queue.name}") for queue in tokens], "queues of different names")
    units = [unit.name for unit in machine.units]
    bits = [item.name for item in machine.header if item.width_bits == 1 and not item.enum]
    used = {mnemonic.unit for mnemonic in machine.mnemonics}
    for queue in tokens:
        subject = f"token {queue.name}"
        if queue.src not in units or queue.dst not in units or queue.src == queue.dst:
            expected = f"two units among {', '.join(units)}"
            yield Complaint(subject, expected, f"{queue.src} and {queue.dst}")
        for word in filter(None, (queue.push, queue.pop)):
            if word not in bits:
                expected = f"bits of the header ({', '.join(bits) or 'none'}) to push and pop with"
                yield Complaint(subject, expected, f"`{word}`")
        if not queue.push or queue.src not in used:
            found = f"{queue.dst} pops tokens that nobody pushes"
            yield Complaint(subject, f"instructions of {queue.src} that push tokens", found, "give `push` a bit")
        if not queue.pop or queue.dst not in used:
            found = f"{queue.src} pushes tokens that nobody pops"
            yield Complaint(subject, f"instructions of {queue.dst} that pop tokens", found, "give `pop` a bit")
    for end, word in (("src", "push"), ("dst", "pop")):
        uses = [(f"{getattr(q, end)}.{getattr(q, word)}", f"token {q.name}") for q in tokens if getattr(q, word)]
        yield from repeated(uses, f"one queue that a bit lets a unit {word}")


def _microops(machine: Machine) -> Iterator[Complaint]:
    stages = machine.stages
    assert stages is not None
    memory = next((m for m in machine.memories if m.name == stages.microops and m.depth is not None), None)
    walks = [m for m in machine.mnemonics if m.action is not None and m.action.kind == "walk"]
    if memory is None:
        if walks or stages.microops:
            yield Complaint("microops", "a memory on chip that holds micro-ops", f"`{stages.microops}`")
        return
    yield from repeated([(item.name, f"field microops.{item.name}") for item in stages.fields], "different names")
    bits = sum(item.width_bits for item in stages.fields)
    if bits > 8 * memory.element_bytes or memory.element_bytes not in (1, 2, 4, 8):
        expected = f"elements of {memory.name} of 1, 2, 4 or 8 bytes that hold all fields"
        yield Complaint("microops", expected, f"{bits} bits in {memory.element_bytes} bytes")
    for item in stages.fields:
        if item.width_bits < 1:
            yield Complaint(f"field microops.{item.name}", "a width of at least 1 bit", f"{item.width_bits}")


def _shadow(machine: Machine, narrow: str, original: str) -> Iterator[Complaint]:
    memories = machine.memory_by_name
    subject = f"shadow {narrow}"
    if narrow not in memories or original not in memories:
        yield Complaint(subject, f"memories among {', '.join(memories)}", f"{narrow} and {original}")
        return
    below, above = memories[narrow], memories[original]
    if (below.banks, below.depth) != (above.banks, above.depth) or below.data_width_bits > above.data_width_bits:
        expected = f"as many elements as {original} has, no wider"
        yield Complaint(subject, expected, f"{below.banks} by {below.depth} of {below.data_width_bits} bits")


def _action(machine: Machine, mnemonic: Mnemonic) -> Iterator[Complaint]:
    subject, action = f"mnemonic {mnemonic.name}", mnemonic.action
    wrong = list(role_complaints(mnemonic, ACTIONS))
    yield from wrong
    if wrong or action is None:
        return
    for role, word in action.roles:
        yield from _number(machine, mnemonic, word, role)
    if action.kind == "finish":
        return
    capability = machine.executed(mnemonic)
    if capability is None:
        yield Complaint(subject, "a capability to execute", f"`{mnemonic.node}.{mnemonic.capability}`")
    elif action.kind == "copy":
        yield from _copy(machine, mnemonic, capability)
    else:
        yield from _walk(machine, mnemonic, capability)


def _number(machine: Machine, mnemonic: Mnemonic, word: str, what: str) -> Iterator[Complaint]:
    fields = machine.fields_of(mnemonic)
    if not word.isdigit() and (word not in fields or fields[word].enum or fields[word].signed):
        yield Complaint(f"mnemonic {mnemonic.name}", f"an unsigned ifield or a number for {what}", f"`{word}`")
    if word in fields and fields[word].width_bits > MAX_LOOP_BITS:
        yield Complaint(f"field {mnemonic.name}.{word}", f"at most {MAX_LOOP_BITS} bits for {what}", "more")


def _copy(machine: Machine, mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    """The link has one end off chip, and the capability copies an element of the memory at the other end."""
    subject = f"mnemonic {mnemonic.name}"
    memories = machine.memory_by_name
    ends = next(((x.src, x.dst) for x in machine.links if x.name == mnemonic.node), None)
    if ends is None or not set(ends) <= memories.keys() or sum(memories[end].offchip for end in ends) != 1:
        yield Complaint(subject, "a link between a memory off chip and one on chip to copy over", mnemonic.node)
        return
    chip = next(memories[end] for end in ends if not memories[end].offchip)
    if capability.statement.reduce != "=" or not isinstance(capability.statement.value, Strided):
        yield Complaint(subject, "a statement that copies", f"that of {capability.name}")
        return
    sizes, kinds = row_bytes(capability), capability.types[0]
    on_chip = capability.operands[ends[1] != chip.name]
    if sizes[on_chip] != chip.element_bytes:
        expected = f"a capability that copies elements of {chip.element_bytes} bytes of {chip.name}"
        yield Complaint(subject, expected, f"{sizes[on_chip]} bytes")
    if any(not kind.startswith(("i", "u")) for kind in kinds):
        yield Complaint(subject, "integers to copy", ", ".join(kinds))
    yield from _reach(machine, mnemonic, dict(mnemonic.action.roles if mnemonic.action else ())["chip"], chip, ())


def _walk(machine: Machine, mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    subject = f"mnemonic {mnemonic.name}"
    kind, kinds = kind_of(capability), capability.types[0] if capability.types else ()
    if not kind or kinds[:1] != ("i32",) or any(not one.startswith(("i", "u")) for one in kinds):
        expected = "O{n} += X{k} * W{n, k}, O{n} = F(O{n}, A{n} or a scalar) or O{n} = number, into i32, for micro-ops"
        yield Complaint(subject, expected, f"{capability.node}.{capability.name}")
        return
    bounds = [name for name, _ in mnemonic.extents]
    if sorted(bounds) != sorted(LOOPS):
        missing = next((name for name in LOOPS if name not in bounds), "another")
        lever = f"say `extents {', '.join(f'{name} FIELD' for name in LOOPS)};`, or 1 for a loop that there is not"
        yield Complaint(subject, f"extents of the loops {', '.join(LOOPS)}", f"no bound of {missing}", lever)
    for name, word in mnemonic.extents:
        yield from _number(machine, mnemonic, word, f"the extent of {name}")
        if word == "0":
            yield Complaint(subject, f"an extent of {name} of at least 1", "0")
    expected = sorted(set(capability.operands))
    named = [operand.operand for operand in mnemonic.operands]
    again = [capability.operands[0]] if kind == ELEMENTWISE and len(named) > len(expected) else []
    if sorted(named) != sorted(expected + again):
        found = ", ".join(operand.operand for operand in mnemonic.operands) or "none"
        yield Complaint(subject, f"operands {', '.join(expected)}", found)
        return
    for operand in mnemonic.operands:
        yield from _operand(machine, mnemonic, capability, operand)
    yield from _scalars(mnemonic, capability)


def _operand(
    machine: Machine, mnemonic: Mnemonic, capability: Capability, operand: OperandBinding
) -> Iterator[Complaint]:
    """A row is an element of its memory, which is linked with the node; its address is a field of micro-ops."""
    subject = f"mnemonic {mnemonic.name}"
    memory = next((m for m in machine.memories if m.name == operand.memory and m.depth is not None), None)
    if memory is None:
        yield Complaint(subject, f"a memory on chip for {operand.operand}", f"`{operand.memory}`")
        return
    written = operand.operand == capability.operands[0]
    link = (mnemonic.node, memory.name) if written else (memory.name, mnemonic.node)
    if link not in [(x.src, x.dst) for x in machine.links]:
        yield Complaint(subject, f"a link {link[0]} -> {link[1]} for {operand.operand}", "none", "add it")
    size = row_bytes(capability)[operand.operand]
    if size != memory.element_bytes:
        expected = f"rows of {operand.operand} as long as elements of {memory.name}, {memory.element_bytes} bytes"
        yield Complaint(subject, expected, f"{size} bytes")
    if dict(zip(capability.operands, capability.types[0], strict=False))[operand.operand] != operand.type_name:
        yield Complaint(subject, f"the capability's type of {operand.operand}", f"`{operand.type_name}`")
    stages = machine.stages
    assert stages is not None
    yield from _reach(machine, mnemonic, operand.address, memory, stages.fields)
    for loop, word in operand.strides:
        if loop not in LOOPS:
            yield Complaint(subject, f"strides over {' and '.join(LOOPS)}", f"`{loop}`")
        yield from _number(machine, mnemonic, word, f"the stride of {operand.operand} over {loop}")


def _reach(
    machine: Machine, mnemonic: Mnemonic, word: str, memory: Memory, micro: tuple[Field, ...]
) -> Iterator[Complaint]:
    """A field numbers all elements of a memory; one of micro-ops where those are given."""
    fields = {item.name: item for item in micro} or machine.fields_of(mnemonic)
    subject = f"mnemonic {mnemonic.name}"
    if word not in fields:
        where = "of micro-ops" if micro else "of the instruction"
        yield Complaint(subject, f"a field {where} for an address in {memory.name}", f"`{word}`")
    elif fields[word].width_bits < index_bits(memory):
        owner = "microops" if micro else mnemonic.name
        expected = f"{index_bits(memory)} bits that number all {memory.depth} elements of {memory.name}"
        lever = f"say `{word} index {memory.name}`"
        yield Complaint(f"field {owner}.{word}", expected, f"{fields[word].width_bits}", lever)


def _scalars(mnemonic: Mnemonic, capability: Capability) -> Iterator[Complaint]:
    """Function variables by efields of the functions, immediates by fields."""
    subject, fields = f"mnemonic {mnemonic.name}", {item.name: item for item in mnemonic.fields}
    if [name for name, _ in mnemonic.functions] != [name for name, _ in capability.functions]:
        yield Complaint(subject, "a field for each function variable", f"{len(mnemonic.functions)} functions")
    for variable, name in mnemonic.functions:
        allowed = FUNCTION_CODES.keys() & dict(capability.functions).get(variable, ())
        names = {n for n, _ in fields[name].enum} if name in fields else set[str]()
        if not names or not names <= allowed:
            expected = f"an efield for {variable} with names among {', '.join(sorted(allowed))}"
            yield Complaint(subject, expected, f"`{name}`")
    if [name for name, _ in mnemonic.immediates] != [name for name, _ in capability.immediates]:
        yield Complaint(subject, "a field for each immediate", f"{len(mnemonic.immediates)} immediates")
    for immediate, name in mnemonic.immediates:
        if name not in fields or fields[name].enum:
            yield Complaint(subject, f"an ifield for {immediate}", f"`{name}`")
