"""Reductions along axes, and normalisations that are written with them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.types import dtype_of, element_of, shape_of
from .arguments import axes_of, axis_of
from .elementwise import NUMBERS
from .formulas import Formulas
from .node import Node
from .scope import Scope, Value

REDUCTIONS = {
    **{f"Reduce{name}": name for name in ("Mean", "Sum", "Max", "Min", "Prod", "L1", "L2")},
    **{f"Reduce{name}": name for name in ("LogSum", "LogSumExp", "SumSquare")},
}
"""ONNX reductions."""

AXES_INPUT_SINCE = {"ReduceSum": 13}
"""The opset from which a reduction takes its axes as an input; 18 for those not named."""

REAL = ("Mean", "L2", "LogSum", "LogSumExp")
"""Reductions that give fractions; of integers they are computed in f32, and cut."""


def reduce(scope: Scope, node: Node) -> Sequence[Value]:
    """ReduceMean and its kin; no axes means all axes."""
    kind = REDUCTIONS[node.op]
    scope.require_type(node, 0, (*NUMBERS, "bool") if kind in ("Max", "Min") else NUMBERS)
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    rank = len(shape_of(x))
    axes = axes_of(node, lambda i: scope.constant(node, i), rank, AXES_INPUT_SINCE.get(node.op, 18))
    if not axes:
        axes = () if node.integer("noop_with_empty_axes", 0) else tuple(range(rank))
    dtype = dtype_of(element_of(x))
    if dtype.kind != "f" and (kind in REAL or (dtype.itemsize < 4 and kind not in ("Max", "Min"))):
        x = make.cast(x, np.float32 if kind in REAL else np.int32)
    keepdims = bool(node.integer("keepdims", 1))
    result = make.cast(_reduced(make, kind, x, axes), dtype)
    if not keepdims:
        result = make.reshape(result, [e for i, e in enumerate(shape_of(result)) if i not in axes])
    return (result,)


def _reduced(make: Formulas, kind: str, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """The reduction, with axes that stay."""
    match kind:
        case "Mean" | "Sum" | "Max" | "Min":
            return make.reduce(kind.lower(), x, axes)
        case "Prod":
            for axis in axes:
                x = product(make, x, axis)
            return x
        case "L1":
            return make.reduce("sum", make.unary("abs", x), axes)
        case "SumSquare":
            return make.reduce("sum", make.mul(x, x), axes)
        case "L2":
            return make.unary("sqrt", make.reduce("sum", make.mul(x, x), axes))
        case "LogSum":
            return make.unary("log", make.reduce("sum", x, axes))
        case _:
            most = make.reduce("max", x, axes)
            total = make.reduce("sum", make.unary("exp", make.sub(x, most)), axes)
            return make.add(make.unary("log", total), most)


def product(make: Formulas, x: SSAValue, axis: int) -> SSAValue:
    """The product along an axis: halves of it multiplied until one element is left."""
    while (extent := shape_of(x)[axis]) > 1:
        half = extent // 2
        rest = make.part(x, axis, 2 * half, extent - 2 * half) if extent % 2 else None
        x = make.mul(make.part(x, axis, 0, half), make.part(x, axis, half, half))
        x = x if rest is None else make.concat([x, rest], axis)
    return x


def log_softmax(scope: Scope, node: Node) -> Sequence[Value]:
    """LogSoftmax; before opset 13 over all axes from `axis` on together."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    if node.version < 13:
        axis = axis_of(node, node.integer("axis", 1), len(shape), one_past=True)
        flat = make.reshape(x, (prod(shape[:axis]), prod(shape[axis:])))
        return (make.reshape(log_of_softmax(make, flat, 1), shape),)
    return (log_of_softmax(make, x, axis_of(node, node.integer("axis", -1), len(shape))),)


def log_of_softmax(make: Formulas, x: SSAValue, axis: int) -> SSAValue:
    """`x - max - log(sum(exp(x - max)))` along an axis."""
    centred = make.sub(x, make.reduce("max", x, [axis]))
    return make.sub(centred, make.unary("log", make.reduce("sum", make.unary("exp", centred), [axis])))


def lp_normalization(scope: Scope, node: Node) -> Sequence[Value]:
    """LpNormalization with p 1 or 2; a norm of 0 gives 0."""
    make, x, p = Formulas(scope, node), scope.tensor(node, 0), node.integer("p", 2)
    if p not in (1, 2):
        raise node.error("p 1 or 2", str(p))
    axis = axis_of(node, node.integer("axis", -1), len(shape_of(x)))
    norm = _reduced(make, f"L{p}", x, [axis])
    nothing = make.binary("eq", norm, 0.0)
    return (make.div(x, make.select(nothing, 1.0, norm)),)


def instance_normalization(scope: Scope, node: Node) -> Sequence[Value]:
    """InstanceNormalization over the axes behind the channels."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    mean, variance = moments(make, x, range(2, len(shape)))
    deviation = make.unary("sqrt", make.add(variance, node.real("epsilon", 1e-5)))
    scale, bias = (make.reshape(make.operand(i), (shape[1], *(1,) * (len(shape) - 2))) for i in (1, 2))
    return (make.add(make.mul(make.div(make.sub(x, mean), deviation), scale), bias),)


def moments(make: Formulas, x: SSAValue, axes: Sequence[int]) -> tuple[SSAValue, SSAValue]:
    """Mean and variance along axes, which stay."""
    mean = make.reduce("mean", x, axes)
    centred = make.sub(x, mean)
    return mean, make.reduce("mean", make.mul(centred, centred), axes)


def batch_training(scope: Scope, node: Node) -> Sequence[Value]:
    """BatchNormalization in training mode as of opset 14: statistics of the batch, and running ones."""
    make = Formulas(scope, node)
    x, scale, bias, mean, variance = (make.operand(i) for i in range(5))
    shape, momentum = shape_of(x), node.real("momentum", 0.9)
    found = moments(make, x, [i for i in range(len(shape)) if i != 1])
    deviation = make.unary("sqrt", make.add(found[1], node.real("epsilon", 1e-5)))
    along = (shape[1], *(1,) * (len(shape) - 2))
    normal = make.div(make.sub(x, found[0]), deviation)
    result = make.add(make.mul(normal, make.reshape(scale, along)), make.reshape(bias, along))
    running = [
        make.add(make.mul(old, momentum), make.mul(make.reshape(new, (shape[1],)), 1 - momentum))
        for old, new in zip((mean, variance), found, strict=True)
    ]
    return (result, *running)
