"""`.acg` text to `Machine`: a lark tree walked once; every declaration's line is remembered for later complaints."""

from __future__ import annotations

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
    Unit,
)
from ...machine.attributes import PORT_FIELDS
from ...machine.dram import NUMBERS, DramTiming, named_timing, whole, with_figures
from .macros import MacroReader
from .packets import DECLARATIONS
from .ports import read_ports
from .reader import Node, Reader, given, names_of, nodes_of, quote, token_of
from .stages import STAGES, StagesReader


def read_timing(reader: Reader, node: Node) -> DramTiming | None:
    """The timing in the body of a memory, with the figures that differ from the named device; None without one."""
    found = [child for child in nodes_of(node) if child.data == "timing"]
    if not found:
        return None
    if len(found) > 1:
        raise reader.error(found[1], "timing once", "it twice")
    name = token_of(found[0], 0)
    reader.mark(f"timing of memory {token_of(node, 0)}", found[0])
    try:
        named = named_timing(name.strip('"'))
    except TilewrightError as error:
        raise reader.error(name, error.expected, name) from None
    properties = reader.properties(found[0], NUMBERS)
    read = {key: reader.optional(node, properties, key, reader.integer) for key in properties}
    figures = {key: value for key, value in read.items() if value is not None}
    timing = with_figures(named, figures)
    maps = [child for child in nodes_of(found[0]) if child.data == "address"]
    if len(maps) > 1:
        raise reader.error(maps[1], "map once", "it twice")
    if not maps:
        return timing
    parts = [(str(token_of(part, 0)), part.children[1]) for part in nodes_of(maps[0])]
    address = tuple((part, reader.integer(bits) if isinstance(bits, Token) else -1) for part, bits in parts)
    return with_figures(timing, {}, whole(timing, address))


MAX_CHARACTERS = 1 << 20

ONCE = ("on_unit", "execute", "extents", "values", "accumulate", "action", "named")
"""Parts of a mnemonic that there may be one of."""


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
        name = str(token_of(node, 0))
        self.mark(f"memory {name}", node)
        keys = ("data_width", "banks", "depth", "align", "read_energy", "write_energy", "offchip", "buffering")
        properties = self.properties(node, (*keys, "regions", *PORT_FIELDS))
        whole = {key: self.optional(node, properties, key, self.integer) for key in (*keys[:4], "regions")}
        width = whole["data_width"]
        if width is None or (whole["depth"] is None and "offchip" not in properties):
            missing = "data_width" if width is None else "depth"
            raise self.error(node, f"{missing} of memory {name}", "none")
        real = {key: self.optional(node, properties, key, self.number) for key in (*keys[4:6], "buffering")}
        x, y = (self.integer(t) if isinstance(t, Token) else 1 for t in node.children[1:3])
        return Memory(
            name,
            width,
            given(whole["banks"], 1),
            whole["depth"],
            "offchip" in properties,
            given(whole["align"], 1),
            given(real["read_energy"], 0.0),
            given(real["write_energy"], 0.0),
            x,
            y,
            self.holds(node),
            given(real["buffering"], 1.0),
            read_ports(self, node, properties),
            given(whole["regions"], 0),
            read_timing(self, node),
            self.area(node),
        )

    def holds(self, node: Node) -> tuple[str, ...] | None:
        found = [child for child in nodes_of(node) if child.data == "holds"]
        if len(found) > 1:
            raise self.error(found[1], "holds once", "it twice")
        return names_of(found[0]) if found else None

    def compute(self, node: Node) -> Compute:
        name = str(token_of(node, 0))
        self.mark(f"compute {name}", node)
        x, y = (self.integer(t) if isinstance(t, Token) else 1 for t in node.children[1:3])
        return Compute(name, x, y, tuple(self.capabilities(node, name)), self.area(node))

    def capabilities(self, node: Node, owner: str) -> Iterator[Capability]:
        return (self.capability(child, owner) for child in nodes_of(node) if child.data == "capability")

    def capability(self, node: Node, owner: str) -> Capability:
        name = str(token_of(node, 0))
        subject = f"capability {owner}.{name}"
        self.mark(subject, node)
        parts = {str(child.data): child for child in nodes_of(node) if child.data != "functions"}
        repeated = [child for child in nodes_of(node) if child.data != "functions" and parts[child.data] is not child]
        if repeated:
            raise self.error(repeated[0], f"{repeated[0].data} once in {subject}", "it twice")
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
            functions=tuple((n[0], n[1:]) for c in nodes_of(node) if c.data == "functions" for n in [names_of(c)]),
            immediates=self.pairs(parts.get("immediates")),
            splits=names_of(parts["splits"]) if "splits" in parts else (),
        )

    def dim(self, node: Node) -> CapabilityDim:
        lanes = node.children[2]
        limit = self.integer(token_of(node, 1))
        return CapabilityDim(str(token_of(node, 0)), limit, self.integer(lanes) if isinstance(lanes, Token) else 1)

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
            given(self.optional(node, properties, "bandwidth", self.number), math.inf),
            given(self.optional(node, properties, "latency", self.integer), 0),
            default if channel is None else str(channel),
            tuple(self.capabilities(node, name)),
            area_mm2=self.area(node),
        )
        if arrow != "<->":
            return (forth,)
        back = forth.reversed()
        self.mark(f"link {back.name}", node)
        for c in forth.capabilities:
            self.lines[f"capability {back.name}.{c.name}"] = self.lines[f"capability {name}.{c.name}"]
        return (forth, back)

    def unit(self, node: Node) -> Unit:
        name, depth = str(token_of(node, 0)), node.children[1]
        self.mark(f"unit {name}", node)
        engine = self.engine(node) if any(nodes_of(node)) else None
        return Unit(name, self.integer(depth) if isinstance(depth, Token) else 0, engine)

    def engine(self, node: Node) -> Engine:
        parts: dict[str, list[Node]] = {}
        for child in nodes_of(node):
            parts.setdefault(str(child.data), []).append(child)
        for kind in ("execute", "initial", "levels"):
            if len(parts.get(kind, ())) > 1:
                raise self.error(parts[kind][1], f"{kind} once", "it twice")
        at, capability = self.executed(parts.get("execute", [None])[0])
        properties = self.properties(node, ("latency",))
        return Engine(
            at,
            capability,
            tuple(self.operand(child, signed=True) for child in parts.get("operand", ())),
            tuple(self.operand(child, signed=True) for child in parts.get("initial", ())),
            self.pairs(parts.get("levels", [None])[0]),
            tuple(pair for child in parts.get("granules", ()) for pair in self.pairs(child)),
            tuple(pair for child in parts.get("interleave", ()) for pair in self.pairs(child)),
            given(self.optional(node, properties, "latency", self.integer), 0),
        )

    def isa(self, machine: Machine, node: Node) -> Machine:
        if "isa" in self.lines:
            raise self.error(node, "isa once", "it twice")
        self.mark("isa", node)
        properties = self.properties(node, ("opcode_bits", "align", "width", "positional", "little"))
        tokens = (self.value(node, properties, key) for key in ("opcode_bits", "align", "width"))
        opcode, align, width = (d if t is None else self.integer(t) for t, d in zip(tokens, (8, 8, 0), strict=True))
        header = tuple(f for child in nodes_of(node) if child.data == "header" for f in self.fields(child, "header"))
        return replace(
            machine,
            opcode_bits=opcode,
            instruction_align_bits=align,
            instruction_bits=width,
            header=header,
            positional="positional" in properties,
            little="little" in properties,
            signal="".join(str(token_of(c, 0)) for c in nodes_of(node) if c.data == "signal"),
            waits=tuple(pair for c in nodes_of(node) if c.data == "wait" for pair in self.pairs(c)),
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
        name = str(token_of(node, 0))
        self.mark(f"mnemonic {name}", node)
        single = self.once(node, f"mnemonic {name}", ONCE)
        if "on_unit" not in single:
            raise self.error(node, f"unit of mnemonic {name}", "none")
        at, capability = self.executed(single.get("execute"))
        spreads = [pair for c in nodes_of(node) if c.data == "spread" for pair in self.pairs(c)]
        return Mnemonic(
            name=name,
            opcode=self.integer(token_of(node, 1)),
            unit=str(token_of(single["on_unit"], 0)),
            fields=self.fields(node, name),
            node=at,
            capability=capability,
            extents=self.pairs(single.get("extents")),
            operands=tuple(self.operand(c) for c in nodes_of(node) if c.data == "operand"),
            functions=tuple(pair for c in nodes_of(node) if c.data == "function" for pair in self.pairs(c)),
            immediates=self.pairs(single.get("values")),
            accumulate=str(token_of(single["accumulate"], 0)) if "accumulate" in single else "",
            spread_x=self.spread(node, spreads, "x"),
            spread_y=self.spread(node, spreads, "y"),
            action=self.action(single.get("action")),
            named=str(token_of(single["named"], 0)) if "named" in single else "",
        )

    def action(self, node: Node | None) -> Action | None:
        return None if node is None else Action(str(token_of(node, 0)), self.pairs(node))

    def spread(self, node: Node, spreads: list[tuple[str, str]], axis: str) -> str:
        fields = [item for name, item in spreads if name == axis]
        if len(fields) > 1 or any(name not in ("x", "y") for name, _ in spreads):
            raise self.error(node, "`spread x` and `spread y`, each at most once", f"{spreads}")
        return fields[0] if fields else ""

    def operand(self, node: Node, signed: bool = False) -> OperandBinding:
        operand, memory, address, type_name = (token_of(node, i) for i in range(4))
        strides = self.pairs(node, signed)
        return OperandBinding(str(operand), str(memory), self.word(address), str(type_name), strides)
