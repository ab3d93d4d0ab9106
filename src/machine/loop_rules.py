"""What the instructions and units of control model `loops` must satisfy: actions whose roles are bound to fields.

The meaning of the actions is in `backends.simulator.loops`.
"""

from collections.abc import Iterator

from .complaint import Complaint, exactly, role_complaints
from .model import Capability, Engine, Field, Machine, Memory, Mnemonic, OperandBinding, Unit
from .paths import reachable

ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "none": ((), ()),
    "group": (("engine", "end"), ("part", "id", "count")),
    "block": ((), ("last",)),
    "loop": (("id",), ("last", "iterations", "level", "side", "buffer")),
    "reduction": (("outer", "id"), ()),
    "stride": (("buffer", "loop", "value"), ("half", "level", "side")),
    "base": (("buffer", "value"), ("half", "level", "side", "program")),
    "transfer": (("buffer", "size"), ("side", "width", "program", "loop")),
    "iterator": (("buffer", "index", "value", "part", "what"), ()),
    "immediate": (("buffer", "index", "value", "part"), ()),
    "scale": (("type", "target", "first", "second"), ()),
    "repeat": (("id", "iterations"), ()),
    "index": (("O_space", "O", "A_space", "A", "B_space", "B"), ()),
    "body": (("count",), ("nested",)),
    "compute": (("O_space", "O", "A_space", "A", "B_space", "B"), ("function",)),
    "permute_base": (("side", "value"), ()),
    "permute_loop": (("side", "id", "last"), ()),
    "permute_stride": (("side", "loop", "value"), ()),
    "permute": (("O_space", "A_space", "shuffle"), ()),
    "undefined": ((), ()),
}
"""Action -> roles that it must have, and roles that it may have.

Codes of fields count, not the names of their enumerators: `half` 1 is the upper 16 bits; `side` 0 to 3 load, store,
read, write, of a permutation 0 source, 1 target; `end`, `last`, `outer`, `shuffle` and `nested` 1 is yes (without
`nested` bodies are); `part` of an iterator or immediate 0 to 3 sets it sign-extended, its low half, its high half, or
zero-extended.  `buffer` and the spaces are efields of memories' names, `engine` of units'.
"""

LITERALS = {
    "side": ("load", "store", "read", "write"),
    "half": ("low", "high"),
    "part": ("signed", "low", "high", "zero"),
    "what": ("base", "stride"),
    "level": ("tile", "inner", "transfer", "base"),
}
"""Words that may stand where a role is the same for all uses of an instruction; the number of a word is its code."""

LEVELS = ("tile", "inner", "transfer")


def loop_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule of a machine of control model `loops`."""
    for unit in machine.units:
        if unit.engine is not None:
            yield from _engine(machine, unit, unit.engine)
    for mnemonic in machine.mnemonics:
        yield from _action(machine, mnemonic)


def instruction_memory(machine: Machine) -> Memory | None:
    """The memory of instructions: what a transfer with role `program` 1 loads; None without one."""
    for mnemonic in machine.mnemonics:
        if mnemonic.action is None or mnemonic.action.kind != "transfer":
            continue
        word = dict(mnemonic.action.roles).get("program")
        names = {name for item in mnemonic.fields if item.name == word for name, code in item.enum if code == 1}
        for memory in machine.memories:
            if memory.name in names and memory.depth is not None:
                return memory
    return None


def _engine(machine: Machine, unit: Unit, engine: Engine) -> Iterator[Complaint]:
    subject = f"unit {unit.name}"
    for name, word in (*engine.granules, *engine.interleave):
        if name not in machine.memory_by_name or not word.isdigit() or int(word) < 1:
            yield Complaint(subject, "sizes of at least 1 for memories", f"{name} {word}")
    levels = [name for name, _ in engine.levels]
    starts = [int(word) if word.isdigit() else -1 for _, word in engine.levels]
    if any(name not in LEVELS for name in levels) or starts != sorted(set(starts)) or -1 in starts:
        yield Complaint(subject, f"first ids, increasing, for loops of {', '.join(LEVELS)}", f"{engine.levels}")
    if not engine.capability:
        return
    if levels != list(LEVELS):
        yield Complaint(subject, f"loops of {', '.join(LEVELS)}", ", ".join(levels) or "none")
    nodes = machine.compute_by_name
    known = {c.name: c for c in nodes[engine.node].capabilities} if engine.node in nodes else {}
    if engine.capability not in known:
        yield Complaint(subject, "a capability of a compute node to execute", f"`{engine.node}.{engine.capability}`")
        return
    yield from _rows(machine, subject, engine, known[engine.capability])
    yield from _feeding(machine, subject, engine, known[engine.capability])


def _rows(machine: Machine, subject: str, engine: Engine, capability: Capability) -> Iterator[Complaint]:
    """The engine's operands are those of its capability, and an issue stays inside a row of each memory."""
    yield from exactly(subject, "operands", capability.operands, [operand.operand for operand in engine.operands])
    limits = {dim.name: dim.limit for dim in capability.dims}
    for operand in (*engine.operands, *engine.initial):
        reach = _reach(operand, limits)
        memory = machine.memory_by_name.get(operand.memory)
        if memory is None or reach is None:
            yield Complaint(subject, f"{operand.operand} in a memory, with strides in bytes", f"`{operand.memory}`")
        elif not 0 <= reach[0] <= reach[1] < memory.element_bytes:
            expected = f"{operand.operand} inside rows of {memory.element_bytes} bytes of {memory.name}"
            yield Complaint(subject, expected, f"bytes {reach[0]} to {reach[1]}")
    if any(operand.operand != capability.operands[0] for operand in engine.initial) or len(engine.initial) > 1:
        yield Complaint(subject, f"one `initial {capability.operands[0]}`", "another one")


def _feeding(machine: Machine, subject: str, engine: Engine, capability: Capability) -> Iterator[Complaint]:
    """Links bring each operand from off chip to the engine's node, and its result from there off chip."""
    links = [(link.src, link.dst) for link in machine.links]
    fed = reachable(links, machine.offchip)
    drained = reachable([(dst, src) for src, dst in links], machine.offchip)
    read = [o for o in engine.operands if o.operand != capability.operands[0]]
    for operand in (*read, *engine.initial):
        if operand.memory not in fed or (operand.memory, engine.node) not in links:
            expected = f"links that bring {operand.operand} from off chip to {operand.memory} and on to {engine.node}"
            yield Complaint(subject, expected, "none")
    for operand in engine.operands:
        if operand not in read and (operand.memory not in drained or (engine.node, operand.memory) not in links):
            expected = f"links that bring {operand.operand} from {engine.node} to {operand.memory} and off chip"
            yield Complaint(subject, expected, "none")


def _reach(operand: OperandBinding, limits: dict[str, int]) -> tuple[int, int] | None:
    """The first and last byte offset in a row; None where a stride is no number or of an unknown dim."""
    words = [operand.address, *(word for _, word in operand.strides)]
    if not all(word.removeprefix("-").isdigit() for word in words) or any(d not in limits for d, _ in operand.strides):
        return None
    spans = [int(word) * (limits[dim] - 1) for dim, word in operand.strides]
    start = int(operand.address)
    return start + sum(min(span, 0) for span in spans), start + sum(max(span, 0) for span in spans)


def _action(machine: Machine, mnemonic: Mnemonic) -> Iterator[Complaint]:
    action = mnemonic.action
    wrong = list(role_complaints(mnemonic, ACTIONS))
    yield from wrong
    if wrong or action is None:
        return
    bounds = [role for role, _ in action.roles if role in ("last", "iterations")]
    if action.kind == "loop" and len(bounds) != 1:
        found, lever = " and ".join(bounds) or "none", "bind a field of the instruction to one of them"
        yield Complaint(f"mnemonic {mnemonic.name}", "a bound of the loop, last or iterations", found, lever)
    for role, word in action.roles:
        yield from _role(machine, mnemonic, role, word)


def _role(machine: Machine, mnemonic: Mnemonic, role: str, word: str) -> Iterator[Complaint]:
    fields = machine.fields_of(mnemonic)
    known: set[str] = set()
    if role == "buffer" or role.endswith("_space"):
        known = {*machine.memory_by_name}
    elif role == "engine":
        known = {unit.name for unit in machine.units}
    elif role == "function":
        known = {c.name for node in machine.computes for c in node.capabilities}
    literal = word.isdigit() or word in known or word in LITERALS.get(role, ())
    if word not in fields and not literal:
        words = ", ".join(LITERALS.get(role, sorted(known))) or "a number"
        yield Complaint(f"mnemonic {mnemonic.name}", f"a field or {words} for {role}", f"`{word}`")
    elif word in fields and known and not _names(fields[word], known, every=role != "function"):
        expected = f"an efield for {role} with names among {', '.join(sorted(known))}"
        yield Complaint(f"mnemonic {mnemonic.name}", expected, f"`{word}`")


def _names(item: Field, known: set[str], every: bool) -> bool:
    """Whether the names of an efield are known; of functions some, as those that nobody gives a meaning to trap."""
    found = {name for name, _ in item.enum}
    return bool(found & known) and (not every or found <= known)
