"""Custom syntax of the `dram` dialect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from .dram_attributes import LOAD, STORE, WEIGHTS, MachineAttr, Row, ints, numbers, parse_size
from .syntax import parse_attributes, parse_body, print_attributes, print_body

if TYPE_CHECKING:
    from .dram import FusedGroupOp, InputOp, LayerOp, ScheduleOp, TransfersOp


def _shape(parser: Parser, count: int) -> DenseArrayBase[IntegerType]:
    """`3x8x8`: the lexer of types takes such words apart."""
    start = parser.pos
    sizes = [parse_size(parser)]
    for _ in range(count - 1):
        parser.parse_shape_delimiter()
        sizes.append(parse_size(parser))
    if min(sizes) < 1:
        parser.raise_error("expected positive extents", start, parser.pos)
    return numbers(sizes)


def _times(attribute: Attribute) -> str:
    return "x".join(map(str, ints(attribute)))


def _names(parser: Parser) -> list[str]:
    return list(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal))


def _print_names(names: Sequence[StringAttr], printer: Printer) -> None:
    printer.print_string("[")
    printer.print_list(names, lambda name: printer.print_string_literal(name.data))
    printer.print_string("]")


def parse_input(cls: type[InputOp], parser: Parser) -> InputOp:
    """`"x" 3x8x8`."""
    name = StringAttr(parser.parse_str_literal())
    return cls.create(properties={"sym_name": name, "shape": _shape(parser, 3)}, attributes=parse_attributes(parser))


def print_input(op: InputOp, printer: Printer) -> None:
    """See `parse_input`."""
    printer.print_string(" ")
    printer.print_string_literal(op.sym_name.data)
    printer.print_string(f" {_times(op.shape)}")
    print_attributes(op, printer)


def parse_layer(cls: type[LayerOp], parser: Parser) -> LayerOp:
    """`"a" conv 16x8x8 of ["x"] [weights ["k"]] [kernel 3x3] [stride 1x1] [groups 1] [operands 1] [permute [...]]`."""
    from .dram import names

    name, kind = parser.parse_str_literal(), parser.parse_identifier()
    shape = _shape(parser, 3)
    parser.parse_keyword("of")
    given: dict[str, Attribute] = {"inputs": names(_names(parser))}
    if parser.parse_optional_keyword("weights"):
        given["weights"] = names(_names(parser))
    for key in ("kernel", "stride"):
        if parser.parse_optional_keyword(key):
            given[key] = _shape(parser, 2)
    for key, prop in (("groups", "groups"), ("operands", "operands_count")):
        if parser.parse_optional_keyword(key):
            given[prop] = IntegerAttr(parse_size(parser), i64)
    if parser.parse_optional_keyword("permute"):
        axes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_size(parser))
        given["permutation"] = numbers(axes)
    op = cls(name, kind, ints(shape), **given)
    op.attributes |= parse_attributes(parser)
    return op


def print_layer(op: LayerOp, printer: Printer) -> None:
    """See `parse_layer`."""
    printer.print_string(" ")
    printer.print_string_literal(op.sym_name.data)
    printer.print_string(f" {op.kind.data} {_times(op.shape)} of ")
    _print_names(op.inputs.data, printer)
    if op.weights.data:
        printer.print_string(" weights ")
        _print_names(op.weights.data, printer)
    for key, attribute in (("kernel", op.kernel), ("stride", op.stride)):
        if _times(attribute) != "1x1":
            printer.print_string(f" {key} {_times(attribute)}")
    for key, number in (("groups", op.groups), ("operands", op.operands_count)):
        if number.value.data != 1:
            printer.print_string(f" {key} {number.value.data}")
    if ints(op.permutation) != (0, 1, 2):
        printer.print_string(f" permute [{', '.join(map(str, ints(op.permutation)))}]")
    print_attributes(op, printer)


def parse_fused_group(cls: type[FusedGroupOp], parser: Parser) -> FusedGroupOp:
    """`tiles 2 [streaming] [reused] ["a", "b"]`."""
    parser.parse_keyword("tiles")
    tiles = parse_size(parser)
    streaming = parser.parse_optional_keyword("streaming") is not None
    reused = parser.parse_optional_keyword("reused") is not None
    op = cls(tiles, _names(parser), streaming=streaming, reused=reused)
    op.attributes |= parse_attributes(parser)
    return op


def print_fused_group(op: FusedGroupOp, printer: Printer) -> None:
    """See `parse_fused_group`."""
    flags = "".join(f" {key}" for key in ("streaming", "reused") if isinstance(op.properties.get(key), UnitAttr))
    printer.print_string(f" tiles {op.tiles.value.data}{flags} ")
    _print_names(op.layers.data, printer)
    print_attributes(op, printer)


def parse_schedule(cls: type[ScheduleOp], parser: Parser) -> ScheduleOp:
    """`@s of @pair batch 1 on <side 4, ...> {layer groups, transfers}`."""
    name = parser.parse_symbol_name()
    parser.parse_keyword("of")
    network = SymbolRefAttr(parser.parse_symbol_name())
    parser.parse_keyword("batch")
    batch = IntegerAttr(parse_size(parser), i64)
    parser.parse_keyword("on")
    machine = MachineAttr(MachineAttr.parse_parameter(parser))
    properties: dict[str, Attribute] = {"sym_name": name, "network": network, "batch": batch, "machine": machine}
    attributes = parse_attributes(parser)
    return cls.create(properties=properties, attributes=attributes, regions=[parse_body(parser)])


def print_schedule(op: ScheduleOp, printer: Printer) -> None:
    """See `parse_schedule`."""
    printer.print_string(" ")
    printer.print_symbol_name(op.sym_name.data)
    printer.print_string(" of ")
    printer.print_attribute(op.network)
    printer.print_string(f" batch {op.batch.value.data} on ")
    op.machine.print_parameter(printer)
    print_attributes(op, printer)
    print_body(op.body, printer)


class _Names:
    """Names in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


def parse_rows(parser: Parser) -> tuple[list[str], list[str], list[Row]]:
    """`{load "a" tile 0 from [input] "x" during [-1, 1) ... store ...}`."""
    layers, inputs = _Names(), _Names()
    rows: list[Row] = []
    parser.parse_punctuation("{")
    while parser.parse_optional_punctuation("}") is None:
        rows.append(_parse_row(parser, layers, inputs))
    return list(layers.numbers), list(inputs.numbers), rows


def _parse_row(parser: Parser, layers: _Names, inputs: _Names) -> Row:
    kind = next((kind for word, kind in _WORDS.items() if parser.parse_optional_keyword(word)), None)
    if kind is None:
        parser.raise_error("expected load, store or }")
    layer = layers(parser.parse_str_literal())
    tile, source = 0, -1
    if kind == LOAD and parser.parse_optional_keyword("weights"):
        kind = WEIGHTS
    if parser.parse_optional_keyword("tile"):
        tile = parse_size(parser)
    if kind == LOAD:
        parser.parse_keyword("from")
        external = parser.parse_optional_keyword("input") is not None
        name = parser.parse_str_literal()
        source = -1 - inputs(name) if external else layers(name)
    parser.parse_keyword("during")
    parser.parse_punctuation("[")
    start = parse_size(parser)
    parser.parse_punctuation(",")
    end = parse_size(parser)
    parser.parse_punctuation(")")
    return Row(kind, layer, tile, source, start, end)


_WORDS = {"load": LOAD, "store": STORE}


def print_rows(op: TransfersOp, printer: Printer) -> None:
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
