"""Operators that move data and compute nothing: reshapes, transposes, slices, concatenation, padding, gathers."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects import graph
from ...errors import TilewrightError
from . import arguments
from .scope import Node, Scope, Value, shape_of


def _reader(scope: Scope, node: Node) -> arguments.Reader:
    return lambda index: scope.constant(node, index)


def identity(scope: Scope, node: Node) -> Sequence[Value]:
    """Identity: the value itself."""
    return (scope.value(node, 0),)


def dropout(scope: Scope, node: Node) -> Sequence[Value]:
    """Dropout when not training: the value itself, and a mask that keeps all."""
    training = scope.optional_constant(node, 2) if node.version >= 12 else None
    ratio = scope.scalar(node, 1) if node.version >= 12 and scope.is_constant(node, 1) else 0.5
    if training is not None and training.any() and ratio != 0:
        raise node.error("inference (training_mode false)", "training")
    if not node.has_output(1):
        return (scope.value(node, 0),)
    dtype = np.dtype(np.bool_) if node.version >= 10 else scope.dtype(node, 0)
    return (scope.value(node, 0), np.broadcast_to(np.ones((), dtype), scope.shape(node, 0)))


def _reshaped(scope: Scope, node: Node, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The result shape of Reshape.  One for a single sample is taken for each of an open batch, where that alone fits.

    Exporters bake in the batch of their example, although they leave that of the inputs open.
    """
    read, batched = _reader(scope, node), scope.batch > 1 and shape[:1] == (scope.batch,)
    try:
        result = arguments.reshaped(node, read, shape)
    except TilewrightError as error:
        if not batched:
            raise
        try:
            sample = arguments.reshaped(node, read, (1, *shape[1:]))
        except TilewrightError:
            raise error from None
        if sample[:1] != (1,):
            raise
        scope.widened.append(node.label)
        return (scope.batch, *sample[1:])
    if batched and result[:1] == (1,):
        scope.single.append(node.label)
    return result


def reshape(scope: Scope, node: Node) -> Sequence[Value]:
    """Reshape, Flatten, Squeeze and Unsqueeze."""
    shape, read = scope.shape(node, 0), _reader(scope, node)
    match node.op:
        case "Flatten":
            result = arguments.flattened(node, shape)
        case "Squeeze":
            result = arguments.squeezed(node, read, shape)
        case "Unsqueeze":
            result = arguments.unsqueezed(node, read, shape)
        case _:
            result = _reshaped(scope, node, shape)
    if result == shape:
        return (scope.value(node, 0),)
    return (scope.emit(graph.ReshapeOp(scope.tensor(node, 0), result), node.outputs[0]),)


def transpose(scope: Scope, node: Node) -> Sequence[Value]:
    """Transpose."""
    x = scope.tensor(node, 0)
    perm = arguments.permutation(node, len(shape_of(x)))
    return (scope.emit(graph.TransposeOp(x, perm=perm), node.outputs[0]),)


def concat(scope: Scope, node: Node) -> Sequence[Value]:
    """Concat; before opset 4 along axis 1 by default."""
    parts = [scope.tensor(node, i) for i in range(len(node.inputs)) if 0 not in scope.shape(node, i)]
    axis = arguments.axis_of(node, node.integer("axis", 1), len(scope.shape(node, 0)))
    if len(parts) == 1:
        return (parts[0],)
    return (scope.emit(graph.ConcatOp(parts, axis=axis), node.outputs[0]),)


def slice_(scope: Scope, node: Node) -> Sequence[Value]:
    """Slice; an axis that is walked backwards becomes a gather."""
    x, name = scope.tensor(node, 0), node.outputs[0]
    shape = shape_of(x)
    starts, steps, extents = arguments.slice_ranges(node, _reader(scope, node), shape)
    if 0 in extents:
        return (np.zeros(extents, scope.dtype(node, 0)),)
    backwards = [axis for axis, step in enumerate(steps) if step < 0]
    for axis in backwards:
        indices = starts[axis] + steps[axis] * np.arange(extents[axis])
        x = scope.emit(graph.GatherOp(x, indices, axis=axis), f"{name}.axis{axis}")
    starts = tuple(0 if axis in backwards else start for axis, start in enumerate(starts))
    steps = tuple(1 if axis in backwards else step for axis, step in enumerate(steps))
    if shape_of(x) == extents:
        return (x,)
    return (scope.emit(graph.SliceOp(x, starts=starts, steps=steps, sizes=extents), name),)


def split(scope: Scope, node: Node) -> Sequence[Value]:
    """Split: one slice per output."""
    x = scope.tensor(node, 0)
    shape = shape_of(x)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    sizes = arguments.split_sizes(node, _reader(scope, node), shape[axis])
    results: list[Value] = []
    for index, (name, size) in enumerate(zip(node.outputs, sizes, strict=True)):
        if size:
            results.append(scope.part(x, axis, sum(sizes[:index]), size, name))
        else:
            results.append(np.zeros((*shape[:axis], 0, *shape[axis + 1 :]), scope.dtype(node, 0)))
    return results


def pad(scope: Scope, node: Node) -> Sequence[Value]:
    """Pad; negative amounts cut."""
    x, name = scope.tensor(node, 0), node.outputs[0]
    mode = node.text("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise node.error("mode constant, edge, reflect or wrap", mode)
    begins, ends = _pad_amounts(scope, node, len(shape_of(x)))
    value = node.real("value", 0.0) if node.version < 11 else scope.scalar(node, 2) or 0.0
    x = _cut(scope, x, begins, ends, f"{name}.cut")
    around = tuple(max(0, p) for p in (*begins, *ends))
    if not any(around):
        return (x,)
    return (scope.emit(graph.PadOp(x, pads=around, mode=mode, value=value), name),)


def _pad_amounts(scope: Scope, node: Node, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if node.version < 11:
        pads = node.integers("pads", node.integers("paddings", ()))
    else:
        pads = arguments.integer_list(node, _reader(scope, node), 1)
    axes = tuple(range(rank))
    if node.version >= 18 and node.has_input(3):
        given = arguments.integer_list(node, _reader(scope, node), 3)
        axes = tuple(arguments.axis_of(node, axis, rank) for axis in given)
    if len(pads) != 2 * len(axes) or any(abs(p) > 1 << 31 for p in pads):
        raise node.error(f"{2 * len(axes)} pads", str(list(pads)), kind="shape")
    before, after = dict(zip(axes, pads, strict=False)), dict(zip(axes, pads[len(axes) :], strict=True))
    return tuple(before.get(i, 0) for i in range(rank)), tuple(after.get(i, 0) for i in range(rank))


def _cut(scope: Scope, x: SSAValue, begins: Sequence[int], ends: Sequence[int], name: str) -> SSAValue:
    shape = shape_of(x)
    starts = tuple(max(0, -b) for b in begins)
    extents = tuple(max(0, n - s + min(0, e)) for n, s, e in zip(shape, starts, ends, strict=True))
    if extents == shape:
        return x
    return scope.emit(graph.SliceOp(x, starts=starts, sizes=extents), name)


def gather(scope: Scope, node: Node) -> Sequence[Value]:
    """Gather with constant indices."""
    x = scope.tensor(node, 0)
    shape = shape_of(x)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    indices = arguments.places_of(node, scope.constant(node, 1), shape[axis])
    return (scope.emit(graph.GatherOp(x, indices, axis=axis), node.outputs[0]),)


def expand(scope: Scope, node: Node) -> Sequence[Value]:
    """Expand."""
    shape = arguments.expanded(node, _reader(scope, node), scope.shape(node, 0))
    if shape == scope.shape(node, 0):
        return (scope.value(node, 0),)
    return (scope.emit(graph.ExpandOp(scope.tensor(node, 0), shape), node.outputs[0]),)


def nearest(scope: Scope, x: SSAValue, name: str, indices: dict[int, Array]) -> SSAValue:
    """Pick `indices` of each axis: a `graph.resize` where every element is repeated evenly, gathers elsewhere."""
    shape = shape_of(x)
    factors = [len(indices[i]) // shape[i] if i in indices and shape[i] else 1 for i in range(len(shape))]
    even = all(np.array_equal(picked, np.arange(shape[i] * factors[i]) // factors[i]) for i, picked in indices.items())
    if even:
        return x if set(factors) == {1} else scope.emit(graph.ResizeOp(x, scales=factors), name)
    changed = [i for i, picked in indices.items() if not np.array_equal(picked, np.arange(shape[i]))]
    for axis in changed:
        x = scope.emit(
            graph.GatherOp(x, indices[axis], axis=axis), name if axis == changed[-1] else f"{name}.axis{axis}"
        )
    return x


def depth_to_space(scope: Scope, node: Node) -> Sequence[Value]:
    """DepthToSpace: blocks of channels as blocks of space; the channels of a block stand outermost (DCR) or inmost."""
    x, size = scope.tensor(node, 0), node.integer("blocksize", 0)
    shape, mode = shape_of(x), node.text("mode", "DCR")
    if len(shape) != 4 or size < 1 or shape[1] % (size * size) or mode not in ("DCR", "CRD"):
        raise node.error("channels in blocks, mode DCR or CRD", f"{list(shape)}, {size}, {mode}", kind="shape")
    n, c, h, w = shape
    channels = c // (size * size)
    apart = (n, size, size, channels, h, w) if mode == "DCR" else (n, channels, size, size, h, w)
    perm = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    return (_rearranged(scope, x, apart, perm, (n, channels, h * size, w * size)),)


def space_to_depth(scope: Scope, node: Node) -> Sequence[Value]:
    """SpaceToDepth: blocks of space as channels, those of a block outermost (DCR) or inmost."""
    x, size = scope.tensor(node, 0), node.integer("blocksize", 0)
    shape, mode = shape_of(x), node.text("mode", "DCR")
    if len(shape) != 4 or size < 1 or shape[2] % size or shape[3] % size or mode not in ("DCR", "CRD"):
        raise node.error("space in blocks, mode DCR or CRD", f"{list(shape)}, {size}, {mode}", kind="shape")
    n, c, h, w = shape
    apart = (n, c, h // size, size, w // size, size)
    perm = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return (_rearranged(scope, x, apart, perm, (n, c * size * size, h // size, w // size)),)


def _rearranged(scope: Scope, x: SSAValue, apart: Sequence[int], perm: Sequence[int], shape: Sequence[int]) -> SSAValue:
    split = scope.emit(graph.ReshapeOp(x, apart))
    return scope.emit(graph.ReshapeOp(scope.emit(graph.TransposeOp(split, perm=perm)), shape))
