"""Operators that pick, repeat or replace elements at constant places, and those that count along an axis."""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array, least
from ...dialects.types import dtype_of, element_of, shape_of
from . import arguments
from .formulas import Formulas, check_constant_size
from .load import check_size
from .reductions import rows_and_axis
from .scope import Node, Scope, Value

MAX_STEPS = 64
"""The longest axis along which elements are put one behind another in operations of their own."""


def picked(make: Formulas, x: SSAValue, places: Array) -> SSAValue:
    """The elements of x at places in row-major order, in the shape of `places`."""
    flat = make.reshape(x, (prod(shape_of(x)),))
    return make.reshape(make.gather(flat, places.reshape(-1), 0), places.shape)


def _numbered(node: Node, shape: Sequence[int]) -> Array:
    check_constant_size(node, prod(shape))
    return np.arange(prod(shape)).reshape(shape)


def _places(node: Node, shape: Sequence[int], axis: int, indices: Array) -> Array:
    """The places in row-major order that indices along an axis mean, each at its own place of the other axes."""
    own = list(np.meshgrid(*(np.arange(extent) for extent in indices.shape), indexing="ij"))
    own[axis] = indices
    return np.asarray(_numbered(node, shape)[tuple(own)])


def gather_elements(scope: Scope, node: Node) -> Sequence[Value]:
    """GatherElements with constant indices."""
    x = scope.tensor(node, 0)
    shape = shape_of(x)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    indices = arguments.places_of(node, scope.constant(node, 1), shape[axis])
    return (picked(Formulas(scope, node), x, _places(node, shape, axis, indices)),)


def gather_nd(scope: Scope, node: Node) -> Sequence[Value]:
    """GatherND with constant indices."""
    x, batch = scope.tensor(node, 0), node.integer("batch_dims", 0)
    shape, given = shape_of(x), scope.constant(node, 1)
    depth = arguments.index_depth(node, given.shape, len(shape), batch)
    indices = arguments.places_of(node, scope.constant(node, 1), np.asarray(shape[batch : batch + depth]))
    numbers = _numbered(node, shape)
    if not batch:
        places = numbers[tuple(np.moveaxis(indices, -1, 0))]
    else:
        numbers = numbers.reshape(-1, *shape[batch:])
        rows = indices.reshape(numbers.shape[0], *indices.shape[batch:])
        pairs = zip(numbers, rows, strict=True)
        stack = np.stack([number[tuple(np.moveaxis(row, -1, 0))] for number, row in pairs])
        places = stack.reshape(*shape[:batch], *stack.shape[1:])
    return (picked(Formulas(scope, node), x, np.asarray(places)),)


def scatter_elements(scope: Scope, node: Node) -> Sequence[Value]:
    """ScatterElements (and Scatter) with constant indices."""
    shape = scope.shape(node, 0)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    indices = arguments.places_of(node, scope.constant(node, 1), shape[axis])
    return (_scattered(scope, node, _places(node, shape, axis, indices).reshape(-1)),)


def scatter_nd(scope: Scope, node: Node) -> Sequence[Value]:
    """ScatterND with constant indices."""
    shape, given = scope.shape(node, 0), scope.constant(node, 1)
    depth = arguments.index_depth(node, given.shape, len(shape))
    indices = arguments.places_of(node, scope.constant(node, 1), np.asarray(shape[:depth]))
    targets = _numbered(node, shape)[tuple(np.moveaxis(indices, -1, 0))]
    return (_scattered(scope, node, np.asarray(targets).reshape(-1)),)


def _scattered(scope: Scope, node: Node, targets: Array) -> SSAValue:
    """Updates put at flat targets, in rounds in which no target occurs twice where they are combined.

    Whole lines of an axis are joined with those that stay.
    """
    make, x, updates = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 2)
    shape, reduction = shape_of(x), node.text("reduction", "none")
    if prod(shape_of(updates)) != targets.size:
        raise node.error(f"{targets.size} updates", str(list(shape_of(updates))), kind="shape")
    flat, news = make.reshape(x, (prod(shape),)), make.reshape(updates, (targets.size,))
    size = prod(shape)
    check_constant_size(node, size)
    if reduction == "none":
        source = np.arange(size)
        source[targets] = size + np.arange(targets.size)
        for axis in range(len(shape)):
            lines = _lines(source.reshape(shape), targets.size, axis)
            if lines is not None:
                return _joined(make, x, updates, axis, lines)
        return make.reshape(make.gather(make.concat([flat, news], 0), source, 0), shape)
    if reduction not in ("add", "mul", "max", "min"):
        raise node.error("reduction none, add, mul, max or min", reduction)
    waiting = np.arange(targets.size)
    for _ in range(MAX_STEPS):
        _, first = np.unique(targets[waiting], return_index=True)
        now = waiting[first]
        source = np.arange(size)
        source[targets[now]] = size + now
        beside = make.gather(make.concat([flat, news], 0), source, 0)
        touched = np.zeros(size, np.uint8)
        touched[targets[now]] = 1
        flat = make.select(make.constant(touched), make.binary(reduction, flat, beside), flat)
        waiting = np.delete(waiting, first)
        if not waiting.size:
            return make.reshape(flat, shape)
    raise node.error(f"at most {MAX_STEPS} updates of one element", "more")


def _lines(source: Array, count: int, axis: int) -> list[int] | None:
    """For each line of an axis its own number, or which line of the updates it is, from the axis' extent on.

    `source` has each element's own place, or that of an update, from the number of all elements on.  None where a line
    is neither.
    """
    extent = source.shape[axis]
    rest = source.size // extent
    if count % rest or not count:
        return None
    own = np.arange(source.size).reshape(source.shape)
    new = source.size + np.arange(count).reshape(*source.shape[:axis], count // rest, *source.shape[axis + 1 :])
    every = np.moveaxis(np.concatenate([own, new], axis), axis, 0).reshape(-1, rest)
    known = {int(line[0]): number for number, line in enumerate(every)}
    found: list[int] = []
    for line in np.moveaxis(source, axis, 0).reshape(extent, rest):
        number = known.get(int(line[0]))
        if number is None or not np.array_equal(every[number], line):
            return None
        found.append(number)
    return found


def _joined(make: Formulas, x: SSAValue, updates: SSAValue, axis: int, lines: Sequence[int]) -> SSAValue:
    """Lines of an axis of x, and of the updates, one after another."""
    shape, pieces = shape_of(x), list[SSAValue]()
    count = prod(shape_of(updates)) * shape[axis] // prod(shape)
    updates = make.reshape(updates, (*shape[:axis], count, *shape[axis + 1 :]))
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and lines[end] == lines[end - 1] + 1 and lines[end] != shape[axis]:
            end += 1
        first, given = lines[at], x if lines[at] < shape[axis] else updates
        pieces.append(make.part(given, axis, first if given is x else first - shape[axis], end - at))
        at = end
    return make.concat(pieces, axis)


def tile(scope: Scope, node: Node) -> Sequence[Value]:
    """Tile."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    if node.version < 6:
        repeats = [1] * len(shape)
        count, axis = (int(scope.scalar(node, i) or 0) for i in (1, 2))
        repeats[arguments.axis_of(node, axis, len(shape))] = count
    else:
        repeats = list(arguments.integer_list(node, lambda i: scope.constant(node, i), 1))
    if len(repeats) != len(shape) or min(repeats, default=1) < 1:
        raise node.error(f"{len(shape)} repeats of at least 1", str(repeats), kind="shape")
    check_size(node.label, [r * e for r, e in zip(repeats, shape, strict=True)], 1)
    apart = [v for e in shape for v in (1, e)]
    wide = [v for r, e in zip(repeats, shape, strict=True) for v in (r, e)]
    result = make.expand(make.reshape(x, apart), wide)
    return (make.reshape(result, [r * e for r, e in zip(repeats, shape, strict=True)]),)


def trilu(scope: Scope, node: Node) -> Sequence[Value]:
    """Trilu: zeros above or below a diagonal."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    offset = scope.optional_constant(node, 1)
    k = 0 if offset is None else int(np.clip(int(offset.reshape(-1)[0]), -(1 << 40), 1 << 40))
    rows, columns = shape_of(x)[-2:]
    check_constant_size(node, rows, columns)
    distance = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    kept = distance >= k if node.integer("upper", 1) else distance <= k
    return (make.select(make.constant(kept.astype(np.uint8)), x, 0),)


def cumulative(scope: Scope, node: Node) -> Sequence[Value]:
    """CumSum and CumProd, by doubling the reach of partial results."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    axis = arguments.axis_of(node, int(scope.constant(node, 1).reshape(-1)[0]), len(shape))
    extent, backward = shape[axis], node.integer("reverse", 0)
    kind, neutral = ("add", 0) if node.op == "CumSum" else ("mul", 1)

    def moved(value: SSAValue, by: int) -> SSAValue:
        kept = make.part(value, axis, by if backward else 0, extent - by)
        return make.pad(kept, axis, 0 if backward else by, by if backward else 0, neutral)

    if node.integer("exclusive", 0):
        if extent == 1:
            return (make.mul(x, 0) if kind == "add" else make.constant(np.ones(shape, dtype_of(element_of(x)))),)
        x = moved(x, 1)
    reach = 1
    while reach < extent:
        x = make.binary(kind, x, moved(x, reach))
        reach *= 2
    return (x,)


def arg_extreme(scope: Scope, node: Node) -> Sequence[Value]:
    """ArgMax and ArgMin: the first or last place where an element equals the extreme."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    rank = len(shape_of(x))
    axis = arguments.axis_of(node, node.integer("axis", 0), rank)
    last = bool(node.integer("select_last_index", 0))
    place = extreme_place(make, x, axis, "max" if node.op == "ArgMax" else "min", last)
    if not node.integer("keepdims", 1):
        shape = shape_of(x)
        place = make.reshape(place, (*shape[:axis], *shape[axis + 1 :]))
    return (make.cast(place, np.int64),)


def extreme_place(make: Formulas, x: SSAValue, axis: int, kind: str, last: bool = False) -> SSAValue:
    """The place (i32) of the first, or last, largest or smallest element along an axis, which stays."""
    shape = shape_of(x)
    found = make.binary("eq", x, make.reduce(kind, x, [axis]))
    places = make.counting(shape[axis], axis, len(shape), np.int32)
    return make.reduce("max" if last else "min", make.select(found, places, -1 if last else shape[axis]), [axis])


def hardmax(scope: Scope, node: Node) -> Sequence[Value]:
    """Hardmax: 1 at the first largest element; before opset 13 over all axes from `axis` on together."""
    make = Formulas(scope, node)
    x, axis = rows_and_axis(make)
    places = make.counting(shape_of(x)[axis], axis, len(shape_of(x)), np.int32)
    found = make.cast(make.binary("eq", places, extreme_place(make, x, axis, "max")), np.float32)
    return (make.reshape(found, scope.shape(node, 0)),)


def one_hot(scope: Scope, node: Node) -> Sequence[Value]:
    """OneHot: indices compared with 0, 1, ...; negative ones count from the back."""
    make, depth = Formulas(scope, node), int(scope.scalar(node, 1) or 0)
    check_size(node.label, (*scope.shape(node, 0), max(depth, 0)), 1)
    indices, values = scope.tensor(node, 0), scope.tensor(node, 2)
    rank = len(shape_of(indices))
    axis = arguments.axis_of(node, node.integer("axis", -1), rank + 1)
    if depth < 1:
        raise node.error("a depth of at least 1", str(depth), kind="shape")
    shape = shape_of(indices)
    indices = make.reshape(indices, (*shape[:axis], 1, *shape[axis:]))
    indices = make.select(make.binary("lt", indices, 0), make.add(indices, depth), indices)
    places = make.counting(depth, axis, rank + 1, dtype_of(element_of(indices)))
    found = make.binary("eq", indices, places)
    off, on = (make.reshape(make.part(values, 0, i, 1), ()) for i in (0, 1))
    return (make.expand(make.select(found, on, off), (*shape[:axis], depth, *shape[axis:])),)


def eye_like(scope: Scope, node: Node) -> Sequence[Value]:
    """EyeLike: a constant, as shapes are."""
    shape = scope.shape(node, 0)
    check_constant_size(node, *shape)
    dtype = arguments.numpy_type(node, "dtype") or scope.dtype(node, 0)
    if len(shape) != 2:
        raise node.error("a matrix", f"shape {list(shape)}", kind="shape")
    k = max(-(1 << 40), min(1 << 40, node.integer("k", 0)))
    return ((np.arange(shape[1])[None, :] - np.arange(shape[0])[:, None] == k).astype(dtype),)


def reverse_sequence(scope: Scope, node: Node) -> Sequence[Value]:
    """ReverseSequence with constant lengths."""
    x, lengths = scope.tensor(node, 0), scope.constant(node, 1).astype(np.int64).reshape(-1)
    batch, time = node.integer("batch_axis", 1), node.integer("time_axis", 0)
    shape = shape_of(x)
    if {batch, time} != {0, 1} or len(lengths) != shape[batch] or not np.all((lengths >= 0) & (lengths <= shape[time])):
        raise node.error("lengths of the batch, time and batch as the first axes", str(lengths[:20]), kind="shape")
    steps = np.arange(shape[time])[None, :]
    rows = np.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
    places = np.arange(shape[batch])[:, None] * (shape[1] if batch == 0 else 1)
    places = places + rows * (1 if batch == 0 else shape[1])
    make, rest = Formulas(scope, node), shape[2:]
    flat = make.reshape(x, (shape[0] * shape[1], *rest))
    return (make.reshape(make.gather(flat, (places if batch == 0 else places.T).reshape(-1), 0), shape),)


def compress(scope: Scope, node: Node) -> Sequence[Value]:
    """Compress with a constant condition."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    if "axis" not in node.attributes:
        x, axis = make.reshape(x, (prod(shape_of(x)),)), 0
    else:
        axis = arguments.axis_of(node, node.integer("axis", 0), len(shape_of(x)))
    kept = np.flatnonzero(scope.constant(node, 1).reshape(-1)[: shape_of(x)[axis]])
    return (make.gather(x, kept, axis),)


def top_k(scope: Scope, node: Node) -> Sequence[Value]:
    """TopK: each element's rank is how many come before it; the one of rank r is chosen for place r."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    shape = shape_of(x)
    axis = arguments.axis_of(node, node.integer("axis", -1), len(shape))
    k = node.integer("k", 0) if node.version < 10 else int(scope.scalar(node, 1) or 0)
    extent = shape[axis]
    if not 1 <= k <= extent:
        raise node.error(f"k from 1 to {extent}", str(k), kind="shape")
    check_constant_size(node, extent, extent)
    order = [i for i in range(len(shape)) if i != axis]
    rows = make.reshape(make.transpose(x, [*order, axis]), (prod(shape) // extent, extent))
    outer = make.reshape(rows, (prod(shape) // extent, extent, 1))
    inner = make.reshape(rows, (prod(shape) // extent, 1, extent))
    before = make.binary("gt" if node.integer("largest", 1) else "lt", inner, outer)
    earlier = np.tri(extent, extent, -1, np.uint8)
    level = make.mul(make.binary("eq", inner, outer), make.constant(earlier))
    rank = make.reduce("sum", make.cast(make.binary("max", before, level), np.int32), [2])
    chosen = make.binary("eq", rank, make.counting(k, 2, 3, np.int32))
    values = _chosen(make, chosen, outer)
    places = _chosen(make, chosen, make.counting(extent, 1, 3, np.int32))
    back = [*range(axis), len(shape) - 1, *range(axis, len(shape) - 1)]
    wide = (*(shape[i] for i in order), k)
    result = [make.transpose(make.reshape(value, wide), back) for value in (values, places)]
    return (result[0], make.cast(result[1], np.int64))


def _chosen(make: Formulas, chosen: SSAValue, x: SSAValue) -> SSAValue:
    """Along axis 1, the one element that is chosen."""
    return make.reduce("max", make.select(chosen, x, least(dtype_of(element_of(x)))), [1], keepdims=False)
