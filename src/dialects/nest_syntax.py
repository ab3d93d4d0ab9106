"""Custom syntax of the `nest` dialect."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.ir import SSAValue
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
