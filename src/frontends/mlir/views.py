"""Tensors as a front end sees them, and how they become layers: axes in any order, repeated along axes, not moved yet.

StableHLO and linalg write broadcasts and transposes as operations of their own.  Here they change how a tensor is seen;
layers are made where elements have to be somewhere else.  Convolutions with channels last stay in the order of
`graph.conv` that way, from the first to the last of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...algebra.element import Array
from ...dialects import graph
from ...dialects.types import dtype_of, element_of, element_type_of, shape_of
from ...errors import TilewrightError
from ...interpreters.constants import Constants

MAX_ELEMENTS = 1 << 40
"""The largest tensor, in elements."""


@dataclass(frozen=True)
class View:
    """A tensor of `shape` whose axis i is axis `perm[i]` of `source`, repeated where that has one element."""

    source: SSAValue
    perm: tuple[int, ...]
    shape: tuple[int, ...]
    truth: bool = False
    """Whether the elements are 0 or 1 and mean false or true."""

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of its elements."""
        return dtype_of(element_of(self.source))

    def extent(self, axis: int) -> int:
        """How many elements the source has along an axis of the view."""
        return shape_of(self.source)[self.perm[axis]]

    @property
    def elements(self) -> int:
        """How many elements the source has."""
        return prod(shape_of(self.source))

    def axes(self) -> tuple[int, ...]:
        """The axis of the view that each axis of the source is."""
        return tuple(self.perm.index(axis) for axis in range(len(self.perm)))


class Views:
    """Makes layers at the end of a block; `subject` is what errors are about."""

    def __init__(self, module: ModuleOp, block: Block) -> None:
        self.constants = Constants.of(module)
        self.block = block
        self.subject = "the model"
        self.name = ""
        """What layers are called from now on."""

    def error(self, expected: str, found: str, lever: str = "", kind: str = "unsupported") -> TilewrightError:
        """The error about what is being made."""
        return TilewrightError(kind, self.subject, expected, found, lever)

    # making

    def emit(self, layer: Callable[[], graph.LayerOp]) -> SSAValue:
        """The result of a layer, computed here where all that it reads is constant."""
        try:
            op = layer()
            op.verify()
        except VerifyException as error:
            raise self.error("a layer that fits", str(error), kind="shape") from error
        if prod(shape_of(op.results[0])) > MAX_ELEMENTS:
            found = f"shape {list(shape_of(op.results[0]))}"
            raise self.error(f"at most {MAX_ELEMENTS} elements", found, "make the tensor smaller", "shape")
        array = self.constants.fold(op)
        if array is not None:
            folded, weight = op, op.operands[0].owner
            op = self.constants.weight(weight.resource if isinstance(weight, graph.WeightOp) else "constant", array)
            folded.erase()
        elif self.name and not isinstance(op, graph.WeightOp):
            graph.set_name(op, self.name)
        self.block.add_op(op)
        return op.results[0]

    def constant(self, array: Array, name: str = "constant", truth: bool = False) -> View:
        """A constant."""
        array = np.asarray(array)
        truth = truth or array.dtype == np.bool_
        array = array.astype(np.uint8) if array.dtype == np.bool_ else array
        if array.size == 0:
            raise self.error("at least one element", f"shape {list(array.shape)}", kind="shape")
        return self.of(self.emit(lambda: self.constants.weight(name, array)), truth)

    def splat(self, number: Array | float, dtype: np.dtype[Any], shape: Sequence[int], truth: bool = False) -> View:
        """One number everywhere."""
        view = self.constant(np.asarray(number).astype(dtype), f"{dtype.name}:{np.asarray(number).item()!r}", truth)
        return self.broadcast(view, (), shape)

    @staticmethod
    def of(value: SSAValue, truth: bool = False) -> View:
        """A value as it is."""
        shape = shape_of(value)
        return View(value, tuple(range(len(shape))), shape, truth)

    def array(self, view: View) -> Array | None:
        """The elements of a constant, which are not made where one is repeated; None where it is none."""
        array = self.constants.array(view.source)
        return None if array is None else np.broadcast_to(array.transpose(view.perm), view.shape)

    def number(self, view: View) -> int | float | None:
        """The number that all elements of a constant are; None where there is no such number."""
        array = self.constants.array(view.source)
        if array is None or array.size == 0:
            return None
        first = array.reshape(-1)[0]
        same = array.size == 1 or (array.size <= 1 << 20 and bool(np.all(array == first)))
        return first.item() if same else None

    def indices(self, view: View, what: str) -> list[int]:
        """The elements of a constant of integers."""
        array = self.array(view)
        if array is None or array.size > 1 << 24 or array.dtype.kind not in "iu":
            lever = "indices and shapes must be constant: lower the model with static shapes"
            raise self.error(f"constant {what}", "values that are known at run time", lever)
        return [int(value) for value in array.reshape(-1)]

    # seen otherwise

    def transpose(self, view: View, perm: Sequence[int]) -> View:
        """Axis i of the result is axis `perm[i]`."""
        if sorted(perm) != list(range(view.rank)):
            raise self.error(f"an order of {view.rank} axes", str(list(perm)), kind="shape")
        return View(view.source, tuple(view.perm[p] for p in perm), tuple(view.shape[p] for p in perm), view.truth)

    def broadcast(self, view: View, dims: Sequence[int], shape: Sequence[int]) -> View:
        """Axis k becomes axis `dims[k]` of a tensor of `shape`; repeated along the others."""
        fits = len(dims) == view.rank == len(set(dims)) and all(
            0 <= d < len(shape) and extent in (1, shape[d]) for d, extent in zip(dims, view.shape, strict=False)
        )
        if not fits or any(extent < 0 for extent in shape):
            found = f"shape {list(view.shape)} along axes {list(dims)} of {list(shape)}"
            raise self.error("a shape that broadcasts", found, kind="shape")
        if prod(shape) > MAX_ELEMENTS:
            raise self.error(f"at most {MAX_ELEMENTS} elements", f"shape {list(shape)}", kind="shape")
        missing = [axis for axis in range(len(shape)) if axis not in dims]
        ascending = list(dims) == sorted(dims) and view.perm == tuple(range(view.rank))
        if ascending:
            extents = [view.extent(list(dims).index(axis)) if axis in dims else 1 for axis in range(len(shape))]
            return View(self.reshaped(view.source, extents), tuple(range(len(shape))), tuple(shape), view.truth)
        source = self.reshaped(view.source, (*shape_of(view.source), *(1 for _ in missing)))
        place = {axis: view.perm[list(dims).index(axis)] for axis in dims}
        place |= {axis: view.rank + k for k, axis in enumerate(missing)}
        return View(source, tuple(place[axis] for axis in range(len(shape))), tuple(shape), view.truth)

    def reshape(self, view: View, shape: Sequence[int]) -> View:
        """The same elements in row-major order under another shape."""
        shape = tuple(shape)
        if 0 in shape and 0 in view.shape:
            return self.splat(0, view.dtype, shape)
        if prod(shape) != prod(view.shape) or any(extent < 1 for extent in shape):
            raise self.error(f"{prod(view.shape)} elements", f"shape {list(shape)}", kind="shape")
        if shape == view.shape:
            return view
        if prod(shape_of(view.source)) == 1:
            source = self.reshaped(view.source, [1] * len(shape))
            return View(source, tuple(range(len(shape))), shape, view.truth)
        old = [axis for axis, extent in enumerate(view.shape) if extent > 1]
        new = [axis for axis, extent in enumerate(shape) if extent > 1]
        if view.perm == tuple(range(view.rank)) and shape_of(view.source) == view.shape:
            return View(self.reshaped(view.source, shape), tuple(range(len(shape))), shape, view.truth)
        if [view.shape[axis] for axis in old] != [shape[axis] for axis in new]:
            return View(self.reshaped(self.whole(view), shape), tuple(range(len(shape))), shape, view.truth)
        kept = sorted(old, key=lambda axis: view.perm[axis])  # axes of more than one element, as they lie
        extents = [view.extent(axis) for axis in kept] + [1] * (len(shape) - len(kept))
        place = {new[old.index(axis)]: index for index, axis in enumerate(kept)}
        ones = iter(range(len(kept), len(shape)))
        perm = tuple(place[axis] if axis in place else next(ones) for axis in range(len(shape)))
        return View(self.reshaped(view.source, extents), perm, shape, view.truth)

    # made

    def reshaped(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value under another shape."""
        if shape_of(source) == tuple(shape):
            return source
        inner = source.owner.x if isinstance(source.owner, graph.ReshapeOp) else source
        return inner if shape_of(inner) == tuple(shape) else self.emit(lambda: graph.ReshapeOp(inner, shape))

    def ordered(self, view: View, axes: Sequence[int]) -> SSAValue:
        """The source with the axes of the view in this order; what is repeated is not made."""
        perm = [view.perm[axis] for axis in axes]
        if perm == sorted(perm):
            return view.source
        shape = shape_of(view.source)
        if (moved := [axis for axis in perm if shape[axis] > 1]) == sorted(moved):
            return self.reshaped(view.source, [shape[axis] for axis in perm])
        return self.emit(lambda: graph.TransposeOp(view.source, perm=perm))

    def expanded(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value repeated to a shape."""
        return source if shape_of(source) == tuple(shape) else self.emit(lambda: graph.ExpandOp(source, shape))

    def whole(self, view: View) -> SSAValue:
        """The tensor with all its elements, in its order."""
        return self.expanded(self.ordered(view, range(view.rank)), view.shape)

    def aligned(self, views: Sequence[View]) -> tuple[list[SSAValue], tuple[int, ...]]:
        """Sources with their axes in one order, that of the largest, and the axes of the views in that order."""
        largest = max(views, key=lambda view: (view.rank, self.constants.array(view.source) is None, view.elements))
        axes = largest.axes()
        return [self.ordered(view, axes) if view.rank else view.source for view in views], axes

    def elementwise(self, layer: Callable[..., graph.LayerOp], views: Sequence[View], truth: bool = False) -> View:
        """A layer of single elements; views are of one shape, or scalars."""
        shape = max((view.shape for view in views), key=len)
        if any(view.rank and view.shape != shape for view in views):
            found = " and ".join(str(list(view.shape)) for view in views)
            raise self.error("operands of one shape", found, kind="shape")
        sources, axes = self.aligned(views)
        made = self.emit(lambda: layer(*sources))
        perm = tuple(axes.index(axis) for axis in range(len(shape)))
        return View(made, perm, shape, truth)

    def cast(self, view: View, dtype: np.dtype[Any]) -> View:
        """Elements in another type."""
        if view.dtype == dtype:
            return View(view.source, view.perm, view.shape)
        return self.elementwise(lambda x: graph.CastOp(x, element_type_of(dtype)), [view])


def part(views: Views, x: View, axis: int, start: int, size: int) -> View:
    """`size` elements of an axis from `start` on."""
    starts = [start if i == axis else 0 for i in range(x.rank)]
    return slice_(views, x, starts, [size if i == axis else n for i, n in enumerate(x.shape)])


def slice_(
    views: Views, x: View, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int] | None = None
) -> View:
    """Elements `start + i * step` of each axis; negative steps go backwards."""
    steps = [1] * x.rank if steps is None else steps
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
        x = slice_(views, x, starts, sizes)
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
    return part(views, joined, axis, 0, (shape[axis] - 1) * stride + 1)


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
            sides += [slice_(views, into, at, extents)] if size else []
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
