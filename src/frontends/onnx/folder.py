"""Computing with constants while a model is read: what shapes and weights are made of, in NumPy.

Work is bounded: a result that would be larger than what is left of the budget is not folded.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...algebra.element import ELEMENT_TYPES, Array, float_limits, is_float, is_foreign, limits
from . import arguments
from .load import NUMPY_TYPES, check_size
from .scope import Node

BUDGET_ELEMENTS = 1 << 28
"""How many elements folding may compute for one model; views (reshapes, broadcasts) are free."""

Arrays = Sequence[Array | None]
Rule = Callable[[Node, Arrays], Sequence[Array]]


class Folder:
    """Folds nodes whose inputs are all constant, within a budget of computed elements."""

    def __init__(self, budget: int = BUDGET_ELEMENTS) -> None:
        self.budget = budget

    def fold(self, node: Node, inputs: Arrays) -> Sequence[Array] | None:
        """The outputs of `node` on constant inputs, or None if it has no rule or is beyond the budget."""
        rule = VIEWS.get(node.op)
        if rule is None:
            rule = COMPUTED.get(node.op)
            cost = _cost(node, inputs)
            if rule is None or cost > self.budget:
                return None
            self.budget -= cost
        try:
            with np.errstate(all="ignore"):
                return tuple(rule(node, inputs))
        except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError) as error:
            raise node.error(
                "inputs that fit the operator", f"constants that do not ({error})", kind="shape"
            ) from error


def _cost(node: Node, inputs: Arrays) -> int:
    """A bound on the elements that the node computes: of a gather, a broadcast or a concatenation."""
    shapes = [a.shape for a in inputs if a is not None]
    if node.op == "Gather" and len(shapes) == 2:
        return prod(shapes[0]) * prod(shapes[1])
    rank = max((len(s) for s in shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    together = prod(max(extents) for extents in zip(*padded, strict=True))
    return max(together, sum(prod(s) for s in shapes))


def _reader(node: Node, inputs: Arrays) -> arguments.Reader:
    return lambda index: _given(node, inputs, index)


def _given(node: Node, inputs: Arrays, index: int) -> Array:
    array = inputs[index] if index < len(inputs) else None
    if array is None:
        raise node.error(f"an input {index}", "none", kind="parse")
    return array


def _constant(node: Node, inputs: Arrays) -> Sequence[Array]:
    for name, value in node.attributes.items():
        if name == "value" and isinstance(value, np.ndarray):
            return (value,)
        if name in ("value_int", "value_ints"):
            return (np.asarray(value, np.int64),)
        if name in ("value_float", "value_floats"):
            return (np.asarray(value, np.float32),)
    raise node.error("attribute value, value_int(s) or value_float(s)", ", ".join(node.attributes) or "none")


def _constant_of_shape(node: Node, inputs: Arrays) -> Sequence[Array]:
    shape = arguments.integer_list(node, _reader(node, inputs), 0)
    value = node.attributes.get("value")
    scalar = value.reshape(-1) if isinstance(value, np.ndarray) else np.zeros(1, np.float32)
    if scalar.size != 1:
        raise node.error("one value", f"{scalar.size} values", kind="shape")
    check_size(node.label, shape, scalar.dtype.itemsize)
    return (np.broadcast_to(scalar.reshape(()), shape),)


def _shaped(shape_of: Callable[[Node, arguments.Reader, tuple[int, ...]], tuple[int, ...]]) -> Rule:
    def rule(node: Node, inputs: Arrays) -> Sequence[Array]:
        array = _given(node, inputs, 0)
        return (_reshape_view(array, shape_of(node, _reader(node, inputs), array.shape)),)

    return rule


def _reshape_view(array: Array, shape: tuple[int, ...]) -> Array:
    """Reshape that keeps a repeated scalar repeated instead of writing it out."""
    repeated = array.size > 1 and not any(array.strides)
    return np.broadcast_to(array[(0,) * array.ndim], shape) if repeated else array.reshape(shape)


def _transpose(node: Node, inputs: Arrays) -> Sequence[Array]:
    array = _given(node, inputs, 0)
    return (array.transpose(arguments.permutation(node, array.ndim)),)


def _expand(node: Node, inputs: Arrays) -> Sequence[Array]:
    array = _given(node, inputs, 0)
    shape = arguments.expanded(node, _reader(node, inputs), array.shape)
    check_size(node.label, shape, array.dtype.itemsize)
    return (np.broadcast_to(array, shape),)


def _slice(node: Node, inputs: Arrays) -> Sequence[Array]:
    array = _given(node, inputs, 0)
    starts, steps, extents = arguments.slice_ranges(node, _reader(node, inputs), array.shape)
    for axis, (start, step, extent) in enumerate(zip(starts, steps, extents, strict=True)):
        array = _part(array, axis, start, step, extent)
    return (array,)


def _part(array: Array, axis: int, start: int, step: int, extent: int) -> Array:
    end = start + step * extent
    return array[(slice(None),) * axis + (slice(start, end if end >= 0 else None, step),)]


def _split(node: Node, inputs: Arrays) -> Sequence[Array]:
    array = _given(node, inputs, 0)
    axis = arguments.axis_of(node, node.integer("axis", 0), array.ndim)
    sizes = arguments.split_sizes(node, _reader(node, inputs), array.shape[axis])
    return tuple(_part(array, axis, sum(sizes[:i]), 1, size) for i, size in enumerate(sizes))


def _concat(node: Node, inputs: Arrays) -> Sequence[Array]:
    arrays = [_given(node, inputs, i) for i in range(len(inputs))]
    return (np.concatenate(arrays, arguments.axis_of(node, node.integer("axis", 1), arrays[0].ndim)),)


def _gather(node: Node, inputs: Arrays) -> Sequence[Array]:
    array = _given(node, inputs, 0)
    axis = arguments.axis_of(node, node.integer("axis", 0), array.ndim)
    indices = arguments.places_of(node, _given(node, inputs, 1), array.shape[axis])
    shape = array.shape[:axis] + indices.shape + array.shape[axis + 1 :]
    check_size(node.label, shape, array.dtype.itemsize)
    return (array.take(indices, axis),)


def cast_type(node: Node) -> np.dtype[np.generic]:
    """The NumPy type of attribute `to` of Cast."""
    to = node.integer("to", 0)
    if to not in NUMPY_TYPES:
        raise node.error("a cast to a number type or BOOL", f"type {to}")
    return NUMPY_TYPES[to]


def cast_array(node: Node, array: Array, dtype: np.dtype[Any]) -> Array:
    """A constant in another type: floats below 16 bits saturate, where the node does not say otherwise."""
    if not is_foreign(dtype) or dtype.itemsize > 1:
        return array.astype(dtype)
    if not is_float(dtype):
        return array.astype(np.int64).astype(dtype)
    if dtype == ELEMENT_TYPES["f8e8m0fnu"]:
        raise node.error("a cast to FLOAT8E8M0 of what is known at run time only", "a constant")
    real = array.astype(np.float32)
    return (np.clip(real, *float_limits(dtype)) if node.integer("saturate", 1) else real).astype(dtype)


def _range(node: Node, inputs: Arrays) -> Sequence[Array]:
    start, limit, delta = (_given(node, inputs, i).reshape(()) for i in range(3))
    if not delta or not abs(float(limit) - float(start)) / abs(float(delta)) < 1 << 16:
        raise node.error("at most 2^16 values", f"range({start}, {limit}, {delta})", kind="shape")
    return (np.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype),)


def shape_slice(node: Node, shape: tuple[int, ...]) -> Array:
    """What Shape gives for a tensor of `shape`, honouring its start and end."""
    return np.asarray(shape[node.integer("start", 0) : node.integer("end", len(shape))], np.int64)


def _where(node: Node, inputs: Arrays) -> Sequence[Array]:
    condition, yes, no = (_given(node, inputs, i) for i in range(3))
    return (np.where(condition.astype(np.bool_), yes, no),)


def _quantize(node: Node, inputs: Arrays) -> Sequence[Array]:
    """QuantizeLinear: round half to even, saturate."""
    x, scale = _given(node, inputs, 0), _given(node, inputs, 1)
    zero = inputs[2] if len(inputs) > 2 else None
    zero = np.zeros(scale.shape, np.uint8) if zero is None else zero
    if scale.size > 1:
        axis = arguments.axis_of(node, node.integer("axis", 1), x.ndim)
        along = tuple(-1 if i == axis else 1 for i in range(x.ndim))
        scale, zero = scale.reshape(along), zero.reshape(along)
    low, high = limits(zero.dtype)
    return (np.clip(np.rint(x / scale) + zero, low, high).astype(zero.dtype).reshape(x.shape),)


def _divide(left: Array, right: Array) -> Array:
    if np.issubdtype(left.dtype, np.integer):
        if not np.all(right):
            raise ValueError("division by zero")
        return np.trunc(left / right).astype(left.dtype) if left.dtype.itemsize < 8 else _divide_exact(left, right)
    return left / right


def _divide_exact(left: Array, right: Array) -> Array:
    quotient = np.abs(left) // np.abs(right)
    return quotient * np.sign(left) * np.sign(right)


def _elementwise(function: Callable[..., Array]) -> Rule:
    def rule(node: Node, inputs: Arrays) -> Sequence[Array]:
        arrays = [_given(node, inputs, i) for i in range(max(1, len(inputs)))]
        if len(arrays) == 1 and node.op not in VARIADIC:
            return (np.asarray(function(arrays[0])),)
        result = arrays[0]
        for array in arrays[1:]:
            arguments.broadcast_shape(node, result.shape, array.shape)
            result = np.asarray(function(result, array))
        return (result,)

    return rule


def _same_type(function: Callable[..., Array]) -> Rule:
    rule = _elementwise(function)

    def typed(node: Node, inputs: Arrays) -> Sequence[Array]:
        (result,) = rule(node, inputs)
        return (result.astype(_given(node, inputs, 0).dtype),)

    return typed


def _bound(dtype: np.dtype[Any], greatest: bool) -> Any:
    """The greatest value of a type, or the least."""
    if dtype.kind == "b":
        return greatest
    if is_float(dtype):
        return dtype.type(np.inf if greatest else -np.inf)
    return limits(dtype)[greatest]


def _reduction(function: Callable[..., Array], input_since: int) -> Rule:
    def rule(node: Node, inputs: Arrays) -> Sequence[Array]:
        array = _given(node, inputs, 0)
        axes = arguments.axes_of(node, _reader(node, inputs), array.ndim, input_since)
        if not axes:
            axes = () if node.integer("noop_with_empty_axes", 0) else tuple(range(array.ndim))
        if array.size == 0 and node.op == "ReduceMean":
            raise ValueError("a tensor without elements")
        start = (
            {"initial": _bound(array.dtype, node.op == "ReduceMin")} if node.op in ("ReduceMax", "ReduceMin") else {}
        )
        result = function(array, axis=axes, keepdims=bool(node.integer("keepdims", 1)), **start)
        return (np.asarray(result).astype(array.dtype),)

    return rule


VARIADIC = ("Sum", "Max", "Min")
"""Operators that take any number of inputs from one up."""

VIEWS: dict[str, Rule] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Identity": lambda node, inputs: (_given(node, inputs, 0),),
    "Reshape": _shaped(arguments.reshaped),
    "Flatten": _shaped(lambda node, read, shape: arguments.flattened(node, shape)),
    "Squeeze": _shaped(arguments.squeezed),
    "Unsqueeze": _shaped(arguments.unsqueezed),
    "Transpose": _transpose,
    "Expand": _expand,
    "Shape": lambda node, inputs: (shape_slice(node, _given(node, inputs, 0).shape),),
    "Size": lambda node, inputs: (np.asarray(_given(node, inputs, 0).size, np.int64),),
    "Split": _split,
}
"""Rules whose results share the memory of their input or are tiny."""

COMPUTED: dict[str, Rule] = {
    "Slice": _slice,
    "Concat": _concat,
    "Gather": _gather,
    "Cast": lambda node, inputs: (cast_array(node, _given(node, inputs, 0), cast_type(node)),),
    "Range": _range,
    "QuantizeLinear": _quantize,
    "Where": _where,
    "Add": _same_type(np.add),
    "Sub": _same_type(np.subtract),
    "Mul": _same_type(np.multiply),
    "Div": _same_type(_divide),
    "Mod": _same_type(np.mod),
    "Max": _same_type(np.maximum),
    "Min": _same_type(np.minimum),
    "Sum": _same_type(np.add),
    "Pow": _same_type(np.power),
    "Neg": _same_type(np.negative),
    "Abs": _same_type(np.abs),
    "Floor": _same_type(np.floor),
    "Ceil": _same_type(np.ceil),
    "Round": _same_type(np.rint),
    "Sqrt": _same_type(np.sqrt),
    "Exp": _same_type(np.exp),
    "Log": _same_type(np.log),
    "Reciprocal": _same_type(np.reciprocal),
    "Relu": _same_type(lambda x: np.maximum(x, 0)),
    "Equal": _elementwise(np.equal),
    "Less": _elementwise(np.less),
    "LessOrEqual": _elementwise(np.less_equal),
    "Greater": _elementwise(np.greater),
    "GreaterOrEqual": _elementwise(np.greater_equal),
    "Not": _elementwise(np.logical_not),
    "And": _elementwise(np.logical_and),
    "Or": _elementwise(np.logical_or),
    "ReduceSum": _reduction(np.sum, 13),
    "ReduceProd": _reduction(np.prod, 18),
    "ReduceMax": _reduction(np.max, 18),
    "ReduceMin": _reduction(np.min, 18),
    "ReduceMean": _reduction(np.mean, 18),
}
"""Rules that compute new elements."""
