"""Convolutions and matrix products of quantised tensors as integer products with i32 accumulators.

With x = sx (qx - zx) and w = sw (qw - zw), sum x w = sx sw (sum qx w' - zx sum w'), where w' = qw - zw is constant: the
second sum joins the bias, and padding is done with zx.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.graph.base import real
from ...dialects.graph.quantized import RANGES
from ...dialects.types import shape_of, si8, tensor
from .quantized_values import Accumulator, Builder, Quantised, quantised, uniform_8_bits

Product = graph.ConvOp | graph.GemmOp | graph.MatmulOp

I32_LIMIT = 2**31


def accumulate(builder: Builder, op: Product) -> Accumulator | None:
    """The i32 accumulators of a product of quantised tensors; None if it cannot be done in integers."""
    return _matmul(builder, op) if isinstance(op, graph.MatmulOp) else _with_bias(builder, op)


def signed_weights(builder: Builder, value: SSAValue, axis: int) -> tuple[Array, Array] | None:
    """Constant weights as int8 without zero point and their scale (a scalar or along `axis`), if they fit."""
    weights = quantised(value, builder.constants)
    if weights is None or not (weights.is_uniform or weights.axis == axis):
        return None
    array = builder.constants.array(weights.value)
    if array is None or array.dtype.itemsize != 1:
        return None
    if array.dtype == np.int8 and not np.any(weights.zero):
        return array, weights.scale
    zero = weights.zero if weights.is_uniform else weights.zero.reshape(-1, *(1,) * (array.ndim - axis - 1))
    centred = array.astype(np.int64) - zero
    if centred.min() < -128 or centred.max() > 127:
        return None
    return centred.astype(np.int8), weights.scale


def _integer_bias(builder: Builder, value: SSAValue | None, scale: Array, shape: Sequence[int]) -> Array | None:
    """A constant bias in units of `scale` (broadcast to it), int64; zeros of `shape` if there is none."""
    if value is None:
        return np.zeros(shape, np.int64)
    given = quantised(value, builder.constants)
    if given is None:
        array = builder.constants.array(value)
        return None if array is None else _rounded(array.astype(np.float64) / scale)
    array = builder.constants.array(given.value)
    if array is None or not (given.is_uniform or given.axis == array.ndim - 1):
        return None
    centred = array.astype(np.int64) - given.zero
    ratio = given.scale / scale
    return centred if np.all(np.abs(ratio - 1.0) < 1e-5) else _rounded(centred * ratio)


def _rounded(values: Array) -> Array:
    return np.rint(np.clip(values, -(2.0**40), 2.0**40)).astype(np.int64)


def _largest(x: Quantised) -> int:
    low, high = RANGES[x.element]
    return max(-low, high)


def _with_bias(builder: Builder, op: graph.ConvOp | graph.GemmOp) -> Accumulator | None:
    """Products whose zero point joins the bias; each result sums up a row of the weights as a matrix `flat`."""
    x = quantised(op.operands[0], builder.constants)
    is_transposed = isinstance(op, graph.GemmOp) and op.trans_b is None
    given = signed_weights(builder, op.operands[1], int(is_transposed)) if uniform_8_bits(x) else None
    if x is None or given is None or not _is_plain(op):
        return None
    weights, scale = given[0], given[1] * x.scale
    rows = weights.T if is_transposed else weights
    flat = rows.reshape(len(rows), -1).astype(np.int64)
    bias = _integer_bias(builder, op.operands[2] if len(op.operands) > 2 else None, scale, flat.shape[:1])
    if bias is None:
        return None
    bias = bias - int(x.zero) * flat.sum(axis=1)
    if (np.abs(flat).sum(axis=1) * _largest(x) + np.abs(bias)).max() >= I32_LIMIT:
        return None
    operands = [x.value, builder.weight("weight", weights)]
    operands += [builder.weight("bias", bias.astype(np.int32))] if bias.any() else []
    properties = dict(op.properties)
    if isinstance(op, graph.ConvOp) and any(op.pads.get_values()):
        properties["pad_value"] = real(int(x.zero))
    made = type(op).create(operands=operands, properties=properties, result_types=[tensor(shape_of(op.result), i32)])
    return Accumulator(builder.emit(made, "accumulator"), scale, 1)


def _is_plain(op: graph.ConvOp | graph.GemmOp) -> bool:
    """Whether a product is padded with zeros, or has no factors."""
    if isinstance(op, graph.ConvOp):
        return op.pad_value.value.data == 0.0
    return (op.alpha.value.data, op.beta.value.data) == (1.0, 1.0)


def _matmul(builder: Builder, op: graph.MatmulOp) -> Accumulator | None:
    rank_b, axis = len(shape_of(op.b)), len(shape_of(op.result)) - 1
    a = quantised(op.a, builder.constants)
    if not uniform_8_bits(a):
        return None
    given = signed_weights(builder, op.b, rank_b - 1)
    if given is None:
        return _matmul_of_activations(builder, op, a)
    weights, scale = given[0], given[1] * a.scale
    sums = weights.astype(np.int64).sum(axis=-2, keepdims=True)
    bias = -int(a.zero) * sums
    if (np.abs(weights.astype(np.int64)).sum(axis=-2) * _largest(a)).max() + np.abs(bias).max() >= I32_LIMIT:
        return None
    value = builder.emit(graph.MatmulOp(a.value, builder.weight("weight", weights)), "product")
    if bias.any():
        squeezed = bias.reshape(bias.shape[-1:]) if bias.size == bias.shape[-1] else bias
        value = builder.emit(
            graph.BinaryOp("add", value, builder.weight("bias", squeezed.astype(np.int32))), "accumulator"
        )
    return Accumulator(value, scale, axis)


def _matmul_of_activations(builder: Builder, op: graph.MatmulOp, a: Quantised) -> Accumulator | None:
    """`sum (a - za)(b - zb) = sum a b - zb sum a - za sum b + K za zb`, all modulo 2^32."""
    b, inner = quantised(op.b, builder.constants), shape_of(op.a)[-1]
    if not uniform_8_bits(b) or inner * 255 * 255 >= I32_LIMIT:
        return None
    b = _as_signed(builder, b)
    value = builder.emit(graph.MatmulOp(a.value, b.value), "product")
    za, zb = int(a.zero), int(b.zero)
    if zb:
        rows = builder.emit(graph.ReduceOp("sum", a.value, axes=[len(shape_of(op.a)) - 1]))
        value = _plus_scaled(builder, value, rows, -zb)
    if za:
        columns = builder.emit(graph.ReduceOp("sum", b.value, axes=[len(shape_of(op.b)) - 2]))
        value = _plus_scaled(builder, value, columns, -za)
    value = builder.shifted(value, inner * za * zb)
    return Accumulator(value, a.scale * b.scale, 0)


def _plus_scaled(builder: Builder, value: SSAValue, sums: SSAValue, factor: int) -> SSAValue:
    scaled = builder.emit(graph.BinaryOp("mul", sums, builder.integer("factor", factor)))
    return builder.emit(graph.BinaryOp("add", value, scaled))


def _as_signed(builder: Builder, value: Quantised) -> Quantised:
    """The same numbers in si8: unsigned ones shifted by 128."""
    if value.element == si8:
        return value
    shifted = builder.emit(graph.CastOp(builder.widen(value.value, -128), si8))
    return Quantised(shifted, value.scale, value.zero - 128, value.axis)
