"""Attributes of the `dram` dialect and their custom syntax."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType, StringAttr, i64
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .syntax import Written, parse_number

if TYPE_CHECKING:
    from .dram import TransfersOp


MOST = 1 << 40
"""Numbers in the dialect's text are smaller."""


@dataclass(frozen=True)
class MachineNumbers:
    """What a schedule is priced for.

    `side` squared cores of `macs` multiply-accumulates; a buffer of `capacity` bytes of which `buffer` may be used,
    with ports of `read` and `write` bytes per cycle; DRAM of `bandwidth` bytes per cycle, each transfer after `latency`
    cycles; addresses are multiples of `align`.  `exact` is 0 for SoMa's own model.
    """

    side: int
    macs: int
    capacity: int
    buffer: int
    read: int
    write: int
    bandwidth: int
    latency: int
    align: int
    exact: int


NUMBERS = tuple(field.name for field in fields(MachineNumbers))


@irdl_attr_definition
class MachineAttr(Data[MachineNumbers]):
    """`#dram.machine<side 4, macs 512, capacity 8388608, buffer 8388608, read 256, write 256, bandwidth 16, latency 0,
    align 64, exact 1>`.
    """

    name = "dram.machine"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MachineNumbers:
        """All numbers, in this order."""
        found: list[int] = []
        with parser.in_angle_brackets():
            for index, name in enumerate(NUMBERS):
                if index:
                    parser.parse_punctuation(",")
                parser.parse_keyword(name)
                found.append(parse_number(parser))
        return MachineNumbers(*found)

    def print_parameter(self, printer: Printer) -> None:
        """See `parse_parameter`."""
        texts = [f"{name} {getattr(self.data, name)}" for name in NUMBERS]
        printer.print_string(f"<{', '.join(texts)}>")

    def verify(self) -> None:
        numbers = self.data
        zero = ("latency", "exact")
        for name in NUMBERS:
            value = getattr(numbers, name)
            if not (0 if name in zero else 1) <= value < MOST:
                raise VerifyException(f"expected {name} of {0 if name in zero else 1} or more, found {value}")
        if numbers.buffer > numbers.capacity:
            raise VerifyException(f"expected a buffer within {numbers.capacity} bytes, found {numbers.buffer}")


IntsConstr = DenseArrayBase.constr(i64)


def ints(attribute: Attribute) -> tuple[int, ...]:
    """The integers of a short list, as `numbers` makes it."""
    return tuple(int(value) for value in cast(DenseArrayBase[IntegerType], attribute).get_values())


def numbers(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """A short list of integers as an attribute."""
    return DenseArrayBase.from_list(i64, list(values))


LOAD, WEIGHTS, STORE = range(3)
"""Kinds of rows: load of an input, load of weights, store of a result."""


class Row(NamedTuple):
    """A tensor: `kind` of tile `tile` of layer number `layer`, from layer or (-1 - i) network input `source`.

    It lives from position `start` to the end of `end - 1`.
    """

    kind: int
    layer: int
    tile: int
    source: int
    start: int
    end: int


@irdl_custom_directive
class Extents(Written):
    """Channels, height and width: `3x8x8`."""

    value: AttributeVariable
    RANK: ClassVar[int] = 3

    def read(self, parser: Parser) -> Attribute:
        start = parser.pos
        sizes = [parse_number(parser)]
        for _ in range(self.RANK - 1):
            parser.parse_shape_delimiter()  # the lexer of types takes such words apart
            sizes.append(parse_number(parser))
        if min(sizes) < 1:
            parser.raise_error("expected positive extents", start, parser.pos)
        return numbers(sizes)

    def write(self, attribute: Attribute, printer: Printer) -> None:
        printer.print_string("x".join(map(str, ints(attribute))))


@irdl_custom_directive
class Window(Extents):
    """Height and width: `3x3`."""

    value: AttributeVariable
    RANK: ClassVar[int] = 2


@irdl_custom_directive
class Names(Written):
    """Names in quotes, in brackets: `["a", "b"]`."""

    value: AttributeVariable

    def read(self, parser: Parser) -> Attribute:
        names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        return ArrayAttr(StringAttr(name) for name in names)

    def write(self, attribute: ArrayAttr[StringAttr], printer: Printer) -> None:
        with printer.in_square_brackets():
            printer.print_list(attribute, lambda name: printer.print_string_literal(name.data))


def parse_rows(parser: Parser) -> tuple[list[str], list[str], list[Row]]:
    """`{load "a" tile 0 from [input] "x" during [-1, 1) ... store ...}`."""
    layers, inputs = dict[str, int](), dict[str, int]()  # numbers by name, in the order of first use
    rows: list[Row] = []
    parser.parse_punctuation("{")
    while parser.parse_optional_punctuation("}") is None:
        rows.append(_parse_row(parser, layers, inputs))
    return list(layers), list(inputs), rows


def _parse_row(parser: Parser, layers: dict[str, int], inputs: dict[str, int]) -> Row:
    kind = next((kind for word, kind in _WORDS.items() if parser.parse_optional_keyword(word)), None)
    if kind is None:
        parser.raise_error("expected load, store or }")
    name = parser.parse_str_literal()
    layer = layers.setdefault(name, len(layers))
    tile, source = 0, -1
    if kind == LOAD and parser.parse_optional_keyword("weights"):
        kind = WEIGHTS
    if parser.parse_optional_keyword("tile"):
        tile = parse_number(parser)
    if kind == LOAD:
        parser.parse_keyword("from")
        external = parser.parse_optional_keyword("input") is not None
        known, name = inputs if external else layers, parser.parse_str_literal()
        number = known.setdefault(name, len(known))
        source = -1 - number if external else number
    parser.parse_keyword("during")
    parser.parse_punctuation("[")
    start = parse_number(parser)
    parser.parse_punctuation(",")
    end = parse_number(parser)
    parser.parse_punctuation(")")
    return Row(kind, layer, tile, source, start, end)


_WORDS = {"load": LOAD, "store": STORE}


def print_rows(op: "TransfersOp", printer: Printer) -> None:
    """See `parse_rows`."""
    layers = [name.data for name in op.layer_names]
    inputs = [name.data for name in op.input_names]
    printer.print_string(" {")
    with printer.indented():
        for row in op.rows:
            printer._print_new_line()  # pyright: ignore[reportPrivateUsage]
            _print_row(row, layers, inputs, printer)
    printer._print_new_line()  # pyright: ignore[reportPrivateUsage]
    printer.print_string("}")


def _print_row(row: Row, layers: list[str], inputs: list[str], printer: Printer) -> None:
    printer.print_string({LOAD: "load ", WEIGHTS: "load ", STORE: "store "}[row.kind])
    printer.print_string_literal(layers[row.layer])
    if row.kind == WEIGHTS:
        printer.print_string(f" weights tile {row.tile}" if row.tile else " weights")
    else:
        printer.print_string(f" tile {row.tile}")
    if row.kind == LOAD:
        printer.print_string(" from " if row.source >= 0 else " from input ")
        printer.print_string_literal(layers[row.source] if row.source >= 0 else inputs[-1 - row.source])
    printer.print_string(f" during [{row.start}, {row.end})")
