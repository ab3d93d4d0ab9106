"""Sums of products: convolution, matrix products."""

from xdsl.dialects.builtin import f32

from ...algebra.expr import Call, Expr
from ...dialects import graph
from ...dialects.types import element_of, shape_of, tensor_type
from .builder import GroupBuilder, Indices, Term, broadcast, copy, index, out_of_bounds, scaled, with_numbers
from .scope import Scope

SPATIAL = {1: (("p",), ("r",)), 2: (("p", "q"), ("r", "s")), 3: (("o", "p", "q"), ("t", "r", "s"))}


def product(a: Expr, b: Expr) -> Expr:
    """`a * b`."""
    return Call("mul", (a, b))


Window = graph.ConvOp | graph.PoolOp | graph.UnfoldOp


def window_indices(op: Window, places: list[dict[str, int]], taps: list[dict[str, int]]) -> Indices:
    """Where a window sees its input: `stride*p + dilation*r - pad` of each axis."""
    strides, dilations, pads = op.strides.get_values(), op.dilations.get_values(), op.pads.get_values()
    return tuple(
        index(scaled(p, strides[i]) | scaled(r, dilations[i]), -pads[i])
        for i, (p, r) in enumerate(zip(places, taps, strict=True))
    )


def conv(op: graph.ConvOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[n, K*g+k, p, q] += X[n, C*g+c, stride*p + dilation*r - pad, ...] * W[K*g+k, c, r, s]`, from the bias."""
    x_shape, w_shape, y_shape = shape_of(op.x), shape_of(op.w), shape_of(op.result)
    groups = op.groups.value.data
    rank = len(x_shape) - 2
    outer, inner = SPATIAL[rank]
    n = builder.dim("n", x_shape[0])
    g = builder.dim("g", groups)
    k = builder.dim("k", w_shape[0] // groups)
    places = [builder.dim(name, extent) for name, extent in zip(outer, y_shape[2:], strict=True)]
    c = builder.dim("c", w_shape[1])
    taps = [builder.dim(name, extent) for name, extent in zip(inner, w_shape[2:], strict=True)]
    channel = index(scaled(g, w_shape[0] // groups) | k)
    target = (index(n), channel, *(index(p) for p in places))
    window = window_indices(op, places, taps)
    x = builder.term(scope.outer(op.x), "X", (index(n), index(scaled(g, w_shape[1]) | c), *window))
    w = builder.term(scope.outer(op.w), "W", (channel, index(c), *(index(r) for r in taps)))
    y_type = tensor_type(op.result)
    start = None
    if op.bias is not None:
        bias = builder.term(scope.outer(op.bias), "B", (channel,))
        start = builder.kernel("bias", y_type, target, copy, [bias]).value
    outside = out_of_bounds(x.indices, x_shape, builder.dims)
    pad = {0: scope.number(op.pad_value.value.data, op.x)} if outside else None
    return builder.kernel("mac", y_type, target, product, [x, w], "+=", start, pad)


def gemm(op: graph.GemmOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[m, n] += A[m, k] * B[k, n]` from `beta * C`, or scaled by alpha before C is added."""
    y_shape = shape_of(op.result)
    depth = shape_of(op.a)[0 if op.trans_a is not None else 1]
    m, n, k = (index(builder.dim(name, e)) for name, e in zip("mnk", (*y_shape, depth), strict=True))
    a = builder.term(scope.outer(op.a), "A", (k, m) if op.trans_a is not None else (m, k))
    b_indices = (n, k) if op.trans_b is not None else (k, n)
    b = builder.term(scope.outer(op.b), "B", b_indices)
    y_type, target = tensor_type(op.result), (m, n)
    alpha, beta = op.alpha.value.data, op.beta.value.data
    if element_of(op.result) != f32:
        alpha, beta = 1.0, 1.0
    addend = None if op.c is None or beta == 0 else _addend(op, builder, scope, target, beta)
    if alpha == 1.0:
        start = None if addend is None else addend.value
        return builder.kernel("mac", y_type, target, product, [a, b], "+=", start)
    y = builder.kernel("mac", y_type, target, product, [a, b], "+=")
    y = builder.kernel("scale", y_type, target, with_numbers("mul", alpha), [y], into=y.value)
    if addend is None:
        return y
    return builder.kernel("add", y_type, target, lambda p, q: Call("add", (p, q)), [y, addend], into=y.value)


def _addend(op: graph.GemmOp, builder: GroupBuilder, scope: Scope, target: Indices, beta: float) -> Term:
    assert op.c is not None
    c = builder.term(scope.outer(op.c), "C", broadcast(target, shape_of(op.result), op.c))
    value = copy if beta == 1.0 else with_numbers("mul", beta)
    return builder.kernel("bias", tensor_type(op.result), target, value, [c])


def matmul(op: graph.MatmulOp, builder: GroupBuilder, scope: Scope) -> Term:
    """`Y[b..., m, n] += A[b..., m, k] * B[b..., k, n]`, leading axes broadcast."""
    y_shape, depth = shape_of(op.result), shape_of(op.a)[-1]
    batch = tuple(index(builder.dim("bhxyz"[i % 5], e)) for i, e in enumerate(y_shape[:-2]))
    m, n, k = (index(builder.dim(name, e)) for name, e in zip("mnk", (*y_shape[-2:], depth), strict=True))
    a_batch = _leading(batch, y_shape[:-2], shape_of(op.a)[:-2])
    b_batch = _leading(batch, y_shape[:-2], shape_of(op.b)[:-2])
    a = builder.term(scope.outer(op.a), "A", (*a_batch, m, k))
    b = builder.term(scope.outer(op.b), "B", (*b_batch, k, n))
    return builder.kernel("mac", tensor_type(op.result), (*batch, m, n), product, [a, b], "+=")


def _leading(batch: Indices, shape: tuple[int, ...], extents: tuple[int, ...]) -> Indices:
    skipped = len(shape) - len(extents)
    zero = index({})
    return tuple(zero if extent == 1 else batch[skipped + i] for i, extent in enumerate(extents))
