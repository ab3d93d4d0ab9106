"""Layers other than products on quantised tensors: arithmetic, averages, and what only moves or compares elements."""

from math import lcm, prod

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from ...algebra.element import Array
from ...algebra.fixed_point import common_shift
from ...dialects import graph
from ...dialects.graph.base import real
from ...dialects.graph.quantized import RANGES
from ...dialects.types import dtype_of, shape_of, si8, tensor
from ...interpreters.constants import Constants
from ...interpreters.graph_numpy import pool, quantize
from .graph_fuse import MOVES
from .quantized_values import Accumulator, Builder, Goal, Quantised, constant, quantised, uniform_8_bits

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
    """A mean or sum of 8-bit elements, as 8 bits: the i32 sum, less the zero points, scaled.

    Sums that are divided by different counts, at borders, are first brought to the least common multiple of these.
    """
    x = quantised(op.x, builder.constants)
    if not uniform_8_bits(x):
        return None
    if isinstance(op, graph.ReduceOp):
        counts = np.array(prod(shape_of(op.x)[axis] for axis in op.axes.get_values()))
        divisors = counts if op.kind.data == graph.ReduceKind.MEAN else np.array(1)
        summed: Operation = graph.ReduceOp("sum", x.value, axes=op.axes.get_values(), keepdims=op.keepdims is not None)
    else:
        kernel, strides, pads, dilations = (
            list(each.get_values()) for each in (op.kernel, op.strides, op.pads, op.dilations)
        )
        counts = _scalar_if_equal(_window_counts(op))
        divisors = np.array(prod(kernel)) if op.count_include_pad is not None else counts
        divisors = divisors if op.kind.data == graph.PoolKind.AVERAGE else np.array(1)
        summed = graph.PoolOp("sum", x.value, kernel=kernel, strides=strides, pads=pads, dilations=dilations)
    if not divisors.all():
        return None
    common = lcm(*divisors.reshape(-1).tolist())
    factors = common // divisors
    if int((factors * counts).max()) * 255 >= 2**31:
        return None
    total = builder.emit(summed, "sum")
    offset = -counts * int(x.zero)
    if offset.any():
        total = builder.emit(graph.BinaryOp("add", total, builder.weight("offset", offset.astype(np.int32))))
    if factors.ndim:
        total = builder.emit(graph.BinaryOp("mul", total, builder.weight("factors", factors.astype(np.int32))))
    return goal.requantize(builder, Accumulator(total, x.scale / common, 0))


def _window_counts(op: graph.PoolOp) -> Array:
    """How many elements of each window lie inside of the input."""
    ones = np.ones((1, 1, *shape_of(op.x)[2:]), np.int32)
    window = (each.get_values() for each in (op.kernel, op.strides, op.pads, op.dilations))
    return pool("sum", ones, *window, count_include_pad=False)[0, 0].astype(np.int64)


def _scalar_if_equal(counts: Array) -> Array:
    return counts.reshape(-1)[0] if (counts == counts.reshape(-1)[0]).all() else counts


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
    """Softmax of integers, and of their sum with a constant mask, where its exponentials are finite without the maximum
    of a row; in 8 bits where that is the goal."""
    if op.mask is not None or op.scale is not None or op.step is not None:
        return None
    if goal is not None and (goal.low, goal.high) != RANGES[goal.element]:
        return None
    value, mask = _without_mask(op.x, builder.constants)
    given = quantised(value, builder.constants)
    added = None if mask is None else constant(mask, builder.constants)
    bounded = given if uniform_8_bits(given) and _has_bounded_rows(op, given, added) else None
    if goal is None and bounded is None:
        return None
    if bounded is not None and added is not None and goal is not None:
        whole = _whole_numbers(op, bounded, added, goal)
        mask = mask if whole is None else builder.weight("mask", whole)
    made = graph.SoftmaxOp(
        op.x if bounded is None else bounded.value,
        None if bounded is None else mask,
        axis=op.axis.value.data,
        scale=None if bounded is None else float(np.float32(bounded.scale)),
        bounded=bounded is not None,
        step=None if goal is None else float(np.float32(goal.scale)),
        zero_point=None if goal is None else goal.zero,
        result=tensor(shape_of(op.x), f32 if goal is None else goal.element),
    )
    return builder.emit(made)


def _without_mask(value: SSAValue, constants: Constants) -> tuple[SSAValue, SSAValue | None]:
    """The two sides of a sum, if one of them is a constant and the other has the shape of the sum."""
    adds = value.owner
    if isinstance(adds, graph.BinaryOp) and adds.kind.data == graph.BinaryKind.ADD:
        for one, other in ((adds.a, adds.b), (adds.b, adds.a)):
            if constant(other, constants) is not None and shape_of(one) == shape_of(value):
                return one, other
    return value, None


def _whole_numbers(op: graph.SoftmaxOp, given: Quantised, mask: Array, goal: Goal) -> Array | None:
    """A mask in 8 bits that has the same result; None where there is none.

    What is masked by -128 or less vanishes beside the maximum of its row: all exponentials of a row that are masked so
    are together less than half a unit in the last place of the greatest, and less than half a step.
    """
    low, high = RANGES[given.element]
    spread = (high - low) * float(given.scale) - _least_maximum(op, mask) + float(RANGES[si8][0])
    vanishes = shape_of(op.x)[op.axis.value.data] * float(np.exp(spread)) < min(2.0**-25, goal.scale / 2)
    numbers = np.maximum(mask, RANGES[si8][0]) if vanishes else mask
    with np.errstate(invalid="ignore"):
        whole = numbers.astype(np.int8)
    return whole if np.array_equal(whole, numbers) else None


def _has_bounded_rows(op: graph.SoftmaxOp, given: Quantised, mask: Array | None) -> bool:
    """Whether the maximum of each row of integers, their zero point left out, plus a mask lies within `EXPONENT` on
    both sides of 0."""
    low, high = (bound * float(given.scale) for bound in RANGES[given.element])
    if mask is not None:
        low, high = low + _least_maximum(op, mask), high + float(np.max(mask))
    return -EXPONENT <= low and high <= EXPONENT


def _least_maximum(op: graph.SoftmaxOp, mask: Array) -> float:
    """The least of the maxima of a mask's rows."""
    along = op.axis.value.data - len(shape_of(op.x)) + mask.ndim
    return float(np.min(mask if along < 0 else mask.max(axis=along)))


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
            return isinstance(op, (*MOVES, graph.ResizeOp))


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
        integers, type_ = [v.value for v in values if v is not None], tensor(shape_of(op.result), first.element)
        made = type(op).create(operands=integers, properties=properties, result_types=[type_])
    return Quantised(builder.emit(made, "integers"), first.scale, first.zero, 0)


def _as_integer(number: float, like: Quantised) -> int:
    """The integer that stands for `number`."""
    dtype = dtype_of(like.element)
    scale, zero = like.scale.astype(np.float32), like.zero.astype(dtype)
    return int(quantize(np.array(number, np.float32), scale, zero, 0, dtype))
