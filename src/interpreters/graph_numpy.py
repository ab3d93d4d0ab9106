"""What layers mean, as NumPy on whole tensors: plain functions, f32 computed in f32, integers exact.

Integer products are summed in float64, which is exact below 2^53 and far above any sum of 8-bit products here.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..algebra.element import Array, is_float, least, limits
from ..algebra.functions import call_function
from ..dialects.graph import UnaryKind
from ..errors import TilewrightError

F32 = np.float32


def wide(array: Array) -> Array:
    """The array in a type that sums its products: f32 stays, integers become float64."""
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def narrow(array: Array, like: Array) -> Array:
    """A sum of products in the type that it is stored in: f32, or i32 for products of integers, which wrap."""
    return array.astype(np.float32, copy=False) if like.dtype.kind == "f" else array.astype(np.int64).astype(np.int32)


def windows(
    x: Array, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int], fill: float
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each position in the kernel: the elements that all windows see there, `[n, c, out...]`."""
    rank = len(kernel)
    around = [(0, 0), (0, 0), *((pads[i], pads[rank + i]) for i in range(rank))]
    padded = np.pad(x, around, constant_values=np.array(fill).astype(x.dtype)) if any(pads) else x
    extents = [(padded.shape[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    for position in product(*map(range, kernel)):
        starts = [dilations[i] * position[i] for i in range(rank)]
        cut = (slice(b, b + strides[i] * (extents[i] - 1) + 1, strides[i]) for i, b in enumerate(starts))
        yield position, padded[(slice(None), slice(None), *cut)]


def unfold(
    x: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    pad_value: float,
) -> Array:
    """The elements of each window as channels, `[n, kernel... * c, out...]`."""
    found = np.stack([seen for _, seen in windows(x, kernel, strides, pads, dilations, pad_value)], axis=1)
    return found.reshape(found.shape[0], -1, *found.shape[3:])


def conv(
    x: Array,
    w: Array,
    bias: Array | None,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    groups: int,
    pad_value: float,
) -> Array:
    """Convolution as one matrix product per kernel position, summed."""
    k, c = w.shape[0] // groups, w.shape[1]
    weights = wide(w).reshape(groups, k, c, *w.shape[2:])
    total: Array | None = None
    shape: tuple[int, ...] = ()
    for position, seen in windows(x, w.shape[2:], strides, pads, dilations, pad_value):
        shape = seen.shape[2:]
        columns = wide(np.ascontiguousarray(seen)).reshape(x.shape[0], groups, c, -1)
        part = np.matmul(weights[(slice(None), slice(None), slice(None), *position)], columns)
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None
    result = total.reshape(x.shape[0], w.shape[0], *shape)
    if bias is not None:
        result = result + wide(bias).reshape(-1, *(1,) * len(shape))
    return narrow(result, x)


def matmul(a: Array, b: Array) -> Array:
    """Matrix product with broadcast leading axes."""
    return narrow(np.matmul(wide(a), wide(b)), a)


def gemm(
    a: Array, b: Array, c: Array | None, alpha: float, beta: float, *, trans_a: bool = False, trans_b: bool = False
) -> Array:
    """`alpha * a @ b + beta * c`, a and b transposed where asked for; on integers alpha and beta are 1."""
    result = np.matmul(wide(a.T if trans_a else a), wide(b.T if trans_b else b))
    if a.dtype.kind == "f":
        result = result * F32(alpha)
        return result if c is None else result + F32(beta) * c
    return narrow(result if c is None else result + c, a)


def pool(
    kind: str,
    x: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    count_include_pad: bool,
) -> Array:
    """Maximum, sum or average over windows; elements outside of `x` take no part."""
    if kind == "max":
        return _fold(np.maximum, windows(x, kernel, strides, pads, dilations, least(x.dtype)))
    sums = x.astype(np.int32) if x.dtype.itemsize == 1 else x
    total = _fold(np.add, windows(sums, kernel, strides, pads, dilations, 0))
    if kind == "sum":
        return total
    if count_include_pad:
        return total / F32(math.prod(kernel))
    ones = np.ones((1, 1, *x.shape[2:]), F32)
    return total / _fold(np.add, windows(ones, kernel, strides, pads, dilations, 0))


def _fold(function: Callable[..., Array], pieces: Iterator[tuple[tuple[int, ...], Array]]) -> Array:
    result = next(pieces)[1].copy()
    for _, piece in pieces:
        function(result, piece, out=result)
    return result


def reduce(kind: str, x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    """Sum, mean, maximum or minimum along axes."""
    axis = tuple(axes)
    if kind == "sum":
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=np.int32 if x.dtype.itemsize == 1 else x.dtype)
    function = {"mean": np.mean, "max": np.max, "min": np.min}[kind]
    return np.asarray(function(x, axis=axis, keepdims=keepdims), dtype=x.dtype)


def softmax(x: Array, mask: Array | None, axis: int, scale: float | None, bounded: bool) -> tuple[Array, Array]:
    """Exponentials of `x * scale + mask`, relative to the maximum unless bounded, and their sums along the axis."""
    exponents = x if scale is None else x.astype(F32) * F32(scale)
    if mask is not None:
        exponents = exponents + mask.astype(F32)
    if not bounded:
        exponents = exponents - np.max(exponents, axis=axis, keepdims=True)
    powers = np.exp(exponents)
    return powers, np.sum(powers, axis=axis, keepdims=True)


def layer_norm(x: Array, scale: Array, bias: Array | None, axis: int, epsilon: float) -> Array:
    """Zero mean and unit variance over the axes from `axis` on, then scale and bias."""
    axes = tuple(range(axis, x.ndim))
    centred = x - np.mean(x, axis=axes, keepdims=True)
    variance = np.mean(centred * centred, axis=axes, keepdims=True)
    result = centred / np.sqrt(variance + F32(epsilon)) * scale
    return result if bias is None else result + bias


def standardize(x: Array, axis: int, epsilon: float, bits: int) -> Array:
    """Integers of zero mean and unit variance times `2^bits` over the axes from `axis` on, as `graph.standardize`."""
    axes, count = tuple(range(axis, x.ndim)), math.prod(x.shape[axis:])
    wide = x.astype(np.int64)
    total = wide.sum(axis=axes, keepdims=True)
    spread = np.maximum(count * (wide * wide).sum(axis=axes, keepdims=True) - total * total, count - 1).astype(F32)
    factor = F32(count << bits) / np.sqrt(spread + F32(count**2 * epsilon))
    offset = np.rint(total.astype(F32) / F32(count) * factor)
    return (wide * np.rint(factor).astype(np.int64) - offset.astype(np.int64)).astype(np.int32)


def lrn(x: Array, size: int, alpha: float, beta: float, bias: float, *, adds_in_i32: bool = False) -> Array:
    """Local response normalisation across channels, of f32 or i32, where a whole bias may be added to sums in i32."""
    before, channels = (size - 1) // 2, x.shape[1]
    squares = np.pad(x * x, [(0, 0), (before, size - 1 - before), *[(0, 0)] * (x.ndim - 2)])
    total = np.sum([squares[:, i : i + channels] for i in range(size)], axis=0, dtype=x.dtype)
    if adds_in_i32:
        return x.astype(F32) / np.power((total + np.int32(bias)).astype(F32), F32(beta))
    return x.astype(F32) / np.power(F32(bias) + F32(alpha / size) * total.astype(F32), F32(beta))


def batch_norm(x: Array, scale: Array, bias: Array, mean: Array, variance: Array, epsilon: float) -> Array:
    """Normalisation by given statistics, channels on axis 1."""
    shape = (-1, *(1,) * (x.ndim - 2))
    factor = scale / np.sqrt(variance + F32(epsilon))
    return (x - mean.reshape(shape)) * factor.reshape(shape) + bias.reshape(shape)


def _scalar(name: str) -> Callable[..., Array]:
    """A function as values of nests have it, of tensors and perhaps numbers, in the type of the first tensor."""
    return lambda x, *others: call_function(name, (x, *map(_array, others))).astype(x.dtype, copy=False)


def _array(value: Array | float) -> Array:
    return np.asarray(value, F32) if isinstance(value, float | int) else value


UNARY = {kind.value: _scalar(kind.value) for kind in UnaryKind}
"""Functions of one element, with alpha and beta where they have them."""

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum},
    **{n: _scalar(n) for n in ("div", "pow", "mod", "eq", "ne", "lt", "le", "gt", "ge", "band", "bor", "bxor")},
    "shr": lambda a, b: (a.astype(np.int64) >> np.clip(b.astype(np.int64), 0, 31)).astype(a.dtype),
}
"""Functions of two elements."""


def clip(x: Array, low: float | None, high: float | None) -> Array:
    """`min(max(x, low), high)`; integers are compared exactly."""
    if x.dtype.kind != "f":
        info = np.iinfo(x.dtype)
        bottom = info.min if low is None else int(low)
        top = info.max if high is None else int(high)
        wide_x = np.minimum(np.maximum(x.astype(np.int64), bottom), top)
        return np.clip(wide_x, info.min, info.max).astype(x.dtype)
    x = x if low is None else np.maximum(x, x.dtype.type(low))
    return x if high is None else np.minimum(x, x.dtype.type(high))


def cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """Floats to integers toward zero and saturating (NaN to 0), integers to integers by wrapping."""
    if not is_float(x.dtype) or is_float(dtype):
        return x.astype(dtype)
    low, high = limits(dtype)
    whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    inside = np.clip(whole, low, high)
    if dtype.itemsize < 8:
        return inside.astype(dtype)
    return np.where(whole >= 2.0**63, high, np.minimum(inside, 2.0**63 - 1024).astype(dtype))


def _per_axis(parameter: Array, x: Array, axis: int) -> Array:
    return parameter if parameter.ndim == 0 else parameter.reshape(-1, *(1,) * (x.ndim - axis - 1))


def quantize(x: Array, scale: Array, zero_point: Array | None, axis: int, dtype: np.dtype[Any]) -> Array:
    """`saturate(rint(x / scale) + zero_point)`."""
    zero = F32(0) if zero_point is None else _per_axis(zero_point.astype(F32), x, axis)
    return saturate(np.rint(x / _per_axis(scale, x, axis)) + zero, dtype)


def saturate(steps: Array, dtype: np.dtype[Any]) -> Array:
    """Whole f32 numbers in an integer type, those outside as the nearest inside."""
    info = np.iinfo(dtype)
    return np.nan_to_num(np.clip(steps, F32(info.min), F32(info.max)), nan=0.0).astype(dtype)


def dequantize(x: Array, scale: Array, zero_point: Array | None, axis: int) -> Array:
    """`f32(x - zero_point) * scale`."""
    steps = x.astype(np.int64)
    if zero_point is not None:
        steps = steps - _per_axis(zero_point.astype(np.int64), x, axis)
    return steps.astype(F32) * _per_axis(scale, x, axis)


def requantize(
    x: Array, multiplier: Array, shift: Array, axis: int, zero_point: int, low: int, high: int, dtype: np.dtype[Any]
) -> Array:
    """`clip(rshift_round(x * multiplier, shift) + zero_point, low, high)` in 64 bits."""
    value = x.astype(np.int64) * _per_axis(multiplier.astype(np.int64), x, axis)
    s = _per_axis(shift.astype(np.int64), x, axis)
    half = np.where(s > 0, np.int64(1) << np.maximum(s - 1, 0), 0)
    return np.clip(((value + half) >> s) + zero_point, low, high).astype(dtype)


def slice_(x: Array, starts: Sequence[int], steps: Sequence[int], sizes: Sequence[int]) -> Array:
    """`y[i, ...] = x[start + i * step, ...]`."""
    indices = (b + s * np.arange(n) for b, s, n in zip(starts, steps, sizes, strict=True))
    return x[np.ix_(*indices)] if x.ndim else x


def pad(x: Array, pads: Sequence[int], mode: str, value: float) -> Array:
    """More elements around `x`; pads are begin of every axis, then end."""
    around = [(pads[i], pads[x.ndim + i]) for i in range(x.ndim)]
    if mode == "constant":
        return np.pad(x, around, constant_values=np.array(value).astype(x.dtype))
    return np.pad(x, around, mode=mode)  # pyright: ignore[reportArgumentType, reportCallIssue]


def resize(x: Array, scales: Sequence[int]) -> Array:
    """Every element repeated `scales[i]` times along axis `i`."""
    for axis, scale in enumerate(scales):
        x = np.repeat(x, scale, axis=axis)
    return x


def rows_at(table: Array, index: Array) -> Array:
    """`table[index]`; `TilewrightError` (kind `inputs`) for an index of no row."""
    strange = index[(index < -len(table)) | (index >= len(table))]
    if strange.size:
        expected, lever = f"indices from {-len(table)} to {len(table) - 1}", "give inputs that are indices of rows"
        raise TilewrightError("inputs", f"lookup in {len(table)} rows", expected, f"{strange[0]}", lever)
    return np.take(table, index, axis=0)
