"""Layers of single elements; they join the group of the layer before them."""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ...algebra.expr import Call, Expr, Num
from ...dialects import graph
from ...dialects.types import Tensor, dtype_of, element_of, shape_of, tensor, tensor_type
from ...resources import one_number
from .builder import (
    GroupBuilder,
    Indices,
    Term,
    broadcast,
    call,
    copy,
    fresh_indices,
    per_axis,
    quantized,
    with_numbers,
)
from .scope import Scope


class Frame:
    """The index of an elementwise layer's result and its operands as terms."""

    def __init__(self, op: graph.LayerOp, builder: GroupBuilder, scope: Scope, terms: dict[SSAValue, Term]) -> None:
        self.op, self.builder, self.scope, self.terms = op, builder, scope, terms
        self.shape = shape_of(op.result)
        beside = [value for value in (*op.operands, *terms) if value in terms and shape_of(value) == self.shape]
        around = [value for value in terms if _broadcasts(self.shape, shape_of(value))]
        if beside:
            self.indices: Indices = terms[beside[0]].indices
        elif around:  # the group's other layers broadcast it
            self.indices = broadcast(terms[around[0]].indices, shape_of(around[0]), op.result)
        else:
            self.indices = fresh_indices(builder, self.shape)

    def operand(self, value: SSAValue, name: str = "X", indices: Indices | None = None) -> Term:
        """An operand that broadcasts to the result, or is read at `indices`."""
        if value in self.terms:
            return self.terms[value]
        places = broadcast(self.indices, self.shape, value) if indices is None else indices
        return self.scope.term(self.builder, value, name, places)

    def apply(self, name: str, type_: Tensor, value: object, terms: Sequence[Term]) -> Term:
        """A kernel at the result's index; in place where an operand made in this group is read for the last time."""
        into = next((t.value for t in terms if self._dies(t) and t.type == type_ and t.indices == self.indices), None)
        return self.builder.kernel(name, type_, self.indices, value, terms, into=into)  # pyright: ignore

    def _dies(self, term: Term) -> bool:
        """Whether nothing but this layer reads a term of the group."""
        if term.value.owner is self.builder.block:
            return False
        return all(t.value is not term.value or v.has_one_use() for v, t in self.terms.items())


def _broadcasts(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether a shape broadcasts to the other."""
    trailing = other[len(other) - len(shape) :]
    return len(shape) <= len(other) and all(one in (1, two) for one, two in zip(shape, trailing, strict=True))


def unary(op: graph.UnaryOp, frame: Frame) -> Term:
    """`Y = kind(X)`."""
    numbers = [a.value.data for a in (op.alpha, op.beta) if a is not None]
    kind = op.kind.data.value
    return frame.apply(kind, tensor_type(op.result), with_numbers(kind, *numbers), [frame.operand(op.x)])


def clip(op: graph.ClipOp, frame: Frame) -> Term:
    """`Y = clip(X, low, high)`, or the minimum or maximum alone."""
    low, high = (None if b is None else frame.scope.number(b.value.data, op.x) for b in (op.min, op.max))
    value = copy
    if low is not None and high is not None:
        value = with_numbers("clip", low, high)
    elif low is not None:
        value = with_numbers("max", low)
    elif high is not None:
        value = with_numbers("min", high)
    return frame.apply("clip", tensor_type(op.result), value, [frame.operand(op.x)])


def binary(op: graph.BinaryOp, frame: Frame) -> Term:
    """`Y = kind(A, B)`, operands broadcast; shifts are by 0 to 31 bits."""
    kind, y_type = op.kind.data, tensor_type(op.result)
    a, b = frame.operand(op.a, "A"), frame.operand(op.b, "B")
    if kind != graph.BinaryKind.SHR:
        return frame.apply(kind.value, y_type, call(kind.value), [a, b])
    known = frame.scope.constant(op.b)
    if known is not None and known.size == 1:
        return frame.apply("shr", y_type, with_numbers("rshift", int(np.clip(known.reshape(-1)[0], 0, 31))), [a])
    return frame.apply("shr", y_type, _shifted, [a, b])


def _shifted(a: Expr, b: Expr) -> Expr:
    return Call("rshift", (a, Call("clip", (b, Num(0), Num(31)))))


def select(op: graph.SelectOp, frame: Frame) -> Term:
    """`Y = C ? A : B`, operands broadcast."""
    terms = [frame.operand(op.condition, "C"), frame.operand(op.a, "A"), frame.operand(op.b, "B")]
    return frame.apply("select", tensor_type(op.result), call("select"), terms)


def cast(op: graph.CastOp, frame: Frame) -> Term:
    """`Y = X`, converted."""
    return frame.apply("cast", tensor_type(op.result), copy, [frame.operand(op.x)])


def requantize(op: graph.RequantizeOp, frame: Frame) -> Term:
    """`Y = clip(rshift_round(X * M, S) + zero_point, low, high)`."""
    axis = op.axis.value.data
    multiplier = frame.operand(op.multiplier, "M", per_axis(frame.indices, axis, op.multiplier))
    shift = frame.operand(op.shift, "S", per_axis(frame.indices, axis, op.shift))
    numbers = [Num(p.value.data) for p in (op.zero_point, op.low, op.high)]

    def value(x: Expr, m: Expr, s: Expr) -> Expr:
        rounded = Call("rshift_round", (Call("mul", (x, m)), s))
        return Call("clip", (Call("add", (rounded, numbers[0])), numbers[1], numbers[2]))

    return frame.apply("requantize", tensor_type(op.result), value, [frame.operand(op.x), multiplier, shift])


def quantize(op: graph.QuantizeOp, frame: Frame) -> Term:
    """`Y = clip(rint(X / scale) + zero_point, low, high)`; in steps where the zero point is not one known number."""
    axis = op.axis.value.data
    scale = frame.operand(op.scale, "S", per_axis(frame.indices, axis, op.scale))
    info = np.iinfo(dtype_of(element_of(op.result)))
    zero = _zero_point(op.zero_point, frame)
    x, y_type = frame.operand(op.x), tensor_type(op.result)
    if zero is not None:
        return frame.apply("quantize", y_type, quantized(zero, int(info.min), int(info.max)), [x, scale])
    assert op.zero_point is not None
    real = tensor(frame.shape, f32)
    z_type = tensor(shape_of(op.zero_point), f32)
    places = per_axis(frame.indices, axis, op.zero_point)
    point = frame.operand(op.zero_point, "Z", places)
    shifted = frame.builder.kernel("zero_point", z_type, places, copy, [point])
    y = frame.apply("quotient", real, call("div"), [x, scale])
    y = frame.builder.kernel("rint", real, frame.indices, call("rint"), [y], into=y.value)
    y = frame.builder.kernel("shift", real, frame.indices, call("add"), [y, shifted], into=y.value)
    limits = with_numbers("clip", float(info.min), float(info.max))
    y = frame.builder.kernel("clip", real, frame.indices, limits, [y], into=y.value)
    return frame.apply("quantize", y_type, copy, [y])


def dequantize(op: graph.DequantizeOp, frame: Frame) -> Term:
    """`Y = (X - zero_point) * scale`, the difference in i32."""
    axis = op.axis.value.data
    x, y_type = frame.operand(op.x), tensor_type(op.result)
    zero = _zero_point(op.zero_point, frame)
    middle = tensor(frame.shape, i32)
    if zero is None:
        assert op.zero_point is not None
        point = frame.operand(op.zero_point, "Z", per_axis(frame.indices, axis, op.zero_point))
        x = frame.apply("difference", middle, call("sub"), [x, point])
    elif zero != 0:
        x = frame.apply("difference", middle, with_numbers("sub", zero), [x])
    scale = frame.operand(op.scale, "S", per_axis(frame.indices, axis, op.scale))
    return frame.apply("dequantize", y_type, call("mul"), [x, scale])


def _zero_point(value: SSAValue | None, frame: Frame) -> int | None:
    """The zero point if it is one known number."""
    if value is None:
        return 0
    return one_number(frame.scope.constant(value))


def batch_norm(op: graph.BatchNormOp, frame: Frame) -> Term:
    """`Y = (X - mean) * (scale / sqrt(variance + epsilon)) + bias`, the factor once per channel."""
    builder, type_ = frame.builder, tensor_type(op.result)
    channel = (frame.indices[1],)
    scale, bias, mean, variance = (
        frame.operand(value, name, channel)
        for value, name in ((op.scale, "S"), (op.bias, "B"), (op.mean, "M"), (op.variance, "V"))
    )
    factor = builder.kernel("shifted", variance.type, channel, with_numbers("add", op.epsilon.value.data), [variance])
    factor = builder.kernel("root", factor.type, channel, call("sqrt"), [factor], into=factor.value)
    factor = builder.kernel("factor", factor.type, channel, call("div"), [scale, factor], into=factor.value)
    y = frame.apply("centre", type_, call("sub"), [frame.operand(op.x), mean])
    y = builder.kernel("scale", type_, frame.indices, call("mul"), [y, factor], into=y.value)
    return builder.kernel("bias", type_, frame.indices, call("add"), [y, bias], into=y.value)


ELEMENTWISE = {
    graph.UnaryOp: unary,
    graph.ClipOp: clip,
    graph.BinaryOp: binary,
    graph.SelectOp: select,
    graph.CastOp: cast,
    graph.RequantizeOp: requantize,
    graph.QuantizeOp: quantize,
    graph.DequantizeOp: dequantize,
    graph.BatchNormOp: batch_norm,
}
