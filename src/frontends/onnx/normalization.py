"""BatchNormalization, LayerNormalization and Softmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from .arguments import axis_of
from .node import Node
from .reductions import batch_training
from .scope import Scope, Value, shape_of


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
