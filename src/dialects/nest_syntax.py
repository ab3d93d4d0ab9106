"""Custom syntax of the `nest` dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.parser import Parser
from xdsl.parser.core import UnresolvedOperand
from xdsl.printer import Printer

from ..algebra.printer import print_statement
from .nest_attributes import BindingAttr, DimsAttr, StatementAttr, ValuesAttr
from .syntax import parse_attributes, parse_bindings, parse_capability, print_attributes, print_bindings

if TYPE_CHECKING:
    from .nest import ComputeOp, GroupOp, KernelOp


def _parse_named_operands(parser: Parser) -> tuple[ArrayAttr[StringAttr], list[UnresolvedOperand]]:
    def item() -> tuple[str, UnresolvedOperand]:
        name = parser.parse_identifier()
        parser.parse_punctuation("=")
        return name, parser.parse_unresolved_operand()

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
    return ArrayAttr(StringAttr(name) for name, _ in pairs), [operand for _, operand in pairs]


def _print_named_operands(names: ArrayAttr[StringAttr], op: Operation, printer: Printer) -> None:
    with printer.in_parens():
        pairs = list(zip(names, op.operands[: len(names)], strict=True))
        for i, (name, value) in enumerate(pairs):
            printer.print_string(f"{', ' if i else ''}{name.data} = ")
            printer.print_ssa_value(value)


def parse_kernel(cls: type[KernelOp], parser: Parser) -> KernelOp:
    """`@name "statement" (A = %a, ...) [into %init] [pad {A = 0.0}] [attributes {...}] : (types) -> type`."""
    name = parser.parse_symbol_name()
    statement = StatementAttr(StatementAttr.parse_literal(parser))
    names, operands = _parse_named_operands(parser)
    init = parser.parse_unresolved_operand() if parser.parse_optional_keyword("into") else None
    pad = None
    if parser.parse_optional_keyword("pad"):
        pad = ValuesAttr(ValuesAttr.parse_list(parser, parser.Delimiter.BRACES))
    attributes = parse_attributes(parser)
    parser.parse_punctuation(":")
    start = parser.pos
    types = parser.parse_type()
    if not isinstance(types, FunctionType) or len(types.outputs) != 1 or len(types.inputs) != len(operands):
        parser.raise_error("expected the types of the operands and of one result", start, parser.pos)
    (result,) = types.outputs
    return cls.build(
        operands=[
            [parser.resolve_operand(o, t) for o, t in zip(operands, types.inputs, strict=True)],
            None if init is None else parser.resolve_operand(init, result),
        ],
        properties={"sym_name": name, "statement": statement, "operand_names": names, "pad": pad},
        attributes=attributes,
        result_types=[result],
    )


def print_kernel(op: KernelOp, printer: Printer) -> None:
    """See `parse_kernel`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.sym_name.data)
    printer.print_string(" ")
    printer.print_string_literal(print_statement(op.statement.data))
    printer.print_string(" ")
    _print_named_operands(op.operand_names, op, printer)
    if op.init is not None:
        printer.print_string(" into ")
        printer.print_ssa_value(op.init)
    if op.pad is not None:
        printer.print_string(" pad {")
        op.pad.print_list(printer)
        printer.print_string("}")
    print_attributes(op, printer)
    printer.print_string(" : ")
    printer.print_function_type(op.inputs.types, [op.result.type])


def parse_group(cls: type[GroupOp], parser: Parser) -> GroupOp:
    """`@name dims {n = 1, ...} ins(X = %x, ...) -> types [attributes {...}] {body} [mapping {tree}]`."""
    name = parser.parse_symbol_name()
    parser.parse_keyword("dims")
    dims = DimsAttr(DimsAttr.parse_list(parser, parser.Delimiter.BRACES))
    parser.parse_keyword("ins")
    start = parser.pos
    names, operands = _parse_named_operands(parser)
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


def print_group(op: GroupOp, printer: Printer) -> None:
    """See `parse_group`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.sym_name.data)
    printer.print_string(" dims {")
    op.dims.print_list(printer)
    printer.print_string("} ins")
    _print_named_operands(op.input_names, op, printer)
    printer.print_string(" -> ")
    types = op.result_types
    if len(types) == 1:
        printer.print_attribute(types[0])
    else:
        with printer.in_parens():
            printer.print_list(types, printer.print_attribute)
    print_attributes(op, printer)
    printer.print_string(" ")
    printer.print_region(op.body)
    if op.mapping.blocks:
        printer.print_string(" mapping ")
        printer.print_region(op.mapping, print_empty_block=False)


_BINDINGS = {"dims": BindingAttr, "tensors": BindingAttr, "functions": BindingAttr, "immediates": ValuesAttr}


def parse_compute(cls: type[ComputeOp], parser: Parser) -> ComputeOp:
    """`@kernel [on @NODE::@capability dims {...} tensors {...} [functions {...}] [immediates {...}]]`."""
    properties: dict[str, Attribute] = {"kernel": parser.parse_symbol_name()}
    if parser.parse_optional_keyword("on"):
        properties["on"] = parse_capability(parser)
    properties |= parse_bindings(_BINDINGS, parser)
    return cls.create(properties=properties, attributes=parse_attributes(parser))


def print_compute(op: ComputeOp, printer: Printer) -> None:
    """See `parse_compute`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.kernel.data)
    if op.on is not None:
        printer.print_string(" on ")
        printer.print_attribute(op.on)
    values = op.dims, op.tensors, op.functions, op.immediates
    print_bindings(zip(_BINDINGS, values, strict=True), printer)
    print_attributes(op, printer)
