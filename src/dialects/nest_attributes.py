"""Attributes of the `nest` dialect: statements, dims, bindings and scalar values."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Self, TypeVar

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..algebra.expr import Statement, print_statement
from ..algebra.parser import parse_statement
from ..errors import TilewrightError


@irdl_attr_definition
class StatementAttr(Data[Statement]):
    """A tensor statement in access form, `#nest.statement<"C[m, n] += A[m, k] * B[k, n]">`."""

    name = "nest.statement"

    @staticmethod
    @lru_cache(maxsize=1024)
    def from_text(text: str) -> "StatementAttr":
        """The attribute of a statement's text; raises `TilewrightError` where it is wrong."""
        return StatementAttr(parse_statement(text))

    @staticmethod
    def parse_literal(parser: AttrParser) -> Statement:
        """Parses a string literal that holds a statement."""
        start = parser.pos
        text = parser.parse_str_literal()
        try:
            return parse_statement(text)
        except TilewrightError as error:
            parser.raise_error(error.paragraph(), start, parser.pos)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Statement:
        with parser.in_angle_brackets():
            return cls.parse_literal(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(print_statement(self.data))


_Value = TypeVar("_Value")


class NamedAttr(Data[tuple[tuple[str, _Value], ...]], ABC):
    """Names with a value each, in order: `<n = 1, k = 64>`."""

    @classmethod
    def of(cls, values: Mapping[str, _Value]) -> Self:
        """The attribute of name -> value."""
        return cls(tuple(values.items()))

    def as_dict(self) -> dict[str, _Value]:
        """Name -> value."""
        return dict(self.data)

    def __iter__(self) -> Iterator[tuple[str, _Value]]:
        return iter(self.data)

    @staticmethod
    @abstractmethod
    def parse_value(parser: AttrParser) -> _Value:
        """The value after `name =`."""

    @staticmethod
    def value_text(value: _Value) -> str:
        """See `parse_value`."""
        return f"{value}"

    @classmethod
    def parse_list(cls, parser: AttrParser, delimiter: AttrParser.Delimiter) -> tuple[tuple[str, _Value], ...]:
        """Parses `name = value, ...`."""

        def item() -> tuple[str, _Value]:
            name = parser.parse_identifier()
            parser.parse_punctuation("=")
            return name, cls.parse_value(parser)

        return tuple(parser.parse_comma_separated_list(delimiter, item))

    def print_list(self, printer: Printer) -> None:
        """Prints `name = value, ...`."""
        printer.print_string(", ".join(f"{name} = {self.value_text(value)}" for name, value in self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, _Value], ...]:
        return cls.parse_list(parser, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_list(printer)


@irdl_attr_definition
class DimsAttr(NamedAttr[int]):
    """Named dims with their extents, in order, each once: `#nest.dims<n = 1, k = 64>`."""

    name = "nest.dims"

    @staticmethod
    def parse_value(parser: AttrParser) -> int:
        return parser.parse_integer(allow_boolean=False, allow_negative=False)

    @classmethod
    def parse_list(cls, parser: AttrParser, delimiter: AttrParser.Delimiter) -> tuple[tuple[str, int], ...]:
        start = parser.pos
        dims = super().parse_list(parser, delimiter)
        if len(dict(dims)) < len(dims):
            parser.raise_error("a dim is given twice", start, parser.pos)
        return dims


@irdl_attr_definition
class BindingAttr(NamedAttr[str]):
    """Names bound to names, in order: `#nest.binding<g = n, k = k>`."""

    name = "nest.binding"

    @staticmethod
    def parse_value(parser: AttrParser) -> str:
        return parser.parse_identifier()


@irdl_attr_definition
class ValuesAttr(NamedAttr[int | float]):
    """Names bound to numbers, in order: `#nest.values<X = 0.0, V = 3, L = neg_inf>`; infinite: `inf`, `neg_inf`."""

    name = "nest.values"

    @staticmethod
    def parse_value(parser: AttrParser) -> int | float:
        word = parser.parse_optional_keyword_in(_NAMED)
        return parser.parse_number() if word is None else _NAMED[word]

    @staticmethod
    def value_text(value: float) -> str:
        return number_text(value).replace("-inf", "neg_inf")


_NAMED = {"inf": float("inf"), "neg_inf": float("-inf"), "nan": float("nan")}


def number_text(value: float) -> str:
    """Text that reads back as the same number; a float has a point, also before an exponent, as MLIR spells it."""
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else text
