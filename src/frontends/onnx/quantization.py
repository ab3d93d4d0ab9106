"""QuantizeLinear and DequantizeLinear, per tensor, per channel and in blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array, float_limits, is_float, limits
from ...dialects import graph
from ...dialects.types import shape_of
from .arguments import axis_of, numpy_type
from .formulas import Formulas
from .load import NUMPY_TYPES, type_name
from .scope import RUNTIME_TYPES, Node, Scope, Value, element_type


@dataclass(frozen=True)
class BlockedWeights:
    """Integers less their zero points `[rows, columns]`, and a scale for each `block` of rows of a column."""

    steps: Array
    scales: Array
    block: int

    @property
    def fits_bytes(self) -> bool:
        """Whether the integers are signed bytes."""
        most = np.abs(self.steps).max(initial=0)
        return bool(most <= np.iinfo(np.int8).max and np.all(self.steps == np.rint(self.steps)))


def blocked_product(make: Formulas, x: SSAValue, weights: BlockedWeights) -> SSAValue:
    """`x [..., rows]` (f32) by weights: a product for each row of blocks, times its scales, and their sum."""
    shape, (rows, columns), block = shape_of(x), weights.steps.shape, weights.block
    count, samples = len(weights.scales), prod(shape[:-1])
    flat = make.pad(make.reshape(x, (samples, rows)), 1, 0, count * block - rows)
    blocks = make.transpose(make.reshape(flat, (samples, count, block)), [1, 0, 2])
    steps = np.pad(weights.steps, ((0, count * block - rows), (0, 0))).reshape(count, block, columns)
    factors = np.ascontiguousarray(weights.scales.reshape(count, 1, columns), np.float32)
    if weights.fits_bytes:
        one = make.constant(np.ones((), np.float32))
        whole = make.scope.emit(graph.DequantizeOp(make.constant(steps.astype(np.int8)), one))
        products = make.mul(make.matmul(blocks, whole), make.constant(factors))
    else:
        products = make.matmul(blocks, make.constant(steps * factors))
    return make.reshape(make.reduce("sum", products, [0]), (*shape[:-1], columns))


QUANTIZED = ("int8", "uint8")
"""Element types that values are quantised to."""


def quantize_linear(scope: Scope, node: Node) -> Sequence[Value]:
    """QuantizeLinear of f32 to int8 or uint8; to other types, and in blocks, written out."""
    dtype = _output_type(scope, node)
    if dtype.name not in QUANTIZED or node.integer("block_size", 0):
        make, real = Formulas(scope, node), is_float(dtype)
        steps = make.div(scope.tensor(node, 0), _spread(make, 1))
        steps = steps if real else make.unary("rint", steps)
        if node.has_input(2):
            steps = make.add(steps, make.cast(_spread(make, 2), np.float32))
        if not real or node.integer("saturate", 1):
            low, high = map(float, (float_limits if real else limits)(dtype))
            steps = scope.emit(graph.ClipOp(steps, min=low, max=high))
        return (make.cast(steps, dtype),)
    x, axis = scope.tensor(node, 0), _axis(scope, node)
    scale, zero = _scale(scope, node), _zero_point(scope, node, dtype)
    op = graph.QuantizeOp(x, scale, zero, axis=axis, element=element_type(node.label, dtype.name))
    return (scope.emit(op, node.outputs[0]),)


def dequantize_linear(scope: Scope, node: Node) -> Sequence[Value]:
    """DequantizeLinear of integers to 32 bits, or of narrow floats as f32, to f32."""
    scope.require_type(node, 0, (*QUANTIZED, "int32", "float32"))
    real = scope.dtype(node, 0) == np.float32
    if node.integer("block_size", 0) or real:
        make = Formulas(scope, node)
        exact = np.float32 if real else np.int32
        x = make.cast(scope.tensor(node, 0), exact)
        if node.has_input(2):
            x = make.sub(x, make.cast(_spread(make, 2), exact))
        value = make.cast(make.mul(make.cast(x, np.float32), _spread(make, 1)), _real_type(scope, node))
        if not real and (weights := _blocked_rows(scope, node)) is not None:
            scope.blocked[value] = weights
        return (value,)
    x, axis = scope.tensor(node, 0), _axis(scope, node)
    scale, zero = _scale(scope, node), _zero_point(scope, node, scope.dtype(node, 0))
    return (scope.emit(graph.DequantizeOp(x, scale, zero, axis=axis), node.outputs[0]),)


def _blocked_rows(scope: Scope, node: Node) -> BlockedWeights | None:
    """Constant weights of f32 with a scale for each block of rows; None for all others."""
    given = [scope.value(node, index) for index in range(3) if node.has_input(index)]
    arrays = [value for value in given if not isinstance(value, SSAValue)]
    if len(arrays) < len(given) or _real_type(scope, node) != np.float32:
        return None
    (steps, scales, *zeros), block = arrays, node.integer("block_size", 0)
    if steps.ndim != 2 or not block or axis_of(node, node.integer("axis", 1), 2) != 0:
        return None
    exact = steps.astype(np.float32)
    if zeros:
        exact -= np.repeat(zeros[0].astype(np.float32), block, 0)[: len(steps)]
    return BlockedWeights(exact, scales.astype(np.float32), block)


def _real_type(scope: Scope, node: Node) -> np.dtype[Any]:
    """The type of a dequantised value: what the node says, else that of its scale."""
    own = numpy_type(node, "output_dtype") if node.integer("output_dtype", 0) else None
    return own or scope.dtype_of(scope.values[node.proto.input[1]])


def _output_type(scope: Scope, node: Node) -> np.dtype[Any]:
    wanted = node.integer("output_dtype", 0)
    if node.has_input(2):  # the type that the file gives it, not a wider one that is computed in
        name = scope.dtype_of(scope.values[node.proto.input[2]]).name
    else:
        name = NUMPY_TYPES[wanted].name if wanted in NUMPY_TYPES else type_name(wanted) if wanted else "uint8"
    dtype = np.dtype(name) if name in RUNTIME_TYPES else np.dtype(np.float32)
    if dtype.itemsize > 2 or dtype.name in ("float16", "bfloat16", "float8_e8m0fnu"):
        raise node.error("a result of integers to 16 bits or floats to 8", name)
    return dtype


def _spread(make: Formulas, index: int) -> SSAValue:
    """Scales or zero points as they broadcast to the input: each as often as its block is long."""
    scope, node = make.scope, make.node
    value, shape, block = make.operand(index), scope.shape(node, 0), node.integer("block_size", 0)
    given = shape_of(value)
    if given in ((), (1,)):
        return make.reshape(value, ())
    axis = axis_of(node, node.integer("axis", 1), len(shape))
    if not block:
        return make.reshape(value, (given[0], *(1,) * (len(shape) - axis - 1)))
    fits = len(given) == len(shape) and 0 < block <= shape[axis] and given[axis] == -(-shape[axis] // block)
    if not fits or any(a != b for i, (a, b) in enumerate(zip(given, shape, strict=True)) if i != axis):
        found = f"{list(given)} for {list(shape)}"
        raise node.error(f"one scale for each block of {block} along axis {axis}", found, kind="shape")
    apart = make.reshape(value, (*given[: axis + 1], 1, *given[axis + 1 :]))
    wide = make.expand(apart, (*given[: axis + 1], block, *given[axis + 1 :]))
    joined = make.reshape(wide, (*given[:axis], given[axis] * block, *given[axis + 1 :]))
    return make.part(joined, axis, 0, shape[axis])


def _axis(scope: Scope, node: Node) -> int:
    """The axis of scale and zero point; 0 where they are one number."""
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
