"""The device of a memory off chip: `timing "ddr4-2400" { rcd 18; map row, bank, column, group, channel; }`."""

from __future__ import annotations

from lark import Token

from ...errors import TilewrightError
from ...machine.dram import NUMBERS, DramTiming, named_timing, whole, with_figures
from .reader import Node, Reader, nodes_of, token_of


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
