"""Layer normalisation between two quantised maps: sums of integers, then a factor and an offset for each channel."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.fixed_point import multiplier_and_shift
from ...dialects import graph
from ...dialects.types import shape_of
from .quantized_values import Array, Builder, Goal, constant, quantised, uniform_8_bits

LEAST_BITS, MOST_BITS = 14, 18
"""Bits after the point of normalised numbers: with the fewest, factors of rows are off by at most 2^-7 at 255 steps."""

MOST_OFFSET = 1 << 30
"""Offsets of channels leave room for normalised numbers, which are at most 2^MOST_BITS (N - 1)^(1/2) for N <= 2^15."""


def layer_norm(builder: Builder, op: graph.LayerNormOp, goal: Goal) -> SSAValue | None:
    """Layer normalisation of an 8-bit map along its last axis, as 8 bits.

    `clip(rshift_round((n + b) m, s) + zero, low, high)`, n normalised (`graph.standardize`), and b, m, s in i32 along
    the axis.  A zero point and the map's scale change nothing but epsilon.
    """
    x, shape = quantised(op.x, builder.constants), shape_of(op.x)
    axis, count = op.axis.value.data, shape[-1]
    scale = constant(op.scale, builder.constants)
    bias = np.zeros(count) if op.bias is None else constant(op.bias, builder.constants)
    fits = axis == len(shape) - 1 and 2 <= count <= graph.LONGEST_ROW
    if not fits or not uniform_8_bits(x) or scale is None or bias is None:
        return None
    bits = min(graph.most_bits(count), MOST_BITS)
    parameters = _integers(scale.astype(np.float64), bias.astype(np.float64), goal, bits)
    epsilon = op.epsilon.value.data / float(x.scale) ** 2
    if parameters is None or bits < LEAST_BITS or not np.isfinite(np.float32(count**2 * epsilon)):
        return None
    offset, multiplier, shift = parameters
    value = builder.emit(graph.StandardizeOp(x.value, axis=axis, epsilon=epsilon, bits=bits), "standardize")
    if offset.any():
        value = builder.emit(graph.BinaryOp("add", value, builder.weight("offset", offset)))
    return goal.requantize_by(builder, value, multiplier, shift, axis)


def _integers(scale: Array, bias: Array, goal: Goal, bits: int) -> tuple[Array, Array, Array] | None:
    """Offsets, multipliers and shifts of channels; None where an offset is too large beside its factor."""
    if not np.all(np.isfinite(scale) & np.isfinite(bias)) or np.any((scale == 0) & (bias != 0)):
        return None
    offset = np.rint(bias / np.where(scale == 0, 1, scale) * 2.0**bits)
    if np.abs(offset).max() > MOST_OFFSET:
        return None
    pairs = [(0, 0) if s == 0 else multiplier_and_shift(abs(s) / goal.scale / 2**bits) for s in scale.tolist()]
    found = [pair for pair in pairs if pair is not None]
    if len(found) != len(pairs):
        return None
    multiplier, shift = (np.array(numbers, np.int32) for numbers in zip(*found, strict=True))
    return offset.astype(np.int32), multiplier * np.sign(scale).astype(np.int32), shift
