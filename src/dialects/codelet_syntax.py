"""Custom syntax of the `codelet` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from ..algebra.printer import print_statement
from .nest_attributes import BindingAttr, DimsAttr, StatementAttr, ValuesAttr
from .roles import Role
from .syntax import (
    Bindings,
    parse_attributes,
    parse_bindings,
    parse_body,
    parse_capability,
    parse_number,
    print_attributes,
    print_bindings,
    print_body,
)

if TYPE_CHECKING:
    from .codelet import CodeletOp, ComputeOp, LocalOp, LoopOp, TensorOp
    from .codelet_attributes import SurrogateType


def _parse_place(parser: AttrParser) -> SymbolRefAttr:
    return SymbolRefAttr(parser.parse_symbol_name())


def parse_surrogate(parser: AttrParser) -> Sequence[Attribute]:
    """`<4x8xf32, @GBUF>`."""
    with parser.in_angle_brackets():
        start = parser.pos
        shape, element = parser.parse_ranked_shape()
        if any(n < 1 for n in shape):
            parser.raise_error("expected positive sizes", start, parser.pos)
        parser.parse_punctuation(",")
        return [ArrayAttr(IntAttr(n) for n in shape), element, _parse_place(parser)]


def print_surrogate(type: SurrogateType, printer: Printer) -> None:
    """See `parse_surrogate`."""
    with printer.in_angle_brackets():
        for size in type.sizes:
            printer.print_string(f"{size}x")
        printer.print_attribute(type.element)
        printer.print_string(", ")
        printer.print_attribute(type.place)


def parse_tensor(cls: type[TensorOp], parser: Parser) -> TensorOp:
    """`"name" role [ring [0, 3]] [at address] : type`."""
    from .codelet_attributes import RoleAttr

    name = StringAttr(parser.parse_str_literal())
    role = RoleAttr(parser.parse_str_enum(Role))
    ring: list[int] | None = None
    if parser.parse_optional_keyword("ring"):
        ring = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_number(parser))
    address = IntegerAttr(parse_number(parser), i64) if parser.parse_optional_keyword("at") else None
    attributes = parse_attributes(parser)
    parser.parse_punctuation(":")
    properties: dict[str, Attribute] = {"tensor_name": name, "role": role}
    if ring is not None:
        properties["ring"] = DenseArrayBase.from_list(i64, ring)
    if address is not None:
        properties["address"] = address
    return cls.create(properties=properties, attributes=attributes, result_types=[parser.parse_type()])


def print_tensor(op: TensorOp, printer: Printer) -> None:
    """See `parse_tensor`."""
    printer.print_string(" ")
    printer.print_string_literal(op.tensor_name.data)
    printer.print_string(f" {op.role.data.value}")
    if op.ring is not None:
        printer.print_string(f" ring {list(op.ring.get_values())}")
    if op.address is not None:
        printer.print_string(f" at {op.address.value.data}")
    print_attributes(op, printer)
    printer.print_string(" : ")
    printer.print_attribute(op.result.type)


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


def parse_loop(cls: type[LoopOp], parser: Parser) -> LoopOp:
    """`dim step 8 [ahead] [alternating] {body}`."""
    dim = StringAttr(parser.parse_identifier())
    parser.parse_keyword("step")
    properties: dict[str, Attribute] = {"dim": dim, "step": IntegerAttr(parse_number(parser), i64)}
    for word in ("ahead", "alternating"):
        if parser.parse_optional_keyword(word):
            properties[word] = UnitAttr()
    return cls.create(properties=properties, attributes=parse_attributes(parser), regions=[parse_body(parser)])


def print_loop(op: LoopOp, printer: Printer) -> None:
    """See `parse_loop`."""
    words = "".join(f" {word}" for word in ("ahead", "alternating") if word in op.properties)
    printer.print_string(f" {op.dim.data} step {op.step.value.data}{words}")
    print_attributes(op, printer)
    print_body(op.body, printer)


def parse_local(cls: type[LocalOp], parser: Parser) -> LocalOp:
    """`"access", ... [buffers 2] [kept] [at [0, 128]] : type`."""
    texts = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_str_literal)
    buffers = parse_number(parser) if parser.parse_optional_keyword("buffers") else 1
    properties: dict[str, Attribute] = {
        "accesses": ArrayAttr(StringAttr(text) for text in texts),
        "buffers": IntegerAttr(buffers, i64),
    }
    if parser.parse_optional_keyword("kept"):
        properties["kept"] = UnitAttr()
    if parser.parse_optional_keyword("at"):
        slots = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_number(parser))
        properties["addresses"] = DenseArrayBase.from_list(i64, slots)
    attributes = parse_attributes(parser)
    parser.parse_punctuation(":")
    return cls.create(properties=properties, attributes=attributes, result_types=[parser.parse_type()])


def print_local(op: LocalOp, printer: Printer) -> None:
    """See `parse_local`."""
    printer.print_string(" ")
    printer.print_list(op.accesses, lambda access: printer.print_string_literal(access.data))
    if op.buffers.value.data != 1:
        printer.print_string(f" buffers {op.buffers.value.data}")
    if op.kept is not None:
        printer.print_string(" kept")
    if op.slots is not None:
        printer.print_string(f" at {list(op.slots)}")
    print_attributes(op, printer)
    printer.print_string(" : ")
    printer.print_attribute(op.result.type)


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
