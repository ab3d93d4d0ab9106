"""Scales and offsets by constants between two quantised maps, such as a batch normalisation, as one integer layer."""

from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.types import shape_of
from .quantized_values import Builder, Goal, constant, quantised, uniform_8_bits

FACTOR_BITS = 20
"""Factors have so many bits at most: 255 * 2^20 leaves room for offsets of 2^30."""

LEAST_SHIFT = 13
"""Factors of so many bits after the point are together at most 1/64 of a step off for 255 steps."""


class Affine(NamedTuple):
    """`factor * value + offset` of a map, both constants that broadcast to it, in float64."""

    value: SSAValue
    factor: Array
    offset: Array


def affine(builder: Builder, op: graph.BinaryOp, goal: Goal) -> SSAValue | None:
    """Sums, differences, products and quotients of an 8-bit map and constants, as 8 bits.

    `clip(rshift_round(x m + b, s) + zero, low, high)`, m and b constants in i32.
    """
    found = _affine(Affine(op.result, np.array(1.0), np.array(0.0)), builder)
    x = None if found is None else quantised(found.value, builder.constants)
    if found is None or not uniform_8_bits(x):
        return None
    factor, offset = found.factor * float(x.scale) / goal.scale, found.offset / goal.scale
    integers = _integers(factor, offset - int(x.zero) * factor)
    if integers is None:
        return None
    m, b, shift = integers
    scaled = builder.emit(graph.BinaryOp("mul", builder.widen(x.value), builder.weight("factor", m)))
    total = builder.emit(graph.BinaryOp("add", scaled, builder.weight("offset", b)))
    return goal.requantize_by(builder, total, np.array(1, np.int32), np.array(shift, np.int32))


def _affine(found: Affine, builder: Builder) -> Affine | None:
    """`found` in terms of what its value is made from, as far as that is arithmetic with constants."""
    op = found.value.owner
    if quantised(found.value, builder.constants) is not None:
        return found
    if not isinstance(op, graph.BinaryOp) or not found.value.has_one_use():
        return None
    a, b = constant(op.a, builder.constants), constant(op.b, builder.constants)
    if (a is None) == (b is None):
        return None
    value, array = (op.a, b) if a is None else (op.b, a)
    if array is None or not np.all(np.isfinite(array)) or shape_of(value) != shape_of(op.result):
        return None
    number, (_, factor, offset) = array.astype(np.float64), found
    match op.kind.data:
        case graph.BinaryKind.ADD:
            return _affine(Affine(value, factor, offset + factor * number), builder)
        case graph.BinaryKind.SUB if a is None:
            return _affine(Affine(value, factor, offset - factor * number), builder)
        case graph.BinaryKind.SUB:
            return _affine(Affine(value, -factor, offset + factor * number), builder)
        case graph.BinaryKind.MUL:
            return _affine(Affine(value, factor * number, offset), builder)
        case graph.BinaryKind.DIV if a is None and np.all(number):
            return _affine(Affine(value, factor / number, offset), builder)
        case _:
            return None


def _integers(factor: Array, offset: Array) -> tuple[Array, Array, int] | None:
    """Factors and offsets times a power of two, as i32, and its exponent; None where one of them is too large."""
    largest = float(np.abs(factor).max()) / 2.0**FACTOR_BITS, float(np.abs(offset).max()) / 2.0**30
    if not 0 < max(largest) < np.inf:
        return None
    shift = min(int(np.floor(-np.log2(max(largest)))), 30)
    if shift < LEAST_SHIFT:
        return None
    m, b = (np.rint(number * 2.0**shift).astype(np.int32) for number in (factor, offset))
    return m, b, shift
