"""Sequences of tensors: their lengths are known, so that they are lists of values while a model is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from .arguments import axis_of, integer_list
from .control import element, stacked
from .node import Node
from .scope import Scope, Value, ValueList, shape_of

MAX_LENGTH = 1 << 12
"""The longest sequence."""


def _read(scope: Scope, node: Node, index: int = 0) -> ValueList:
    listed = scope.sequences.get(node.inputs[index]) if node.has_input(index) else None
    if listed is None:
        raise node.error(f"input {index} to be a sequence made in the model", "another value")
    return listed


def _give(scope: Scope, node: Node, values: Sequence[Value]) -> Sequence[Value | None]:
    if len(values) > MAX_LENGTH:
        raise node.error(f"a sequence of at most {MAX_LENGTH} tensors", str(len(values)), kind="limit")
    scope.sequences[node.outputs[0]] = tuple(values)
    return (None,)


def _position(scope: Scope, node: Node, index: int, length: int, one_past: bool = False) -> int:
    position = int(scope.constant(node, index).reshape(-1)[0])
    return axis_of(node, position, length, one_past)


def construct(scope: Scope, node: Node) -> Sequence[Value | None]:
    """SequenceConstruct, and SequenceEmpty of no inputs."""
    return _give(scope, node, [scope.value(node, i) for i in range(len(node.inputs))])


def insert(scope: Scope, node: Node) -> Sequence[Value | None]:
    """SequenceInsert, at the end where no position is given."""
    values = list(_read(scope, node))
    position = _position(scope, node, 2, len(values), one_past=True) if node.has_input(2) else len(values)
    return _give(scope, node, [*values[:position], scope.value(node, 1), *values[position:]])


def erase(scope: Scope, node: Node) -> Sequence[Value | None]:
    """SequenceErase, the last where no position is given."""
    values = list(_read(scope, node))
    del values[_position(scope, node, 1, len(values)) if node.has_input(1) else -1]
    return _give(scope, node, values)


def at(scope: Scope, node: Node) -> Sequence[Value | None]:
    """SequenceAt."""
    values = _read(scope, node)
    return (values[_position(scope, node, 1, len(values))],)


def length(scope: Scope, node: Node) -> Sequence[Value | None]:
    """SequenceLength."""
    return (np.asarray(len(_read(scope, node)), np.int64),)


def split(scope: Scope, node: Node) -> Sequence[Value | None]:
    """SplitToSequence: into slices of one, which lose the axis without keepdims, or into pieces."""
    value, shape = scope.value(node, 0), scope.shape(node, 0)
    axis = axis_of(node, node.integer("axis", 0), len(shape))
    extent = shape[axis]
    if not node.has_input(1) and not node.integer("keepdims", 1):
        return _give(scope, node, [element(scope, value, axis, i) for i in range(min(extent, MAX_LENGTH + 1))])
    sizes = (1,) * extent if not node.has_input(1) else integer_list(node, lambda i: scope.constant(node, i), 1)
    if node.has_input(1) and scope.constant(node, 1).ndim == 0:
        (size,) = sizes
        if size < 1:
            raise node.error("pieces of at least 1", str(size), kind="shape")
        sizes = tuple(min(size, extent - i) for i in range(0, extent, size))
    if sum(sizes) != extent or min(sizes, default=0) < 0 or len(sizes) > MAX_LENGTH:
        raise node.error(f"pieces that add up to {extent}", str(sizes[:20]), kind="shape")
    pieces: list[Value] = []
    for index, size in enumerate(sizes):
        start = sum(sizes[:index])
        if not isinstance(value, SSAValue):
            pieces.append(value.take(np.arange(start, start + size), axis))
            continue
        starts = [start if i == axis else 0 for i in range(len(shape))]
        extents = [size if i == axis else e for i, e in enumerate(shape)]
        pieces.append(scope.emit(graph.SliceOp(value, starts=starts, sizes=extents)))
    return _give(scope, node, pieces)


def concat(scope: Scope, node: Node) -> Sequence[Value | None]:
    """ConcatFromSequence, along an axis that there is or a new one."""
    values, axis = _read(scope, node), node.integer("axis", 0)
    if not values:
        raise node.error("a sequence that is not empty", "no tensors", kind="shape")
    first = values[0]
    rank = len(shape_of(first) if isinstance(first, SSAValue) else first.shape)
    if node.integer("new_axis", 0):
        return (stacked(scope, node, values, axis_of(node, axis, rank + 1)),)
    axis = axis_of(node, axis, rank)
    arrays = [value for value in values if not isinstance(value, SSAValue)]
    if len(arrays) == len(values):
        return (np.concatenate(arrays, axis),)
    pieces = [v if isinstance(v, SSAValue) else scope.literal(node, v) for v in values]
    return (scope.emit(graph.ConcatOp(pieces, axis=axis), node.outputs[0]),)


SEQUENCES: Mapping[str, Callable[[Scope, Node], Sequence[Value | None]]] = {
    "ConcatFromSequence": concat,
    "SequenceAt": at,
    "SequenceConstruct": construct,
    "SequenceEmpty": construct,
    "SequenceErase": erase,
    "SequenceInsert": insert,
    "SequenceLength": length,
    "SplitToSequence": split,
}
"""Operators on sequences."""
