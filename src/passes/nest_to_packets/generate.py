"""From a statement with extents and element types to a program of packets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import inf, prod

import numpy as np

from ...algebra.affine import index_forms
from ...algebra.expr import Access, Name, Statement, accesses, accesses_of, dims_of, tensors_of
from ...errors import TilewrightError
from ...machine import Machine
from ...machine.packet_program import Isa, PacketProgram, executed_packets
from ...machine.packet_storage import Storage, contiguous_strides
from .contraction import Columns, Kernel, cheapest, plan_columns
from .emit import Emitter
from .kernels import Program, Step, Value, replaced
from .network import SLACK_BYTES, Switches, align_bytes, generate_network
from .regions import Lowering, Options, Region
from .roles import Contraction, contraction_of, contractions_of, is_contraction

WORTH = 0.9
"""The share of packets below which another operand is packed than the one that `contraction_of` says.

What is packed, and a result that then lies in another order, is the host's work, which packets do not count.
"""


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
    switches, found = switches or Switches(), dict(shapes or {})
    for access in accesses(statement):
        if isinstance(access, Access) and access.tensor not in (shapes or {}):
            reach = [form.range(extents)[1] + 1 for form in index_forms(access)]
            found[access.tensor] = tuple(map(max, reach, found.get(access.tensor, reach)))
    if is_contraction(statement):
        return _product(Isa(machine), statement, extents, types, switches, shapes)
    if is_elementwise(statement, extents, found):
        return _elementwise(Isa(machine), statement, found, types, switches)
    return _alone(machine, statement, extents, types, found, switches)


def is_elementwise(statement: Statement, extents: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> bool:
    """Whether every element is read at the place that is written, and all are."""
    target, read = statement.target, accesses_of(statement.value)
    if statement.reduce != "=" or not isinstance(target, Access) or not read:
        return False
    dims = [index.id for index in target.indices if isinstance(index, Name)]
    shape = tuple(extents[dim] for dim in dims)
    same = all(isinstance(access, Access) and access.indices == target.indices for access in read)
    return same and len(set(dims)) == len(target.indices) and all(tuple(own) == shape for own in shapes.values())


def _elementwise(
    isa: Isa, statement: Statement, shapes: Mapping[str, Sequence[int]], types: Mapping[str, str], switches: Switches
) -> PacketProgram:
    """All elements in a line, whatever their axes."""
    shape = tuple(next(iter(shapes.values())))
    assert isinstance(statement.target, Access)
    value, line = statement.value, (Name("i"),)
    target, *read = tensors_of(statement)
    for name in read:
        value = replaced(value, Access(name, statement.target.indices), Access(name, line))
    counts, count = dict.fromkeys(shapes, (prod(shape),)), prod(shape)
    made = _alone(isa.machine, Statement(Access(target, line), "=", value), {"i": count}, types, counts, switches)
    stored = [
        replace(item, shape=shape, strides=contiguous_strides(shape, np.dtype(item.dtype).itemsize))
        for item in made.stored
    ]
    return replace(made, stored=tuple(stored))


def _alone(
    machine: Machine,
    statement: Statement,
    extents: Mapping[str, int],
    types: Mapping[str, str],
    shapes: Mapping[str, Sequence[int]],
    switches: Switches,
) -> PacketProgram:
    """The statement as a program of one step."""
    target, *read = tensors_of(statement)
    values = {name: Value(tuple(shapes[name]), types[name]) for name in shapes}
    step = Step("kernel", statement, {dim: extents[dim] for dim in dims_of(statement)})
    program = Program((step,), values, {name: name for name in read}, {target: target})
    return generate_network(machine, program, switches)


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


def finish(emitter: Emitter, storage: Storage, regions: list[Region], switches: Switches) -> PacketProgram:
    """Schedules the regions; the program with its memory."""
    lowering = Lowering(emitter.isa, emitter.pool.untouched(emitter.scalars), Options(switches.pack, switches.pipeline))
    code = lowering.code(regions)
    return PacketProgram(code, tuple(storage.stored), storage.end + SLACK_BYTES, tuple(storage.images))
