"""Pieces of custom syntax that several dialects have."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    RegionVariable,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from ..algebra.expr import print_statement
from .nest_attributes import BindingAttr, DimsAttr, NamedAttr, StatementAttr, ValuesAttr


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """`[attributes {...}]`."""
    attributes = parser.parse_optional_attr_dict_with_keyword()
    return {} if attributes is None else dict(attributes.data)


def parse_number(parser: AttrParser) -> int:
    """An integer that 64 bits hold with room to spare."""
    start = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if abs(value) >= 1 << 62:
        parser.raise_error("expected a number of at most 62 bits", start, parser.pos)
    return value


class Written(CustomDirective, ABC):
    """A property in a syntax of its own."""

    value: AttributeVariable

    @abstractmethod
    def read(self, parser: Parser) -> Attribute:
        """The attribute that stands in the text."""

    @abstractmethod
    def write(self, attribute: Any, printer: Printer) -> None:
        """See `read`."""

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, self.read(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.value.get(op)
        if attribute is not None:
            state.print_whitespace(printer)
            self.write(attribute, printer)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.is_present(op)

    def is_anchorable(self) -> bool:
        return self.value.is_anchorable()


@irdl_custom_directive
class Word(Written):
    """A `StringAttr` as a bare word: `m`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return StringAttr(parser.parse_identifier())

    def write(self, attribute: StringAttr, printer: Printer) -> None:
        printer.print_string(attribute.data)


@irdl_custom_directive
class Words(Written):
    """Names in brackets, quoted where they are no words: `[X, "conv1.0"]`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier_or_str_literal)
        return ArrayAttr(StringAttr(name) for name in names)

    def write(self, attribute: ArrayAttr[StringAttr], printer: Printer) -> None:
        with printer.in_square_brackets():
            printer.print_list(attribute, lambda name: printer.print_identifier_or_string_literal(name.data))


@irdl_custom_directive
class Texts(Written):
    """Strings between commas: `"X[m, n]", "Y[m]"`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        texts = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_str_literal)
        return ArrayAttr(StringAttr(text) for text in texts)

    def write(self, attribute: ArrayAttr[StringAttr], printer: Printer) -> None:
        printer.print_list(attribute, lambda text: printer.print_string_literal(text.data))


@irdl_custom_directive
class Count(Written):
    """An integer, without its type: `8`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return IntegerAttr(parse_number(parser), i64)

    def write(self, attribute: IntegerAttr, printer: Printer) -> None:
        printer.print_string(f"{attribute.value.data}")


@irdl_custom_directive
class Counts(Written):
    """Integers in brackets: `[0, 128]`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_number(parser))
        return DenseArrayBase.from_list(i64, numbers)

    def write(self, attribute: DenseArrayBase[IntegerType], printer: Printer) -> None:
        printer.print_string(f"{list(attribute.get_values())}")


@irdl_custom_directive
class Code(Written):
    """A statement in quotes: `"Y[m] = relu(X[m])"`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        return StatementAttr(StatementAttr.parse_literal(parser))

    def write(self, attribute: StatementAttr, printer: Printer) -> None:
        printer.print_string_literal(print_statement(attribute.data))


@irdl_custom_directive
class Capability(Written):
    """A capability of a node: `@NODE::@capability`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        start = parser.pos
        on = parser.parse_attribute()
        if not isinstance(on, SymbolRefAttr):
            parser.raise_error("expected @node::@capability", start, parser.pos)
        return on

    def write(self, attribute: SymbolRefAttr, printer: Printer) -> None:
        printer.print_attribute(attribute)


@irdl_custom_directive
class Binding(Written):
    """Names bound to names in braces: `{a = m, b = n}`."""

    value: AttributeVariable
    KIND: ClassVar[type[NamedAttr[Any]]] = BindingAttr

    def read(self, parser: Parser) -> Attribute:
        return self.KIND(self.KIND.parse_list(parser, parser.Delimiter.BRACES))

    def write(self, attribute: NamedAttr[Any], printer: Printer) -> None:
        with printer.in_braces():
            attribute.print_list(printer)


@irdl_custom_directive
class Numbers(Binding):
    """Names bound to numbers in braces: `{X = 0.0, V = 3}`."""

    value: AttributeVariable
    KIND: ClassVar[type[NamedAttr[Any]]] = ValuesAttr


@irdl_custom_directive
class Dims(Binding):
    """Dims with extents in braces: `{m = 8, n = 64}`."""

    value: AttributeVariable
    KIND: ClassVar[type[NamedAttr[Any]]] = DimsAttr


@irdl_custom_directive
class Body(CustomDirective):
    """A region of one block, perhaps empty, whose arguments are said elsewhere."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.region.set(state, parse_body(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        print_body(self.region.get(op), printer)


def parse_captured(parser: Parser) -> tuple[list[Parser.Argument], list[SSAValue]]:
    """`(%a = %x : type, ...)`: arguments of a body, and the values outside that they are."""

    def item() -> tuple[Parser.Argument, SSAValue]:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        return argument.resolve(type_), parser.resolve_operand(operand, type_)

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
    return [argument for argument, _ in pairs], [value for _, value in pairs]


def print_captured(body: Region, values: Sequence[SSAValue], printer: Printer) -> None:
    """See `parse_captured`."""

    def item(pair: tuple[SSAValue, SSAValue]) -> None:
        printer.print_ssa_value(pair[0])
        printer.print_string(" = ")
        printer.print_ssa_value(pair[1])
        printer.print_string(" : ")
        printer.print_attribute(pair[1].type)

    with printer.in_parens():
        printer.print_list(zip(body.block.args, values, strict=True), item)


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
