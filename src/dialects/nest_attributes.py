"""Attributes of the `nest` dialect: statements, dims, bindings and scalar values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isfinite

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..algebra.expr import Statement
from ..algebra.parser import parse_statement
from ..algebra.printer import print_statement
from ..errors import TilewrightError


@irdl_attr_definition
class StatementAttr(Data[Statement]):
    """A tensor statement in access form, `#nest.statement<"C[m, n] += A[m, k] * B[k, n]">`."""

    name = "nest.statement"

    @staticmethod
    @lru_cache(maxsize=1024)
    def from_text(text: str) -> StatementAttr:
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


@irdl_attr_definition
class DimsAttr(Data[tuple[tuple[str, int], ...]]):
    """Named dims with their extents, in order: `#nest.dims<n = 1, k = 64>`."""

    name = "nest.dims"

    @staticmethod
    def of(dims: Mapping[str, int]) -> DimsAttr:
        """The attribute of name -> extent."""
        return DimsAttr(tuple(dims.items()))

    def as_dict(self) -> dict[str, int]:
        """Name -> extent."""
        return dict(self.data)

    @staticmethod
    def parse_list(parser: AttrParser, delimiter: AttrParser.Delimiter) -> tuple[tuple[str, int], ...]:
        """Parses `name = extent, ...`; a dim may be given once."""
        start = parser.pos

        def item() -> tuple[str, int]:
            name = parser.parse_identifier()
            parser.parse_punctuation("=")
            return name, parser.parse_integer(allow_boolean=False, allow_negative=False)

        dims = tuple(parser.parse_comma_separated_list(delimiter, item))
        if len(dict(dims)) < len(dims):
            parser.raise_error("a dim is given twice", start, parser.pos)
        return dims

    def print_list(self, printer: Printer) -> None:
        """Prints `name = extent, ...`."""
        printer.print_string(", ".join(f"{name} = {extent}" for name, extent in self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, int], ...]:
        return cls.parse_list(parser, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_list(printer)


@irdl_attr_definition
class BindingAttr(Data[tuple[tuple[str, str], ...]]):
    """Names bound to names, in order: `#nest.binding<g = n, k = k>`."""

    name = "nest.binding"

    @staticmethod
    def of(names: Mapping[str, str]) -> BindingAttr:
        """The attribute of name -> name."""
        return BindingAttr(tuple(names.items()))

    def as_dict(self) -> dict[str, str]:
        """Name -> name."""
        return dict(self.data)

    @staticmethod
    def parse_list(parser: AttrParser, delimiter: AttrParser.Delimiter) -> tuple[tuple[str, str], ...]:
        """Parses `name = name, ...`."""

        def item() -> tuple[str, str]:
            name = parser.parse_identifier()
            parser.parse_punctuation("=")
            return name, parser.parse_identifier()

        return tuple(parser.parse_comma_separated_list(delimiter, item))

    def print_list(self, printer: Printer) -> None:
        """Prints `name = name, ...`."""
        printer.print_string(", ".join(f"{key} = {value}" for key, value in self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, str], ...]:
        return cls.parse_list(parser, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_list(printer)


@irdl_attr_definition
class ValuesAttr(Data[tuple[tuple[str, int | float], ...]]):
    """Names bound to numbers, in order: `#nest.values<X = 0.0, V = 3, L = neg_inf>`."""

    name = "nest.values"

    @staticmethod
    def of(values: Mapping[str, int | float]) -> ValuesAttr:
        """The attribute of name -> number."""
        return ValuesAttr(tuple(values.items()))

    def as_dict(self) -> dict[str, int | float]:
        """Name -> number."""
        return dict(self.data)

    def __iter__(self) -> Iterator[tuple[str, int | float]]:
        return iter(self.data)

    @staticmethod
    def parse_list(parser: AttrParser, delimiter: AttrParser.Delimiter) -> tuple[tuple[str, int | float], ...]:
        """Parses `name = number, ...`; infinities are `inf` and `neg_inf`."""

        def item() -> tuple[str, int | float]:
            name = parser.parse_identifier()
            parser.parse_punctuation("=")
            word = parser.parse_optional_keyword_in(_NAMED)
            return name, parser.parse_number() if word is None else _NAMED[word]

        return tuple(parser.parse_comma_separated_list(delimiter, item))

    def print_list(self, printer: Printer) -> None:
        """Prints `name = number, ...`."""
        printer.print_string(", ".join(f"{key} = {_number(value)}" for key, value in self.data))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, int | float], ...]:
        return cls.parse_list(parser, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_list(printer)


_NAMED = {"inf": float("inf"), "neg_inf": float("-inf"), "nan": float("nan")}


def _number(value: float) -> str:
    if isinstance(value, float) and not isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "neg_inf"
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else text
