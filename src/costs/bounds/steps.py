"""Elements that one step of an array brings at least per operation: every shape of a step is looked at.

The units of an array work at a step on a box of iterations, `f_d` along each dimension, with a product of at most their
number.  It touches `f_d` elements along a plain axis, and at least `sum f_d - (k - 1)` along a sum of `k` dimensions
(sums of finite sets of integers are no smaller).  A longer `f_d` never brings more per operation, so only shapes that
cannot grow matter, and of these only those that no other beats for every tensor.
"""

from functools import lru_cache

import numpy as np

from ..exact.axes import axes_of
from ..exact.compiled import Floats, Ints, compiled
from ..hierarchy.values import Problem

MAX_SHAPES = 1 << 15
"""Most shapes that are compared; if there are more, nothing is known."""

COMPARED = 1024
"""Shapes with which another one is compared: one that is beaten by others alone stays, and changes nothing."""

UNRELATED, PLAIN = -2, -1


@lru_cache(maxsize=256)
def best_shapes(problem: Problem, units: int) -> Floats | None:
    """Elements per operation of each tensor (columns) for the shapes of a step that matter; None beyond the limit."""
    dims = sorted((dim for dim, bound in enumerate(problem.bounds) if bound > 1), key=lambda dim: problem.bounds[dim])
    if not dims:
        return np.ones((1, len(problem.tensors)))
    axes = np.full((len(problem.tensors), len(dims)), UNRELATED, np.int64)
    for row, tensor in zip(axes, problem.tensors, strict=True):
        found = axes_of(tensor, problem.bounds)
        row[[dims.index(dim) for dim in found.plain]] = PLAIN
        for number, window in enumerate(found.windows):
            row[[dims.index(dim) for dim in window.dims]] = number
    bounds = np.array([min(problem.bounds[dim], units) for dim in dims], np.int64)
    shapes = np.empty((MAX_SHAPES, len(dims)), np.int64)
    count = _shapes(bounds, units, shapes)
    if count < 0:
        return None
    touched = _touched(shapes[:count], axes)
    touched = touched[np.argsort(touched.sum(axis=1), kind="stable")]
    return touched[: _undominated(touched)]


@compiled
def _shapes(bounds: Ints, units: int, out: Ints) -> int:
    """Fill `out` with all boxes of at most `units` iterations that cannot grow; how many, or -1 if too many."""
    dims = len(bounds)
    shape = np.ones(dims, np.int64)
    count, size = 0, 1
    while True:
        size //= shape[dims - 1]
        shape[dims - 1] = min(bounds[dims - 1], units // size)
        size *= shape[dims - 1]
        grows = False
        for d in range(dims):
            grows = grows or (shape[d] < bounds[d] and size // shape[d] * (shape[d] + 1) <= units)
        if not grows:
            if count == len(out):
                return -1
            out[count] = shape
            count += 1
        d = dims - 2
        size //= shape[dims - 1]
        shape[dims - 1] = 1
        while d >= 0 and (shape[d] == bounds[d] or size // shape[d] * (shape[d] + 1) > units):
            size //= shape[d]
            shape[d] = 1
            d -= 1
        if d < 0:
            return count
        size = size // shape[d] * (shape[d] + 1)
        shape[d] += 1


@compiled
def _touched(shapes: Ints, axes: Ints) -> Floats:
    """Elements per operation of each tensor, for boxes (n, D); `axes` (T, D) are plain, unrelated or a sum's number."""
    tensors, dims = axes.shape
    found = np.ones((len(shapes), tensors))
    for n in range(len(shapes)):
        for t in range(tensors):
            for d in range(dims):
                if axes[t, d] == UNRELATED:
                    found[n, t] /= shapes[n, d]
                elif axes[t, d] >= 0:
                    first, total = True, 1
                    for e in range(dims):
                        if axes[t, e] == axes[t, d]:
                            first = first and e >= d
                            total += shapes[n, e] - 1
                    found[n, t] *= (total if first else 1) / shapes[n, d]
    return found


@compiled
def _undominated(rows: Floats) -> int:
    """Move rows to the front but for those that one of the first is below in every column; how many.

    Their sums must not fall.
    """
    kept = 0
    for n in range(len(rows)):
        beaten, k = False, 0
        while k < min(kept, COMPARED) and not beaten:
            beaten = True
            for t in range(rows.shape[1]):
                beaten = beaten and rows[k, t] <= rows[n, t]
            k += 1
        if not beaten:
            for t in range(rows.shape[1]):
                rows[kept, t] = rows[n, t]
            kept += 1
        elif k > 1:  # the next ones are probably beaten by the same
            for t in range(rows.shape[1]):
                rows[k - 1, t], rows[k // 2, t] = rows[k // 2, t], rows[k - 1, t]
    return kept
