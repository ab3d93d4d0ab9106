"""Attributes of the `acg` dialect: each holds a tuple of the machine's own values and reads and prints it as text."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar, get_type_hints

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..algebra.expr import Expr, Statement, print_expr, print_statement
from ..algebra.parser import parse_expr, parse_statement
from ..errors import TilewrightError
from ..machine import Action, CapabilityDim, Engine, Field, OperandBinding, Ports
from ..machine.rules import NAME
from .nest_attributes import number_text

_T = TypeVar("_T")


def parse_name(parser: AttrParser) -> str:
    """A name of letters, digits and underscores."""
    start = parser.pos
    name = parser.parse_identifier()
    if NAME.fullmatch(name) is None:
        parser.raise_error("expected a name of letters, digits and underscores", start, parser.pos)
    return name


def parse_integer(parser: AttrParser) -> int:
    """An integer that is not negative, below 2^63."""
    start = parser.pos
    value = parser.parse_integer(allow_boolean=False, allow_negative=False)
    if value >= 1 << 63:
        parser.raise_error("expected an integer below 2^63", start, parser.pos)
    return value


def executed(reference: SymbolRefAttr | None) -> tuple[str, str]:
    """The node (or link) and the capability of `@node::@capability`; "" where there is none."""
    if reference is None:
        return "", ""
    nested = reference.nested_references.data
    if len(nested) != 1:
        raise VerifyException(f"expected execute @node::@capability, found {reference}")
    return reference.root_reference.data, nested[0].data


def _word(parser: AttrParser) -> str:
    """A name or an integer literal."""
    name = parser.parse_optional_identifier()
    if name is None:
        sign = "-" if parser.parse_optional_punctuation("-") else ""
        return f"{sign}{parse_integer(parser)}"
    if NAME.fullmatch(name) is None:
        parser.raise_error("expected a name of letters, digits and underscores")
    return name


def list_of(parser: AttrParser, item: Callable[[AttrParser], _T], delimiter: AttrParser.Delimiter) -> tuple[_T, ...]:
    """Items between commas in brackets of a kind."""
    return tuple(parser.parse_comma_separated_list(delimiter, lambda: item(parser)))


def _print(printer: Printer, items: Iterable[str]) -> None:
    with printer.in_angle_brackets():
        printer.print_string(", ".join(items))


def _quoted(parser: AttrParser, read: Callable[[str], _T]) -> _T:
    """The value of a string literal in angle brackets."""
    with parser.in_angle_brackets():
        start = parser.pos
        text = parser.parse_str_literal()
        try:
            return read(text)
        except TilewrightError as error:
            parser.raise_error(error.paragraph(), start, parser.pos)


@irdl_attr_definition
class StatementAttr(Data[Statement]):
    """What a capability computes: `#acg.statement<"O{i} += A{i, j} * B{j}">`."""

    name = "acg.statement"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Statement:
        return _quoted(parser, parse_statement)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(print_statement(self.data))


@irdl_attr_definition
class FormulaAttr(Data[Expr]):
    """Cycles or pJ as a formula: `#acg.formula<"ceildiv(ops, 512)">`."""

    name = "acg.formula"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Expr:
        return _quoted(parser, partial(parse_expr, paths=True))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(print_expr(self.data))


class ListAttr(Data[tuple[_T, ...]], ABC):
    """Items between commas."""

    @staticmethod
    @abstractmethod
    def parse_item(parser: AttrParser) -> _T:
        """An item as `item_text` writes it."""

    @staticmethod
    @abstractmethod
    def item_text(item: _T) -> str:
        """The text of an item."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[_T, ...]:
        return list_of(parser, cls.parse_item, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        _print(printer, map(self.item_text, self.data))


@irdl_attr_definition
class DimsAttr(ListAttr[CapabilityDim]):
    """Dims of a capability, their limits and lanes: `#acg.dims<k to 65535 lanes 32, p to 65535>`."""

    name = "acg.dims"

    @staticmethod
    def parse_item(parser: AttrParser) -> CapabilityDim:
        name = parse_name(parser)
        parser.parse_keyword("to")
        limit = parse_integer(parser)
        return CapabilityDim(name, limit, parse_integer(parser) if parser.parse_optional_keyword("lanes") else 1)

    @staticmethod
    def item_text(item: CapabilityDim) -> str:
        return f"{item.name} to {item.limit}" + (f" lanes {item.lanes}" if item.lanes != 1 else "")


@irdl_attr_definition
class NamesAttr(ListAttr[str]):
    """Names: `#acg.names<g, k>`."""

    name = "acg.names"
    parse_item = staticmethod(parse_name)

    @staticmethod
    def item_text(item: str) -> str:
        return item


@irdl_attr_definition
class TypesAttr(ListAttr[tuple[str, ...]]):
    """Allowed element types, target first: `#acg.types<[i32, i8, i8], [i32, u8, i8]>`."""

    name = "acg.types"

    @staticmethod
    def parse_item(parser: AttrParser) -> tuple[str, ...]:
        return list_of(parser, parse_name, parser.Delimiter.SQUARE)

    @staticmethod
    def item_text(item: tuple[str, ...]) -> str:
        return f"[{', '.join(item)}]"


@irdl_attr_definition
class ChoicesAttr(ListAttr[tuple[str, tuple[str, ...]]]):
    """Function variables and what they may stand for: `#acg.choices<F [relu, exp]>`."""

    name = "acg.choices"

    @staticmethod
    def parse_item(parser: AttrParser) -> tuple[str, tuple[str, ...]]:
        return parse_name(parser), list_of(parser, parse_name, parser.Delimiter.SQUARE)

    @staticmethod
    def item_text(item: tuple[str, tuple[str, ...]]) -> str:
        return f"{item[0]} [{', '.join(item[1])}]"


@irdl_attr_definition
class PairsAttr(ListAttr[tuple[str, str]]):
    """Names with a name or an integer each: `#acg.pairs<a 1, b NB>`."""

    name = "acg.pairs"

    @staticmethod
    def parse_item(parser: AttrParser) -> tuple[str, str]:
        return parse_name(parser), _word(parser)

    @staticmethod
    def item_text(item: tuple[str, str]) -> str:
        return " ".join(item)


def parse_pairs(parser: AttrParser) -> tuple[tuple[str, str], ...]:
    """Pairs in braces."""
    return list_of(parser, PairsAttr.parse_item, parser.Delimiter.BRACES)


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """See `parse_pairs`."""
    return f"{{{', '.join(map(PairsAttr.item_text, pairs))}}}"


@irdl_attr_definition
class FieldsAttr(ListAttr[Field]):
    """Fields of an instruction word: `#acg.fields<DST 24, DB 24 signed, FN 2 [relu = 0] at 80, I 11 index ACC 0>`."""

    name = "acg.fields"

    @staticmethod
    def parse_item(parser: AttrParser) -> Field:
        name, width = parse_name(parser), parse_integer(parser)
        memory = parse_name(parser) if parser.parse_optional_keyword("index") else ""
        more = parse_integer(parser) if memory else 0
        signed = parser.parse_optional_keyword("signed") is not None
        enum = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: _enumerator(parser))
        hidden = parser.parse_optional_keyword("hidden") is not None
        constant = parse_integer(parser) if hidden or parser.parse_optional_keyword("constant") else None
        at_bit = parse_integer(parser) if parser.parse_optional_keyword("at") else None
        return Field(name, width, signed, tuple(enum or ()), at_bit, constant, hidden, memory, more)

    @staticmethod
    def item_text(item: Field) -> str:
        signed = " signed" if item.signed else ""
        enum = f" [{', '.join(f'{name} = {code}' for name, code in item.enum)}]" if item.enum else ""
        at = f" at {item.at_bit}" if item.at_bit is not None else ""
        fixed = f" {'hidden' if item.hidden else 'constant'} {item.constant}" if item.constant is not None else ""
        sized = f" index {item.index_of} {item.more_bits}" if item.index_of else ""
        return f"{item.name} {item.width_bits}{sized}{signed}{enum}{fixed}{at}"


def _enumerator(parser: AttrParser) -> tuple[str, int]:
    name = parse_name(parser)
    parser.parse_punctuation("=")
    return name, parse_integer(parser)


@irdl_attr_definition
class OperandsAttr(ListAttr[OperandBinding]):
    """Where operands lie: memory, address, element type and strides, `#acg.operands<D = GBUF[DST] u8 {a 1, b DB}>`."""

    name = "acg.operands"

    @staticmethod
    def parse_item(parser: AttrParser) -> OperandBinding:
        name = parse_name(parser)
        parser.parse_punctuation("=")
        memory = parse_name(parser)
        with parser.in_square_brackets():
            address = _word(parser)
        return OperandBinding(name, memory, address, parse_name(parser), parse_pairs(parser))

    @staticmethod
    def item_text(item: OperandBinding) -> str:
        return f"{item.operand} = {item.memory}[{item.address}] {item.type_name} {pairs_text(item.strides)}"


@irdl_attr_definition
class ActionAttr(Data[Action]):
    """What an instruction of control model `loops` does: `#acg.action<loop {id LOOP, last COUNT}>`."""

    name = "acg.action"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Action:
        with parser.in_angle_brackets():
            return Action(parse_name(parser), parse_pairs(parser))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.data.kind} {pairs_text(self.data.roles)}")


@irdl_attr_definition
class EngineAttr(Data[Engine]):
    """What a unit does by itself; parts that are empty are left out.

    `#acg.engine<execute PE mac, operands {I = IBUF[0] i8 {r 1}}, loops {tile 0, inner 7}, latency {cycles 4}>`
    """

    name = "acg.engine"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Engine:
        parts: dict[str, Any] = dict(list_of(parser, _engine_part, parser.Delimiter.ANGLE))
        node, capability = parts.pop("execute", ("", ""))
        latency = dict(parts.pop("latency", ())).get("cycles", "0")
        named = {attribute: parts[name] for name, attribute in ENGINE_PARTS.items() if name in parts}
        return Engine(node, capability, **named, latency_cycles=int(latency))

    def print_parameter(self, printer: Printer) -> None:
        engine = self.data
        parts = [f"execute {engine.node} {engine.capability}"] if engine.capability else []
        for name, attribute in ENGINE_PARTS.items():
            items = getattr(engine, attribute)
            kind = ENGINE_KINDS.get(name, PairsAttr)
            parts += [f"{name} {{{', '.join(map(kind.item_text, items))}}}"] if items else []
        parts += [f"latency {{cycles {engine.latency_cycles}}}"] if engine.latency_cycles else []
        _print(printer, parts)


ENGINE_PARTS = {
    "operands": "operands",
    "initial": "initial",
    "loops": "levels",
    "granules": "granules",
    "interleave": "interleave",
}
"""Parts of an engine in its text, and what `machine.Engine` calls them, in its order."""

ENGINE_KINDS: dict[str, type[ListAttr[Any]]] = {"operands": OperandsAttr, "initial": OperandsAttr}
"""What parts consist of, where not of pairs."""


def _engine_part(parser: AttrParser) -> tuple[str, Any]:
    name = parse_name(parser)
    if name == "execute":
        return name, (parse_name(parser), parse_name(parser))
    if name not in (*ENGINE_PARTS, "latency"):
        parser.raise_error(f"expected execute, {', '.join(ENGINE_PARTS)} or latency, found {name}")
    kind = ENGINE_KINDS.get(name, PairsAttr)
    return name, list_of(parser, kind.parse_item, parser.Delimiter.BRACES)


@irdl_attr_definition
class PortsAttr(Data[Ports]):
    """How a memory is accessed, where that is not the default: `#acg.ports<block_words 4, read_energy_pj 2.5>`."""

    name = "acg.ports"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Ports:
        known = {name: kind is int for name, kind in get_type_hints(Ports).items()}
        values: dict[str, Any] = {}
        start = parser.pos
        for name, value in list_of(parser, lambda p: (parse_name(p), p.parse_number()), parser.Delimiter.ANGLE):
            limit = 1 << 63 if known.get(name) else math.inf
            if name not in known or name in values or not 0 <= value < limit:
                expected = f"each of {', '.join(known)} at most once, with a number of at least 0"
                parser.raise_error(f"expected {expected}", start, parser.pos)
            if known[name] and not isinstance(value, int):
                parser.raise_error(f"expected an integer for {name}", start, parser.pos)
            values[name] = value if known[name] else float(value)
        return Ports(**values)

    def print_parameter(self, printer: Printer) -> None:
        values = {item.name: getattr(self.data, item.name) for item in fields(Ports)}
        given = {name: value for name, value in values.items() if value != getattr(Ports(), name)}
        _print(printer, (f"{name} {number_text(value)}" for name, value in given.items()))
