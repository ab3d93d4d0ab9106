"""The declarations of control model `packets`: resources, register files, and instructions with their assembly text."""

from __future__ import annotations

from lark import Token

from ...machine import Field
from ...machine.packets import Advance, LoopStart, PackedMnemonic, PacketIsa, Place, RegisterFile
from .reader import Node, Reader, given, names_of, nodes_of, token_of

DECLARATIONS = ("packet", "registers", "packed")
SINGLE = ("execute", "extents", "values", "advance", "from_zero", "given", "hardware_loop", "counted_loop")


class PacketReader(Reader):
    """One method per rule of the grammar."""

    def packet_item(self, isa: PacketIsa | None, node: Node) -> PacketIsa:
        """What was known of packets, and what a declaration adds."""
        if node.data == "packet":
            return self.packet(isa, node)
        if isa is None:
            raise self.error(node, "`packet` before it, which says what packets are", "none")
        parts = isa.files, isa.mnemonics
        if node.data == "registers":
            parts = (*isa.files, self.registers(node)), isa.mnemonics
        else:
            parts = isa.files, (*isa.mnemonics, self.packed(node))
        return PacketIsa(isa.words, isa.resources, isa.base, isa.executor, *parts)

    def packet(self, isa: PacketIsa | None, node: Node) -> PacketIsa:
        if isa is not None:
            raise self.error(node, "packet once", "it twice")
        self.mark("packet", node)
        properties = self.properties(node, ("words", "base", "executor"))
        base = self.value(node, properties, "base", "NAME")
        resources = tuple(name for child in nodes_of(node) if child.data == "resources" for name in names_of(child))
        words = given(self.optional(node, properties, "words", self.integer), 1)
        if base is None:
            raise self.error(node, "the register file that holds the base address (`base R;`)", "none")
        executor = self.value(node, properties, "executor", "NAME")
        return PacketIsa(words, resources, str(base), str(executor) if executor is not None else "")

    def registers(self, node: Node) -> RegisterFile:
        name, memory, width, count, syntax = (token_of(node, i) for i in range(5))
        self.mark(f"registers {name}", node)
        return RegisterFile(str(name), str(memory), self.integer(width), self.integer(count), _unquoted(syntax))

    def packed(self, node: Node) -> PackedMnemonic:
        name = str(token_of(node, 0))
        self.mark(f"mnemonic {name}", node)
        single = self.once(node, f"mnemonic {name}", SINGLE)
        properties = self.properties(node, ("words", "latency", "align"))
        whole = {key: self.optional(node, properties, key, self.integer) for key in ("words", "latency", "align")}
        at, capability = self.executed(single.get("execute"))
        return PackedMnemonic(
            name=name,
            syntax=_unquoted(token_of(node, 1)),
            registers=tuple(p for c in nodes_of(node) if c.data == "register" for p in self.pairs(c)),
            fields=tuple(self.number_field(f, name) for c in nodes_of(node) if c.data == "bits" for f in nodes_of(c)),
            needs=tuple(need for c in nodes_of(node) for need in self.needs(c)),
            words=given(whole["words"], 1),
            latency_packets=given(whole["latency"], 1),
            align_bytes=given(whole["align"], 1),
            node=at,
            capability=capability,
            extents=self.pairs(single.get("extents")),
            places=tuple(self.place(c) for c in nodes_of(node) if c.data == "place"),
            immediates=self.pairs(single.get("values")),
            functions=tuple(p for c in nodes_of(node) if c.data == "function" for p in self.pairs(c)),
            advance=self.advance(single.get("advance")),
            from_identity="from_zero" in single,
            loop=self.loop(single.get("hardware_loop"), single.get("counted_loop")),
            given=self.pairs(single.get("given"), signed=True),
        )

    def number_field(self, node: Node, owner: str) -> Field:
        name, _, signed = node.children
        self.mark(f"field {owner}.{name}", node)
        return Field(str(name), self.integer(token_of(node, 1)), isinstance(signed, Token))

    def needs(self, node: Node) -> tuple[tuple[tuple[str, ...], ...], ...]:
        if node.data != "use":
            return ()
        return tuple(tuple(names_of(together) for together in nodes_of(need)) for need in nodes_of(node))

    def place(self, node: Node) -> Place:
        operand, memory, base, scale, offset, type_name = node.children[:6]
        number = self.integer(scale) if isinstance(scale, Token) else 1
        where = str(offset) if isinstance(offset, Token) else ""
        rotated = node.children[-1]
        by = str(rotated) if isinstance(rotated, Token) and rotated is not type_name else ""
        return Place(str(operand), str(memory), str(base), where, number, str(type_name), self.pairs(node), by)

    def advance(self, node: Node | None) -> Advance | None:
        if node is None:
            return None
        return Advance(str(token_of(node, 0)), str(token_of(node, 2)), self.integer(token_of(node, 1)))

    def loop(self, hardware: Node | None, counted: Node | None) -> LoopStart | None:
        if hardware is not None:
            level, trips, suffix = (token_of(hardware, i) for i in range(3))
            return LoopStart(self.integer(level), str(trips), _unquoted(suffix))
        return LoopStart(-1, str(token_of(counted, 0))) if counted is not None else None


def _unquoted(token: Token) -> str:
    return str(token)[1:-1]
