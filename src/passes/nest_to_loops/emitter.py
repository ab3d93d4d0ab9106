"""Instructions found by what they do: an action with its roles, whatever the machine calls it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...algebra.expr import Expr, print_expr
from ...errors import TilewrightError
from ...machine import Capability, Engine, Machine, Mnemonic, OperandBinding, Unit
from ...machine.encoding import encode
from ...machine.loop_rules import LITERALS

LOAD, STORE, READ, WRITE = range(4)
IMPLIED = ("nested",)
"""Roles that an instruction need not have: without them the meaning is the same for what is emitted."""
Value = int | str
Word = tuple[str, dict[str, int]]


@dataclass
class Emitter:
    """Instructions of a program in order; a group's length is filled in when it ends."""

    machine: Machine
    words: list[Word] = field(default_factory=list[Word])
    cuts: list[int] = field(default_factory=list[int])  # where groups begin that stand apart from those before
    unit: str = ""
    begun: int = 0

    def emit(self, kind: str, **roles: Value) -> None:
        """An instruction that takes the action; 32-bit values (`half` is a role) become two."""
        for mnemonic in self.machine.mnemonics:
            fields = _match(self.machine, mnemonic, kind, roles, self.unit)
            if fields is not None:
                self.words += [(mnemonic.name, one) for one in fields]
                return
        wanted = ", ".join(f"{name} {value}" for name, value in roles.items())
        raise TilewrightError("target", self.machine.name, f"a mnemonic for action {kind} ({wanted})", "none")

    def begin(self, unit: str, joined: bool = False) -> None:
        """Begins a group of a unit; `joined` to the group before, whose tiles it takes."""
        if not joined:
            self.cuts.append(len(self.words))
        self.unit = unit
        self.begun = len(self.words)
        self.emit("group", engine=unit, end=0, part=0, id=0, count=0)

    def end(self) -> None:
        """Ends the group; its first instruction tells how many follow."""
        self.emit("group", engine=self.unit, end=1, part=0, id=0, count=0)
        name, fields = self.words[self.begun]
        action = next(m.action for m in self.machine.mnemonics if m.name == name)
        counted = dict(action.roles).get("count") if action is not None else None
        if counted is not None:
            fields[counted] = len(self.words) - self.begun - 1
        self.unit = ""

    def code(self) -> bytes:
        """The program's bytes."""
        return b"".join(encode(self.machine, name, fields) for name, fields in self.words)


def _match(
    machine: Machine, mnemonic: Mnemonic, kind: str, roles: Mapping[str, Value], unit: str
) -> list[dict[str, int]] | None:
    """The fields of the one or two instructions that say this; None where the mnemonic cannot."""
    action = mnemonic.action
    if action is None or action.kind != kind or (unit and mnemonic.unit != unit and kind != "group"):
        return None
    words = dict(action.roles)
    if any(role not in words for role in roles if role not in IMPLIED):
        return None
    fields: dict[str, int] = {}
    for role, word in words.items():
        if role == "half" or role not in roles:
            continue
        code = _code(mnemonic, role, word, roles[role])
        if code is None or (code != -1 and word in fields):
            return None
        if code != -1:
            fields[word] = code
    if "half" not in words:
        return [fields]
    value = int(roles["value"]) & 0xFFFFFFFF
    return [
        {**fields, words["value"]: part, words["half"]: half} for half, part in enumerate((value & 0xFFFF, value >> 16))
    ]


def _code(mnemonic: Mnemonic, role: str, word: str, value: Value) -> int | None:
    """The code of a value in a field; -1 where the role is a literal that says just this; None where it cannot be."""
    for item in mnemonic.fields:
        if item.name == word:
            return dict(item.enum).get(value) if isinstance(value, str) else value
    if isinstance(value, str):
        return -1 if word == value else None
    literal = int(word) if word.isdigit() else LITERALS[role].index(word)
    return -1 if literal == value else None


@dataclass(frozen=True)
class Target:
    """What code generation reads off a machine: the array's engine, the vector engine, memories and functions."""

    machine: Machine

    @cached_property
    def array(self) -> tuple[Unit, Engine]:
        """The unit that sums products by itself."""
        for unit in self.machine.units:
            if unit.engine is not None and unit.engine.capability:
                return unit, unit.engine
        raise TilewrightError("target", self.machine.name, "a unit that executes sums of products", "none")

    @cached_property
    def vector(self) -> tuple[Unit, Engine]:
        """The unit that runs bodies of instructions."""
        for unit in self.machine.units:
            if unit.engine is not None and not unit.engine.capability:
                return unit, unit.engine
        raise TilewrightError("target", self.machine.name, "a unit that runs instructions on rows", "none")

    @cached_property
    def capability(self) -> Capability:
        """What the array executes."""
        engine = self.array[1]
        node = self.machine.compute_by_name[engine.node]
        return next(c for c in node.capabilities if c.name == engine.capability)

    @cached_property
    def lanes(self) -> tuple[int, int]:
        """Rows and columns of the array: extents of the summed dim and of the other."""
        target = set(dict(self.operand(self.capability.operands[0]).strides))
        sizes = {dim.name: dim.limit for dim in self.capability.dims}
        columns = [n for name, n in sizes.items() if name in target]
        rows = [n for name, n in sizes.items() if name not in target]
        return rows[0], columns[0]

    def operand(self, name: str) -> OperandBinding:
        """Where an operand of the array lies."""
        return next(o for o in self.array[1].operands if o.operand == name)

    @cached_property
    def roles(self) -> dict[str, str]:
        """The memories of the array: `output`, `input` (one dim), `weight` (two), and `initial` where there is one."""
        engine = self.array[1]
        output = self.operand(self.capability.operands[0]).memory
        others = [o for o in engine.operands if o.operand != self.capability.operands[0]]
        one, two = sorted(others, key=lambda o: len(o.strides))
        found = {"output": output, "input": one.memory, "weight": two.memory}
        return found | ({"initial": engine.initial[0].memory} if engine.initial else {})

    def check_columns(self) -> None:
        """Refuses arrays whose weights do not lie column after column, each whole: programs bring those themselves."""
        unit, engine = self.array
        weight = next(o for o in engine.operands if o.memory == self.roles["weight"])
        (row, rows), (column, columns) = sorted(
            ((dim, int(word)) for dim, word in weight.strides), key=lambda item: abs(item[1])
        )
        turned, size = dict(engine.interleave).get(weight.memory), rows * self.lanes[0]
        if int(weight.address) or columns != size or turned:
            order = f"from byte {weight.address} by {columns}" + (f", {turned} rows at once" if turned else "")
            expected = f"weights of products as columns of {weight.memory} from byte 0 by {size}, row by row"
            wanted = f"{weight.operand} {weight.memory}[0] {weight.type_name} {{ {row} {rows}, {column} {size} }}"
            lever = (
                f"in a copy of its .acg file write `operand {wanted}` in unit {unit.name}"
                + (f", without `interleave {weight.memory}`" if turned else "")
                + "; as it is, it runs programs of others and layers without products"
            )
            raise TilewrightError("target", self.machine.name, expected, order, lever)

    def rows(self, memory: str) -> int:
        """Rows that one tile may use."""
        item = self.machine.memory_by_name[memory]
        return int((item.depth or 0) // item.buffering)

    def row_bytes(self, memory: str) -> int:
        """Bytes of a row: all banks at one depth."""
        return self.machine.memory_by_name[memory].element_bytes

    def granule(self, memory: str) -> int:
        """Bytes of the unit in which transfers of a memory are counted."""
        for _, engine in (self.array, self.vector):
            for name, word in engine.granules:
                if name == memory:
                    return int(word)
        raise TilewrightError("target", self.machine.name, f"a granule of {memory}", "none")

    @cached_property
    def scratch(self) -> tuple[str, str]:
        """Two memories of the vector engine that DRAM is linked with both ways."""
        found = [name for name, _ in self.vector[1].granules]
        if len(found) < 2:
            raise TilewrightError("target", self.machine.name, "two memories for the vector engine", ", ".join(found))
        return found[0], found[1]

    @cached_property
    def scalars(self) -> str:
        """The memory of immediates: where the action `immediate` writes."""
        for mnemonic in self.machine.mnemonics:
            if mnemonic.action is not None and mnemonic.action.kind == "immediate":
                word = dict(mnemonic.action.roles)["buffer"]
                names = next(([n for n, _ in f.enum] for f in mnemonic.fields if f.name == word), [word])
                small = [n for n in names if self.machine.memory_by_name[n].banks == 1]
                if small:
                    return small[0]
        raise TilewrightError("target", self.machine.name, "a memory of immediates", "none")

    @cached_property
    def functions(self) -> dict[str, str]:
        """What vector instructions compute, as text over A and B (`A + B`), with their names."""
        found: dict[str, str] = {}
        for node in self.machine.computes:
            for capability in node.capabilities:
                statement = capability.statement
                if not capability.dims and statement.reduce == "=":
                    found.setdefault(print_expr(statement.value).replace("{}", ""), capability.name)
        return found

    @cached_property
    def vector_cycles(self) -> dict[str, Expr]:
        """Formulas for the cycles of vector instructions on a row, by name."""
        return {c.name: c.cycles for node in self.machine.computes for c in node.capabilities if not c.dims}

    @cached_property
    def vector_latency(self) -> int:
        """Cycles that a body of the vector engine takes besides its rows."""
        return self.vector[1].latency_cycles

    def function(self, text: str) -> str:
        """The vector instruction that computes `text`."""
        if text not in self.functions:
            raise TilewrightError("target", self.machine.name, f"a vector instruction for {text}", "none")
        return self.functions[text]

    @cached_property
    def bandwidth(self) -> tuple[float, int]:
        """Bytes per cycle from DRAM to the array's inputs, and cycles per request."""
        memory = self.roles["input"]
        link = next(link for link in self.machine.links if link.dst == memory)
        return link.bandwidth_bytes_per_cycle, link.latency_cycles
