"""If, Loop and Scan: the branch that a constant condition takes; loops of constant length, unrolled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from .arguments import axis_of, integer_list
from .expansion import MAX_STEPS, Body, graph_body
from .scope import Node, Scope, Value, ValueList, shape_of

if TYPE_CHECKING:
    from .nodes import Nodes


Control = Callable[["Nodes", Node], "Sequence[Value | None]"]


def _result_name(node: Node, index: int) -> str:
    """What a result of a node's graph is called; its length follows the depth of graphs in each other, and no more."""
    return f"{next((name for name in node.outputs if name), node.op)}::#{index}"


def _body(nodes: Nodes, node: Node, name: str, inputs: Sequence[str]) -> Sequence[Value | None]:
    """The results of the graph in attribute `name` for inputs of these names; its initializers are values, too."""
    inner = node.graph(name)
    outputs = tuple(_result_name(node, i) for i in range(len(inner.output)))

    def body_of(prefix: str) -> Body:
        for tensor in inner.initializer:
            nodes.scope.values[f"{prefix}{tensor.name}"] = nodes.values.array(tensor, f"initializer {tensor.name!r}")
        return graph_body(node, inner, prefix, inputs)

    inside = Node(node.op, node.label, node.inputs, outputs, node.version, node.attributes, node.proto)
    for output in outputs:
        nodes.scope.sequences.pop(output, None)
    return nodes.expand(inside, body_of)


def branch(nodes: Nodes, node: Node) -> Sequence[Value | None]:
    """If with a constant condition."""
    condition = bool(nodes.scope.constant(node, 0).reshape(-1)[0])
    results = _body(nodes, node, "then_branch" if condition else "else_branch", ())
    for i, output in enumerate(node.outputs):
        listed = nodes.scope.sequences.get(_result_name(node, i))
        if listed is not None:
            nodes.scope.sequences[output] = listed
    return results


def _bound(nodes: Nodes, node: Node, key: str, value: Value | None, index: int) -> str:
    """A name for the value of a loop's variable: `value`, or the sequence that output `index` of the body was."""
    name = f"{node.outputs[0]}::{key}"
    nodes.scope.values.pop(name, None)
    nodes.scope.sequences.pop(name, None)
    if value is not None:
        nodes.scope.values[name] = value
    else:
        nodes.scope.sequences[name] = nodes.scope.sequences.get(_result_name(node, index), ())
    return name


def _longest(nodes: Nodes, node: Node) -> int:
    """The most steps that a Loop may take; an error where it is sure to make too many nodes."""
    steps = nodes.sizes.steps(node.proto, nodes.constant)
    if steps is None:
        return MAX_STEPS
    nodes.limits.promise(steps * (1 + nodes.sizes.of_graph(node.graph("body"), nodes.constant)), node.label)
    return steps


def loop(nodes: Nodes, node: Node) -> Sequence[Value | None]:
    """Loop with a constant number of iterations, or a condition that is constant in each."""
    scope = nodes.scope
    trips = scope.optional_constant(node, 0)
    most = None if trips is None else int(trips.reshape(-1)[0])
    given = scope.optional_constant(node, 1)
    running = given is None or bool(given.reshape(-1)[0])
    longest = _longest(nodes, node)
    carried: list[str] = list(node.inputs[2:])
    names = [f"{node.outputs[0]}::{nodes.limits.nodes}"]
    collected: list[list[Value]] = [[] for _ in node.graph("body").output[1 + len(carried) :]]
    step = 0
    while running and (most is None or step < most):
        if step == longest:
            expected = f"at most {longest} steps of a loop whose condition tells when it ends"
            raise node.error(expected, "more", "a constant number of steps may be larger", kind="limit")
        nodes.limits.count(1, node.label)
        key = f"{names[0]}.{step}"
        counter = _bound(nodes, node, f"{key}.i", np.asarray(step, np.int64), 0)
        going = _bound(nodes, node, f"{key}.c", np.asarray(True), 0)
        results = _body(nodes, node, "body", (counter, going, *carried))
        condition = results[0]
        if condition is None or isinstance(condition, SSAValue):
            raise node.error("a condition that is constant in each iteration", "one known at run time only")
        running = bool(condition.reshape(-1)[0])
        count = len(carried)
        carried = [_bound(nodes, node, f"{key}.v{i}", results[1 + i], 1 + i) for i in range(count)]
        for values, value in zip(collected, results[1 + count :], strict=True):
            if value is None:
                raise node.error("tensors as results of each iteration", "a sequence")
            values.append(value)
        step += 1
    results = [_carried(nodes, name, output) for name, output in zip(carried, node.outputs, strict=False)]
    asked = zip(collected, node.outputs[len(carried) :], strict=False)
    return [*results, *(stacked(scope, node, values, 0) if name and values else None for values, name in asked)]


def _carried(nodes: Nodes, name: str, output: str) -> Value | None:
    listed = nodes.scope.sequences.get(name)
    if listed is not None:
        nodes.scope.sequences[output] = listed
        return None
    return nodes.scope.values[name] if name else None


def stacked(scope: Scope, node: Node, values: Sequence[Value], axis: int) -> Value:
    """Values of one shape as one, along a new axis."""
    if (arrays := _arrays(values)) is not None:
        return np.stack(arrays, axis)
    pieces = _tensors(scope, node, values)
    shapes = [shape_of(piece) for piece in pieces]
    pieces = [scope.emit(graph.ReshapeOp(p, (*s[:axis], 1, *s[axis:]))) for p, s in zip(pieces, shapes, strict=True)]
    joined = pieces[0] if len(pieces) == 1 else scope.emit(graph.ConcatOp(pieces, axis=axis))
    if scope.dtype_of(values[0]) == np.bool_:
        scope.truths.add(joined)
    return joined


def _arrays(values: Sequence[Value]) -> list[Array] | None:
    """The constants that values are; None where one of them is known at run time only."""
    arrays = [value for value in values if not isinstance(value, SSAValue)]
    return arrays if len(arrays) == len(values) else None


def _tensors(scope: Scope, node: Node, values: Sequence[Value]) -> list[SSAValue]:
    return [v if isinstance(v, SSAValue) else scope.literal(node, v) for v in values]


def element(scope: Scope, value: Value, axis: int, index: int) -> Value:
    """One of the slices of a value along an axis, which it loses."""
    if not isinstance(value, SSAValue):
        return value.take(index, axis)
    shape = shape_of(value)
    part = value if shape[axis] == 1 else scope.part(value, axis, index, 1)
    result = scope.emit(graph.ReshapeOp(part, (*shape[:axis], *shape[axis + 1 :])))
    if value in scope.truths:
        scope.truths.add(result)
    return result


def scan(nodes: Nodes, node: Node) -> Sequence[Value | None]:
    """Scan over axes of known extent, as of opset 9."""
    scope, count = nodes.scope, node.integer("num_scan_inputs", 0)
    if node.version < 9:
        raise node.error("Scan of opset 9 or later", f"opset {node.version}")
    states, read = list(node.inputs[: len(node.inputs) - count]), range(len(node.inputs) - count, len(node.inputs))
    ranks = [len(scope.shape(node, i)) for i in read]
    axes = [axis_of(node, a, r) for a, r in zip(node.integers("scan_input_axes", (0,) * count), ranks, strict=True)]
    backward = node.integers("scan_input_directions", (0,) * count)
    lengths = {scope.shape(node, i)[axis] for i, axis in zip(read, axes, strict=True)}
    if len(lengths) != 1:
        raise node.error("scanned axes of one extent", str(sorted(lengths)), kind="shape")
    (length,) = lengths
    nodes.limits.promise(length * (1 + nodes.sizes.of_graph(node.graph("body"), nodes.constant)), node.label)
    key, made = nodes.limits.nodes, len(node.graph("body").output) - len(states)
    collected: list[list[Value]] = [[] for _ in range(made)]
    for step in range(length):
        nodes.limits.count(1, node.label)
        parts = [
            element(scope, scope.value(node, i), axis, length - 1 - step if back else step)
            for i, axis, back in zip(read, axes, backward, strict=True)
        ]
        inputs = [_bound(nodes, node, f"{key}.{step}.x{i}", part, 0) for i, part in enumerate(parts)]
        results = _body(nodes, node, "body", (*states, *inputs))
        states = [_bound(nodes, node, f"{key}.{step}.s{i}", results[i], i) for i in range(len(states))]
        for values, value in zip(collected, results[len(states) :], strict=True):
            assert value is not None
            values.append(value)
    out_backward = node.integers("scan_output_directions", (0,) * made)
    out_axes = node.integers("scan_output_axes", (0,) * made)
    scanned = [
        stacked(scope, node, values[::-1] if back else values, axis if axis >= 0 else axis + 1 + len(_extents(values)))
        for values, back, axis in zip(collected, out_backward, out_axes, strict=True)
    ]
    return [*(scope.values[name] for name in states), *scanned]


def _extents(values: Sequence[Value]) -> tuple[int, ...]:
    first = values[0]
    return shape_of(first) if isinstance(first, SSAValue) else first.shape


CONTROL: Mapping[str, Control] = {"If": branch, "Loop": loop, "Scan": scan}
"""Operators that contain graphs."""


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
        else:
            pieces.append(scope.part(value, axis, start, size))
    return _give(scope, node, pieces)


def concat(scope: Scope, node: Node) -> Sequence[Value | None]:
    """ConcatFromSequence, along an axis that there is or a new one."""
    values, axis = _read(scope, node), node.integer("axis", 0)
    if not values:
        raise node.error("a sequence that is not empty", "no tensors", kind="shape")
    rank = len(_extents(values))
    if node.integer("new_axis", 0):
        return (stacked(scope, node, values, axis_of(node, axis, rank + 1)),)
    axis = axis_of(node, axis, rank)
    if (arrays := _arrays(values)) is not None:
        return (np.concatenate(arrays, axis),)
    return (scope.emit(graph.ConcatOp(_tensors(scope, node, values), axis=axis), node.outputs[0]),)


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
