"""Pieces of custom syntax that several dialects have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer

from .nest_attributes import BindingAttr, DimsAttr, ValuesAttr

Bindings = Mapping[str, type[BindingAttr] | type[ValuesAttr] | type[DimsAttr]]
"""Keyword, which is the property's name -> attribute."""


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """`[attributes {...}]`."""
    attributes = parser.parse_optional_attr_dict_with_keyword()
    return {} if attributes is None else dict(attributes.data)


def print_attributes(op: Operation, printer: Printer) -> None:
    """See `parse_attributes`."""
    if op.attributes:
        printer.print_string(" attributes ")
        printer.print_attr_dict(op.attributes)


def parse_number(parser: Parser) -> int:
    """An integer that 64 bits hold with room to spare."""
    start = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if abs(value) >= 1 << 62:
        parser.raise_error("expected a number of at most 62 bits", start, parser.pos)
    return value


def parse_body(parser: Parser) -> Region:
    """`{...}`, perhaps empty, as a region of one block."""
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return region


def print_body(region: Region, printer: Printer) -> None:
    """See `parse_body`; arguments of the block are said elsewhere."""
    printer.print_string(" ")
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


def parse_capability(parser: Parser) -> SymbolRefAttr:
    """`@NODE::@capability`."""
    start = parser.pos
    on = parser.parse_attribute()
    if not isinstance(on, SymbolRefAttr):
        parser.raise_error("expected @node::@capability", start, parser.pos)
    return on


def parse_bindings(bindings: Bindings, parser: Parser) -> dict[str, Attribute]:
    """`[dims {...}] [functions {...}] ...`: what is given of `bindings`, in their order."""
    found: dict[str, Attribute] = {}
    for key, attr in bindings.items():
        if parser.parse_optional_keyword(key):
            found[key] = attr(attr.parse_list(parser, parser.Delimiter.BRACES))  # pyright: ignore
    return found


def print_bindings(
    bindings: Iterable[tuple[str, BindingAttr | ValuesAttr | DimsAttr | None]], printer: Printer
) -> None:
    """See `parse_bindings`."""
    for key, value in bindings:
        if value is not None:
            printer.print_string(f" {key} {{")
            value.print_list(printer)
            printer.print_string("}")
