"""From a statement with extents and element types to a program of packets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from math import inf, prod

import numpy as np

from ...algebra.affine import index_forms
from ...algebra.expr import (
    Access,
    Call,
    Expr,
    Name,
    Num,
    Statement,
    accesses,
    accesses_of,
    dims_of,
    print_expr,
    tensors_of,
)
from ...algebra.parser import parse_statement
from ...errors import TilewrightError
from ...machine import Machine
from ...machine.packet_program import Instruction, Isa, PacketProgram, Packing, executed_packets
from ...machine.packet_storage import Storage, contiguous_strides
from ...machine.packets import PackedMnemonic
from .contraction import Columns, Kernel, cheapest, plan_columns, scalar_tensor
from .emit import Emitter
from .kernels import Program, Step, Value, replaced
from .network import SLACK_BYTES, Switches, align_bytes, generate_network
from .regions import Lowering, Options, Pipelined, Region, Repeat, Straight
from .roles import Contraction, contraction_of, contractions_of, is_contraction

EXTEND = parse_statement("O{} = A{}")
MAC = parse_statement("O{} += A{} * B{}")
WORD_BYTES = 4


class Scalars:
    """Instructions on scalar registers, found by meaning."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.file = emitter.scalars

    def take(self) -> int:
        return self.emitter.pool.take(self.file)

    def extend(self, type_name: str, register: int, base: int, part: str) -> Instruction:
        """An element at an address, in the width of a register."""
        isa = self.emitter.isa
        for item in isa.executing(EXTEND):
            target, source = item.places
            if source.memory == isa.memory and source.type_name == type_name:
                values = ((target.base, register), (source.base, base), (source.offset, 0))
                return Instruction(item.name, values, (part,))
        raise TilewrightError("unsupported", f"a scalar load of {type_name}", "an instruction for it", "none")

    def function(self, name: str) -> PackedMnemonic:
        """A function of two scalars."""
        isa = self.emitter.isa
        for item in isa.executing(parse_statement("O{} = F(A{}, B{})")):
            if [choice for _, choice in item.functions] == [name]:
                return item
        found = isa.executing(parse_statement(f"O{{}} = {name}(A{{}}, B{{}})"))
        return isa.choose(f"{name} of scalars", found)


def scalar_elementwise(
    emitter: Emitter, storage: Storage, statement: Statement, shape: tuple[int, ...], type_name: str
) -> list[Region]:
    """A loop over elements."""
    scalars, count = Scalars(emitter), 1
    for size in shape:
        count *= size
    target, *operands = tensors_of(statement)
    strides, bases = contiguous_strides(shape, WORD_BYTES), dict[str, int]()
    start: list[Instruction] = []
    for name in (*operands, target):
        role = "output" if name == target else "input"
        placed = storage.tensor(name, role, type_name, shape, strides, count * WORD_BYTES)
        bases[name] = scalars.take()
        start.append(emitter.address(bases[name], placed.address))
    body: list[Instruction] = []

    def value(expr: Expr) -> int:
        match expr:
            case Num(number):
                register = scalars.take()
                start.append(emitter.constant(register, int(number)))
            case Access(tensor, _):
                register = scalars.take()
                body.append(emitter.load(scalars.file, register, bases[tensor], 0, tensor))
            case Call(fn, args):
                fn, args = ("max", (*args, Num(0))) if fn == "relu" else (fn, args)
                sources = [value(arg) for arg in args]
                register = scalars.take()
                body.append(emitter.place(scalars.function(fn), [register, *sources]))
            case _:
                raise TilewrightError("unsupported", print_expr(expr), "tensors, numbers and functions", "a name")
        return register

    body.append(emitter.store(scalars.file, value(statement.value), bases[target], 0, target))
    body += [emitter.add(base, base, WORD_BYTES) for base in bases.values()]
    return [Straight(tuple(start)), Pipelined(count, tuple(body))]


def scalar_product(emitter: Emitter, storage: Storage, c: Contraction, types: Mapping[str, str]) -> list[Region]:
    """For each column and row, the reduction byte by byte; the vector operand is stored column by column."""
    if c.batches > 1:
        raise TilewrightError("unsupported", "a batch of products on scalars", "one product", f"{c.batches}")
    scalars = Scalars(emitter)
    packing = Packing(c.vector_axes, len(c.batch), c.reduced_axes, c.sources, 1, 1, (1,) * c.lanes, 0)
    x = scalar_tensor(storage, c, types[c.scalar])
    size, none = packing.size_bytes(c.vector_shape), (0,) * len(c.vector_shape)
    y = storage.tensor(c.vector, "input", types[c.vector], c.vector_shape, none, size, packing)
    strides = c.target_strides(lane=c.row_count * WORD_BYTES, row=WORD_BYTES, batch=0)
    out = storage.tensor(
        c.target, "output", types[c.target], c.target_shape, strides, c.row_count * c.lanes * WORD_BYTES
    )
    at, column, place, total, one, other = (scalars.take() for _ in range(6))
    rows = [scalars.take() for _ in c.rows]
    weights = scalars.take()
    mac = emitter.isa.choose("multiplying scalars", emitter.isa.executing(MAC))
    body = (
        scalars.extend(types[c.scalar], one, at, "x"),
        scalars.extend(types[c.vector], other, weights, "y"),
        emitter.add(at, at, 1),
        emitter.add(weights, weights, 1),
        emitter.place(mac, (total, one, other)),
    )
    inside: list[Region] = [
        Straight(
            (emitter.add(weights, column, 0), emitter.add(at, rows[-1], c.segments[0]), emitter.constant(total, 0))
        )
    ]
    for before, after in pairwise((*c.segments, c.segments[-1])):
        inside += [Pipelined(c.run_bytes, body), Straight((emitter.add(at, at, after - before - c.run_bytes),))]
    store = emitter.store(scalars.file, total, place, 0, "out")
    inside.append(Straight((store, emitter.add(place, place, WORD_BYTES))))
    for level in reversed(range(len(c.rows))):
        step = emitter.add(rows[level], rows[level], c.rows[level].step_bytes)
        inside = [Repeat(c.rows[level].extent, (*inside, Straight((step,))))]
        outer = rows[level - 1] if level else None
        first = emitter.address(rows[level], x.address) if outer is None else emitter.add(rows[level], outer, 0)
        inside = [Straight((first,)), *inside]
    inside.append(Straight((emitter.add(column, column, c.reduction_bytes),)))
    start = Straight((emitter.address(column, y.address), emitter.address(place, out.address)))
    return [start, Repeat(c.lanes, tuple(inside))]


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
    if not switches.vectorize:
        emitter, storage, names = Emitter(isa), Storage(align_bytes(isa)), {types[name] for name in shapes}
        if len(names) > 1:
            raise TilewrightError("unsupported", "elements on scalars", "one type", ", ".join(sorted(names)))
        return finish(emitter, storage, scalar_elementwise(emitter, storage, statement, shape, names.pop()), switches)
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


def finish(emitter: Emitter, storage: Storage, regions: list[Region], switches: Switches) -> PacketProgram:
    """Schedules the regions; the program with its memory."""
    lowering = Lowering(emitter.isa, emitter.pool.untouched(emitter.scalars), Options(switches.pack, switches.pipeline))
    code = lowering.code(regions)
    return PacketProgram(code, tuple(storage.stored), storage.end + SLACK_BYTES, tuple(storage.images))
