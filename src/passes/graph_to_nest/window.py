"""Reductions: pooling, reduction along axes, local response normalisation, softmax, layer normalisation."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue

from ...algebra.affine import to_affine
from ...algebra.expr import Call, Expr, Num
from ...algebra.kernel import identity_of
from ...dialects import graph
from ...dialects.types import Tensor, dtype_of, element_of, shape_of, tensor, tensor_type
from .builder import (
    GroupBuilder,
    Indices,
    Term,
    broadcast,
    call,
    copy,
    fresh_indices,
    index,
    out_of_bounds,
    quantized,
    scaled,
    with_numbers,
)
from .contraction import SPATIAL, window_indices
from .scope import Scope

REDUCE = {"sum": "+=", "mean": "+=", "average": "+=", "max": "max=", "min": "min="}


def pool(op: graph.PoolOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[n, c, p, q] reduce X[n, c, stride*p + dilation*r - pad, ...]`; an average is divided by its count."""
    x_shape, y_shape, kernel = shape_of(op.x), shape_of(op.result), op.kernel.get_values()
    outer, inner = SPATIAL[len(kernel)]
    n, c = (index(builder.dim(name, e)) for name, e in zip("nc", x_shape[:2], strict=True))
    places = [builder.dim(name, e) for name, e in zip(outer, y_shape[2:], strict=True)]
    taps = [builder.dim(name, e) for name, e in zip(inner, kernel, strict=True)]
    window = window_indices(op, places, taps)
    x = builder.term(scope.outer(op.x), "X", (n, c, *window))
    kind, y_type, target = op.kind.data.value, tensor_type(op.result), (n, c, *(index(p) for p in places))
    outside = out_of_bounds(x.indices, x_shape, builder.dims)
    reduce = REDUCE[kind]
    pad = {0: identity_of(reduce, dtype_of(x.type.element_type)).item()} if outside else None
    y = builder.kernel(kind, y_type, target, copy, [x], reduce, pad=pad)
    if kind != "average":
        return y
    if op.count_include_pad is not None or not outside:
        divide = with_numbers("div", float(prod(kernel)))
        return builder.kernel("divide", y_type, target, divide, [y], into=y.value)
    counts = scope.weight(f"{builder.name}.counts", window_counts(x_shape[2:], op))
    count = builder.term(counts, "N", target[2:])
    return builder.kernel("divide", y_type, target, call("div"), [y, count], into=y.value)


def unfold(op: graph.UnfoldOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[n, C*r + c, p, q] = X[n, c, stride*p + dilation*r - pad, ...]`."""
    x_shape, y_shape, kernel = shape_of(op.x), shape_of(op.result), op.kernel.get_values()
    outer, inner = SPATIAL[len(kernel)]
    n, c = (builder.dim(name, extent) for name, extent in zip("nc", x_shape[:2], strict=True))
    taps = [builder.dim(name, extent) for name, extent in zip(inner, kernel, strict=True)]
    places = [builder.dim(name, extent) for name, extent in zip(outer, y_shape[2:], strict=True)]
    window = window_indices(op, places, taps)
    x = builder.term(scope.outer(op.x), "X", (index(n), index(c), *window))
    channel = dict(c)
    for place, tap in enumerate(taps):
        channel |= scaled(tap, x_shape[1] * prod(kernel[place + 1 :]))
    pad = {0: scope.number(op.pad_value.value.data, op.x)} if out_of_bounds(x.indices, x_shape, builder.dims) else None
    target = (index(n), index(channel), *(index(p) for p in places))
    return builder.kernel("unfold", tensor_type(op.result), target, copy, [x], pad=pad)


def window_counts(spatial: tuple[int, ...], op: graph.PoolOp) -> np.ndarray[Any, Any]:
    """How many elements of each window lie inside of the input, as f32."""
    counts = np.ones((), np.float32)
    for i, extent in enumerate(shape_of(op.result)[2:]):
        starts = np.arange(extent) * op.strides.get_values()[i] - op.pads.get_values()[i]
        taps, step = op.kernel.get_values()[i], op.dilations.get_values()[i]
        before, until = (np.clip(-(-(end - starts) // step), 0, taps) for end in (0, spatial[i]))
        counts = counts[..., None] * (until - before).astype(np.float32)
    return counts


def reduce(op: graph.ReduceOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[i] reduce X[i, j]`; a mean is divided by the number of elements."""
    shape, axes = shape_of(op.x), op.axes.get_values()
    indices = fresh_indices(builder, shape)
    x = builder.term(scope.outer(op.x), "X", indices)
    kept = tuple(i for axis, i in enumerate(indices) if axis not in axes)
    if op.keepdims is not None:
        kept = tuple(Num(0) if axis in axes else i for axis, i in enumerate(indices))
    kind, y_type = op.kind.data.value, tensor_type(op.result)
    y = builder.kernel(kind, y_type, kept, copy, [x], REDUCE[kind])
    if kind != "mean":
        return y
    divide = with_numbers("div", float(prod(shape[axis] for axis in axes)))
    return builder.kernel("divide", y_type, kept, divide, [y], into=y.value)


def lrn(op: graph.LrnOp, builder: GroupBuilder, scope: Scope) -> Term:
    """Squares of all channels and a border, sums over neighbours, then `X / (bias + alpha/size * sum) ^ beta`.

    Of integers the squares and sums are in i32.
    """
    shape, size = shape_of(op.x), op.size.value.data
    target, y_type = fresh_indices(builder, shape), tensor_type(op.result)
    x, squares = _squares(op, builder, scope, target)
    y = _running_sum(builder, squares, target, size)
    if op.adds_in_i32:
        y = builder.kernel("bias", y.type, target, with_numbers("add", int(op.bias.value.data)), [y], into=y.value)
    else:
        steps = [("scale", "mul", op.alpha.value.data / size), ("bias", "add", op.bias.value.data)]
        for name, function, number in steps if op.alpha.value.data != size else steps[1:]:
            y = builder.kernel(name, y_type, target, with_numbers(function, number), [y], into=_over(y, y_type))
    power = with_numbers("pow", op.beta.value.data)
    y = builder.kernel("power", y_type, target, power, [y], into=_over(y, y_type))
    return builder.kernel("divide", y_type, target, call("div"), [x, y], into=y.value)


def _over(term: Term, type_: Tensor) -> SSAValue | None:
    """The tensor of a term, if a result of a type may take its place."""
    return term.value if term.type == type_ else None


def _squares(op: graph.LrnOp, builder: GroupBuilder, scope: Scope, target: Indices) -> tuple[Term, Term]:
    """What is divided, and the squares of as many channels as all sums take, zero beyond the borders."""
    shape, size = shape_of(op.x), op.size.value.data
    border = builder.dim("e", shape[1] + size - 1)
    wide = (target[0], index(border), *target[2:])
    type_ = tensor((shape[0], shape[1] + size - 1, *shape[2:]), f32 if op.zero_point is None else i32)
    before, zero = (size - 1) // 2, 0 if op.zero_point is None else op.zero_point.value.data
    neighbours = builder.term(scope.outer(op.x), "N", (target[0], index(border, -before), *target[2:]))
    pad = {0: scope.number(zero, op.x)} if size > 1 else None
    if zero:
        neighbours = builder.kernel("difference", type_, wide, with_numbers("sub", zero), [neighbours], pad=pad)
        own = (target[0], index(dict(to_affine(target[1]).terms), before), *target[2:])
        x, pad = Term(neighbours.value, own), None
    else:
        x = builder.term(scope.outer(op.x), "X", target)
    return x, builder.kernel("square", type_, wide, lambda a: call("mul")(a, a), [neighbours], pad=pad)


def _running_sum(builder: GroupBuilder, x: Term, target: Indices, size: int) -> Term:
    """`Y[n, c, ...] = sum_r X[n, c + r, ...]`, r below `size`, from sums of 2, 4, ... neighbours, each of two."""
    (samples, channels, *rest), element = shape_of(x.value), element_of(x.value)
    channel = dict(to_affine(target[1]).terms)

    def added(first: Term, second: Term, apart: int, width: int) -> Term:
        """The sum of two that begin so far apart, and are one of `width` together."""
        extent = channels - width + 1
        at = channel if width == size else builder.dim("e", extent)
        terms = [
            Term(term.value, (target[0], index(at, by), *target[2:])) for term, by in ((first, 0), (second, apart))
        ]
        type_ = tensor((samples, extent, *rest), element)
        into = _over(first, type_)
        return builder.kernel("sum", type_, (target[0], index(at), *target[2:]), call("add"), terms, into=into)

    sums = {1: x}
    while 2 * max(sums) <= size:
        width = max(sums)
        sums[2 * width] = added(sums[width], sums[width], width, 2 * width)
    total, taken = sums[max(sums)], max(sums)
    for width in sorted((width for width in sums if width < taken and size & width), reverse=True):
        total = added(total, sums[width], taken, taken + width)
        taken += width
    return Term(total.value, target)


def softmax(op: graph.SoftmaxOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`exp(X - max X)` over its sum along the axis; quantised, that sum is multiplied by the step first.

    X is multiplied by a scale before, and a mask is added to it, where the layer has them.
    """
    axis, shape, real = op.axis.value.data, shape_of(op.x), tensor(shape_of(op.x), f32)
    indices = fresh_indices(builder, shape)
    row = (*indices[:axis], Num(0), *indices[axis + 1 :])
    row_type = tensor((*shape[:axis], 1, *shape[axis + 1 :]), f32)
    x = builder.term(scope.outer(op.x), "X", indices)
    along, own = shape[axis] > 1, False
    if op.scale is not None:
        x, own = builder.kernel("dequantize", real, indices, with_numbers("mul", op.scale.value.data), [x]), True
    if op.mask is not None:
        mask = scope.term(builder, op.mask, "M", broadcast(indices, shape, op.mask))
        if mask.type.element_type != f32:
            mask = builder.kernel("mask", tensor(shape_of(op.mask), f32), mask.indices, copy, [mask])
        x, own = builder.kernel("masked", real, indices, call("add"), [x, mask], into=x.value if own else None), True
    if op.bounded is None:
        most = builder.kernel("max", row_type, row, copy, [x], "max=" if along else "=")
        x, own = builder.kernel("difference", real, indices, call("sub"), [x, most]), True
    y = builder.kernel("exp", real, indices, call("exp"), [x], into=x.value if own else None)
    total = builder.kernel("sum", row_type, row, copy, [y], "+=" if along else "=")
    if op.step is None or op.zero_point is None:
        return builder.kernel("quotient", real, indices, call("div"), [y, total], into=y.value)
    total = builder.kernel("steps", row_type, row, with_numbers("mul", op.step.value.data), [total], into=total.value)
    info = np.iinfo(dtype_of(element_of(op.result)))
    rounded = quantized(op.zero_point.value.data, int(info.min), int(info.max))
    return builder.kernel("quantize", tensor_type(op.result), indices, rounded, [y, total])


def layer_norm(op: graph.LayerNormOp, builder: GroupBuilder, scope: Scope) -> Term:
    """Mean, differences, their mean square, then `difference / sqrt(variance + epsilon) * scale + bias`."""
    axis, shape, type_ = op.axis.value.data, shape_of(op.x), tensor_type(op.result)
    indices = fresh_indices(builder, shape, "nmjxyz")
    row = (*indices[:axis], *(Num(0) for _ in indices[axis:]))
    row_type = tensor((*shape[:axis], *(1 for _ in shape[axis:])), f32)
    count = float(prod(shape[axis:]))
    along = "+=" if count > 1 else "="
    x = builder.term(scope.outer(op.x), "X", indices)
    mean = builder.kernel("sum", row_type, row, copy, [x], along)
    mean = builder.kernel("mean", row_type, row, with_numbers("div", count), [mean], into=mean.value)
    y = builder.kernel("difference", type_, indices, call("sub"), [x, mean])
    square = builder.kernel("square", type_, indices, lambda a: call("mul")(a, a), [y])
    spread = builder.kernel("squares", row_type, row, copy, [square], along)
    for name, value in (
        ("variance", with_numbers("div", count)),
        ("shifted", with_numbers("add", op.epsilon.value.data)),
        ("deviation", call("sqrt")),
    ):
        spread = builder.kernel(name, row_type, row, value, [spread], into=spread.value)
    y = builder.kernel("normal", type_, indices, call("div"), [y, spread], into=y.value)
    scale = builder.term(scope.outer(op.scale), "S", indices[axis:])
    y = builder.kernel("scale", type_, indices, call("mul"), [y, scale], into=y.value)
    if op.bias is None:
        return y
    bias = builder.term(scope.outer(op.bias), "B", indices[axis:])
    return builder.kernel("bias", type_, indices, call("add"), [y, bias], into=y.value)


def standardize(op: graph.StandardizeOp, builder: GroupBuilder, scope: Scope) -> Term:
    """Sums and sums of squares, from which rows get a factor R and an offset B, then `X R - B`."""
    axis, shape, type_ = op.axis.value.data, shape_of(op.x), tensor_type(op.result)
    indices = fresh_indices(builder, shape, "nmjxyz")
    row = (*indices[:axis], *(Num(0) for _ in indices[axis:]))
    rows = (*shape[:axis], *(1 for _ in shape[axis:]))
    whole, wide, real = tensor(rows, i32), tensor(rows, i64), tensor(rows, f32)
    count = prod(shape[axis:])
    x = builder.term(scope.outer(op.x), "X", indices)

    def of_rows(type_: Tensor, terms: Sequence[Term], *steps: tuple[str, Callable[..., Expr]]) -> Term:
        for name, value in steps:
            into = terms[0].value if terms[0].type == type_ and len(terms) == 1 else None
            terms = [builder.kernel(name, type_, row, value, terms, into=into)]
        return terms[0]

    total = builder.kernel("sum", whole, row, copy, [x], "+=")
    one = builder.kernel("wide", type_, indices, copy, [x])
    square = builder.kernel("square", type_, indices, lambda a: call("mul")(a, a), [one])
    squares = builder.kernel("squares", whole, row, copy, [square], "+=")
    most = of_rows(wide, [squares], ("wide", copy), ("times", with_numbers("mul", count)))
    least = of_rows(wide, [total], ("wide", copy), ("square", lambda a: call("mul")(a, a)))
    spread = of_rows(wide, [most, least], ("spread", call("sub")), ("least", with_numbers("max", count - 1)))
    factor = of_rows(
        real,
        [spread],
        ("real", copy),
        ("shifted", with_numbers("add", count**2 * op.epsilon.value.data)),
        ("deviation", call("sqrt")),
        ("factor", lambda a: Call("div", (Num(float(count << op.bits.value.data)), a))),
    )
    offset = of_rows(real, [total], ("real", copy), ("mean", with_numbers("div", float(count))))
    offset = of_rows(real, [offset, factor], ("offset", call("mul")), ("rint", call("rint")))
    factor = of_rows(whole, [of_rows(real, [factor], ("rint", call("rint")))], ("integer", copy))
    offset = of_rows(whole, [offset], ("integer", copy))
    one = builder.kernel("wide", type_, indices, copy, [x])
    y = builder.kernel("scale", type_, indices, call("mul"), [one, factor], into=square.value)
    return builder.kernel("offset", type_, indices, call("sub"), [y, offset], into=y.value)
