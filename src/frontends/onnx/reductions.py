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


def log_softmax(scope: Scope, node: Node) -> Sequence[Value]:
    """`x - max - log(sum(exp(x - max)))` along an axis; before opset 13 over all axes from `axis` on together."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    axis = axis_of(node, node.integer("axis", -1 if node.version >= 13 else 1), len(shape), one_past=node.version < 13)
    if node.version < 13:
        x, axis = make.reshape(x, (prod(shape[:axis]), prod(shape[axis:]))), 1
    centred = make.sub(x, make.reduce("max", x, [axis]))
    result = make.sub(centred, make.unary("log", make.reduce("sum", make.unary("exp", centred), [axis])))
    return (make.reshape(result, shape),)


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


def batch_normalization(scope: Scope, node: Node) -> Sequence[Value]:
    """BatchNormalization with given statistics."""
    if node.integer("training_mode", 0) and node.version >= 14:
        return batch_training(scope, node)
    if any(node.has_output(i) for i in range(1, 5)):
        raise node.error("inference (training_mode 0, one output)", "training")
    if node.version < 9 and not node.integer("spatial", 1):
        raise node.error("spatial 1", "spatial 0")
    x, *parameters = (scope.tensor(node, i) for i in range(5))
    epsilon = node.real("epsilon", 1e-5)
    if all(scope.is_constant(node, i) for i in range(1, 5)):
        return (scope.emit(graph.BatchNormOp(x, *parameters, epsilon=epsilon), node.outputs[0]),)
    return (_batch_norm_written_out(scope, node, x, parameters, epsilon),)


def _batch_norm_written_out(
    scope: Scope, node: Node, x: SSAValue, parameters: list[SSAValue], epsilon: float
) -> SSAValue:
    name, rank = node.outputs[0], len(shape_of(x))
    scale, bias, mean, variance = parameters
    inverse = _inverse_root(scope, node, variance, epsilon, f"{name}.inverse")
    factor = scope.emit(graph.BinaryOp("mul", scale, inverse), f"{name}.factor")

    def channelwise(value: SSAValue, part: str) -> SSAValue:
        return scope.emit(graph.ReshapeOp(value, (*shape_of(value), *(1,) * (rank - 2))), f"{name}.{part}")

    centred = scope.emit(graph.BinaryOp("sub", x, channelwise(mean, "mean")), f"{name}.centred")
    scaled = scope.emit(graph.BinaryOp("mul", centred, channelwise(factor, "scale")), f"{name}.scaled")
    return scope.emit(graph.BinaryOp("add", scaled, channelwise(bias, "bias")), name)


def _inverse_root(scope: Scope, node: Node, variance: SSAValue, epsilon: float, name: str) -> SSAValue:
    """1 / sqrt(variance + epsilon)."""
    small = scope.literal(node, np.full((1,) * len(shape_of(variance)), epsilon, np.float32))
    shifted = scope.emit(graph.BinaryOp("add", variance, small), f"{name}.shifted")
    root = scope.emit(graph.UnaryOp("sqrt", shifted), f"{name}.root")
    return scope.emit(graph.UnaryOp("reciprocal", root), name)


def layer_normalization(scope: Scope, node: Node) -> Sequence[Value]:
    """LayerNormalization; mean and inverse deviation are computed apart where they are asked for."""
    x = scope.tensor(node, 0)
    rank = len(shape_of(x))
    axis, epsilon = axis_of(node, node.integer("axis", -1), rank), node.real("epsilon", 1e-5)
    scale, bias = (_expanded(scope, scope.optional_tensor(node, i), shape_of(x)[axis:]) for i in (1, 2))
    if scale is None:
        raise node.error("an input 1 (the scale)", "none", kind="parse")
    op = graph.LayerNormOp(x, scale, bias, axis=axis, epsilon=epsilon)
    result = scope.emit(op, node.outputs[0])
    if len(node.outputs) == 1:
        return (result,)
    axes, name = tuple(range(axis, rank)), node.outputs[0]
    mean = scope.emit(graph.ReduceOp("mean", x, axes=axes, keepdims=True), f"{name}.mean")
    centred = scope.emit(graph.BinaryOp("sub", x, mean), f"{name}.centred")
    square = scope.emit(graph.BinaryOp("mul", centred, centred), f"{name}.square")
    variance = scope.emit(graph.ReduceOp("mean", square, axes=axes, keepdims=True), f"{name}.variance")
    return (result, mean, _inverse_root(scope, node, variance, epsilon, f"{name}.inverse"))


def _expanded(scope: Scope, value: SSAValue | None, shape: tuple[int, ...]) -> SSAValue | None:
    if value is None or shape_of(value) == shape:
        return value
    return scope.emit(graph.ExpandOp(value, shape))


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
