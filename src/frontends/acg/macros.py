"""The declarations of macro-mnemonics, both ways."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token

from ...machine.macros import Emission, Macro
from .packets import PacketReader
from .reader import Node, nodes_of, parts_of, token_of
from .words import pairs_text, wrapped


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
