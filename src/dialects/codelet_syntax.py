"""Custom syntax of the `codelet` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntAttr, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from .nest_attributes import DimsAttr
from .syntax import parse_attributes, print_attributes, print_body

if TYPE_CHECKING:
    from .codelet import CodeletOp
    from .codelet_attributes import SurrogateType


def parse_surrogate(parser: AttrParser) -> Sequence[Attribute]:
    """`<4x8xf32, @GBUF>`."""
    with parser.in_angle_brackets():
        start = parser.pos
        shape, element = parser.parse_ranked_shape()
        if any(n < 1 for n in shape):
            parser.raise_error("expected positive sizes", start, parser.pos)
        parser.parse_punctuation(",")
        return [ArrayAttr(IntAttr(n) for n in shape), element, SymbolRefAttr(parser.parse_symbol_name())]


def print_surrogate(type: SurrogateType, printer: Printer) -> None:
    """See `parse_surrogate`."""
    with printer.in_angle_brackets():
        for size in type.sizes:
            printer.print_string(f"{size}x")
        printer.print_attribute(type.element)
        printer.print_string(", ")
        printer.print_attribute(type.place)


def parse_codelet(cls: type[CodeletOp], parser: Parser) -> CodeletOp:
    """`@name dims {m = 4, ...} (%X = %x : type, ...) [attributes {...}] {body}`."""
    name = parser.parse_symbol_name()
    parser.parse_keyword("dims")
    dims = DimsAttr(DimsAttr.parse_list(parser, parser.Delimiter.BRACES))

    def item() -> tuple[Parser.Argument, SSAValue]:
        arg = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return arg.resolve(type), parser.resolve_operand(operand, type)

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
    attributes = parse_attributes(parser)
    body = parser.parse_region([arg for arg, _ in pairs])
    return cls.create(
        operands=[value for _, value in pairs],
        properties={"sym_name": name, "dims": dims},
        attributes=attributes,
        regions=[body],
    )


def print_codelet(op: CodeletOp, printer: Printer) -> None:
    """See `parse_codelet`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.sym_name.data)
    printer.print_string(" dims {")
    op.dims.print_list(printer)
    printer.print_string("} (")
    for i, (arg, value) in enumerate(zip(op.body.block.args, op.tensors, strict=True)):
        printer.print_string(", " if i else "")
        printer.print_ssa_value(arg)
        printer.print_string(" = ")
        printer.print_ssa_value(value)
        printer.print_string(" : ")
        printer.print_attribute(value.type)
    printer.print_string(")")
    print_attributes(op, printer)
    print_body(op.body, printer)
