"""The type and the attributes of the `codelet` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntAttr, SymbolRefAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .nest_attributes import DimsAttr
from .syntax import parse_attributes, parse_captured, print_body, print_captured
from .types import Role

if TYPE_CHECKING:
    from .codelet import CodeletOp


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
    arguments, values = parse_captured(parser)
    attributes = parse_attributes(parser)
    body = parser.parse_region(arguments)
    properties = {"sym_name": name, "dims": dims}
    return cls.create(operands=values, properties=properties, attributes=attributes, regions=[body])


def print_codelet(op: CodeletOp, printer: Printer) -> None:
    """See `parse_codelet`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.sym_name.data)
    printer.print_string(" dims {")
    op.dims.print_list(printer)
    printer.print_string("} ")
    print_captured(op.body, op.tensors, printer)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    print_body(op.body, printer)


@irdl_attr_definition
class SurrogateType(ParametrizedAttribute, TypeAttribute):
    """A tensor with a place: `!codelet.surrogate<64x3xf32, @GBUF>`, row-major in that memory."""

    name = "codelet.surrogate"
    shape: ArrayAttr[IntAttr]
    element: Attribute
    place: SymbolRefAttr

    @staticmethod
    def get(shape: Sequence[int], element: Attribute, memory: str) -> SurrogateType:
        """The type of a tensor of `shape` in `memory`."""
        return SurrogateType(ArrayAttr(IntAttr(n) for n in shape), element, SymbolRefAttr(memory))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Elements per axis."""
        return tuple(n.data for n in self.shape)

    @property
    def memory(self) -> str:
        """Name of the memory."""
        return self.place.root_reference.data

    def verify(self) -> None:
        if any(n.data < 1 for n in self.shape):
            raise VerifyException(f"expected positive sizes, found {self.sizes}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return parse_surrogate(parser)

    def print_parameters(self, printer: Printer) -> None:
        print_surrogate(self, printer)


@irdl_attr_definition
class RoleAttr(EnumAttribute[Role], SpacedOpaqueSyntaxAttribute):
    """A `Role`."""

    name = "codelet.role"
