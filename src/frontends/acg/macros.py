"""The declarations of macro-mnemonics, both ways."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token

from ...machine.macros import Emission, Macro
from .packets import PacketReader
from .reader import Node, nodes_of, token_of


class MacroReader(PacketReader):
    """One method per rule of the grammar."""

    def macro(self, node: Node) -> Macro:
        name = str(token_of(node, 0))
        self.mark(f"macro {name}", node)
        at = capability = ""
        places: list[tuple[str, str, str]] = []
        emissions: list[Emission] = []
        for child in nodes_of(node):
            match child.data:
                case "execute":
                    if at:
                        raise self.error(child, f"this once in macro {name}", "it twice")
                    at, *_, capability = [str(part) for part in child.children if isinstance(part, Token)]
                case "standing":
                    places += [self.standing(stand) for stand in nodes_of(child)]
                case _:
                    values = tuple(self.assign(pair) for pair in nodes_of(child))
                    emissions.append(Emission(str(token_of(child, 0)), values))
        return Macro(name, at, capability, tuple(places), tuple(emissions))

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
        pairs = [f"{name} {value}" for name, value in emission.values]
        lines = [f"    emit {emission.mnemonic} {{ "]
        for i, pair in enumerate(pairs):
            text = pair + (", " if i + 1 < len(pairs) else "")
            if len(lines[-1]) + len(text) > 116:
                lines[-1] = lines[-1].rstrip()
                lines.append(" " * 8)
            lines[-1] += text
        lines[-1] = lines[-1].rstrip() + " };"
        yield from lines
    yield "  }"
