"""`.acg` text to `Machine`: a lark tree walked once; every declaration's line is remembered for later complaints."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from ...algebra.expr import Num
from ...algebra.parser import parse_statement
from ...errors import TilewrightError
from ...machine import (
    Action,
    Capability,
    CapabilityDim,
    Compute,
    Engine,
    Field,
    Link,
    Machine,
    Memory,
    Mnemonic,
    OperandBinding,
    Ports,
    Unit,
)
from ...machine.attributes import PORT_FIELDS
from ...machine.dram import NUMBERS, DramTiming, named_timing, whole, with_figures
from .declarations import DECLARATIONS, STAGES, MacroReader, StagesReader
from .reader import Node, named, names_of, nodes_of, parts_of, quote, token_of
from .words import FUSED_WORDS, ISA_WORDS, LINK_WORDS, MEMORY_WORDS

MAX_CHARACTERS = 1 << 20

CAPABILITY = ("dims", "statement", "immediates", "types", "splits", "cycles", "energy")
ONCE = ("on_unit", "execute", "extents", "values", "accumulate", "action", "named")
"""Parts of a capability and of a mnemonic that there may be one of."""


@cache
def grammar() -> Lark:
    """The LALR parser of the language."""
    text = Path(__file__).with_name("grammar.lark").read_text()
    return Lark(text, parser="lalr", propagate_positions=True)


@dataclass(frozen=True)
class Source:
    """A target as text: the machine, the file's name, and the line of each declaration (`memory DRAM` -> 7)."""

    machine: Machine
    file: str
    lines: dict[str, int] = field(default_factory=dict[str, int])

    def where(self, subject: str) -> str:
        """`file:line (subject)`, or without the line where that is not known."""
        line = self.lines.get(subject)
        return f"{self.file}:{line} ({subject})" if line is not None else f"{self.file} ({subject})"


def parse_text(text: str, file: str) -> Source:
    """The machine that `text` describes, not yet checked by the rules; syntax errors are kind `parse`."""
    if len(text) > MAX_CHARACTERS:
        raise TilewrightError("parse", file, f"at most {MAX_CHARACTERS} characters", f"{len(text)}")
    blanked = re.sub(r'"[^"\n]*"|#[^\n]*', lambda match: _blank(match.group()), text)  # not in quotes
    try:
        tree = grammar().parse(blanked)
    except UnexpectedInput as error:
        raise _syntax_error(error, file, blanked) from None
    builder = _Builder(file)
    return Source(replace(builder.machine(tree), source=text), file, builder.lines)


def _blank(text: str) -> str:
    return text if text.startswith('"') else " " * len(text)


def _syntax_error(error: UnexpectedInput, file: str, text: str) -> TilewrightError:
    match error:
        case UnexpectedToken():
            words = str(error.token).split()
            terminals, found = error.expected, quote(words[0]) if words else "the end of the file"
        case UnexpectedCharacters():
            terminals, found = error.allowed or (), quote(error.char)
        case UnexpectedEOF():
            terminals, found = error.expected, "the end of the file"
        case _:
            terminals, found = (), "something else"
    expected = " or ".join(sorted({_terminal(name) for name in terminals})) or "a target description"
    line, column = (error.line, error.column) if error.line > 0 else (text.count("\n") + 1, 1)
    return TilewrightError("parse", f"{file}:{line}:{column}", expected, found)


def _terminal(name: str) -> str:
    """How people call a terminal of the grammar."""
    described = {"NAME": "a name", "NUMBER": "a number", "STATEMENT": "a statement", "FORMULA": "a formula"}
    described["STRING"] = "text in quotes"
    described |= dict.fromkeys(("$END", "<END-OF-FILE>"), "the end of the file")
    if name in described:
        return described[name]
    for terminal in grammar().terminals:
        if terminal.name == name:
            return f"`{terminal.pattern.value}`"
    return name.lower()


class _Builder(MacroReader, StagesReader):
    """Walks the tree; one method per rule of the grammar."""

    def machine(self, tree: Node) -> Machine:
        machine = Machine(str(token_of(tree, 0)), "queues", (), (), ())
        self.mark(f"acg {machine.name}", tree)
        for node in nodes_of(tree):
            machine = self.item(machine, node)
        return machine

    def item(self, machine: Machine, node: Node) -> Machine:
        match node.data:
            case "control":
                return replace(machine, control=str(token_of(node, 0)))
            case "frequency":
                return replace(machine, frequency_hz=self.number(token_of(node, 0)))
            case "memory":
                return replace(machine, memories=(*machine.memories, self.memory(node)))
            case "compute":
                return replace(machine, computes=(*machine.computes, self.compute(node)))
            case "link":
                return replace(machine, links=(*machine.links, *self.link(node)))
            case "unit":
                return replace(machine, units=(*machine.units, self.unit(node)))
            case "isa":
                return self.isa(machine, node)
            case "macro":
                return replace(machine, macros=(*machine.macros, self.macro(node)))
            case name if name in DECLARATIONS:
                return replace(machine, packets=self.packet_item(machine.packets, node))
            case name if name in STAGES:
                return replace(machine, stages=self.stages_item(machine.stages, node))
            case _:
                return replace(machine, mnemonics=(*machine.mnemonics, self.mnemonic(node)))

    def memory(self, node: Node) -> Memory:
        name = self.declared("memory", node)
        properties = self.properties(node, (*MEMORY_WORDS, "offchip", *FUSED_WORDS, *PORT_FIELDS))
        for word in ("data_width", *(() if "offchip" in properties else ("depth",))):
            if word not in properties:
                raise self.error(node, f"{word} of memory {name}", "none")
        once = self.once(node, ("holds", "timing"))
        return Memory(
            name,
            offchip="offchip" in properties,
            instances_x=self.size(node, 1, 1),
            instances_y=self.size(node, 2, 1),
            holds=names_of(once["holds"]) if "holds" in once else None,
            ports=Ports(**self.numbers(node, properties, Ports, PORT_FIELDS)),
            timing=self.timing(name, once["timing"]) if "timing" in once else None,
            area_mm2=self.area(node),
            **self.numbers(node, properties, Memory, MEMORY_WORDS | FUSED_WORDS, banks=1, depth=None),
        )

    def timing(self, memory: str, node: Node) -> DramTiming:
        """The timing in the body of a memory, with the figures that differ from the named device."""
        name = token_of(node, 0)
        self.mark(f"timing of memory {memory}", node)
        try:
            device = named_timing(name.strip('"'))
        except TilewrightError as error:
            raise self.error(name, error.expected, name) from None
        properties = self.properties(node, NUMBERS)
        figures = {key: self.optional(node, properties, key, self.integer) for key in properties}
        timing = with_figures(device, {key: value for key, value in figures.items() if value is not None})
        once = self.once(node, ["map"])
        if not once:
            return timing
        address = tuple((str(token_of(part, 0)), self.size(part, 1, -1)) for part in nodes_of(once["map"]))
        return with_figures(timing, {}, whole(timing, address))

    def compute(self, node: Node) -> Compute:
        name = self.declared("compute", node)
        x, y = self.size(node, 1, 1), self.size(node, 2, 1)
        return Compute(name, x, y, tuple(self.capabilities(node, name)), self.area(node))

    def capabilities(self, node: Node, owner: str) -> Iterator[Capability]:
        return (self.capability(child, owner) for child in parts_of(node, "capability"))

    def capability(self, node: Node, owner: str) -> Capability:
        name = str(token_of(node, 0))
        subject = f"capability {owner}.{name}"
        self.mark(subject, node)
        parts = self.once(node, CAPABILITY, f"{{}} once in {subject}")
        single = "dims" not in parts  # one point per issue, a cycle each
        missing = [part for part in ("statement", "types", *(() if single else ("cycles",))) if part not in parts]
        if missing:
            raise self.error(node, f"{missing[0]} in {subject}", "none")
        token = token_of(parts["statement"], 0)
        return Capability(
            name=name,
            node=owner,
            dims=() if single else tuple(self.dim(child) for child in nodes_of(parts["dims"])),
            statement=parse_statement(str(token), self.file, token.line or 1, token.column or 1),
            types=tuple(names_of(row) for row in nodes_of(parts["types"])),
            cycles=self.formula(parts["cycles"]) if "cycles" in parts else Num(1),
            energy_pj=self.formula(parts["energy"]) if "energy" in parts else Num(0),
            functions=tuple((n[0], n[1:]) for c in parts_of(node, "functions") for n in [names_of(c)]),
            immediates=self.listed(node, "immediates"),
            splits=names_of(parts["splits"]) if "splits" in parts else (),
        )

    def dim(self, node: Node) -> CapabilityDim:
        return CapabilityDim(str(token_of(node, 0)), self.integer(token_of(node, 1)), self.size(node, 2, 1))

    def link(self, node: Node) -> tuple[Link, ...]:
        """The links of a chain `A -> B <-> C`, each with what the braces say."""
        names = [str(child) for child in node.children if isinstance(child, Token)]
        return tuple(link for i in range(0, len(names) - 2, 2) for link in self.edges(node, *names[i : i + 3]))

    def edges(self, node: Node, src: str, arrow: str, dst: str) -> tuple[Link, ...]:
        name = f"{src}->{dst}"
        self.mark(f"link {name}", node)
        properties = self.properties(node, ("bandwidth", "latency", "channel"))
        channel = self.value(node, properties, "channel", "NAME")
        default = f"{src}<->{dst}" if arrow == "<->" else ""
        forth = Link(
            src,
            dst,
            channel=default if channel is None else str(channel),
            capabilities=tuple(self.capabilities(node, name)),
            area_mm2=self.area(node),
            **self.numbers(node, properties, Link, LINK_WORDS, bandwidth_bytes_per_cycle=math.inf),
        )
        if arrow != "<->":
            return (forth,)
        back = forth.reversed()
        self.mark(f"link {back.name}", node)
        for c in forth.capabilities:
            self.lines[f"capability {back.name}.{c.name}"] = self.lines[f"capability {name}.{c.name}"]
        return (forth, back)

    def unit(self, node: Node) -> Unit:
        name = self.declared("unit", node)
        return Unit(name, self.size(node, 1, 0), self.engine(node) if any(nodes_of(node)) else None)

    def engine(self, node: Node) -> Engine:
        self.once(node, ("execute", "initial", "levels"))
        at, capability = self.executed(node)
        return Engine(
            at,
            capability,
            tuple(self.operand(child, signed=True) for child in parts_of(node, "operand")),
            tuple(self.operand(child, signed=True) for child in parts_of(node, "initial")),
            self.listed(node, "levels"),
            self.listed(node, "granules"),
            self.listed(node, "interleave"),
            **self.numbers(node, self.properties(node, ("latency",)), Engine, {"latency": "latency_cycles"}),
        )

    def isa(self, machine: Machine, node: Node) -> Machine:
        if "isa" in self.lines:
            raise self.error(node, "isa once", "it twice")
        self.mark("isa", node)
        properties = self.properties(node, (*ISA_WORDS, "positional", "little"))
        return replace(
            machine,
            header=tuple(item for child in parts_of(node, "header") for item in self.fields(child, "header")),
            positional="positional" in properties,
            little="little" in properties,
            signal="".join(str(token_of(child, 0)) for child in parts_of(node, "signal")),
            waits=self.listed(node, "wait"),
            **self.numbers(node, properties, Machine, ISA_WORDS),
        )

    def fields(self, node: Node, owner: str) -> tuple[Field, ...]:
        """The fields declared in a body, in order."""
        found = [c for child in nodes_of(node) for c in (nodes_of(child) if child.data == "ifield" else [child])]
        return tuple(self.field(child, owner) for child in found if child.data in ("plain", "constant", "efield"))

    def field(self, node: Node, owner: str) -> Field:
        name = str(token_of(node, 0))
        self.mark(f"field {owner}.{name}", node)
        (width, memory, more), at = self.width(node), node.children[-1]
        at_bit = self.integer(at) if isinstance(at, Token) else None
        if node.data == "plain":
            fixed, signed = node.children[2:4]
            constant = self.integer(fixed) if isinstance(fixed, Token) else None
            return Field(name, width, isinstance(signed, Token), (), at_bit, constant, False, memory, more)
        if node.data == "constant":
            return Field(name, width, at_bit=at_bit, constant=self.integer(token_of(node, 2)), hidden=True)
        return Field(name, width, enum=self.enumerators(node), at_bit=at_bit)

    def enumerators(self, node: Node) -> tuple[tuple[str, int], ...]:
        """Names with codes; a name without one has the code after its predecessor's, the first 0."""
        found: list[tuple[str, int]] = []
        for child in nodes_of(node):
            code = child.children[1]
            following = found[-1][1] + 1 if found else 0
            found.append((str(token_of(child, 0)), self.integer(code) if isinstance(code, Token) else following))
        return tuple(found)

    def mnemonic(self, node: Node) -> Mnemonic:
        name = self.declared("mnemonic", node)
        parts = self.once(node, ONCE, f"this once in mnemonic {name}")
        if "on_unit" not in parts:
            raise self.error(node, f"unit of mnemonic {name}", "none")
        at, capability = self.executed(node)
        spreads = self.listed(node, "spread")
        return Mnemonic(
            name=name,
            opcode=self.integer(token_of(node, 1)),
            unit=named(node, "on_unit"),
            fields=self.fields(node, name),
            node=at,
            capability=capability,
            extents=self.listed(node, "extents"),
            operands=tuple(self.operand(child) for child in parts_of(node, "operand")),
            functions=self.listed(node, "function"),
            immediates=self.listed(node, "values"),
            accumulate=named(node, "accumulate"),
            spread_x=self.spread(node, spreads, "x"),
            spread_y=self.spread(node, spreads, "y"),
            action=Action(named(node, "action"), self.listed(node, "action")) if "action" in parts else None,
            named=named(node, "named"),
        )

    def spread(self, node: Node, spreads: tuple[tuple[str, str], ...], axis: str) -> str:
        fields = [item for name, item in spreads if name == axis]
        if len(fields) > 1 or any(name not in ("x", "y") for name, _ in spreads):
            raise self.error(node, "`spread x` and `spread y`, each at most once", f"{list(spreads)}")
        return fields[0] if fields else ""

    def operand(self, node: Node, signed: bool = False) -> OperandBinding:
        operand, memory, address, type_name = (token_of(node, i) for i in range(4))
        strides = self.pairs(node, signed)
        return OperandBinding(str(operand), str(memory), self.word(address), str(type_name), strides)
