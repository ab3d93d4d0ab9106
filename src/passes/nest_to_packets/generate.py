"""From a statement with extents and element types to a program of packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Statement
from ...algebra.printer import print_statement
from ...algebra.statement import dims_of, tensors_of
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...machine.packet_isa import Isa
from ...machine.packet_program import PacketProgram, executed_packets
from ...machine.packet_storage import Storage
from .contraction import Columns, Kernel, cheapest, plan_columns
from .elementwise import UNROLL, common_type, elementwise_regions, is_elementwise
from .emit import Emitter
from .regions import Lowering, Options, Region
from .roles import Contraction, contraction_of, contractions_of, is_contraction
from .scalar import scalar_elementwise, scalar_product
from .window import is_window, window_of, window_regions

SLACK_BYTES = 1 << 17
"""Memory behind the last tensor, which loads that run ahead may touch."""

WORTH = 0.9
"""The share of packets below which another operand is packed than the one that `contraction_of` says.

What is packed, and a result that then lies in another order, is the host's work, which packets do not count.
"""


@dataclass(frozen=True)
class Switches:
    """What the generator may do; each can be switched off to see what it is worth."""

    vectorize: bool = True
    pack: bool = True
    unroll: bool = True
    pipeline: bool = True
    choose: bool = True


def generate(
    machine: Machine,
    statement: Statement,
    extents: Mapping[str, int],
    types: Mapping[str, str],
    switches: Switches | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> PacketProgram:
    """The program that computes `statement`; `TilewrightError` where the target has no way to.

    Tensors are of `shapes`, or as large as their indices reach; what a sum of products reads outside them is 0.
    """
    switches = switches or Switches()
    isa = Isa(machine)
    if is_elementwise(statement):
        return _elementwise(isa, statement, extents, types, switches)
    if is_contraction(statement):
        return _product(isa, statement, extents, types, switches, shapes)
    if is_window(statement):
        return _window(isa, statement, extents, types, switches, shapes or {})
    raise TilewrightError(
        "unsupported",
        print_statement(statement),
        "an elementwise statement or a sum of products, or pooling",
        "another",
    )


def _window(
    isa: Isa,
    statement: Statement,
    extents: Mapping[str, int],
    types: Mapping[str, str],
    switches: Switches,
    shapes: Mapping[str, Sequence[int]],
) -> PacketProgram:
    emitter, storage = Emitter(isa), Storage(align_bytes(isa))
    type_name, (_, operand) = common_type(types, statement), tensors_of(statement)
    itemsize = ELEMENT_TYPES[type_name].itemsize
    window = window_of(statement, extents, itemsize, emitter.vector_bytes, shapes.get(operand, ()))
    return finish(emitter, storage, window_regions(emitter, storage, statement, window, type_name), switches)


def _elementwise(
    isa: Isa, statement: Statement, extents: Mapping[str, int], types: Mapping[str, str], switches: Switches
) -> PacketProgram:
    type_name, shape = common_type(types, statement), tuple(extents[dim] for dim in dims_of(statement))
    if not switches.vectorize:
        emitter, storage = Emitter(isa), Storage(align_bytes(isa))
        return finish(emitter, storage, scalar_elementwise(emitter, storage, statement, shape, type_name), switches)
    made: list[PacketProgram] = []
    for unroll in UNROLL if switches.unroll else UNROLL[:1]:
        emitter, storage = Emitter(isa), Storage(align_bytes(isa))
        try:
            regions = elementwise_regions(emitter, storage, statement, shape, type_name, unroll)
        except InfeasibleError:
            if not made:
                raise
            break
        made.append(finish(emitter, storage, regions, switches))
    return min(made, key=lambda program: executed_packets(program.code))


def _product(
    isa: Isa,
    statement: Statement,
    extents: Mapping[str, int],
    types: Mapping[str, str],
    switches: Switches,
    shapes: Mapping[str, Sequence[int]] | None,
) -> PacketProgram:
    """The program with the operand in lanes that `contraction_of` says, or with the other where `WORTH` it."""
    first = contraction_of(statement, extents, shapes)
    if not switches.vectorize:
        emitter, storage = Emitter(isa), Storage(align_bytes(isa))
        return finish(emitter, storage, scalar_product(emitter, storage, first, types), switches)
    candidates = list(contractions_of(statement, extents, shapes)) if switches.choose else [first]
    made: PacketProgram | None = None
    refusals: list[TilewrightError] = []
    for candidate in candidates:
        below = WORTH * executed_packets(made.code) if made is not None else inf
        try:
            found = _contraction(isa, candidate, types, switches, below)
        except TilewrightError as error:
            refusals.append(error)
        else:
            made = found if executed_packets(found.code) < below else made
    if made is None:
        raise refusals[0]
    return made


def _contraction(
    isa: Isa, contraction: Contraction, types: Mapping[str, str], switches: Switches, below: float
) -> PacketProgram:
    """The cheapest program with these roles; `InfeasibleError` where resources alone take `below` packets or more."""
    start = Kernel(Emitter(isa), Storage(align_bytes(isa)), contraction, types)

    def made(columns: list[Columns]) -> PacketProgram:
        emitter, storage = Emitter(isa), Storage(align_bytes(isa))
        return finish(emitter, storage, Kernel(emitter, storage, contraction, types).regions(columns), switches)

    plans = plan_columns(start.emitter, contraction, start.multiply, start.vectors, switches.unroll, switches.choose)
    plans = takewhile(lambda columns: sum(item.packets for item in columns) < below, plans)
    return cheapest(plans, made, lambda program: executed_packets(program.code))


def align_bytes(isa: Isa) -> int:
    """What addresses of tensors are multiples of."""
    return next(memory.align_bytes for memory in isa.machine.memories if memory.name == isa.memory)


def finish(emitter: Emitter, storage: Storage, regions: list[Region], switches: Switches) -> PacketProgram:
    """Schedules the regions; the program with its memory."""
    lowering = Lowering(emitter.isa, emitter.pool.untouched(emitter.scalars), Options(switches.pack, switches.pipeline))
    code = lowering.code(regions)
    return PacketProgram(code, tuple(storage.stored), storage.end + SLACK_BYTES, tuple(storage.images))
