"""QuantizeLinear and DequantizeLinear, per tensor and per channel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from .arguments import axis_of
from .load import NUMPY_TYPES, type_name
from .node import Node
from .scope import Scope, Value, element_type

QUANTIZED = ("int8", "uint8")
"""Element types that values are quantised to."""


def quantize_linear(scope: Scope, node: Node) -> Sequence[Value]:
    """QuantizeLinear of f32 to int8 or uint8."""
    scope.require_type(node, 0, ("float32",))
    dtype = _output_type(scope, node)
    x, axis = scope.tensor(node, 0), _axis(scope, node)
    scale, zero = _scale(scope, node), _zero_point(scope, node, dtype)
    op = graph.QuantizeOp(x, scale, zero, axis=axis, element=element_type(node.label, dtype.name))
    return (scope.emit(op, node.outputs[0]),)


def dequantize_linear(scope: Scope, node: Node) -> Sequence[Value]:
    """DequantizeLinear of int8, uint8 or int32 to f32."""
    scope.require_type(node, 0, (*QUANTIZED, "int32"))
    x, axis = scope.tensor(node, 0), _axis(scope, node)
    scale, zero = _scale(scope, node), _zero_point(scope, node, scope.dtype(node, 0))
    return (scope.emit(graph.DequantizeOp(x, scale, zero, axis=axis), node.outputs[0]),)


def _output_type(scope: Scope, node: Node) -> np.dtype[Any]:
    wanted = node.integer("output_dtype", 0)
    if node.has_input(2):
        name = scope.dtype(node, 2).name
    else:
        name = NUMPY_TYPES[wanted].name if wanted in NUMPY_TYPES else type_name(wanted) if wanted else "uint8"
    if name not in QUANTIZED:
        raise node.error("a result of int8 or uint8", name)
    return np.dtype(name)


def _axis(scope: Scope, node: Node) -> int:
    """The axis of scale and zero point; 0 where they are one number."""
    if node.integer("block_size", 0):
        raise node.error("scales per tensor or per channel", f"blocks of {node.integer('block_size', 0)}")
    scale, shape = scope.shape(node, 1), scope.shape(node, 0)
    if scale in ((), (1,)):
        return 0
    axis = axis_of(node, node.integer("axis", 1), len(shape))
    if scale != (shape[axis],):
        found = f"scales of shape {list(scale)}"
        raise node.error(f"one scale, or {shape[axis]} along axis {axis}", found, kind="shape")
    return axis


def _scale(scope: Scope, node: Node) -> SSAValue:
    scope.require_type(node, 1, ("float32",))
    return _parameter(scope, node, 1)


def _zero_point(scope: Scope, node: Node, dtype: np.dtype[Any]) -> SSAValue | None:
    if not node.has_input(2):
        return None
    scope.require_type(node, 2, (dtype.name,))
    return _parameter(scope, node, 2)


def _parameter(scope: Scope, node: Node, index: int) -> SSAValue:
    """The tensor at `index`; one of a single element loses its axis."""
    value = scope.value(node, index)
    if scope.shape(node, index) != (1,):
        return scope.tensor(node, index)
    if isinstance(value, SSAValue):
        return scope.emit(graph.ReshapeOp(value, ()))
    return scope.weight(f"{node.inputs[index]}.scalar", value.reshape(()))
