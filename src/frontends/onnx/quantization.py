"""QuantizeLinear and DequantizeLinear, per tensor and per channel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from .arguments import axis_of
from .load import NUMPY_TYPES, type_name
from .node import Node
from .scope import Scope, Value, shape_of

QUANTIZED = ("int8", "uint8")
"""Element types that values are quantised to."""


def quantize_linear(scope: Scope, node: Node) -> Sequence[Value]:
    """QuantizeLinear of f32 to int8 or uint8."""
    scope.require_type(node, 0, ("float32",))
    scope.require_type(node, 1, ("float32",))
    x = scope.tensor(node, 0)
    zero = _zero_point(scope, node, _output_type(scope, node))
    scale, axis = _scale(scope, node, shape_of(x))
    return (scope.emit(graph.QuantizeOp(x, scale, zero, axis=axis), node.outputs[0]),)


def dequantize_linear(scope: Scope, node: Node) -> Sequence[Value]:
    """DequantizeLinear of int8, uint8 or int32 to f32."""
    scope.require_type(node, 0, (*QUANTIZED, "int32"))
    scope.require_type(node, 1, ("float32",))
    x = scope.tensor(node, 0)
    zero = _zero_point(scope, node, scope.dtype(node, 0))
    scale, axis = _scale(scope, node, shape_of(x))
    return (scope.emit(graph.DequantizeOp(x, scale, zero, axis=axis), node.outputs[0]),)


def _output_type(scope: Scope, node: Node) -> np.dtype[np.generic]:
    wanted = node.integer("output_dtype", 0)
    if node.has_input(2):
        dtype = scope.dtype(node, 2)
    else:
        dtype = NUMPY_TYPES.get(wanted, np.dtype(np.bool_)) if wanted else np.dtype(np.uint8)
    if dtype.name not in QUANTIZED:
        found = type_name(wanted) if wanted and not node.has_input(2) else dtype.name
        raise node.error("a result of int8 or uint8", found)
    return dtype


def _zero_point(scope: Scope, node: Node, dtype: np.dtype[np.generic]) -> SSAValue:
    if not node.has_input(2):
        shape = scope.shape(node, 1)
        return scope.literal(node, np.zeros(shape if shape != (1,) else (), dtype))
    if scope.dtype(node, 2) != dtype:
        raise node.error(f"a zero point of {dtype.name}", scope.dtype(node, 2).name, kind="shape")
    return _scalar(scope, node, scope.tensor(node, 2))


def _scalar(scope: Scope, node: Node, value: SSAValue) -> SSAValue:
    """A tensor of one element without axes; others as they are."""
    return scope.emit(graph.ReshapeOp(value, ())) if shape_of(value) == (1,) else value


def _scale(scope: Scope, node: Node, shape: tuple[int, ...]) -> tuple[SSAValue, int]:
    if node.integer("block_size", 0):
        raise node.error("scales per tensor or per channel", f"blocks of {node.integer('block_size', 0)}")
    scale = scope.shape(node, 1)
    if scale in ((), (1,)):
        return _scalar(scope, node, scope.tensor(node, 1)), 0
    axis = axis_of(node, node.integer("axis", 1), len(shape))
    if scale != (shape[axis],):
        raise node.error(
            f"one scale, or {shape[axis]} along axis {axis}", f"scales of shape {list(scale)}", kind="shape"
        )
    return scope.tensor(node, 1), axis
