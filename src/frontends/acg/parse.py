"""`.acg` text to `Machine`: a lark tree walked once; every declaration's line is remembered for later complaints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from ...algebra.expr import Expr, Num
from ...algebra.parser import parse_expr, parse_statement
from ...errors import TilewrightError
from ...machine import Capability, CapabilityDim, Compute, Field, Link, Machine, Memory, Mnemonic, OperandBinding, Unit

MAX_CHARACTERS = 1 << 20

Node = Tree[Token]


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
    blanked = re.sub(r"#[^\n]*", lambda match: " " * len(match.group()), text)
    try:
        tree = grammar().parse(blanked)
    except UnexpectedInput as error:
        raise _syntax_error(error, file, blanked) from None
    builder = _Builder(file)
    return Source(replace(builder.machine(tree), source=text), file, builder.lines)


def _syntax_error(error: UnexpectedInput, file: str, text: str) -> TilewrightError:
    match error:
        case UnexpectedToken():
            words = str(error.token).split()
            terminals, found = error.expected, _quote(words[0]) if words else "the end of the file"
        case UnexpectedCharacters():
            terminals, found = error.allowed or (), _quote(error.char)
        case UnexpectedEOF():
            terminals, found = error.expected, "the end of the file"
        case _:
            terminals, found = (), "something else"
    expected = " or ".join(sorted({_terminal(name) for name in terminals})) or "a target description"
    line, column = (error.line, error.column) if error.line > 0 else (text.count("\n") + 1, 1)
    return TilewrightError("parse", f"{file}:{line}:{column}", expected, found)


def _quote(text: str) -> str:
    return f"`{text}`" if len(text) <= 40 else f"`{text[:40]}...`"


def _terminal(name: str) -> str:
    """How people call a terminal of the grammar."""
    described = {"NAME": "a name", "NUMBER": "a number", "STATEMENT": "a statement", "FORMULA": "a formula"}
    described |= dict.fromkeys(("$END", "<END-OF-FILE>"), "the end of the file")
    if name in described:
        return described[name]
    for terminal in grammar().terminals:
        if terminal.name == name:
            return f"`{terminal.pattern.value}`"
    return name.lower()


class _Builder:
    """Walks the tree; one method per rule of the grammar."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[str, int] = {}

    def error(self, token: Token | Node, expected: str, found: str) -> TilewrightError:
        place = token if isinstance(token, Token) else token.meta
        return TilewrightError("parse", f"{self.file}:{place.line}:{place.column}", expected, found)

    def mark(self, subject: str, node: Node) -> None:
        self.lines[subject] = node.meta.line

    def number(self, token: Token) -> float:
        if "x" in token.lower():
            return float(self.integer(token))
        value = float(token)
        if not math.isfinite(value) or value < 0:
            raise self.error(token, "a finite number that is not negative", _quote(token))
        return value

    def integer(self, token: Token) -> int:
        if len(token) > 20 or not re.fullmatch(r"0[xX][0-9a-fA-F]+|[0-9]+", token):
            raise self.error(token, "a whole number below 2^63", _quote(token))
        value = int(token, 16) if token[:2] in ("0x", "0X") else int(token)
        if value >= 1 << 63:
            raise self.error(token, "a whole number below 2^63", _quote(token))
        return value

    def machine(self, tree: Node) -> Machine:
        machine = Machine(str(_token(tree, 0)), "queues", (), (), ())
        self.mark(f"acg {machine.name}", tree)
        for node in _nodes(tree):
            machine = self.item(machine, node)
        return machine

    def item(self, machine: Machine, node: Node) -> Machine:
        match node.data:
            case "control":
                return replace(machine, control=str(_token(node, 0)))
            case "frequency":
                return replace(machine, frequency_hz=self.number(_token(node, 0)))
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
            case _:
                return replace(machine, mnemonics=(*machine.mnemonics, self.mnemonic(node)))

    def properties(self, node: Node, allowed: Iterable[str]) -> dict[str, Token | None]:
        """The `name value;` pairs of a body, each at most once and among `allowed`."""
        found: dict[str, Token | None] = {}
        for item in (child for child in _nodes(node) if child.data == "property"):
            name = _token(item, 0)
            if name not in allowed:
                raise self.error(name, " or ".join(allowed), _quote(name))
            if str(name) in found:
                raise self.error(name, f"{name} once", "it twice")
            value = item.children[1]
            found[str(name)] = value if isinstance(value, Token) else None
        return found

    def value(self, node: Node, properties: dict[str, Token | None], name: str, kind: str = "NUMBER") -> Token | None:
        """The value of a property, which must be a token of `kind`; None where the property is absent."""
        if name not in properties:
            return None
        token = properties[name]
        if token is None or token.type != kind:
            raise self.error(token or node, f"a {kind.lower()} after {name}", _quote(token) if token else "none")
        return token

    def memory(self, node: Node) -> Memory:
        name = str(_token(node, 0))
        self.mark(f"memory {name}", node)
        keys = ("data_width", "banks", "depth", "align", "read_energy", "write_energy", "offchip")
        properties = self.properties(node, keys)
        integers = {key: self.value(node, properties, key) for key in keys[:4]}
        missing = [key for key in ("data_width", "depth") if integers[key] is None]
        if missing:
            raise self.error(node, f"{missing[0]} of memory {name}", "none")
        width, banks, depth, align = (1 if t is None else self.integer(t) for t in integers.values())
        energies = (self.value(node, properties, key) for key in keys[4:6])
        read, write = (0.0 if token is None else self.number(token) for token in energies)
        return Memory(name, width, banks, depth, "offchip" in properties, align, read, write)

    def compute(self, node: Node) -> Compute:
        name = str(_token(node, 0))
        self.mark(f"compute {name}", node)
        x, y = (self.integer(t) if isinstance(t, Token) else 1 for t in node.children[1:3])
        return Compute(name, x, y, tuple(self.capability(child, name) for child in _nodes(node)))

    def capability(self, node: Node, owner: str) -> Capability:
        name = str(_token(node, 0))
        subject = f"capability {owner}.{name}"
        self.mark(subject, node)
        parts = {str(child.data): child for child in _nodes(node) if child.data != "functions"}
        repeated = [child for child in _nodes(node) if child.data != "functions" and parts[child.data] is not child]
        if repeated:
            raise self.error(repeated[0], f"{repeated[0].data} once in {subject}", "it twice")
        missing = [part for part in ("dims", "statement", "types", "cycles") if part not in parts]
        if missing:
            raise self.error(node, f"{missing[0]} in {subject}", "none")
        token = _token(parts["statement"], 0)
        return Capability(
            name=name,
            node=owner,
            dims=tuple(self.dim(child) for child in _nodes(parts["dims"])),
            statement=parse_statement(str(token), self.file, token.line or 1, token.column or 1),
            types=tuple(_names(row) for row in _nodes(parts["types"])),
            cycles=self.formula(parts["cycles"]),
            energy_pj=self.formula(parts["energy"]) if "energy" in parts else Num(0),
            functions=tuple((n[0], n[1:]) for c in _nodes(node) if c.data == "functions" for n in [_names(c)]),
            immediates=self.pairs(parts.get("immediates")),
            splits=_names(parts["splits"]) if "splits" in parts else (),
        )

    def dim(self, node: Node) -> CapabilityDim:
        lanes = node.children[2]
        limit = self.integer(_token(node, 1))
        return CapabilityDim(str(_token(node, 0)), limit, self.integer(lanes) if isinstance(lanes, Token) else 1)

    def formula(self, node: Node) -> Expr:
        token = _token(node, 0)
        return parse_expr(str(token), self.file, token.line or 1, token.column or 1)

    def pairs(self, node: Node | None) -> tuple[tuple[str, str], ...]:
        """The `name word` pairs of a list; integer literals become decimal text."""
        return tuple((str(_token(c, 0)), self.word(_token(c, 1))) for c in _nodes(node)) if node is not None else ()

    def word(self, token: Token) -> str:
        return str(token) if token.type == "NAME" else str(self.integer(token))

    def link(self, node: Node) -> tuple[Link, ...]:
        src, arrow, dst = (str(_token(node, i)) for i in range(3))
        name = f"{src}->{dst}"
        self.mark(f"link {name}", node)
        properties = self.properties(node, ("bandwidth", "latency", "channel"))
        bandwidth = self.value(node, properties, "bandwidth")
        if bandwidth is None:
            raise self.error(node, f"bandwidth of link {name}", "none")
        latency = self.value(node, properties, "latency")
        channel = self.value(node, properties, "channel", "NAME")
        default = f"{src}<->{dst}" if arrow == "<->" else ""
        forth = Link(
            src,
            dst,
            self.number(bandwidth),
            0 if latency is None else self.integer(latency),
            default if channel is None else str(channel),
            tuple(self.capability(c, name) for c in _nodes(node) if c.data == "capability"),
        )
        if arrow != "<->":
            return (forth,)
        back = forth.reversed()
        self.mark(f"link {back.name}", node)
        for c in forth.capabilities:
            self.lines[f"capability {back.name}.{c.name}"] = self.lines[f"capability {name}.{c.name}"]
        return (forth, back)

    def unit(self, node: Node) -> Unit:
        name, depth = str(_token(node, 0)), node.children[1]
        self.mark(f"unit {name}", node)
        return Unit(name, self.integer(depth) if isinstance(depth, Token) else 0)

    def isa(self, machine: Machine, node: Node) -> Machine:
        if "isa" in self.lines:
            raise self.error(node, "isa once", "it twice")
        self.mark("isa", node)
        properties = self.properties(node, ("opcode_bits", "align", "width"))
        tokens = (self.value(node, properties, key) for key in ("opcode_bits", "align", "width"))
        opcode, align, width = (d if t is None else self.integer(t) for t, d in zip(tokens, (8, 8, 0), strict=True))
        header = tuple(f for child in _nodes(node) if child.data == "header" for f in self.fields(child, "header"))
        return replace(
            machine,
            opcode_bits=opcode,
            instruction_align_bits=align,
            instruction_bits=width,
            header=header,
            signal="".join(str(_token(c, 0)) for c in _nodes(node) if c.data == "signal"),
            waits=tuple(pair for c in _nodes(node) if c.data == "wait" for pair in self.pairs(c)),
        )

    def fields(self, node: Node, owner: str) -> tuple[Field, ...]:
        """The fields declared in a body, in order."""
        found = [c for child in _nodes(node) for c in (_nodes(child) if child.data == "ifield" else [child])]
        return tuple(self.field(child, owner) for child in found if child.data in ("plain", "efield"))

    def field(self, node: Node, owner: str) -> Field:
        name = str(_token(node, 0))
        self.mark(f"field {owner}.{name}", node)
        width, at = self.integer(_token(node, 1)), node.children[-1]
        at_bit = self.integer(at) if isinstance(at, Token) else None
        if node.data == "plain":
            return Field(name, width, isinstance(node.children[2], Token), at_bit=at_bit)
        return Field(name, width, enum=self.enumerators(node), at_bit=at_bit)

    def enumerators(self, node: Node) -> tuple[tuple[str, int], ...]:
        """Names with codes; a name without one has the code after its predecessor's, the first 0."""
        found: list[tuple[str, int]] = []
        for child in _nodes(node):
            code = child.children[1]
            following = found[-1][1] + 1 if found else 0
            found.append((str(_token(child, 0)), self.integer(code) if isinstance(code, Token) else following))
        return tuple(found)

    def mnemonic(self, node: Node) -> Mnemonic:
        name = str(_token(node, 0))
        self.mark(f"mnemonic {name}", node)
        single: dict[str, Node] = {}
        for child in _nodes(node):
            kind = str(child.data)
            if kind in ("on_unit", "execute", "extents", "values", "accumulate") and kind in single:
                raise self.error(child, f"this once in mnemonic {name}", "it twice")
            single[kind] = child
        if "on_unit" not in single:
            raise self.error(node, f"unit of mnemonic {name}", "none")
        at, capability = self.executed(single.get("execute"))
        spreads = [pair for c in _nodes(node) if c.data == "spread" for pair in self.pairs(c)]
        return Mnemonic(
            name=name,
            opcode=self.integer(_token(node, 1)),
            unit=str(_token(single["on_unit"], 0)),
            fields=self.fields(node, name),
            node=at,
            capability=capability,
            extents=self.pairs(single.get("extents")),
            operands=tuple(self.operand(c) for c in _nodes(node) if c.data == "operand"),
            functions=tuple(pair for c in _nodes(node) if c.data == "function" for pair in self.pairs(c)),
            immediates=self.pairs(single.get("values")),
            accumulate=str(_token(single["accumulate"], 0)) if "accumulate" in single else "",
            spread_x=self.spread(node, spreads, "x"),
            spread_y=self.spread(node, spreads, "y"),
        )

    def spread(self, node: Node, spreads: list[tuple[str, str]], axis: str) -> str:
        fields = [item for name, item in spreads if name == axis]
        if len(fields) > 1 or any(name not in ("x", "y") for name, _ in spreads):
            raise self.error(node, "`spread x` and `spread y`, each at most once", f"{spreads}")
        return fields[0] if fields else ""

    def executed(self, node: Node | None) -> tuple[str, str]:
        if node is None:
            return "", ""
        src, _, dst, capability = node.children
        return (f"{src}->{dst}" if isinstance(dst, Token) else str(src)), str(capability)

    def operand(self, node: Node) -> OperandBinding:
        operand, memory, address, type_name = (_token(node, i) for i in range(4))
        return OperandBinding(str(operand), str(memory), self.word(address), str(type_name), self.pairs(node))


def _token(node: Node, index: int) -> Token:
    child = node.children[index]
    assert isinstance(child, Token)
    return child


def _nodes(node: Node) -> Iterator[Node]:
    for child in node.children:
        if isinstance(child, Tree):
            yield child


def _names(node: Node) -> tuple[str, ...]:
    return tuple(str(child) for child in node.children if isinstance(child, Token))
