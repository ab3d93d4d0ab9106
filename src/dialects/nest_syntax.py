"""Custom syntax of the `nest` dialect."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.parser.core import UnresolvedOperand
from xdsl.printer import Printer

from .nest_attributes import DimsAttr
from .syntax import parse_attributes

if TYPE_CHECKING:
    from .nest import GroupOp


def parse_named(parser: Parser) -> tuple[ArrayAttr[StringAttr], list[UnresolvedOperand]]:
    """`(A = %a, B = %b)`."""

    def item() -> tuple[str, UnresolvedOperand]:
        name = parser.parse_identifier()
        parser.parse_punctuation("=")
        return name, parser.parse_unresolved_operand()

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
    return ArrayAttr(StringAttr(name) for name, _ in pairs), [operand for _, operand in pairs]


def print_named(names: ArrayAttr[StringAttr], values: Sequence[SSAValue], printer: Printer) -> None:
    """See `parse_named`."""

    def item(pair: tuple[StringAttr, SSAValue]) -> None:
        printer.print_string(f"{pair[0].data} = ")
        printer.print_ssa_value(pair[1])

    with printer.in_parens():
        printer.print_list(zip(names, values, strict=True), item)


@irdl_custom_directive
class NamedOperands(CustomDirective):
    """Operands with the names that a property has for them: `(A = %a, B = %b)`."""

    names: AttributeVariable
    operands: VariadicOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        names, operands = parse_named(parser)
        self.names.set(state, names)
        self.operands.set(state, operands)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        print_named(cast("ArrayAttr[StringAttr]", self.names.get(op)), self.operands.get(op), printer)


@irdl_custom_directive
class Signature(CustomDirective):
    """The types of operands and of one result, which is also that of an operand that it starts as."""

    inputs: TypeDirective
    init: TypeDirective
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        types = parser.parse_type()
        inputs, init = state.operands
        if not isinstance(types, FunctionType) or len(types.outputs) != 1 or len(types.inputs) != len(inputs or ()):
            parser.raise_error("expected the types of the operands and of one result", start, parser.pos)
        self.inputs.set(state, tuple(types.inputs))
        self.init.set(state, tuple(types.outputs) if init else ())
        self.result.set(state, tuple(types.outputs))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_function_type(self.inputs.get(op), self.result.get(op))


def parse_group(cls: "type[GroupOp]", parser: Parser) -> "GroupOp":
    """`@name dims {n = 1, ...} ins(X = %x, ...) -> types [attributes {...}] {body} [mapping {tree}]`."""
    name = parser.parse_symbol_name()
    parser.parse_keyword("dims")
    dims = DimsAttr(DimsAttr.parse_list(parser, parser.Delimiter.BRACES))
    parser.parse_keyword("ins")
    start = parser.pos
    names, operands = parse_named(parser)
    end = parser.pos
    parser.parse_punctuation("->")
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    types = [parser.parse_type()] if types is None else types
    attributes = parse_attributes(parser)
    body = parser.parse_region()
    mapping = parser.parse_region() if parser.parse_optional_keyword("mapping") else Region()
    if not body.blocks or len(body.blocks[0].args) != len(operands):
        parser.raise_error("expected one argument of the body for each input", start, end)
    return cls.build(
        operands=[[parser.resolve_operand(o, a.type) for o, a in zip(operands, body.blocks[0].args, strict=True)]],
        properties={"sym_name": name, "dims": dims, "input_names": names},
        attributes=attributes,
        result_types=[types],
        regions=[body, mapping],
    )


def print_group(op: "GroupOp", printer: Printer) -> None:
    """See `parse_group`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.sym_name.data)
    printer.print_string(" dims {")
    op.dims.print_list(printer)
    printer.print_string("} ins")
    print_named(op.input_names, op.inputs, printer)
    printer.print_string(" -> ")
    types = op.result_types
    if len(types) == 1:
        printer.print_attribute(types[0])
    else:
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(op.body)
    if op.mapping.blocks:
        printer.print_string(" mapping ")
        printer.print_region(op.mapping, print_empty_block=False)
