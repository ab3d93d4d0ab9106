"""The parts of the `acg` dialect for control models and macro-mnemonics, and their way to and from `machine`.

Macro-mnemonics, `packets` and `stages`:

    acg.macro @MULADD execute @VPU::@muladd places ["O SPAD i32", "A SPAD i32"] emits ["MUL O O, A A, SA A.i, FN mul"]

    acg.packet words 4 base @R resources <S0, S1, MPY0, MPY1>
    acg.registers @R in @GRF width 4 count 28 "r{0}"
    acg.packed @ADDI "{O} = add({A},#{I})" words 1 latency 1 align 1 registers <O R, A R> fields <I 16 signed>
        needs <{[S0], [S1]}> execute @CORE::@add_constant extents <> places <O = GRF[O, 1] i32 {}, A = GRF[A, 1] i32 {}>
        immediates <V I>

    acg.token @l2g @load -> @compute push "PUSH_NEXT" pop "POP_PREV"
    acg.microops @UOP <DST 11 index ACC 0, SRC 11 index INP 0>
    acg.fetch "bus"
    acg.shadow @OUT of @ACC
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    OptPropertyDef,
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import AttrParser
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from ..machine.macros import Emission, Macro
from ..machine.packets import Advance, Alternatives, LoopStart, PackedMnemonic, PacketIsa, Place, RegisterFile
from ..machine.stages import StagesIsa, TokenQueue
from .acg_attributes import (
    FieldsAttr,
    ListAttr,
    NamesAttr,
    PairsAttr,
    TypesAttr,
    executed,
    list_of,
    pairs_text,
    parse_integer,
    parse_name,
    parse_pairs,
)
from .properties import properties_of, value_of

_Op = TypeVar("_Op", bound=IRDLOperation)

FIELDS: Mapping[str, str] = {
    "sym_name": "name",
    "number": "count",
    "read_energy_pj": "read_energy_pj_per_byte",
    "write_energy_pj": "write_energy_pj_per_byte",
    "most_regions": "regions",
    "bindings": "operands",
    "bandwidth": "bandwidth_bytes_per_cycle",
    "align_bits": "instruction_align_bits",
    "width_bits": "instruction_bits",
}
"""Properties that are not called as the field that they hold."""


def declaration(kind: type[_Op], value: Any, body: Region | None = None, **given: Attribute | None) -> _Op:
    """The op of a value, without optional properties that only say the default; `given` replaces properties."""
    absent = {item.name: None if item.default is MISSING else item.default for item in fields(value)}
    properties: dict[str, Any] = {}
    for name, definition in kind.get_irdl_definition().properties.items():
        field = FIELDS.get(name, name)
        if name == "execute":
            properties[name] = SymbolRefAttr(value.node, [value.capability]) if value.capability else None
        elif field in absent:
            plain = getattr(value, field)
            properties[name] = None if isinstance(definition, OptPropertyDef) and plain == absent[field] else plain
    return kind.create(properties=properties_of(kind, properties | given), regions=[body] if body is not None else [])


def declared(op: IRDLOperation) -> dict[str, Any]:
    """The fields that an op gives; the others are as they are without it."""
    found = {FIELDS.get(name, name): value_of(attribute) for name, attribute in op.properties.items()}
    if isinstance(reference := op.properties.get("execute"), SymbolRefAttr):
        found["node"], found["capability"] = executed(reference)
    found.pop("execute", None)
    return found


def in_graph() -> tuple[HasParent]:
    """The trait of what stands in a machine's description."""
    from .acg import GraphOp

    return (HasParent(GraphOp),)


@irdl_op_definition
class MacroOp(IRDLOperation):
    """A capability on operands in these places and of these types, as a sequence of instructions."""

    name = "acg.macro"
    sym_name = prop_def(SymbolNameConstraint())
    execute = prop_def(SymbolRefAttr)
    places = prop_def(ArrayAttr[StringAttr])
    emits = prop_def(ArrayAttr[StringAttr])
    traits = lazy_traits_def(in_graph)
    assembly_format = "$sym_name `execute` $execute `places` $places `emits` $emits attr-dict"

    def verify_(self) -> None:
        bad = [place.data for place in self.places if len(place.data.split()) != 3]
        bad += [emit.data for emit in self.emits if any(len(pair.split()) != 2 for pair in _pairs(emit.data))]
        executed(self.execute)
        if bad:
            form = "`operand memory type`, `mnemonic field value, ...`"
            raise VerifyException(f"expected {form}, found {', '.join(bad)}")


def _pairs(text: str) -> list[str]:
    _, _, values = text.partition(" ")
    return values.split(",") if values.strip() else []


def macro_op(macro: Macro) -> Operation:
    """The op of a macro."""
    emits = [f"{e.mnemonic} {', '.join(f'{name} {value}' for name, value in e.values)}" for e in macro.emissions]
    return MacroOp.create(
        properties={
            "sym_name": StringAttr(macro.name),
            "execute": SymbolRefAttr(macro.node, [macro.capability]),
            "places": ArrayAttr(StringAttr(" ".join(place)) for place in macro.places),
            "emits": ArrayAttr(map(StringAttr, emits)),
        }
    )


def macro_values(ops: Iterable[Operation]) -> tuple[Macro, ...]:
    """The macros of a machine's ops."""
    return tuple(_macro(op) for op in ops if isinstance(op, MacroOp))


def _macro(op: MacroOp) -> Macro:
    places = tuple((a, b, c) for a, b, c in (place.data.split() for place in op.places))
    emissions: list[Emission] = []
    for emit in op.emits:
        values = tuple((name, value) for name, value in (pair.split() for pair in _pairs(emit.data)))
        emissions.append(Emission(emit.data.partition(" ")[0], values))
    return Macro(op.sym_name.data, *executed(op.execute), places, tuple(emissions))


INTEGER = IntegerAttr.constr(i64)


@irdl_attr_definition
class NeedsAttr(ListAttr[Alternatives]):
    """What an instruction takes, each need by one of its sets: `#acg.needs<{[S2], [S3]}, {[MPY0, MPY1]}>`."""

    name = "acg.needs"

    @staticmethod
    def parse_item(parser: AttrParser) -> Alternatives:
        return list_of(parser, TypesAttr.parse_item, parser.Delimiter.BRACES)

    @staticmethod
    def item_text(item: Alternatives) -> str:
        return f"{{{', '.join(map(TypesAttr.item_text, item))}}}"


@irdl_attr_definition
class PlacesAttr(ListAttr[Place]):
    """Where operands of packed instructions lie: `#acg.places<D = L2[B, 128, I] u8 {a 1}, S = V[S, 1] u8 {a 1} by R>`.

    In brackets: the base register's field, the scale, the ifield that it multiplies if there is one; `by` rotates.
    """

    name = "acg.places"

    @staticmethod
    def parse_item(parser: AttrParser) -> Place:
        name = parse_name(parser)
        parser.parse_punctuation("=")
        memory = parse_name(parser)
        with parser.in_square_brackets():
            base = parse_name(parser)
            parser.parse_punctuation(",")
            scale = parse_integer(parser)
            offset = parse_name(parser) if parser.parse_optional_punctuation(",") else ""
        type_name, strides = parse_name(parser), parse_pairs(parser)
        rotated = parse_name(parser) if parser.parse_optional_keyword("by") else ""
        return Place(name, memory, base, offset, scale, type_name, strides, rotated)

    @staticmethod
    def item_text(item: Place) -> str:
        offset = f", {item.offset}" if item.offset else ""
        rotated = f" by {item.rotated}" if item.rotated else ""
        where = f"{item.memory}[{item.base}, {item.scale}{offset}]"
        return f"{item.operand} = {where} {item.type_name} {pairs_text(item.strides)}{rotated}"


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
    files = [declaration(RegistersOp, file) for file in isa.files]
    return [declaration(PacketOp, isa), *files, *map(_packed_op, isa.mnemonics)]


def packet_value(ops: Sequence[Operation]) -> PacketIsa | None:
    """What the ops say of packets; None where no op does."""
    files = tuple(RegisterFile(**declared(op)) for op in ops if isinstance(op, RegistersOp))
    mnemonics = tuple(_packed(op) for op in ops if isinstance(op, PackedOp))
    heads = [PacketIsa(**declared(op), files=files, mnemonics=mnemonics) for op in ops if isinstance(op, PacketOp)]
    return heads[0] if heads else None


def _packed_op(item: PackedMnemonic) -> PackedOp:
    loop, advance = item.loop, item.advance
    given: dict[str, Any] = {"advance": None}
    if advance is not None:
        moved = Place("by", "address", advance.base, advance.offset, advance.scale, "u8", ())
        given["advance"] = PlacesAttr((moved,))
    if loop is not None:
        given["trips"] = StringAttr(loop.trips)
        given["loop_level"] = IntegerAttr(loop.level, i64) if loop.level >= 0 else None
        given["suffix"] = StringAttr(loop.suffix) if loop.suffix else None
    return declaration(PackedOp, item, **given)


def _packed(op: PackedOp) -> PackedMnemonic:
    given = declared(op)
    level, suffix = given.pop("loop_level", -1), given.pop("suffix", "")
    if "trips" in given:
        given["loop"] = LoopStart(level, given.pop("trips"), suffix)
    if "advance" in given:
        (moved,) = given["advance"]
        given["advance"] = Advance(moved.base, moved.offset, moved.scale)
    return PackedMnemonic(**given)


@irdl_op_definition
class TokenOp(IRDLOperation):
    """A queue of tokens from a unit to another, pushed and popped by bits of the header ("": never)."""

    name = "acg.token"
    sym_name = prop_def(SymbolNameConstraint())
    src = prop_def(SymbolNameConstraint())
    dst = prop_def(SymbolNameConstraint())
    push = prop_def(StringAttr)
    pop = prop_def(StringAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$sym_name $src `->` $dst `push` $push `pop` $pop attr-dict"


@irdl_op_definition
class MicroopsOp(IRDLOperation):
    """The memory of micro-ops, and their fields, the least significant first."""

    name = "acg.microops"
    memory = prop_def(SymbolNameConstraint())
    fields = prop_def(FieldsAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$memory $fields attr-dict"


@irdl_op_definition
class ShadowOp(IRDLOperation):
    """A memory that holds what another holds, narrowed, where computations write."""

    name = "acg.shadow"
    narrow = prop_def(SymbolNameConstraint())
    original = prop_def(SymbolNameConstraint())
    traits = lazy_traits_def(in_graph)
    assembly_format = "$narrow `of` $original attr-dict"


@irdl_op_definition
class FetchOp(IRDLOperation):
    """The channel over which instructions come."""

    name = "acg.fetch"
    channel = prop_def(StringAttr)
    traits = lazy_traits_def(in_graph)
    assembly_format = "$channel attr-dict"


def stage_ops(isa: StagesIsa) -> list[Operation]:
    """The ops of the declarations."""
    ops: list[Operation] = [declaration(TokenOp, queue) for queue in isa.tokens]
    if isa.microops:
        properties = {"memory": StringAttr(isa.microops), "fields": FieldsAttr(isa.fields)}
        ops.append(MicroopsOp.create(properties=properties))
    if isa.fetch:
        ops.append(FetchOp.create(properties={"channel": StringAttr(isa.fetch)}))
    for narrow, original in isa.shadows:
        ops.append(ShadowOp.create(properties={"narrow": StringAttr(narrow), "original": StringAttr(original)}))
    return ops


def stages_value(ops: Sequence[Operation]) -> StagesIsa | None:
    """The declarations of a machine's ops; None where there are none."""
    tokens = tuple(TokenQueue(**declared(op)) for op in ops if isinstance(op, TokenOp))
    micro = [op for op in ops if isinstance(op, MicroopsOp)]
    shadows = tuple((op.narrow.data, op.original.data) for op in ops if isinstance(op, ShadowOp))
    fetch = "".join(op.channel.data for op in ops if isinstance(op, FetchOp))
    if not (tokens or micro or shadows or fetch):
        return None
    memory, fields = (micro[0].memory.data, micro[0].fields.data) if micro else ("", ())
    return StagesIsa(tokens, memory, fields, shadows, fetch)
