"""Operators that pick and replace elements at places that are known at run time only.

What an index picks of a table of finite constants, or of an input, is a lookup.  Elsewhere it is compared with all
places along its axis: what it picks is the greatest of the element and least values.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from ...algebra.element import least
from ...dialects import graph
from ...dialects.types import dtype_of, element_of, shape_of
from . import arguments
from .formulas import MAX_COMPARED, Formulas, check_constant_size
from .reductions import product
from .scope import Node, Scope, Value
from .types import wider

EXACT_PLACES = 1 << 24
"""Places below this are exact in f32."""


def _least(like: SSAValue) -> float:
    return least(dtype_of(element_of(like)))


def _check_compared(node: Node, *extents: int) -> None:
    check_constant_size(node, *extents, most=MAX_COMPARED, what="looked at for run-time indices")


def _places(make: Formulas, index: SSAValue, extent: int) -> SSAValue:
    """Indices along an axis as f32, negative ones counted from the back."""
    if extent >= EXACT_PLACES:
        raise make.node.error(f"fewer than {EXACT_PLACES} places", str(extent), kind="limit")
    place = make.cast(make.cast(_integers(make, index), np.int32), np.float32)
    return make.select(make.binary("lt", place, 0), make.add(place, extent), place)


def _integers(make: Formulas, index: SSAValue) -> SSAValue:
    if dtype_of(element_of(index)).kind not in "iu":
        raise make.node.error("indices that are integers", str(element_of(index)))
    return index


def _wide(make: Formulas, x: SSAValue) -> SSAValue:
    """A tensor in a type that can be chosen from."""
    wide = wider(dtype_of(element_of(x)), make.node.op)
    return x if wide is None else make.cast(x, wide)


def _rows(make: Formulas, table: SSAValue, places: SSAValue) -> SSAValue:
    """Row `places[k]` (f32) of a table `[n, d]` for each k."""
    (count,), (extent, width) = shape_of(places), shape_of(table)
    column, counting = make.reshape(places, (count, 1)), make.counting(extent, 1, 2, np.float32)
    _check_compared(make.node, count, extent, width)
    found = make.reshape(make.binary("eq", column, counting), (count, extent, 1))
    wide = _wide(make, table)
    kept = make.select(found, make.reshape(wide, (1, extent, width)), _least(wide))
    return make.cast(make.reduce("max", kept, [1], keepdims=False), dtype_of(element_of(table)))


def _table(make: Formulas) -> tuple[SSAValue, bool]:
    """What is picked from, and whether that is a lookup: of an input of the network, or of a constant of finite numbers
    (stored, or dequantised integers).
    """
    value, x = make.scope.value(make.node, 0), make.scope.tensor(make.node, 0)
    if isinstance(value, SSAValue):
        owner = value.owner
        stored = isinstance(owner, graph.DequantizeOp) and isinstance(owner.x.owner, graph.WeightOp)
        return x, stored or isinstance(x, BlockArgument)
    if value.dtype.name == "float16" and np.all(np.isfinite(value)):
        return make.constant(value.astype(np.float32)), True
    return x, value.dtype.name == "float32" and bool(np.all(np.isfinite(value)))


def gather(scope: Scope, node: Node) -> Sequence[Value]:
    """Gather: the rows of the table that the axis' elements are."""
    make, index = Formulas(scope, node), scope.tensor(node, 1)
    x, found_by_rows = _table(make)
    shape, chosen = shape_of(x), shape_of(index)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    rest = [i for i in range(len(shape)) if i != axis]
    others = [shape[i] for i in rest]
    table = make.reshape(make.transpose(x, [axis, *rest]), (shape[axis], prod(others)))
    if found_by_rows:
        found = make.lookup(table, _integers(make, index))
    else:
        found = _rows(make, table, make.reshape(_places(make, index, shape[axis]), (prod(chosen),)))
    rows = make.reshape(found, (*chosen, *others))
    count = len(chosen)
    order = [*range(count, count + axis), *range(count), *range(count + axis, count + len(rest))]
    return (make.transpose(rows, order),)


def gather_nd(scope: Scope, node: Node) -> Sequence[Value]:
    """GatherND: rows of a table of all places that an index can mean."""
    make, index = Formulas(scope, node), scope.tensor(node, 1)
    x, found_by_rows = _table(make)
    batch = node.integer("batch_dims", 0)
    shape, given = shape_of(x), shape_of(index)
    depth = arguments.index_depth(node, given, len(shape), batch)
    places = _linear(make, index, shape[batch : batch + depth])
    if batch:
        own = np.arange(prod(given[:batch])) * prod(shape[batch : batch + depth])
        starts = own.astype(np.float32).reshape(*given[:batch], *(1 for _ in given[batch:-1]))
        places = make.add(places, make.constant(starts))
    rest = shape[batch + depth :]
    table = make.reshape(x, (prod(shape[: batch + depth]), prod(rest)))
    flat = make.reshape(places, (prod(given[:-1]),))
    found = make.lookup(table, make.cast(flat, np.int32)) if found_by_rows else _rows(make, table, flat)
    return (make.reshape(found, (*given[:-1], *rest)),)


def _linear(make: Formulas, index: SSAValue, extents: Sequence[int]) -> SSAValue:
    """The place in row-major order that the last axis of an index means, as f32."""
    if prod(extents) >= EXACT_PLACES:
        raise make.node.error(f"fewer than {EXACT_PLACES} places", str(prod(extents)), kind="limit")
    given, total = shape_of(index), None
    for i, extent in enumerate(extents):
        place = _places(make, make.reshape(make.part(index, len(given) - 1, i, 1), given[:-1]), extent)
        total = place if total is None else make.add(make.mul(total, extent), place)
    assert total is not None
    return total


def gather_elements(scope: Scope, node: Node) -> Sequence[Value]:
    """GatherElements: along the axis each index with its own line."""
    make, x, index = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, given = shape_of(x), shape_of(index)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    for i, extent in enumerate(given):
        x = x if i == axis else make.part(x, i, 0, extent)
    found = _found(make, index, axis, shape[axis])
    wide = _wide(make, make.reshape(x, (*given[:axis], 1, shape[axis], *given[axis + 1 :])))
    kept = make.reduce("max", make.select(found, wide, _least(wide)), [axis + 1], keepdims=False)
    return (make.cast(kept, dtype_of(element_of(x))),)


def _found(make: Formulas, index: SSAValue, axis: int, extent: int) -> SSAValue:
    """Whether an index is a place (a new axis behind `axis`)."""
    given = shape_of(index)
    _check_compared(make.node, *given, extent)
    places = make.reshape(_places(make, index, extent), (*given[: axis + 1], 1, *given[axis + 1 :]))
    return make.binary("eq", places, make.counting(extent, axis + 1, len(given) + 1, np.float32))


def scatter_elements(scope: Scope, node: Node) -> Sequence[Value]:
    """ScatterElements (and Scatter): each place looks for its updates along the axis."""
    make, x, index = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, given = shape_of(x), shape_of(index)
    axis = arguments.axis_of(node, node.integer("axis", 0), len(shape))
    if any(given[i] != shape[i] for i in range(len(shape)) if i != axis):
        raise node.error("run-time indices for all lines of the axis", f"{list(given)} for {list(shape)}")
    updates = make.reshape(scope.tensor(node, 2), (*given[: axis + 1], 1, *given[axis + 1 :]))
    return (_combined(make, x, _found(make, index, axis, shape[axis]), updates, axis),)


def scatter_nd(scope: Scope, node: Node) -> Sequence[Value]:
    """ScatterND: each row of the table of places looks for its updates."""
    make, x, index = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, given = shape_of(x), shape_of(index)
    depth = arguments.index_depth(node, given, len(shape))
    extent, width, count = prod(shape[:depth]), prod(shape[depth:]), prod(given[:-1])
    _check_compared(node, extent, width, count)
    places = make.reshape(_linear(make, index, shape[:depth]), (count, 1, 1))
    found = make.binary("eq", places, make.counting(extent, 1, 3, np.float32))
    updates = make.reshape(scope.tensor(node, 2), (count, 1, width))
    return (make.reshape(_combined(make, make.reshape(x, (extent, width)), found, updates, 0), shape),)


def tensor_scatter(scope: Scope, node: Node) -> Sequence[Value]:
    """TensorScatter: steps of a sequence put into a cache, from a place of each sample on."""
    make, x, updates = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, given, rank = shape_of(x), shape_of(updates), len(shape_of(x))
    axis = arguments.axis_of(node, node.integer("axis", -2), rank)
    if axis == 0 or given != (*shape[:axis], given[axis], *shape[axis + 1 :]) or given[axis] > shape[axis]:
        raise node.error(f"updates for {list(shape)}, shorter along axis {axis}", str(list(given)), kind="shape")
    _check_compared(node, *given, shape[axis])
    places = make.counting(given[axis], axis, rank + 1, np.float32)
    if node.has_input(2):
        start = make.cast(make.cast(scope.tensor(node, 2), np.int32), np.float32)
        places = make.add(make.reshape(start, (shape[0], *(1,) * rank)), places)
    if node.text("mode", "linear") == "circular":
        places = make.binary("mod", places, shape[axis])
    found = make.binary("eq", places, make.counting(shape[axis], axis + 1, rank + 1, np.float32))
    return (_combined(make, x, found, make.reshape(updates, (*given[: axis + 1], 1, *given[axis + 1 :])), axis),)


def _combined(make: Formulas, x: SSAValue, found: SSAValue, updates: SSAValue, axis: int) -> SSAValue:
    """x with the updates that are found along `axis`; one of several for a place is the greatest of them."""
    reduction = make.node.text("reduction", "none")
    if reduction == "add":
        return make.add(x, make.reduce("sum", make.select(found, updates, 0), [axis], keepdims=False))
    if reduction == "mul":
        factors = product(make, make.select(found, updates, 1), axis)
        return make.mul(x, make.reshape(factors, shape_of(x)))
    if reduction not in ("none", "max", "min"):
        raise make.node.error("reduction none, add, mul, max or min", reduction)
    if reduction == "min":
        kept = make.select(found, updates, -1 - _least(updates) if _least(updates) > -1e30 else float("inf"))
        return make.binary("min", x, make.reduce("min", kept, [axis], keepdims=False))
    kept = make.reduce("max", make.select(found, updates, _least(updates)), [axis], keepdims=False)
    if reduction == "max":
        return make.binary("max", x, kept)
    return make.select(make.reduce("max", found, [axis], keepdims=False), kept, x)
