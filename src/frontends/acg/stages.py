"""The declarations of control model `stages`: token queues, micro-ops, shadows, and widths of fields; both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lark import Token

from ...machine.fields import Field
from ...machine.stages import StagesIsa, TokenQueue
from .reader import Node, Reader, nodes_of, token_of

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
