"""Control model `stages`: stages that meet through counted tokens, and instructions that loop over micro-ops.

A token queue counts what one stage pushes and another pops; bits of the header say which queues an instruction pops
before it starts and pushes once it is done.  Micro-ops lie in a memory that instructions load; one `walk` instruction
runs a range of them inside two affine loops.  A shadow memory holds what its original holds, narrowed, where
computations write.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import Call, Name, Num, Strided, accesses
from .fields import Field

if TYPE_CHECKING:
    from .model import Capability, Machine, Memory

LOOPS = ("outer", "inner")
"""The loops of a walk, outermost first; its micro-ops run inside both."""

PRODUCTS, ELEMENTWISE, CONSTANT = "products", "elementwise", "constant"
"""What a micro-op may do: add dot products to rows, apply a function of two numbers, set a number."""


@dataclass(frozen=True)
class TokenQueue:
    """Tokens that unit `src` pushes and unit `dst` pops, each by a bit of the header ("": never)."""

    name: str
    src: str
    dst: str
    push: str = ""
    pop: str = ""


@dataclass(frozen=True)
class StagesIsa:
    """`microops` is the memory of micro-ops, `fields` their bits, the least significant first.

    `shadows` are pairs of a narrow memory and the one that it follows.  Instructions come over the channel `fetch`.
    """

    tokens: tuple[TokenQueue, ...] = ()
    microops: str = ""
    fields: tuple[Field, ...] = ()
    shadows: tuple[tuple[str, str], ...] = ()
    fetch: str = ""

    def field_shifts(self) -> dict[str, tuple[int, int]]:
        """Each micro-op field's first bit and width."""
        found: dict[str, tuple[int, int]] = {}
        start = 0
        for item in self.fields:
            found[item.name] = start, item.width_bits
            start += item.width_bits
        return found


def index_bits(memory: Memory) -> int:
    """Bits that number the elements of a memory; 0 without a depth."""
    return max(memory.depth - 1, 1).bit_length() if memory.depth else 0


def sized(machine: Machine) -> tuple[tuple[Field, ...], ...]:
    """Fields of the header, of each mnemonic, and of micro-ops, with widths that follow the depths of memories."""
    bits = {memory.name: index_bits(memory) for memory in machine.memories}
    micro = machine.stages.fields if machine.stages is not None else ()
    rows = (machine.header, *(mnemonic.fields for mnemonic in machine.mnemonics), micro)
    return tuple(tuple(_sized(item, bits) for item in row) for row in rows)


def _sized(item: Field, bits: dict[str, int]) -> Field:
    return replace(item, width_bits=bits.get(item.index_of, 0) + item.more_bits) if item.index_of else item


def rows_of(capability: Capability) -> dict[str, int]:
    """Elements of a row of each operand: the product of its dims' limits."""
    limits = {dim.name: dim.limit for dim in capability.dims}
    return {a.tensor: prod(limits.get(dim, 1) for dim in a.dims) for a in operand_accesses(capability)}


def operand_accesses(capability: Capability) -> list[Strided]:
    """What a capability's statement writes and reads."""
    return [access for access in accesses(capability.statement) if isinstance(access, Strided)]


def row_bytes(capability: Capability) -> dict[str, int]:
    """Bytes of a row of each operand by the capability's first types."""
    types = dict(zip(capability.operands, capability.types[0], strict=False)) if capability.types else {}
    sizes = {name: ELEMENT_TYPES[kind].itemsize for name, kind in types.items() if kind in ELEMENT_TYPES}
    return {name: count * sizes.get(name, 0) for name, count in rows_of(capability).items()}


def kind_of(capability: Capability) -> str:
    """Which of `PRODUCTS`, `ELEMENTWISE` and `CONSTANT` a capability is; "" for another."""
    match capability.statement.reduce, capability.statement.target, capability.statement.value:
        case "+=", Strided(_, (n,)), Call("mul", (Strided(_, (k,)), Strided(_, (m, other)))) if (m, other) == (n, k):
            return PRODUCTS
        case "=", Strided(target, dims), Call(_, (Strided(name, read), operand)) if (name, read) == (target, dims):
            if isinstance(operand, Name) or (isinstance(operand, Strided) and operand.dims == dims):
                return ELEMENTWISE
        case "=", Strided(), Num(int()):
            return CONSTANT
        case _:
            pass
    return ""


FUNCTION_CODES = {"min": 0, "max": 1, "add": 2, "shift_right": 3, "mul": 4, "sub": 5}
"""The functions that micro-ops may apply, by the numbers of `backends.simulator.stages`."""
