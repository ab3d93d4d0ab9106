"""Declarations of macro-mnemonics and of the control models `packets` and `stages`, both ways."""

from collections.abc import Iterator
from dataclasses import replace

from lark import Token

from ...machine import Field
from ...machine.macros import Emission, Macro
from ...machine.packets import Advance, LoopStart, PackedMnemonic, PacketIsa, Place, RegisterFile
from ...machine.stages import StagesIsa, TokenQueue
from .reader import Node, Reader, names_of, nodes_of, parts_of, token_of
from .words import PACKED_WORDS, braced, executed_text, number_words, packed, pairs_text, worded, wrapped

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
        base, executor = (self.value(node, properties, word, "NAME") for word in ("base", "executor"))
        if base is None:
            raise self.error(node, "the register file that holds the base address (`base R;`)", "none")
        return PacketIsa(
            resources=tuple(name for child in parts_of(node, "resources") for name in names_of(child)),
            base=str(base),
            executor=str(executor or ""),
            **self.numbers(node, properties, PacketIsa, {"words": "words"}, words=1),
        )

    def registers(self, node: Node) -> RegisterFile:
        name, memory, width, count, syntax = (token_of(node, i) for i in range(5))
        self.mark(f"registers {name}", node)
        return RegisterFile(str(name), str(memory), self.integer(width), self.integer(count), _unquoted(syntax))

    def packed(self, node: Node) -> PackedMnemonic:
        name = self.declared("mnemonic", node)
        parts = self.once(node, SINGLE, f"this once in mnemonic {name}")
        at, capability = self.executed(node)
        return PackedMnemonic(
            name=name,
            syntax=_unquoted(token_of(node, 1)),
            registers=self.listed(node, "register"),
            fields=tuple(self.number_field(item, name) for bits in parts_of(node, "bits") for item in nodes_of(bits)),
            needs=tuple(need for use in parts_of(node, "use") for need in self.needs(use)),
            node=at,
            capability=capability,
            extents=self.listed(node, "extents"),
            places=tuple(self.place(child) for child in parts_of(node, "place")),
            immediates=self.listed(node, "values"),
            functions=self.listed(node, "function"),
            advance=self.advance(parts.get("advance")),
            from_identity="from_zero" in parts,
            loop=self.loop(parts.get("hardware_loop"), parts.get("counted_loop")),
            given=self.listed(node, "given", signed=True),
            **self.numbers(node, self.properties(node, PACKED_WORDS), PackedMnemonic, PACKED_WORDS),
        )

    def number_field(self, node: Node, owner: str) -> Field:
        name, _, signed = node.children
        self.mark(f"field {owner}.{name}", node)
        return Field(str(name), self.integer(token_of(node, 1)), isinstance(signed, Token))

    def needs(self, node: Node) -> tuple[tuple[tuple[str, ...], ...], ...]:
        return tuple(tuple(names_of(together) for together in nodes_of(need)) for need in nodes_of(node))

    def place(self, node: Node) -> Place:
        operand, memory, base, _, offset, type_name = node.children[:6]
        where = str(offset) if isinstance(offset, Token) else ""
        rotated = node.children[-1]
        by = str(rotated) if isinstance(rotated, Token) and rotated is not type_name else ""
        scale, strides = self.size(node, 3, 1), self.pairs(node)
        return Place(str(operand), str(memory), str(base), where, scale, str(type_name), strides, by)

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


def packet_lines(isa: PacketIsa) -> Iterator[str]:
    """What packets are made of, and the register files."""
    yield "  packet {"
    yield f"    words {isa.words}; base {isa.base};{f' executor {isa.executor};' if isa.executor else ''}"
    if isa.resources:
        yield f"    resources {', '.join(isa.resources)};"
    yield "  }"
    for file in isa.files:
        yield f'  registers {file.name} {file.memory} width {file.width_bytes} count {file.count} "{file.syntax}";'


def packed_lines(mnemonic: PackedMnemonic) -> Iterator[str]:
    """An instruction of a packet."""
    yield f'  mnemonic {mnemonic.name} "{mnemonic.syntax}" {{'
    yield from packed(_items(mnemonic), 4)
    yield "  }"


def _items(mnemonic: PackedMnemonic) -> Iterator[str]:
    yield from worded(("register", pairs_text(mnemonic.registers)))
    for field in mnemonic.fields:
        yield f"ifield {field.name} {field.width_bits}{' signed' if field.signed else ''};"
    yield from worded(("use", ", ".join(" | ".join(" + ".join(t) for t in need) for need in mnemonic.needs)))
    yield from number_words(mnemonic, PACKED_WORDS)
    yield from worded(("execute", executed_text(mnemonic)), ("extents", pairs_text(mnemonic.extents)))
    yield from (f"function {variable} {name};" for variable, name in mnemonic.functions)
    yield from worded(("immediates", pairs_text(mnemonic.immediates)))
    if mnemonic.from_identity:
        yield "from_identity;"
    yield from worded(("given", pairs_text(mnemonic.given)))
    yield from (f"operand {_place(place)};" for place in mnemonic.places)
    if (advance := mnemonic.advance) is not None:
        yield f"advance {advance.base} by {advance.scale} * {advance.offset};"
    if (loop := mnemonic.loop) is not None:
        start = f"hardware_loop {loop.level} {loop.trips}"
        yield f"counted_loop {loop.trips};" if loop.level < 0 else f'{start} "{loop.suffix}";'


def _place(place: Place) -> str:
    offset = f" + {place.scale} * {place.offset}" if place.offset else ""
    rotated = f" rotated {place.rotated}" if place.rotated else ""
    strides = braced(pairs_text(place.strides))
    return f"{place.operand} {place.memory}[{place.base}{offset}] {place.type_name} {strides}{rotated}"


class MacroReader(PacketReader):
    """One method per rule of the grammar."""

    def macro(self, node: Node) -> Macro:
        name = self.declared("macro", node)
        self.once(node, ["execute"], f"this once in macro {name}")
        at, capability = self.executed(node)
        places = tuple(self.standing(stand) for child in parts_of(node, "standing") for stand in nodes_of(child))
        emissions = tuple(
            Emission(str(token_of(child, 0)), tuple(self.assign(pair) for pair in nodes_of(child)))
            for child in parts_of(node, "emit")
        )
        return Macro(name, at, capability, places, emissions)

    def standing(self, node: Node) -> tuple[str, str, str]:
        return str(token_of(node, 0)), str(token_of(node, 1)), str(token_of(node, 2))

    def assign(self, node: Node) -> tuple[str, str]:
        word, dim = token_of(node, 1), node.children[2] if len(node.children) > 2 else None
        value = self.word(word, signed=True)
        return str(token_of(node, 0)), f"{value}.{dim}" if isinstance(dim, Token) else value


def macro_lines(macro: Macro) -> Iterator[str]:
    """A macro as canonical text."""
    yield f"  macro {macro.name} {{"
    yield f"    execute {macro.node}.{macro.capability};"
    yield f"    place {', '.join(' '.join(place) for place in macro.places)};"
    for emission in macro.emissions:
        yield from wrapped(f"emit {emission.mnemonic} {{ {pairs_text(emission.values)} }};", 4)
    yield "  }"


STAGES = ("token", "microops", "shadow", "fetch")


class StagesReader(Reader):
    """One method per rule of the grammar."""

    def stages_item(self, isa: StagesIsa | None, node: Node) -> StagesIsa:
        """What was known of stages, and what a declaration adds."""
        isa = isa or StagesIsa()
        match node.data:
            case "token":
                return replace(isa, tokens=(*isa.tokens, self.token(node)))
            case "microops":
                if isa.microops:
                    raise self.error(node, "microops once", "it twice")
                name = str(token_of(node, 0))
                self.mark("microops", node)
                plain = [child for row in nodes_of(node) for child in nodes_of(row)]
                return replace(isa, microops=name, fields=tuple(self.micro_field(child) for child in plain))
            case "fetch":
                self.mark("fetch", node)
                return replace(isa, fetch=str(token_of(node, 0)))
            case _:
                narrow, original = str(token_of(node, 0)), str(token_of(node, 1))
                self.mark(f"shadow {narrow}", node)
                return replace(isa, shadows=(*isa.shadows, (narrow, original)))

    def token(self, node: Node) -> TokenQueue:
        name, src, _, dst = (str(token_of(node, i)) for i in range(4))
        self.mark(f"token {name}", node)
        push, pop = (str(child) if isinstance(child, Token) else "" for child in node.children[4:6])
        return TokenQueue(name, src, dst, push, pop)

    def micro_field(self, node: Node) -> Field:
        """A field of micro-ops: a name and a width."""
        name = str(token_of(node, 0))
        self.mark(f"field microops.{name}", node)
        if any(isinstance(child, Token) for child in node.children[2:]):
            raise self.error(node, "a name and a width", "more")
        width, memory, more = self.width(node)
        return Field(name, width, index_of=memory, more_bits=more)

    def width(self, node: Node) -> tuple[int, str, int]:
        """The width of a field; where it follows a memory's depth 0, the memory, and the bits beyond."""
        given = node.children[1]
        if isinstance(given, Token):
            return self.integer(given), "", 0
        assert given is not None
        more = given.children[1]
        return 0, str(token_of(given, 0)), self.integer(more) if isinstance(more, Token) else 0


def width_text(item: Field) -> str:
    """The width of a field as the file has it."""
    more = f" + {item.more_bits}" if item.more_bits else ""
    return f"index {item.index_of}{more}" if item.index_of else str(item.width_bits)


def stage_lines(isa: StagesIsa) -> Iterator[str]:
    """The declarations as canonical text."""
    for queue in isa.tokens:
        push, pop = (f" {word} {name}" if name else "" for word, name in (("push", queue.push), ("pop", queue.pop)))
        yield f"  token {queue.name} {queue.src} -> {queue.dst}{push}{pop};"
    if isa.microops:
        fields = ", ".join(f"{item.name} {width_text(item)}" for item in isa.fields)
        yield f"  microops {isa.microops} {{ {f'ifield {fields}; ' if fields else ''}}}"
    if isa.fetch:
        yield f"  fetch {isa.fetch};"
    yield from (f"  shadow {narrow} of {original};" for narrow, original in isa.shadows)
