"""The part of the `acg` dialect for control model `packets`, and its way to and from `machine.packets`.

acg.packet words 4 base @R resources <S0, S1, MPY0, MPY1>
acg.registers @R in @GRF width 4 count 28 "r{0}"
acg.packed @ADDI "{O} = add({A},#{I})" words 1 latency 1 align 1 registers <O R, A R> fields <I 16 signed>
    needs <{[S0], [S1]}> execute @CORE::@add_constant extents <> places <O = GRF[O, 1] i32 {}, A = GRF[A, 1] i32 {}>
    immediates <V I>
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..machine.packets import (
    Advance,
    Alternatives,
    LoopStart,
    PackedMnemonic,
    PacketIsa,
    Place,
    RegisterFile,
)
from .acg_attributes import FieldsAttr, NamesAttr, PairsAttr, executed, list_of, parse_integer, parse_name, parse_pair
from .acg_macros import in_graph

INTEGER = IntegerAttr.constr(i64)


@irdl_attr_definition
class NeedsAttr(Data[tuple[Alternatives, ...]]):
    """What an instruction takes, each need by one of its sets: `#acg.needs<{[S2], [S3]}, {[MPY0, MPY1]}>`."""

    name = "acg.needs"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Alternatives, ...]:
        square, braces = parser.Delimiter.SQUARE, parser.Delimiter.BRACES

        def need(inner: AttrParser) -> Alternatives:
            return list_of(inner, lambda p: list_of(p, parse_name, square), braces)

        return list_of(parser, need, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        needs = ([f"[{', '.join(names)}]" for names in need] for need in self.data)
        printer.print_string(f"<{', '.join(f'{{{inner}}}' for inner in map(', '.join, needs))}>")


@irdl_attr_definition
class PlacesAttr(Data[tuple[Place, ...]]):
    """Where operands of packed instructions lie: `#acg.places<D = L2[B, 128, I] u8 {a 1}, S = V[S, 1] u8 {a 1} by R>`.

    In brackets: the base register's field, the scale, the ifield that it multiplies if there is one; `by` rotates.
    """

    name = "acg.places"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Place, ...]:
        return list_of(parser, _parse_place, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(map(_print_place, self.data))}>")


def _parse_place(parser: AttrParser) -> Place:
    name = parse_name(parser)
    parser.parse_punctuation("=")
    memory = parse_name(parser)
    with parser.in_square_brackets():
        base = parse_name(parser)
        parser.parse_punctuation(",")
        scale = parse_integer(parser)
        offset = parse_name(parser) if parser.parse_optional_punctuation(",") else ""
    type_name, strides = parse_name(parser), list_of(parser, parse_pair, parser.Delimiter.BRACES)
    rotated = parse_name(parser) if parser.parse_optional_keyword("by") else ""
    return Place(name, memory, base, offset, scale, type_name, strides, rotated)


def _print_place(place: Place) -> str:
    offset = f", {place.offset}" if place.offset else ""
    strides = ", ".join(f"{dim} {stride}" for dim, stride in place.strides)
    rotated = f" by {place.rotated}" if place.rotated else ""
    where = f"{place.memory}[{place.base}, {place.scale}{offset}]"
    return f"{place.operand} = {where} {place.type_name} {{{strides}}}{rotated}"


@irdl_op_definition
class PacketOp(IRDLOperation):
    """What packets are made of: words, and resources that each serve one instruction."""

    name = "acg.packet"
    words = prop_def(INTEGER)
    base = prop_def(SymbolNameConstraint())
    resources = prop_def(NamesAttr)
    executor = opt_prop_def(StringAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "`words` $words `base` $base `resources` $resources (`executor` $executor^)? attr-dict"


@irdl_op_definition
class RegistersOp(IRDLOperation):
    """`count` registers of `width` bytes in a memory, and how text spells them."""

    name = "acg.registers"
    sym_name = prop_def(SymbolNameConstraint())
    memory = prop_def(SymbolNameConstraint())
    width_bytes = prop_def(INTEGER)
    number = prop_def(INTEGER)
    syntax = prop_def(StringAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$sym_name `in` $memory `width` $width_bytes `count` $number $syntax attr-dict"


@irdl_op_definition
class PackedOp(IRDLOperation):
    """An instruction of a packet: its text, what it takes of the packet, and the capability that it executes."""

    name = "acg.packed"
    sym_name = prop_def(SymbolNameConstraint())
    syntax = prop_def(StringAttr)
    words = prop_def(INTEGER)
    latency_packets = prop_def(INTEGER)
    align_bytes = prop_def(INTEGER)
    registers = prop_def(PairsAttr)
    fields = prop_def(FieldsAttr)
    needs = prop_def(NeedsAttr)
    execute = opt_prop_def(SymbolRefAttr)
    extents = prop_def(PairsAttr)
    places = prop_def(PlacesAttr)
    immediates = opt_prop_def(PairsAttr)
    functions = opt_prop_def(PairsAttr)
    advance = opt_prop_def(PlacesAttr)
    from_identity = opt_prop_def(UnitAttr)
    loop_level = opt_prop_def(INTEGER)
    trips = opt_prop_def(StringAttr)
    suffix = opt_prop_def(StringAttr)
    given = opt_prop_def(PairsAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = (
        "$sym_name $syntax `words` $words `latency` $latency_packets `align` $align_bytes `registers` $registers "
        "`fields` $fields `needs` $needs (`execute` $execute^)? `extents` $extents `places` $places "
        "(`immediates` $immediates^)? (`functions` $functions^)? (`advance` $advance^)? "
        "(`from_identity` $from_identity^)? (`trips` $trips^)? (`loop` $loop_level^)? (`suffix` $suffix^)? "
        "(`given` $given^)? attr-dict"
    )

    def verify_(self) -> None:
        executed(self.execute)
        if self.trips is None and (self.loop_level is not None or self.suffix is not None):
            raise VerifyException("expected the trips of a loop, found none")
        if any(field.enum or field.at_bit is not None or field.constant is not None for field in self.fields.data):
            raise VerifyException("expected plain fields, found places, names or constants")
        if self.advance is not None and len(self.advance.data) != 1:
            raise VerifyException("expected one advance")


def packet_ops(isa: PacketIsa) -> list[Operation]:
    """The ops of a machine's packets."""
    properties: dict[str, Attribute] = {
        "words": _int(isa.words),
        "base": StringAttr(isa.base),
        "resources": NamesAttr(isa.resources),
    }
    if isa.executor:
        properties["executor"] = StringAttr(isa.executor)
    head = PacketOp.create(properties=properties)
    return [head, *map(_registers_op, isa.files), *map(_packed_op, isa.mnemonics)]


def packet_value(ops: Iterable[Operation]) -> PacketIsa | None:
    """What the ops say of packets; None where no op does."""
    ops = list(ops)
    files = tuple(_registers(op) for op in ops if isinstance(op, RegistersOp))
    mnemonics = tuple(_packed(op) for op in ops if isinstance(op, PackedOp))
    for op in ops:
        if isinstance(op, PacketOp):
            executor = op.executor.data if op.executor is not None else ""
            return PacketIsa(op.words.value.data, op.resources.data, op.base.data, executor, files, mnemonics)
    return None


def _int(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _registers_op(file: RegisterFile) -> RegistersOp:
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(file.name),
        "memory": StringAttr(file.memory),
        "width_bytes": _int(file.width_bytes),
        "number": _int(file.count),
        "syntax": StringAttr(file.syntax),
    }
    return RegistersOp.create(properties=properties)


def _registers(op: RegistersOp) -> RegisterFile:
    width, count = op.width_bytes.value.data, op.number.value.data
    return RegisterFile(op.sym_name.data, op.memory.data, width, count, op.syntax.data)


def _packed_op(item: PackedMnemonic) -> PackedOp:
    loop, advance = item.loop, item.advance
    moved = () if advance is None else (Place("by", "address", advance.base, advance.offset, advance.scale, "u8", ()),)
    properties: dict[str, Attribute | None] = {
        "sym_name": StringAttr(item.name),
        "syntax": StringAttr(item.syntax),
        "words": _int(item.words),
        "latency_packets": _int(item.latency_packets),
        "align_bytes": _int(item.align_bytes),
        "registers": PairsAttr(item.registers),
        "fields": FieldsAttr(item.fields),
        "needs": NeedsAttr(item.needs),
        "execute": SymbolRefAttr(item.node, [item.capability]) if item.capability else None,
        "extents": PairsAttr(item.extents),
        "places": PlacesAttr(item.places),
        "immediates": PairsAttr(item.immediates) if item.immediates else None,
        "functions": PairsAttr(item.functions) if item.functions else None,
        "advance": PlacesAttr(moved) if moved else None,
        "from_identity": UnitAttr() if item.from_identity else None,
        "loop_level": _int(loop.level) if loop is not None and loop.level >= 0 else None,
        "trips": StringAttr(loop.trips) if loop is not None else None,
        "suffix": StringAttr(loop.suffix) if loop is not None and loop.suffix else None,
        "given": PairsAttr(item.given) if item.given else None,
    }
    return PackedOp.create(properties={name: value for name, value in properties.items() if value is not None})


def _packed(op: PackedOp) -> PackedMnemonic:
    moved = op.advance.data[0] if op.advance is not None else None
    suffix = op.suffix.data if op.suffix is not None else ""
    loop = None
    if op.trips is not None:
        loop = LoopStart(op.loop_level.value.data if op.loop_level is not None else -1, op.trips.data, suffix)
    return PackedMnemonic(
        op.sym_name.data,
        op.syntax.data,
        op.registers.data,
        op.fields.data,
        op.needs.data,
        op.words.value.data,
        op.latency_packets.value.data,
        op.align_bytes.value.data,
        *executed(op.execute),
        op.extents.data,
        op.places.data,
        op.immediates.data if op.immediates is not None else (),
        op.functions.data if op.functions is not None else (),
        Advance(moved.base, moved.offset, moved.scale) if moved is not None else None,
        op.from_identity is not None,
        loop,
        op.given.data if op.given is not None else (),
    )
