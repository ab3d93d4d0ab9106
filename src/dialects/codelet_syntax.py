"""Custom syntax of the `codelet` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntAttr, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from ..algebra.printer import print_statement
from .nest_attributes import BindingAttr, DimsAttr, StatementAttr, ValuesAttr
from .syntax import (
    Bindings,
    parse_attributes,
    parse_bindings,
    parse_capability,
    print_attributes,
    print_bindings,
    print_body,
)

if TYPE_CHECKING:
    from .codelet import CodeletOp, ComputeOp
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


_BINDINGS: Bindings = {
    "dims": BindingAttr,
    "functions": BindingAttr,
    "immediates": ValuesAttr,
    "spread": BindingAttr,
    "skip": DimsAttr,
    "take": DimsAttr,
}


def parse_compute(cls: type[ComputeOp], parser: Parser) -> ComputeOp:
    """`@NODE::@capability "statement" (%o, ...) dims {...} [functions {...}] ... : (types)`.

    After functions and the like: `[over [p]] [keep] [borders [X]] [zeros X [1:15, 0:14]]`.
    """
    start = parser.pos
    on = parse_capability(parser)
    properties: dict[str, Attribute] = {"on": on, "statement": StatementAttr(StatementAttr.parse_literal(parser))}
    operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
    properties |= parse_bindings(_BINDINGS, parser)
    _parse_names("over", parser, properties)
    if parser.parse_optional_keyword("keep"):
        properties["keep"] = UnitAttr()
    _parse_names("borders", parser, properties)
    if parser.parse_optional_keyword("zeros"):
        properties["zeros"] = StringAttr(parser.parse_identifier())
        ends = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_ends(parser))
        properties["zeros_outside"] = DenseArrayBase.from_list(i64, [end for pair in ends for end in pair])
    attributes = parse_attributes(parser)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    values = parser.resolve_operands(operands, types, start)
    return cls.create(operands=values, properties=properties, attributes=attributes)


def _parse_names(word: str, parser: Parser, properties: dict[str, Attribute]) -> None:
    """`[word [a, b]]`."""
    if parser.parse_optional_keyword(word):
        names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
        properties[word] = ArrayAttr(StringAttr(name) for name in names)


def _parse_ends(parser: Parser) -> tuple[int, int]:
    """`1:15`."""
    first = parser.parse_integer()
    parser.parse_punctuation(":")
    return first, parser.parse_integer()


def print_compute(op: ComputeOp, printer: Printer) -> None:
    """See `parse_compute`."""
    printer.print_string(" ")
    printer.print_attribute(op.on)
    printer.print_string(" ")
    printer.print_string_literal(print_statement(op.statement.data))
    printer.print_string(" ")
    with printer.in_parens():
        printer.print_list(op.tensors, printer.print_ssa_value)
    values = (op.dims, op.functions, op.immediates, op.spread, op.skip, op.take)
    print_bindings(zip(_BINDINGS, values, strict=True), printer)
    if op.over is not None:
        printer.print_string(f" over [{', '.join(op.walked)}]")
    if op.keep is not None:
        printer.print_string(" keep")
    if op.borders is not None:
        printer.print_string(f" borders [{', '.join(op.border_names)}]")
    if op.zeros is not None:
        printer.print_string(f" zeros {op.zeros.data} [{', '.join(f'{a}:{b}' for a, b in op.inside)}]")
    print_attributes(op, printer)
    printer.print_string(" : ")
    with printer.in_parens():
        printer.print_list(op.tensors.types, printer.print_attribute)
