"""Reductions along axes, and what is written with them: normalisations and softmax."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from ...dialects.types import dtype_of, element_of, shape_of
from .arguments import axes_of, axis_of
from .elementwise import NUMBERS
from .formulas import Formulas
from .scope import Node, Scope, Value

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


def rows_and_axis(make: Formulas) -> tuple[SSAValue, int]:
    """Input 0 and an axis of it; before opset 13 a matrix, whose rows are all axes from that on."""
    node, x = make.node, make.operand(0)
    shape, old = shape_of(x), node.version < 13
    axis = axis_of(node, node.integer("axis", 1 if old else -1), len(shape), one_past=old)
    return (make.reshape(x, (prod(shape[:axis]), prod(shape[axis:]))), 1) if old else (x, axis)


def log_softmax(scope: Scope, node: Node) -> Sequence[Value]:
    """`x - max - log(sum(exp(x - max)))` along an axis; before opset 13 over all axes from `axis` on together."""
    make = Formulas(scope, node)
    x, axis = rows_and_axis(make)
    centred = make.sub(x, make.reduce("max", x, [axis]))
    result = make.sub(centred, make.unary("log", make.reduce("sum", make.unary("exp", centred), [axis])))
    return (make.reshape(result, scope.shape(node, 0)),)


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
    return (_normalised(make, *moments(make, x, range(2, len(shape_of(x))))),)


def moments(make: Formulas, x: SSAValue, axes: Sequence[int]) -> tuple[SSAValue, SSAValue]:
    """Mean and variance along axes, which stay."""
    mean = make.reduce("mean", x, axes)
    centred = make.sub(x, mean)
    return mean, make.reduce("mean", make.mul(centred, centred), axes)


def batch_training(scope: Scope, node: Node) -> Sequence[Value]:
    """BatchNormalization in training mode as of opset 14: statistics of the batch, and running ones."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape, momentum = shape_of(x), node.real("momentum", 0.9)
    found = moments(make, x, [i for i in range(len(shape)) if i != 1])
    running = [
        make.add(make.mul(old, momentum), make.mul(make.reshape(new, (shape[1],)), 1 - momentum))
        for old, new in zip(map(make.operand, (3, 4)), found, strict=True)
    ]
    return (_normalised(make, *found), *running)


def batch_normalization(scope: Scope, node: Node) -> Sequence[Value]:
    """BatchNormalization with given statistics."""
    if node.integer("training_mode", 0) and node.version >= 14:
        return batch_training(scope, node)
    if any(node.has_output(i) for i in range(1, 5)):
        raise node.error("inference (training_mode 0, one output)", "training")
    if node.version < 9 and not node.integer("spatial", 1):
        raise node.error("spatial 1", "spatial 0")
    make = Formulas(scope, node)
    x, *parameters = map(make.operand, range(5))
    if all(scope.is_constant(node, i) for i in range(1, 5)):
        op = graph.BatchNormOp(x, *parameters, epsilon=node.real("epsilon", 1e-5))
        return (scope.emit(op, node.outputs[0]),)
    return (_normalised(make, *(_channelwise(make, value) for value in parameters[2:])),)


def _channelwise(make: Formulas, value: SSAValue) -> SSAValue:
    """Numbers of channels as they broadcast to input 0."""
    return make.reshape(value, (*shape_of(value), *(1,) * (len(make.scope.shape(make.node, 0)) - 2)))


def _normalised(make: Formulas, mean: SSAValue, variance: SSAValue) -> SSAValue:
    """Input 0 less the mean, by the deviation; times input 1 and plus input 2, of channels."""
    deviation = make.unary("sqrt", make.add(variance, make.node.real("epsilon", 1e-5)))
    scale, bias = (_channelwise(make, make.operand(i)) for i in (1, 2))
    return make.add(make.mul(make.div(make.sub(make.operand(0), mean), deviation), scale), bias)


def layer_normalization(scope: Scope, node: Node) -> Sequence[Value]:
    """LayerNormalization; mean and inverse deviation are computed apart where they are asked for."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    rank = len(shape_of(x))
    axis, epsilon = axis_of(node, node.integer("axis", -1), rank), node.real("epsilon", 1e-5)
    scale = make.expand(make.operand(1), shape_of(x)[axis:])
    bias = make.expand(make.operand(2), shape_of(x)[axis:]) if node.has_input(2) else None
    op = graph.LayerNormOp(x, scale, bias, axis=axis, epsilon=epsilon)
    result = scope.emit(op, node.outputs[0])
    if len(node.outputs) == 1:
        return (result,)
    mean, variance = moments(make, x, range(axis, rank))
    return (result, mean, make.unary("reciprocal", make.unary("sqrt", make.add(variance, epsilon))))


def softmax(scope: Scope, node: Node) -> Sequence[Value]:
    """Softmax; before opset 13 over all axes from `axis` on together."""
    x, name = scope.tensor(node, 0), node.outputs[0]
    shape = shape_of(x)
    if node.version >= 13:
        axis = axis_of(node, node.integer("axis", -1), len(shape))
        return (scope.emit(graph.SoftmaxOp(x, axis=axis), name),)
    axis = axis_of(node, node.integer("axis", 1), len(shape), one_past=True)
    wide = [i for i in range(axis, len(shape)) if shape[i] > 1]
    if len(wide) == 1 or (not wide and axis < len(shape)):
        return (scope.emit(graph.SoftmaxOp(x, axis=wide[0] if wide else axis), name),)
    flat = scope.emit(graph.ReshapeOp(x, (prod(shape[:axis]), prod(shape[axis:]))), f"{name}.flat")
    result = scope.emit(graph.SoftmaxOp(flat, axis=1), f"{name}.softmax")
    return (scope.emit(graph.ReshapeOp(result, shape), name),)
