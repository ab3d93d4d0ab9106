"""Products of 8-bit integers with zero points, exact in i32, and what comes back to 8 bits by scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import element_of, shape_of, si8
from .formulas import Formulas
from .load import Array
from .node import Node
from .scope import Scope, Value
from .windows import ConvWindow, conv_window

BYTES = ("int8", "uint8")


def _signed(make: Formulas, x: SSAValue) -> tuple[SSAValue, int]:
    """8-bit integers as signed ones, and what was taken from them."""
    if element_of(x) == si8:
        return x, 0
    return make.cast(make.sub(make.cast(x, np.int32), 128), np.int8), 128


def _zero(make: Formulas, index: int, shape: Sequence[int]) -> SSAValue | None:
    """The zero point at an input, in i32, one number or under `shape`; None where it is not given or 0."""
    scope, node = make.scope, make.node
    if not node.has_input(index) or (scope.is_constant(node, index) and not scope.constant(node, index).any()):
        return None
    value = make.cast(make.operand(index), np.int32)
    return make.reshape(value, () if prod(shape_of(value)) == 1 else shape)


def _product(make: Formulas, a: int, b: int, a_zero: int, b_zero: int) -> SSAValue:
    """`(A - az) @ (B - bz)` as `A@B - bz * rows(A) - az * columns(B) + K * az * bz`, zero points of signed B."""
    left, right = make.operand(a), make.operand(b)
    right, taken = _signed(make, right)
    shapes = shape_of(left), shape_of(right)
    if min(map(len, shapes)) < 2:
        raise make.node.error("matrices", f"{list(shapes[0])} and {list(shapes[1])}")
    az = _zero(make, a_zero, (*shapes[0][:-1], 1) if len(shapes[0]) == 2 else (shapes[0][-2], 1))
    bz = _zero(make, b_zero, (1, shapes[1][-1]))
    if taken:
        bz = make.constant(np.asarray(-taken, np.int32)) if bz is None else make.sub(bz, taken)
    total = make.matmul(left, right)
    rows = make.reduce("sum", left, [len(shapes[0]) - 1])
    columns = make.reduce("sum", right, [len(shapes[1]) - 2])
    if bz is not None:
        total = make.sub(total, make.mul(rows, bz))
    if az is not None:
        total = make.sub(total, make.mul(columns, az))
    if az is not None and bz is not None:
        total = make.add(total, make.mul(make.mul(az, bz), shapes[0][-1]))
    return total


def matmul_integer(scope: Scope, node: Node) -> Sequence[Value]:
    """MatMulInteger."""
    for index in (0, 1):
        scope.require_type(node, index, BYTES)
    return (_product(Formulas(scope, node), 0, 1, 2, 3),)


def qlinear_matmul(scope: Scope, node: Node) -> Sequence[Value]:
    """QLinearMatMul."""
    for index in (0, 3):
        scope.require_type(node, index, BYTES)
    make = Formulas(scope, node)
    total = _product(make, 0, 3, 2, 5)
    rows = shape_of(make.operand(0))
    scale = make.mul(_scale(make, 1, (rows[-2], 1)), _scale(make, 4, (1, shape_of(total)[-1])))
    return (_requantized(make, total, scale, 6, 7),)


def _scale(make: Formulas, index: int, shape: Sequence[int]) -> SSAValue:
    make.scope.require_type(make.node, index, ("float32",))
    value = make.operand(index)
    return make.reshape(value, () if prod(shape_of(value)) == 1 else shape)


def _requantized(make: Formulas, total: SSAValue, scale: SSAValue, y_scale: int, y_zero: int) -> SSAValue:
    """`saturate(rint(total * scale / y_scale) + zero)`, one scale of the result."""
    make.scope.require_type(make.node, y_zero, BYTES)
    value = make.mul(make.cast(total, np.float32), scale)
    step, zero = _scale(make, y_scale, (1,)), make.operand(y_zero)
    if shape_of(step) or prod(shape_of(zero)) != 1:
        raise make.node.error("one scale and zero point of the result", "several")
    return make.scope.emit(graph.QuantizeOp(value, step, make.reshape(zero, ())))


def conv_integer(scope: Scope, node: Node) -> Sequence[Value]:
    """ConvInteger."""
    return (_conv(Formulas(scope, node), 0, 1, 2, 3),)


def qlinear_conv(scope: Scope, node: Node) -> Sequence[Value]:
    """QLinearConv."""
    make = Formulas(scope, node)
    total = _conv(make, 0, 3, 2, 5)
    along = (shape_of(total)[1], *(1,) * (len(shape_of(total)) - 2))
    if node.has_input(8):
        total = make.add(total, make.reshape(make.operand(8), along))
    return (_requantized(make, total, make.mul(_scale(make, 1, ()), _scale(make, 4, along)), 6, 7),)


def _taps_inside(window: ConvWindow, sizes: Sequence[int], kernel: Sequence[int]) -> Iterator[Array]:
    """For each spatial axis, which taps (columns) of which window (rows) lie inside the map and not in its padding."""
    for axis, (size, taps) in enumerate(zip(sizes, kernel, strict=True)):
        begin, end = window.pads[axis], window.pads[len(sizes) + axis]
        step, dilation = window.strides[axis], window.dilations[axis]
        outs = (size + begin + end - dilation * (taps - 1) - 1) // step + 1
        places = step * np.arange(outs)[:, None] + dilation * np.arange(taps) - begin
        yield (places >= 0) & (places < size)


def _conv(make: Formulas, x_at: int, w_at: int, x_zero: int, w_zero: int) -> SSAValue:
    """The convolution of `x - xz` with `w - wz`: what zero points add is a sum of weights and a sum of windows.

    A constant xz pads the map.  One that is known at run time only (DynamicQuantizeLinear) is taken from the taps that
    lie inside the map, so that weights of convolutions with padding must be constant then.
    """
    scope, node = make.scope, make.node
    for index in (x_at, w_at):
        scope.require_type(node, index, BYTES)
    x, (w, taken) = make.operand(x_at), _signed(make, make.operand(w_at))
    known = not node.has_input(x_zero) or scope.is_constant(node, x_zero)
    pad = int(scope.scalar(node, x_zero) or 0) if known else 0
    xz = pad if known else make.reshape(make.cast(make.operand(x_zero), np.int32), ())
    window = conv_window(node, shape_of(x), shape_of(w))
    along = (shape_of(w)[0], *(1,) * (len(shape_of(w)) - 2))

    def inside(weights: Array) -> SSAValue:
        """For each window, the sum of the weights at taps inside the map."""
        total = weights.sum(axis=1, dtype=np.int32)
        for taps in _taps_inside(window, shape_of(x)[2:], weights.shape[2:]):
            total = np.tensordot(total, taps.astype(np.int32), axes=([1], [1]))
        return make.constant(total)

    def summed(weights: SSAValue, known_weights: Callable[[], Array]) -> SSAValue:
        """The sums of products minus what the zero point of x adds."""
        sums = scope.emit(
            graph.ConvOp(
                x,
                weights,
                strides=window.strides,
                pads=window.pads,
                dilations=window.dilations,
                groups=window.groups,
                pad_value=pad,
            )
        )
        if known and not pad:
            return sums
        if not known and any(window.pads):
            return make.sub(sums, make.mul(inside(known_weights()), xz))
        added = make.mul(make.reduce("sum", weights, range(1, len(shape_of(weights)))), xz)
        return make.sub(sums, make.reshape(added, along))

    total = summed(w, lambda: scope.constant(node, w_at).astype(np.int32) - taken)
    wz = _zero(make, w_zero, along)
    if taken:
        wz = make.constant(np.asarray(-taken, np.int32)) if wz is None else make.sub(wz, taken)
    if wz is None:
        return total
    ones = np.ones(shape_of(w), np.int8)
    return make.sub(total, make.mul(summed(make.constant(ones), lambda: ones), wz))
