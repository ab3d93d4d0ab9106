"""Which instructions do a sum of products: vector by scalar, and what the operands' types have to become for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Strided
from ...algebra.parser import parse_statement
from ...errors import TilewrightError
from ...machine.packets import PackedMnemonic
from .emit import COPY, Emitter

GEMM = parse_statement("O{i} += A{i, j} * B{j}")
DOT = parse_statement("O{i} += A{i, j} * B{i, j}")
DEAL = parse_statement("O{j, i} = A{i, j}")


@dataclass(frozen=True)
class Multiply:
    """`gemm` adds, for `lanes` lanes, `group` products of a vector's and a scalar's elements.

    Vector elements are stored `flip` larger than they are; if that is not 0, `first_dot` (from 0), `dot`, `deal` and
    `add` serve to take `flip` times the sum of the scalar operand away.
    """

    gemm: PackedMnemonic
    lanes: int
    group: int
    flip: int
    scalar_file: str
    move: PackedMnemonic
    first_dot: PackedMnemonic | None = None
    dot: PackedMnemonic | None = None
    deal: PackedMnemonic | None = None
    add: PackedMnemonic | None = None


def select_multiply(emitter: Emitter, vector_type: str, scalar_type: str, target_type: str) -> Multiply:
    """The instructions for operands of these types; a signed vector may be taken as an unsigned one, moved by half."""
    isa = emitter.isa
    move = isa.choose("moving a vector", [m for m in _moves(emitter) if not any(p.rotated for p in m.places)])
    for flip in (0, 1 << 8 * ELEMENT_TYPES[vector_type].itemsize - 1):
        for item in isa.executing(GEMM):
            out, first, second = _types(emitter, item)
            wanted = (f"u{vector_type[1:]}" if vector_type.startswith("i") else "") if flip else vector_type
            if item.from_identity or (first, second) != (wanted, scalar_type) or not _alike(out, target_type):
                continue
            extents = dict(item.extents)
            lanes, group = (int(extents[dim]) for dim, _ in item.places[1].strides)
            scalar_file = dict(item.registers)[item.places[2].base]
            found = Multiply(item, lanes, group, flip, scalar_file, move)
            return found if not flip else _with_correction(emitter, found, scalar_type)
    what = f"{target_type} += {vector_type} * {scalar_type}"
    raise TilewrightError("unsupported", what, f"an instruction of {isa.machine.name} for it", "none")


def _with_correction(emitter: Emitter, found: Multiply, scalar_type: str) -> Multiply:
    isa = emitter.isa
    signed = "i8"
    dots = [m for m in isa.executing(DOT) if _types(emitter, m)[1:] == (scalar_type, signed)]
    dot = isa.choose(f"sums of {scalar_type} in lanes", [m for m in dots if not m.from_identity])
    first = isa.choose(f"sums of {scalar_type} in lanes, from 0", [m for m in dots if m.from_identity])
    deal = isa.choose("dealing lanes", [m for m in isa.executing(DEAL) if _deals(emitter, m, _types(emitter, dot)[0])])
    add = emitter.function("add", _types(emitter, dot)[0], 2)
    return Multiply(
        found.gemm, found.lanes, found.group, found.flip, found.scalar_file, found.move, first, dot, deal,
        isa.choose("adding vectors", [add] if add is not None else []),
    )  # fmt: skip


def _deals(emitter: Emitter, item: PackedMnemonic, type_name: str) -> bool:
    """Whether it sorts the lanes of two neighbouring vectors, side by side, into those of even and odd numbers."""
    capability, width = emitter.isa.capability(item), emitter.vector_bytes
    assert capability is not None
    assert isinstance(capability.statement.target, Strided)
    odd, lane = capability.statement.target.dims
    size = np.dtype(ELEMENT_TYPES[type_name]).itemsize
    numbers = {place.operand: {dim: int(word) for dim, word in place.strides} for place in item.places}
    out, inside = (numbers[operand] for operand in capability.operands)
    halves = {lane: width // size, odd: 2} == {dim: int(word) for dim, word in item.extents}
    whole = out == {odd: width, lane: size} and inside == {lane: 2 * size, odd: size}
    return halves and whole and _types(emitter, item) == (type_name, type_name)


def _moves(emitter: Emitter) -> list[PackedMnemonic]:
    memory = emitter.isa.files[emitter.vectors].memory
    moves = [m for m in emitter.isa.executing(COPY) if all(p.memory == memory for p in m.places)]
    return [m for m in moves if len({p.type_name for p in m.places}) == 1]


def _types(emitter: Emitter, item: PackedMnemonic) -> tuple[str, ...]:
    """Element types in the order of the capability's operands."""
    capability = emitter.isa.capability(item)
    assert capability is not None
    types = {place.operand: place.type_name for place in item.places}
    return tuple(types[operand] for operand in capability.operands)


def _alike(first: str, second: str) -> bool:
    """Whether sums that wrap have the same bits in both types."""
    one, other = np.dtype(ELEMENT_TYPES[first]), np.dtype(ELEMENT_TYPES[second])
    return one.itemsize == other.itemsize and one.kind in "iu" and other.kind in "iu"
