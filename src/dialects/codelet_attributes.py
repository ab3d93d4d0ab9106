"""The type and the attributes of the `codelet` dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, SymbolRefAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .types import Role


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
        """`<4x8xf32, @GBUF>`."""
        with parser.in_angle_brackets():
            start = parser.pos
            shape, element = parser.parse_ranked_shape()
            if any(n < 1 for n in shape):
                parser.raise_error("expected positive sizes", start, parser.pos)
            parser.parse_punctuation(",")
            return [ArrayAttr(IntAttr(n) for n in shape), element, SymbolRefAttr(parser.parse_symbol_name())]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{size}x" for size in self.sizes))
            printer.print_attribute(self.element)
            printer.print_string(", ")
            printer.print_attribute(self.place)


@irdl_attr_definition
class RoleAttr(EnumAttribute[Role], SpacedOpaqueSyntaxAttribute):
    """A `Role`."""

    name = "codelet.role"
