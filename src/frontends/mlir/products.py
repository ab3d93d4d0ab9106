"""Reductions of views: along axes, in windows, and of products."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...dialects import graph
from .arithmetic import Arithmetic
from .views import View, Views, concat, counting, pad, part

IDENTITIES = {"sum": 0.0, "max": -np.inf, "min": np.inf, "product": 1.0}
"""What a reduction begins with where nothing is to change."""

MAX_ROWS = 1 << 16
"""The longest table of which rows are taken at run time."""

COMBINE = {"sum": "add", "max": "max", "min": "min", "product": "mul"}


def is_identity(kind: str, number: float | None, dtype: np.dtype[Any]) -> bool:
    """Whether a number changes nothing in a reduction of elements of a type."""
    if number is None:
        return False
    if kind in ("sum", "product"):
        return number == IDENTITIES[kind]
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        return number <= -most if kind == "max" else number >= most
    info = np.iinfo(dtype)
    return number == (info.min if kind == "max" else info.max)


def begin_with(make: Arithmetic, kind: str, result: View, start: View) -> View:
    """The result of a reduction that begins with `start`."""
    if is_identity(kind, make.views.number(start), result.dtype):
        return result
    return make.binary(
        COMBINE[kind], result, make.views.broadcast(start, (), result.shape) if not start.rank else start
    )


def reduce(make: Arithmetic, kind: str, x: View, axes: Sequence[int]) -> View:
    """Sum, product, maximum or minimum along axes, which go."""
    views, axes = make.views, sorted(set(axes))
    if any(not 0 <= axis < x.rank for axis in axes):
        raise views.error(f"axes below {x.rank}", str(axes), kind="shape")
    if x.dtype == np.float16:
        return make.cast(reduce(make, kind, make.cast(x, np.dtype(np.float32)), axes), x.dtype)
    x = _made_along(views, x, axes) if kind in ("sum", "product") else x
    rest = tuple(axis for axis in range(x.rank) if axis not in axes)
    if kind == "product":
        for axis in axes:
            x = _product(make, x, axis)
        return views.reshape(x, [x.shape[axis] for axis in rest])
    left = [x.perm[axis] for axis in rest]
    if axes:
        dtype, physical = x.dtype, sorted(x.perm[axis] for axis in axes)
        made = views.emit(lambda: graph.ReduceOp(kind, x.source, axes=physical, keepdims=False))
        result = View(made, tuple(sorted(left).index(p) for p in left), tuple(x.shape[axis] for axis in rest), x.truth)
        return result if result.dtype == dtype else make.cast(result, dtype)
    return x


def first_place(make: Arithmetic, kind: str, x: View, axis: int, dtype: np.dtype[Any]) -> View:
    """The place of the first maximum or minimum along an axis, which goes."""
    views, others = make.views, [i for i in range(x.rank) if i != axis]
    most = views.broadcast(reduce(make, kind, x, [axis]), others, x.shape)
    places = counting(views, x.shape, axis, dtype)
    last = views.splat(x.shape[axis] - 1, dtype, x.shape)
    return reduce(make, "min", make.select(make.binary("eq", x, most), places, last), [axis])


def _made_along(views: Views, x: View, axes: Sequence[int]) -> View:
    """The view with what is repeated along axes made."""
    if all(x.extent(axis) == x.shape[axis] for axis in axes):
        return x
    order = x.axes()
    extents = [x.shape[axis] if axis in axes else x.extent(axis) for axis in order]
    return View(views.expanded(x.source, extents), x.perm, x.shape, x.truth)


def _product(make: Arithmetic, x: View, axis: int) -> View:
    """The product along an axis, which stays: halves are multiplied until one element is left."""
    views = make.views
    while (extent := x.shape[axis]) > 1:
        half = extent // 2
        halves = make.binary("mul", part(views, x, axis, 0, half), part(views, x, axis, half, half))
        if extent % 2:
            first = make.binary("mul", part(views, halves, axis, 0, 1), part(views, x, axis, extent - 1, 1))
            halves = first if half == 1 else concat(views, [first, part(views, halves, axis, 1, half - 1)], axis)
        x = halves
    return x


def dot(
    make: Arithmetic,
    a: View,
    b: View,
    batch: tuple[Sequence[int], Sequence[int]],
    inner: tuple[Sequence[int], Sequence[int]],
) -> View:
    """Sums of products over the axes `inner`: `[batch..., free of a..., free of b...]`."""
    views = make.views
    for view, axes in ((a, (*batch[0], *inner[0])), (b, (*batch[1], *inner[1]))):
        if any(not 0 <= axis < view.rank for axis in axes) or len(set(axes)) != len(axes):
            raise views.error(f"different axes below {view.rank}", str(list(axes)), kind="shape")
    if len(batch[0]) != len(batch[1]) or len(inner[0]) != len(inner[1]):
        raise views.error("as many axes of both", f"{batch}, {inner}", kind="shape")
    pairs = [(a.shape[i], b.shape[j]) for (one, other) in (batch, inner) for i, j in zip(one, other, strict=True)]
    if any(m != n for m, n in pairs):
        raise views.error("equal extents of batch and inner axes", f"{list(a.shape)} and {list(b.shape)}", kind="shape")
    free_a = [axis for axis in range(a.rank) if axis not in (*batch[0], *inner[0])]
    free_b = [axis for axis in range(b.rank) if axis not in (*batch[1], *inner[1])]
    outer = [a.shape[axis] for axis in batch[0]]
    depth = prod(a.shape[axis] for axis in inner[0])
    rows, columns = [a.shape[axis] for axis in free_a], [b.shape[axis] for axis in free_b]
    kept = rows if rows and not outer else [prod(rows)]  # leading axes of a are left where b has none
    left = views.reshape(views.transpose(a, [*batch[0], *free_a, *inner[0]]), [*outer, *kept, depth])
    right = views.reshape(views.transpose(b, [*batch[1], *inner[1], *free_b]), [*outer, depth, prod(columns)])
    made = make.product(views.whole(left), views.whole(right), lambda x, y: graph.MatmulOp(x, y))
    return views.reshape(views.of(made), [*outer, *rows, *columns])


def rows_of(make: Arithmetic, x: View, axis: int, indices: View) -> View:
    """Rows of a table at indices that are known at run time: of a constant a lookup, at indices that are moved inside,
    else a product with a 1 in the place of each.
    """
    views = make.views
    array = views.array(x)
    if array is not None and array.dtype.kind == "f" and np.all(np.isfinite(array)):
        return _looked_up(make, x, axis, indices)
    if x.dtype.kind != "f" or x.shape[axis] > MAX_ROWS:
        lever = "look tokens up before, or give the rows as an input"
        raise views.error(f"at most {MAX_ROWS} rows of floats", f"{x.shape[axis]} of {x.dtype}", lever)
    shape = (*indices.shape, x.shape[axis])
    places = counting(views, shape, len(indices.shape), indices.dtype)
    given = views.broadcast(indices, range(indices.rank), shape)
    chosen = make.cast(make.binary("eq", given, places), x.dtype)
    return _placed(views, dot(make, chosen, x, ((), ()), ((indices.rank,), (axis,))), indices.rank, axis)


def _looked_up(make: Arithmetic, x: View, axis: int, indices: View) -> View:
    views, rows, rest = make.views, x.shape[axis], [i for i in range(x.rank) if i != axis]
    index = indices if indices.dtype.name in ("int32", "int64") else make.cast(indices, np.dtype(np.int32))
    index = make.clip(index, min=0, max=rows - 1)
    shape = [x.shape[i] for i in rest]
    table = views.whole(views.reshape(views.transpose(x, [axis, *rest]), [rows, prod(shape)]))
    at = views.whole(index)
    made = views.reshape(views.of(views.emit(lambda: graph.LookupOp(table, at))), [*index.shape, *shape])
    return _placed(views, made, index.rank, axis)


def _placed(views: Views, rows: View, rank: int, axis: int) -> View:
    """Rows with the axes of their indices, which are the first `rank` ones, in the place of `axis`."""
    return views.transpose(rows, [*range(rank, rank + axis), *range(rank), *range(rank + axis, rows.rank)])


@dataclass(frozen=True)
class Window:
    """How a convolution or pooling moves over its spatial axes; pads are (before, behind) of each."""

    sizes: Sequence[int]
    strides: Sequence[int]
    pads: Sequence[tuple[int, int]]
    dilations: Sequence[int]

    def flat_pads(self) -> list[int]:
        """As layers have them: before each axis, then behind each."""
        return [before for before, _ in self.pads] + [behind for _, behind in self.pads]


def conv(make: Arithmetic, x: View, w: View, window: Window, groups: int, order: Sequence[int]) -> View:
    """A convolution of `[n, c, spatial...]` with `[k, c / groups, spatial...]`.

    Axis i of the result is axis `order[i]` of `[n, k, spatial...]`.
    """
    views, pads = make.views, window.pads
    if any(amount < 0 for pair in pads for amount in pair):
        x = pad(views, x, [0, 0, *(min(0, a) for a, _ in pads)], [0, 0, *(min(0, b) for _, b in pads)], 0.0)
        window = Window(window.sizes, window.strides, [(max(0, a), max(0, b)) for a, b in pads], window.dilations)
    spatial = x.rank - 2
    if not 1 <= spatial <= 3:
        raise views.error("one to three spatial axes", str(spatial))

    def layer(x: SSAValue, w: SSAValue) -> graph.LayerOp:
        around = window.flat_pads()
        return graph.ConvOp(x, w, strides=window.strides, pads=around, dilations=window.dilations, groups=groups)

    made = make.product(views.whole(x), views.whole(w), layer)
    return views.transpose(views.of(made), order)


def pool(make: Arithmetic, kind: str, x: View, window: Window) -> View:
    """Maximum, minimum or sum in windows over all axes of `x`; those of size 1 without steps are left alone."""
    views = make.views
    moving = [
        axis
        for axis in range(x.rank)
        if (window.sizes[axis], window.strides[axis], tuple(window.pads[axis])) != (1, 1, (0, 0))
    ]
    if not moving:
        return x
    if len(moving) > 3:
        raise views.error("windows over at most three axes", str(len(moving)))
    if x.dtype == np.float16:
        return make.cast(pool(make, kind, make.cast(x, np.dtype(np.float32)), window), x.dtype)
    if kind == "min" and x.dtype.kind != "f":
        raise views.error("minima in windows of floats", str(x.dtype))
    if kind == "min":
        return make.unary("neg", pool(make, "max", make.unary("neg", x), window))
    still = [axis for axis in x.axes() if axis not in moving]
    extents = [x.shape[axis] for axis in still]
    channels = extents[-1] if extents else 1
    flat = views.reshape(
        views.transpose(x, [*still, *moving]), [prod(extents[:-1]), channels, *(x.shape[axis] for axis in moving)]
    )
    kernel, strides, dilations = (
        [values[axis] for axis in moving] for values in (window.sizes, window.strides, window.dilations)
    )
    around = Window(kernel, strides, [window.pads[axis] for axis in moving], dilations).flat_pads()
    source = views.whole(flat)

    def layer() -> graph.LayerOp:
        return graph.PoolOp(kind, source, kernel=kernel, strides=strides, pads=around, dilations=dilations)

    made = views.of(views.emit(layer), x.truth)
    back = views.reshape(made, [*extents, *made.shape[2:]])
    back = views.transpose(back, [[*still, *moving].index(axis) for axis in range(x.rank)])
    return back if back.dtype == x.dtype else make.cast(back, x.dtype)
