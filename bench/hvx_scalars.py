"""Statements on the scalar registers of a machine of packets: what vectors are compared with."""

from collections.abc import Mapping
from itertools import pairwise

from tilewright.algebra.affine import index_forms
from tilewright.algebra.expr import Access, Call, Expr, Num, Statement, accesses, print_expr, tensors_of
from tilewright.algebra.parser import parse_statement
from tilewright.errors import TilewrightError
from tilewright.machine.packet_program import Instruction, Isa, PacketProgram, Packing
from tilewright.machine.packet_storage import Storage, contiguous_strides
from tilewright.machine.packets import PackedMnemonic
from tilewright.passes.nest_to_packets.contraction import scalar_tensor
from tilewright.passes.nest_to_packets.emit import Emitter
from tilewright.passes.nest_to_packets.generate import finish
from tilewright.passes.nest_to_packets.network import Switches, align_bytes
from tilewright.passes.nest_to_packets.regions import Pipelined, Region, Repeat, Straight
from tilewright.passes.nest_to_packets.roles import Contraction, contraction_of, is_contraction

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


def scalar_program(
    isa: Isa, statement: Statement, extents: Mapping[str, int], types: Mapping[str, str], switches: Switches
) -> PacketProgram:
    """The program of a sum of products, or of a statement whose tensors are all read at the place that is written."""
    emitter, storage = Emitter(isa), Storage(align_bytes(isa))
    if is_contraction(statement):
        regions = scalar_product(emitter, storage, contraction_of(statement, extents), types)
        return finish(emitter, storage, regions, switches)
    first = next(access for access in accesses(statement) if isinstance(access, Access))
    shape, names = tuple(form.range(extents)[1] + 1 for form in index_forms(first)), set(types.values())
    if len(names) > 1:
        raise TilewrightError("unsupported", "elements on scalars", "one type", ", ".join(sorted(names)))
    return finish(emitter, storage, scalar_elementwise(emitter, storage, statement, shape, names.pop()), switches)
