"""Slices, borders, pieces and gathers of views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects import graph
from ...dialects.types import shape_of
from .source import Array
from .views import View, Views


def slice_(views: Views, x: View, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]) -> View:
    """Elements `start + i * step` of each axis; negative steps go backwards."""
    if not len(starts) == len(sizes) == len(steps) == x.rank or any(size < 0 for size in sizes):
        found = f"{list(starts)}, {list(sizes)}, {list(steps)} of shape {list(x.shape)}"
        raise views.error("starts, extents and steps for each axis", found, kind="shape")
    if 0 in sizes:  # which a concatenation leaves out
        return View(x.source, x.perm, tuple(sizes), x.truth)
    inside = all(
        0 <= a < n and 0 <= a + (e - 1) * s < n for a, e, s, n in zip(starts, sizes, steps, x.shape, strict=True)
    )
    if not inside:
        found = f"starts {list(starts)}, extents {list(sizes)}, steps {list(steps)} of shape {list(x.shape)}"
        raise views.error("a slice inside of the tensor", found, kind="shape")
    order = x.axes()
    whole = [x.extent(axis) == 1 for axis in order]
    at = [0 if one else starts[axis] for one, axis in zip(whole, order, strict=True)]
    extents = [1 if one else sizes[axis] for one, axis in zip(whole, order, strict=True)]
    stride = [1 if one else steps[axis] for one, axis in zip(whole, order, strict=True)]
    if tuple(extents) == shape_of(x.source) and all(s == 1 for s in stride):
        return View(x.source, x.perm, tuple(sizes), x.truth)
    made = views.emit(lambda: graph.SliceOp(x.source, starts=at, sizes=extents, steps=stride))
    return View(made, x.perm, tuple(sizes), x.truth)


def backwards(views: Views, x: View, axes: Sequence[int]) -> View:
    """A tensor with some axes walked from their end."""
    starts = [n - 1 if axis in axes else 0 for axis, n in enumerate(x.shape)]
    steps = [-1 if axis in axes and x.shape[axis] > 1 else 1 for axis in range(x.rank)]
    return slice_(views, x, starts, x.shape, steps) if axes else x


def concat(views: Views, pieces: Sequence[View], axis: int) -> View:
    """Pieces one after another."""
    if not pieces or not 0 <= axis < pieces[0].rank or any(piece.rank != pieces[0].rank for piece in pieces):
        raise views.error("pieces of one rank, and an axis of them", f"{len(pieces)}, axis {axis}", kind="shape")
    pieces = [piece for piece in pieces if 0 not in piece.shape] or pieces
    if len(pieces) == 1:
        return pieces[0]
    sources, axes = views.aligned(pieces)
    full = [views.expanded(s, [piece.shape[a] for a in axes]) for s, piece in zip(sources, pieces, strict=True)]
    made = views.emit(lambda: graph.ConcatOp(full, axis=axes.index(axis)))
    shape = tuple(sum(p.shape[i] for p in pieces) if i == axis else pieces[0].shape[i] for i in range(len(axes)))
    return View(made, tuple(axes.index(i) for i in range(len(axes))), shape, pieces[0].truth)


def pad(
    views: Views, x: View, low: Sequence[int], high: Sequence[int], value: float, interior: Sequence[int] | None = None
) -> View:
    """A border of a number, and that between elements; negative amounts cut."""
    interior = [0] * x.rank if interior is None else interior
    if not len(low) == len(high) == len(interior) == x.rank or any(i < 0 for i in interior):
        raise views.error(f"amounts for {x.rank} axes", f"{list(low)}, {list(high)}, {list(interior)}", kind="shape")
    for axis, between in enumerate(interior):
        if between and x.shape[axis] > 1:
            x = _apart(views, x, axis, between + 1, value)
    starts = [max(0, -a) for a in low]
    sizes = [n - s + min(0, b) for n, s, b in zip(x.shape, starts, high, strict=True)]
    if tuple(sizes) != x.shape:
        x = slice_(views, x, starts, sizes, [1] * x.rank)
    if all(a <= 0 and b <= 0 for a, b in zip(low, high, strict=True)):
        return x
    if views.number(x) == value:
        shape = [n + max(a, 0) + max(b, 0) for n, a, b in zip(x.shape, low, high, strict=True)]
        return views.splat(value, x.dtype, shape, x.truth)
    order = x.axes()
    source = views.expanded(x.source, [x.shape[axis] for axis in order])
    pads = [max(0, amounts[axis]) for amounts in (low, high) for axis in order]
    made = views.emit(lambda: graph.PadOp(source, pads=pads, value=value))
    return View(made, x.perm, tuple(shape_of(made)[p] for p in x.perm), x.truth)


def _apart(views: Views, x: View, axis: int, stride: int, value: float) -> View:
    """Elements of an axis `stride` apart, a number between them."""
    shape = x.shape
    split = views.reshape(x, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    high = [stride - 1 if i == axis + 1 else 0 for i in range(split.rank)]
    joined = views.reshape(
        pad(views, split, [0] * split.rank, high, value), (*shape[:axis], shape[axis] * stride, *shape[axis + 1 :])
    )
    sizes = [(n - 1) * stride + 1 if i == axis else n for i, n in enumerate(shape)]
    return slice_(views, joined, [0] * len(shape), sizes, [1] * len(shape))


def insert(views: Views, piece: View, into: View, starts: Sequence[int], steps: Sequence[int]) -> View:
    """`into` with the piece in place of what stood there."""
    if not piece.rank == into.rank == len(starts) == len(steps) or any(step < 1 for step in steps):
        raise views.error("a piece of the same rank, steps of at least 1", f"steps {list(steps)}", kind="shape")
    ends = [start + (n - 1) * step + 1 for start, n, step in zip(starts, piece.shape, steps, strict=True)]
    if any(s < 0 or e > n for s, e, n in zip(starts, ends, into.shape, strict=True)):
        raise views.error(
            "a piece inside of the tensor", f"{list(starts)} to {ends} of {list(into.shape)}", kind="shape"
        )
    around = views.number(into)
    if around is not None:
        high = [n - e for n, e in zip(into.shape, ends, strict=True)]
        return pad(views, piece, starts, high, float(around), [step - 1 for step in steps])
    if any(step != 1 for step in steps):
        raise views.error("a tensor of one number around a piece with steps", f"steps {list(steps)}")
    result = piece
    for axis in reversed(range(into.rank)):
        sides: list[View] = []
        for start, size in ((0, starts[axis]), (ends[axis], into.shape[axis] - ends[axis])):
            at = [*starts[:axis], start, *(0 for _ in starts[axis + 1 :])]
            extents = [*piece.shape[:axis], size, *into.shape[axis + 1 :]]
            sides += [slice_(views, into, at, extents, [1] * into.rank)] if size else []
            if start == 0:
                sides.append(result)
        result = concat(views, sides, axis)
    return result


def gather(views: Views, x: View, indices: Array, axis: int) -> View:
    """Elements of an axis at constant indices."""
    if indices.size and (indices.min() < 0 or indices.max() >= x.shape[axis]):
        indices = np.clip(indices, 0, x.shape[axis] - 1)
    source = views.whole(x)
    return views.of(views.emit(lambda: graph.GatherOp(source, indices, axis=axis)), x.truth)


def counting(views: Views, shape: Sequence[int], axis: int, dtype: np.dtype[np.generic]) -> View:
    """0, 1, ... along an axis."""
    if not 0 <= axis < len(shape) or shape[axis] > 1 << 24:
        raise views.error("an axis of at most 2^24 elements", f"axis {axis} of {list(shape)}", kind="shape")
    line = views.constant(np.arange(shape[axis]).astype(dtype), f"counting:{dtype.name}:{shape[axis]}")
    return views.broadcast(line, (axis,), shape)
