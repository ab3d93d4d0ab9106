"""Elementwise statements on packets: a loop over vectors, a few of them in each iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Access, Call, Expr, Num, Statement
from ...algebra.printer import print_expr
from ...algebra.statement import accesses_of, tensors_of
from ...errors import TilewrightError
from ...machine.packet_program import Instruction
from ...machine.packet_storage import Storage, contiguous_strides
from .emit import Emitter
from .regions import Pipelined, Region, Straight

UNROLL = (1, 2, 4)
"""Vectors in an iteration, those that are tried."""


def is_elementwise(statement: Statement) -> bool:
    """Whether every tensor is read at the place that is written."""
    target, read = statement.target, accesses_of(statement.value)
    if statement.reduce != "=" or not isinstance(target, Access) or not read:
        return False
    return all(isinstance(access, Access) and access.indices == target.indices for access in read)


@dataclass
class _Body:
    """One iteration's instructions; registers of temporaries are kept apart, so that iterations overlap."""

    emitter: Emitter
    type_name: str
    constants: dict[float, int]
    bases: dict[str, int]
    made: list[Instruction] = field(default_factory=list[Instruction])

    def value(self, expr: Expr, offset: int, known: dict[str, int]) -> int:
        """The vector register of an expression's value at `offset` bytes from the bases."""
        emitter = self.emitter
        match expr:
            case Num(number):
                return self.constants[number]
            case Access(tensor, _):
                if tensor not in known:
                    known[tensor] = emitter.pool.take(emitter.vectors)
                    base = self.bases[tensor]
                    self.made.append(emitter.load(emitter.vectors, known[tensor], base, offset, tensor))
                return known[tensor]
            case Call(fn, args):
                fn, args = ("max", (*args, Num(0))) if fn == "relu" else (fn, args)
                item = emitter.function(fn, self.type_name, len(args))
                if item is None:
                    what = f"{fn} of {len(args)} {self.type_name}"
                    raise TilewrightError("unsupported", what, "a vector instruction for it", "none")
                for arg in args:
                    _check_closed(arg, self.type_name)
                registers = [self.value(arg, offset, known) for arg in args]
                result = emitter.pool.take(emitter.vectors)
                self.made.append(emitter.place(item, [result, *registers]))
                return result
            case _:
                raise TilewrightError("unsupported", print_expr(expr), "tensors, numbers and functions", "a name")


CLOSED = ("max", "min", "relu")
"""Functions whose values are among their arguments' range: they never leave a type."""


def _check_closed(expr: Expr, type_name: str) -> None:
    """A value inside another is exact, and no register holds more than its type; so it may not leave the type."""
    if isinstance(expr, Call) and expr.fn not in CLOSED:
        found = print_expr(expr)
        lever = "write it as a statement of its own"
        raise TilewrightError("unsupported", found, f"a value inside others that stays {type_name}", found, lever)


def constants_of(expr: Expr) -> list[float]:
    """The numbers that an expression needs in registers."""
    match expr:
        case Num(number):
            return [number]
        case Call(fn, args):
            return [n for arg in (*args, *([Num(0)] if fn == "relu" else [])) for n in constants_of(arg)]
        case _:
            return []


def elementwise_regions(
    emitter: Emitter, storage: Storage, statement: Statement, shape: tuple[int, ...], type_name: str, unroll: int
) -> list[Region]:
    """The regions of `statement` over tensors of one shape, stored densely and filled up to whole iterations."""
    width = emitter.vector_bytes
    itemsize = ELEMENT_TYPES[type_name].itemsize
    count = itemsize
    for size in shape:
        count *= size
    vectors = -(-count // width)
    unroll = min(unroll, vectors)
    size_bytes = -(-vectors // unroll) * unroll * width
    target, *operands = tensors_of(statement)
    bases: dict[str, int] = {}
    start: list[Instruction] = []
    for name in (*operands, *([target] if target not in operands else [])):
        role = "output" if name == target else "input"
        placed = storage.tensor(name, role, type_name, shape, contiguous_strides(shape, itemsize), size_bytes)
        bases[name] = emitter.pool.take(emitter.scalars)
        start.append(emitter.address(bases[name], placed.address))
    constants: dict[float, int] = {}
    for number in dict.fromkeys(constants_of(statement.value)):
        constants[number] = emitter.pool.take(emitter.vectors)
        scalar = emitter.pool.take(emitter.scalars)
        bits = int(number) & (1 << 8 * itemsize) - 1
        word = sum(bits << 8 * itemsize * i for i in range(4 // itemsize))
        start += [emitter.constant(scalar, word - (word >> 31 << 32)), emitter.broadcast(constants[number], scalar)]
    body = _Body(emitter, type_name, constants, bases)
    for i in range(unroll):
        register = body.value(statement.value, i * width, {})
        body.made.append(emitter.store(emitter.vectors, register, bases[target], i * width, target))
    step = unroll * width
    moves = [emitter.add(base, base, step) for base in bases.values()]
    return [Straight(tuple(start)), Pipelined(-(-vectors // unroll), (*body.made, *moves))]


def common_type(types: Mapping[str, str], statement: Statement) -> str:
    """The element type of all tensors, which elementwise statements have in common."""
    names = {types[name] for name in tensors_of(statement)}
    if len(names) > 1:
        raise TilewrightError("unsupported", "an elementwise statement", "one element type", ", ".join(sorted(names)))
    return names.pop()
