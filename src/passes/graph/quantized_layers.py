"""Layers other than products on quantised tensors: arithmetic, averages, and what only moves or compares elements."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from ...algebra.fixed_point import common_shift
from ...dialects import graph
from ...dialects.graph.base import real
from ...dialects.graph.quantized import RANGES
from ...dialects.types import dtype_of, shape_of, tensor
from ...interpreters.constants import Constants
from ...interpreters.graph_numpy import quantize
from .quantized_values import Accumulator, Array, Builder, Goal, Quantised, quantised, uniform_8_bits

ADD_BITS = 20
"""Factors of the terms of an addition have so many bits: 255 * 2^20 twice stays far below 2^31."""


EXPONENT = 60.0
"""exp(60) a million million times, and exp(-60) over that, are still normal numbers of f32."""


def arithmetic(builder: Builder, op: graph.BinaryOp, goal: Goal) -> SSAValue | None:
    """Sum, difference or product of two 8-bit tensors, as 8 bits."""
    a, b = quantised(op.a, builder.constants), quantised(op.b, builder.constants)
    if not uniform_8_bits(a) or not uniform_8_bits(b):
        return None
    kind = op.kind.data
    if kind == graph.BinaryKind.MUL:
        return _multiply(builder, a, b, goal)
    if kind == graph.BinaryKind.ADD:
        return _add(builder, a, b, 1, goal)
    return _add(builder, a, b, -1, goal) if kind == graph.BinaryKind.SUB else None


def _multiply(builder: Builder, a: Quantised, b: Quantised, goal: Goal) -> SSAValue | None:
    left, right = builder.widen(a.value, -int(a.zero)), builder.widen(b.value, -int(b.zero))
    product = builder.emit(graph.BinaryOp("mul", left, right))
    return goal.requantize(builder, Accumulator(product, a.scale * b.scale, 0))


def _add(builder: Builder, a: Quantised, b: Quantised, sign: int, goal: Goal) -> SSAValue | None:
    """`rshift_round((a - za) ma + (b - zb) mb, s)`, the zero points' share collected in one constant."""
    factors = common_shift((float(a.scale) / goal.scale, sign * float(b.scale) / goal.scale), ADD_BITS)
    if factors is None:
        return None
    (ma, mb), shift = factors
    left = builder.emit(graph.BinaryOp("mul", builder.widen(a.value), builder.integer("left", ma)))
    right = builder.emit(graph.BinaryOp("mul", builder.widen(b.value), builder.integer("right", mb)))
    total = builder.emit(graph.BinaryOp("add", left, right))
    total = builder.shifted(total, -(int(a.zero) * ma + int(b.zero) * mb))
    return goal.requantize_by(builder, total, np.array(1, np.int32), np.array(shift, np.int32))


def average(builder: Builder, op: graph.ReduceOp | graph.PoolOp, goal: Goal) -> SSAValue | None:
    """A mean or sum of 8-bit elements, as 8 bits: the i32 sum, less the zero points, scaled."""
    x = quantised(op.x, builder.constants)
    if not uniform_8_bits(x):
        return None
    if isinstance(op, graph.ReduceOp):
        count = prod(shape_of(op.x)[axis] for axis in op.axes.get_values())
        summed: Operation = graph.ReduceOp("sum", x.value, axes=op.axes.get_values(), keepdims=op.keepdims is not None)
        divisor = count if op.kind.data == graph.ReduceKind.MEAN else 1
    else:
        if any(op.pads.get_values()):
            return None
        count = prod(op.kernel.get_values())
        summed = graph.PoolOp(
            "sum",
            x.value,
            kernel=op.kernel.get_values(),
            strides=op.strides.get_values(),
            pads=op.pads.get_values(),
            dilations=op.dilations.get_values(),
        )
        divisor = count if op.kind.data == graph.PoolKind.AVERAGE else 1
    if count * 255 >= 2**31:
        return None
    total = builder.shifted(builder.emit(summed, "sum"), -count * int(x.zero))
    return goal.requantize(builder, Accumulator(total, x.scale / divisor, 0))


def concatenation(builder: Builder, op: graph.ConcatOp, goal: Goal) -> SSAValue | None:
    """Pieces of different scales, each brought to the goal's."""
    pieces: list[SSAValue] = []
    for piece in op.pieces:
        given = quantised(piece, builder.constants)
        value = goal.rescale(builder, given) if uniform_8_bits(given) else None
        if value is None:
            return None
        pieces.append(value)
    return builder.emit(graph.ConcatOp(pieces, axis=op.axis.value.data))


def softmax(builder: Builder, op: graph.SoftmaxOp, goal: Goal | None) -> SSAValue | None:
    """Softmax of integers where its exponentials are finite without their maximum, and in 8 bits where asked for."""
    constants, bounded = builder.constants, _has_bounded_rows(op, builder.constants)
    given = quantised(op.x, constants) if bounded else None
    if goal is not None and (goal.low, goal.high) != RANGES[goal.element]:
        return None
    if goal is None and not bounded:
        return None
    integers = given if uniform_8_bits(given) else None
    made = graph.SoftmaxOp(
        op.x if integers is None else integers.value,
        axis=op.axis.value.data,
        scale=None if integers is None else float(np.float32(integers.scale)),
        bounded=bounded,
        step=None if goal is None else float(np.float32(goal.scale)),
        zero_point=None if goal is None else goal.zero,
        element=f32 if goal is None else goal.element,
    )
    return builder.emit(made)


def _has_bounded_rows(op: graph.SoftmaxOp, constants: Constants) -> bool:
    """Whether the maximum of each row lies within `EXPONENT` on both sides of 0: of 8-bit integers (their zero point,
    which softmax does not see, left out), and of their sum with a constant such as a mask."""
    low, high, adds = 0.0, 0.0, op.x.owner
    terms = (adds.a, adds.b) if isinstance(adds, graph.BinaryOp) and adds.kind.data == graph.BinaryKind.ADD else (op.x,)
    for term in terms:
        given, array = quantised(term, constants), constants.array(term)
        if uniform_8_bits(given):
            zero = int(given.zero) if len(terms) > 1 else 0
            integers = constants.array(given.value)
            steps = np.array(RANGES[given.element]) if integers is None else integers.astype(np.int64)
            numbers = (steps - zero) * float(given.scale)
            least = _least_maximum(numbers, op) if integers is not None else float(numbers[0])
        elif array is not None:
            numbers, least = array, _least_maximum(array, op)
        else:
            return False
        low, high = low + least, high + float(np.max(numbers))
    return -EXPONENT <= low and high <= EXPONENT


def _least_maximum(array: Array, op: graph.SoftmaxOp) -> float:
    """The least maximum of a row of a constant that is added to what `op` reads."""
    place = op.axis.value.data - len(shape_of(op.x)) + array.ndim
    return float(np.min(array if place < 0 else array.max(axis=place)))


MOVING = (
    graph.ReshapeOp,
    graph.TransposeOp,
    graph.SliceOp,
    graph.PadOp,
    graph.ResizeOp,
    graph.GatherOp,
    graph.ExpandOp,
    graph.ConcatOp,
)
"""Layers that move elements."""


def commutes(op: Operation) -> bool:
    """Whether a layer may be done on the integers behind dequantised operands of one scale: it moves or compares."""
    match op:
        case graph.PoolOp():
            return op.kind.data == graph.PoolKind.MAX
        case graph.ReduceOp():
            return op.kind.data in (graph.ReduceKind.MAX, graph.ReduceKind.MIN)
        case graph.UnaryOp():
            return op.kind.data == graph.UnaryKind.RELU
        case graph.BinaryOp():
            return op.kind.data in (graph.BinaryKind.MAX, graph.BinaryKind.MIN)
        case _:
            return isinstance(op, MOVING)


def on_integers(builder: Builder, op: graph.LayerOp) -> Quantised | None:
    """The integers behind the result of a layer that commutes with dequantisation; None if it cannot be."""
    values = [quantised(operand, builder.constants) for operand in op.operands]
    first = values[0]
    if not uniform_8_bits(first):
        return None
    if any(value is None or not value.same_scaling(first) for value in values):
        return None
    if isinstance(op, graph.UnaryOp):
        made: graph.LayerOp = graph.ClipOp(first.value, min=int(first.zero))
    else:
        properties = dict(op.properties)
        if isinstance(op, graph.PadOp) and op.mode.data == graph.PadMode.CONSTANT:
            properties["value"] = real(_as_integer(op.value.value.data, first))
        made = type(op).build(
            operands=[[v.value for v in values if v is not None]]
            if isinstance(op, graph.ConcatOp)
            else [v.value for v in values if v is not None],
            properties=properties,
            result_types=[tensor(shape_of(op.result), first.element)],
        )
    return Quantised(builder.emit(made, "integers"), first.scale, first.zero, 0)


def _as_integer(number: float, like: Quantised) -> int:
    """The integer that stands for `number`."""
    dtype = dtype_of(like.element)
    scale, zero = like.scale.astype(np.float32), like.zero.astype(dtype)
    return int(quantize(np.array(number, np.float32), scale, zero, 0, dtype))
