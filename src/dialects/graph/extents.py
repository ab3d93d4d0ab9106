"""Extents that are open: integers that follow from named extents, each in a range, and the attributes that hold them.

An open graph is a function whose attribute `graph.dims` gives the numbers that each named extent may have.  A type with
open extents has all its extents as encoding, and an operation whose properties depend on named extents has them in its
attribute `graph.open`:

    func.func @main(%x : tensor<?x4xf32, #graph.extents<[n, 4]>>)
      -> tensor<?xf32, #graph.extents<[4 * n]>> attributes {graph.dims = {n = array<i64: 1, 512, 1>}}
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, DictionaryAttr, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .. import types

DIMS = "graph.dims"
OPEN = "graph.open"


@dataclass(frozen=True)
class Term:
    """`factor` times the product of named extents."""

    factor: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class Extent:
    """The sum of `terms`, divided by `divisor`, which divides it wherever the graph holds."""

    terms: tuple[Term, ...]
    divisor: int = 1

    @classmethod
    def fixed(cls, number: int) -> "Extent":
        """A number."""
        return cls((Term(number, ()),))

    @property
    def name(self) -> str:
        """The named extent that it is; "" for a number or more than a name."""
        names = self.terms[0].names[:1]
        return names[0] if names and self == Extent((Term(1, names),)) else ""

    @property
    def names(self) -> set[str]:
        """The named extents that it depends on."""
        return {name for term in self.terms for name in term.names}

    def total_at(self, dims: Mapping[str, int]) -> int:
        """The sum at a point of the named extents; `VerifyException` for a name without a number."""
        if missing := sorted(self.names.difference(dims)):
            raise VerifyException(f"expected an extent among {', '.join(dims)}, found {missing[0]}")
        return sum(term.factor * prod(dims[name] for name in term.names) for term in self.terms)

    def at(self, dims: Mapping[str, int]) -> int:
        """The number at a point of the named extents; `VerifyException` where the divisor leaves a remainder."""
        quotient, remainder = divmod(self.total_at(dims), self.divisor)
        if remainder:
            raise VerifyException(f"expected a sum of which {self.divisor} is a divisor, found {self.total_at(dims)}")
        return quotient


@irdl_attr_definition
class ExtentsAttr(Data[tuple[Extent, ...]]):
    """Integers that follow from named extents: `#graph.extents<[n, 4, (2 * n * tokens - 1) floordiv 3]>`."""

    name = "graph.extents"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Extent, ...]:
        with parser.in_angle_brackets():
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse(parser)))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets(), printer.in_square_brackets():
            printer.print_list(self.data, lambda extent: printer.print_string(_text(extent)))

    def __init__(self, extents: Iterable[Extent]) -> None:
        super().__init__(tuple(extents))

    @property
    def is_open(self) -> bool:
        """Whether any of them depends on a named extent."""
        return any(extent.names for extent in self.data)

    def at(self, dims: Mapping[str, int]) -> list[int]:
        """The numbers at a point of the named extents."""
        return [extent.at(dims) for extent in self.data]


def _parse(parser: AttrParser) -> Extent:
    if not parser.parse_optional_punctuation("("):
        return Extent(_parse_terms(parser))
    terms = _parse_terms(parser)
    parser.parse_punctuation(")")
    parser.parse_keyword("floordiv")
    divisor = parser.parse_integer(allow_boolean=False)
    if divisor < 1:
        parser.raise_error(f"expected a divisor of at least 1, found {divisor}")
    return Extent(terms, divisor)


def _parse_terms(parser: AttrParser) -> tuple[Term, ...]:
    terms = [_parse_term(parser, -1 if parser.parse_optional_punctuation("-") else 1)]
    while (sign := parser.parse_optional_punctuation("+") or parser.parse_optional_punctuation("-")) is not None:
        terms.append(_parse_term(parser, -1 if sign == "-" else 1))
    return tuple(terms)


def _parse_term(parser: AttrParser, sign: int) -> Term:
    factor = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    names: list[str] = [] if factor is not None else [_parse_name(parser)]
    while parser.parse_optional_punctuation("*"):
        names.append(_parse_name(parser))
    return Term(sign * (1 if factor is None else factor), tuple(names))


def _parse_name(parser: AttrParser) -> str:
    return parser.parse_optional_str_literal() or parser.parse_identifier()


def _text(extent: Extent) -> str:
    text = "".join(_signed(term) for term in extent.terms)
    text = text[3:] if text.startswith(" + ") else "-" + text[3:]
    return text if extent.divisor == 1 else f"({text}) floordiv {extent.divisor}"


def _signed(term: Term) -> str:
    size = abs(term.factor)
    factors = [str(size)] if size != 1 or not term.names else []
    names = [name if name.isidentifier() and name != "floordiv" else f'"{name}"' for name in term.names]
    return (" - " if term.factor < 0 else " + ") + " * ".join(factors + names)


def is_open(type_: Attribute) -> bool:
    """Whether a type is a tensor with open extents."""
    return isinstance(type_, TensorType) and DYNAMIC_INDEX in type_.get_shape()


def named_shape(type_: Attribute) -> tuple[int | str | None, ...]:
    """The extents of a tensor: numbers, names, None for what is more than a name."""
    if not isinstance(type_, TensorType):
        return ()
    if not isinstance(type_.encoding, ExtentsAttr):
        return tuple(type_.get_shape())
    return tuple(
        extent.name if extent.name else extent.at({}) if not extent.names else None for extent in type_.encoding.data
    )


def open_tensor(extents: Sequence[Extent], element: Attribute) -> types.Tensor:
    """The tensor of these extents; without an encoding where none is open."""
    shape = [DYNAMIC_INDEX if extent.names else extent.at({}) for extent in extents]
    return TensorType(element, shape, ExtentsAttr(extents)) if DYNAMIC_INDEX in shape else types.tensor(shape, element)


def check_open(what: str, type_: Attribute) -> None:
    """Check that a tensor with open extents says what all its extents are."""
    if not isinstance(type_, TensorType) or not is_open(type_):
        return
    encoding = type_.encoding
    if not isinstance(encoding, ExtentsAttr):
        raise VerifyException(f"{what}: expected static extents of at least 1, or #graph.extents, found {type_}")
    if open_tensor(encoding.data, type_.element_type) != type_:
        raise VerifyException(f"{what}: expected extents as in the encoding, found {type_}")


def dims_of(function: FuncOp) -> dict[str, range]:
    """The numbers that each named extent of an open graph may have; none where the function is no open graph."""
    dims = function.attributes.get(DIMS, DictionaryAttr({}))
    if not isinstance(dims, DictionaryAttr):
        raise VerifyException(f"{DIMS}: expected a dictionary, found {dims}")
    return {name: _range(name, value) for name, value in dims.data.items()}


def _range(name: str, value: Attribute) -> range:
    numbers = value.get_values() if isinstance(value, DenseArrayBase) else ()
    if len(numbers) != 3 or not (1 <= int(numbers[0]) <= int(numbers[1]) and int(numbers[2]) >= 1):
        raise VerifyException(f"{DIMS}: {name}: expected first, last and step, each at least 1, found {value}")
    first, last, step = (int(number) for number in numbers)
    return range(first, last + 1, step)


def set_dims(function: FuncOp, dims: Mapping[str, range]) -> None:
    """Say which numbers each named extent may have."""
    ranges = {name: DenseArrayBase.from_list(i64, [r[0], r[-1], r.step]) for name, r in dims.items()}
    function.attributes[DIMS] = DictionaryAttr(cast(dict[str, Attribute], ranges))
