"""Reductions, windows and products of StableHLO."""

from typing import Any

import numpy as np

from .importer import Importer
from .products import Window, begin_with, conv, dot, first_place, pool, reduce
from .source import Dense, Op, Region
from .views import View, backwards, pad

REDUCTIONS = {"add": "sum", "maximum": "max", "minimum": "min", "multiply": "product", "or": "max", "and": "min"}


def reduction_of(op: Op, region: Region | None) -> str:
    """The kind of a reduction, from the word of its short form or the only operation of its body."""
    words = [word.rpartition(".")[2] for word in op.words if word.startswith("stablehlo.")]
    if region is not None:
        body = [inner for inner in region.ops if not inner.name.endswith("return")]
        last = region.ops[-1] if region.ops else None
        alone = len(body) == 1 and last is not None and set(body[0].operands) == {n for n, _ in region.arguments}
        words = [body[0].name.rpartition(".")[2]] if alone else []
    if len(words) != 1 or words[0] not in REDUCTIONS:
        found = " ".join(words) or "another computation"
        lever = "reductions of other functions have no layer"
        raise op.error(f"a reduction by {', '.join(REDUCTIONS)}", found, lever)
    return REDUCTIONS[words[0]]


PLACE = ("compare", "compare NE", "or", "compare EQ", "compare LT", "and", "or", "select", "select", "return")
"""The body with which JAX looks for the place of a maximum (GT) or minimum (LT), the first of equals."""


def extreme(importer: Importer, op: Op) -> list[View] | None:
    """Maximum or minimum and its place, where that is what a reduction of two tensors looks for."""
    if len(op.operands) != 4 or len(op.regions) != 1:
        return None
    x, y, *_ = (importer.operands(op)[place] for place in ((0, 2) if "across" in op.words else (0, 1)))
    names: list[str] = []
    for inner in op.regions[0].ops:
        direction = next((word for word in inner.words if word in ("GT", "LT", "NE", "EQ")), "")
        names.append(f"{inner.name.rpartition('.')[2]} {direction}".strip())
    axes, numbers = op.integers("dimensions"), importer.views.array(y)
    kind = {"compare GT": "max", "compare LT": "min"}.get(names[0] if names else "")
    if kind is None or ("compare", *names[1:]) != PLACE or len(axes) != 1 or not 0 <= axes[0] < x.rank:
        return None
    if numbers is None or numbers.size > 1 << 24 or y.shape != x.shape:
        return None
    line = np.arange(x.shape[axes[0]]).reshape([-1 if axis == axes[0] else 1 for axis in range(x.rank)])
    if not np.array_equal(numbers, np.broadcast_to(line, numbers.shape)):
        return None
    place = first_place(importer.make, kind, x, axes[0], y.dtype)
    return [reduce(importer.make, kind, x, axes), place]


def reduced(importer: Importer, op: Op) -> View:
    """Sums, products, maxima and minima along axes."""
    region = op.regions[0] if op.regions else None
    if len(op.operands) != 2:
        lever = "of two values at once the place of a maximum or minimum is taken (jnp.argmax)"
        raise op.error("one tensor and where it begins", f"{len(op.operands)} operands", lever)
    kind = reduction_of(op, region)
    x, start = importer.operands(op)
    return begin_with(importer.make, kind, reduce(importer.make, kind, x, op.integers("dimensions")), start)


def reduce_window(importer: Importer, op: Op) -> View:
    """Sums, maxima and minima in windows; elements outside take no part."""
    if len(op.operands) != 2:
        raise op.error("one tensor and where it begins", f"{len(op.operands)} operands")
    kind = reduction_of(op, op.region())
    x, start = importer.operands(op)
    ones = [1] * x.rank
    if kind == "product" or any(n != 1 for n in op.integers("base_dilations", ones)):
        raise op.error("windows of sums, maxima or minima without base dilations", kind)
    sizes, strides = op.integers("window_dimensions"), op.integers("window_strides", ones)
    dilations, pads = op.integers("window_dilations", ones), pad_pairs(op, "padding", x.rank)
    if any(amount < 0 for pair in pads for amount in pair):
        raise op.error("pads of at least 0", str(pads))
    if len(sizes) != x.rank or x.rank != len(strides) or len(dilations) != x.rank:
        raise op.error(f"windows over {x.rank} axes", str(sizes), kind="shape")
    return begin_with(importer.make, kind, pool(importer.make, kind, x, Window(sizes, strides, pads, dilations)), start)


def pad_pairs(op: Op, name: str, count: int) -> list[tuple[int, int]]:
    """The amounts before and behind each axis; none are 0."""
    value: Any = op.attributes.get(name)
    if value is None:
        return [(0, 0)] * count
    rows = np.broadcast_to(value.array, (count, 2)).tolist() if isinstance(value, Dense) else value
    return _pairs(op, rows, name, count)


def _pairs(op: Op, rows: object, name: str, count: int) -> list[tuple[int, int]]:
    """The list `rows`, which has to be one of pairs of integers."""
    if not isinstance(rows, list) or len(rows) != count or any(not isinstance(r, list) or len(r) != 2 for r in rows):
        raise op.error(f"{count} pairs as {name}", str(rows)[:80], kind="parse")
    return [(before, after) for before, after in (op.whole_numbers(row, name) for row in rows)]


def dot_general(importer: Importer, op: Op) -> View:
    """A product over any axes."""
    a, b = importer.operands(op, 2)
    numbers = op.dictionary("dot_dimension_numbers")
    batch, inner = (
        _axes_of_both(
            op, op.attributes.get(name) or [numbers.get(f"{side}_{long}", []) for side in ("lhs", "rhs")], name
        )
        for name, long in (("batching_dims", "batching_dimensions"), ("contracting_dims", "contracting_dimensions"))
    )
    return as_typed(importer, op, dot(importer.make, a, b, batch, inner))


def _axes_of_both(op: Op, given: object, name: str) -> tuple[list[int], list[int]]:
    """Axes of the left operand, and of the right one."""
    if not isinstance(given, list) or len(given) != 2:
        raise op.error(f"axes of both operands as {name}", str(given)[:80], kind="parse")
    left, right = (op.whole_numbers(axes, name) for axes in given)
    return left, right


def as_typed(importer: Importer, op: Op, result: View) -> View:
    """The result in the element type that the text says."""
    dtype = importer.dtype(op, op.type.element)
    return result if result.dtype == dtype else importer.make.cast(result, dtype)


def dot_of(importer: Importer, op: Op) -> View:
    """A product of vectors and matrices."""
    a, b = importer.operands(op, 2)
    return as_typed(importer, op, dot(importer.make, a, b, ((), ()), ((a.rank - 1,), (0,))))


def convolution(importer: Importer, op: Op) -> View:
    """Convolutions with axes in any order, groups, dilations of both operands."""
    x, w = importer.operands(op, 2)
    numbers: Any = op.attributes.get("dim_numbers", op.attributes.get("dimension_numbers"))
    if not isinstance(numbers, list) or len(numbers) != 3:
        raise op.error("dim_numbers [b, f, 0, ...]x[o, i, 0, ...]->[b, f, 0, ...]", str(numbers)[:80], kind="parse")
    window = op.dictionary("window")
    spatial = x.rank - 2
    letters = [("b", "f"), ("o", "i"), ("b", "f")]
    orders = [
        [*(names.index(n) for n in pair), *(names.index(i) for i in range(spatial))]
        for names, pair in zip(numbers, letters, strict=True)
        if _complete(op, names, pair, spatial)
    ]
    if op.integer("batch_group_count", 1) != 1:
        raise op.error("batch_group_count 1", str(op.attributes["batch_group_count"]))
    x, w = importer.views.transpose(x, orders[0]), importer.views.transpose(w, orders[1])
    ones = [1] * spatial
    strides, dilations, apart, reverse = (
        op.whole_numbers(window.get(name, default), name)
        for name, default in (("stride", ones), ("rhs_dilate", ones), ("lhs_dilate", ones), ("reverse", [0] * spatial))
    )
    pads = _pairs(op, window.get("pad", [[0, 0]] * spatial), "pad", spatial)
    turned = [axis + 2 for axis, turn in enumerate(reverse) if turn]
    w = backwards(importer.views, w, turned)
    if any(n != 1 for n in apart):
        x = pad(importer.views, x, [0] * x.rank, [0] * x.rank, 0.0, [0, 0, *(n - 1 for n in apart)])
    order = [orders[2].index(axis) for axis in range(x.rank)]
    moving = Window(w.shape[2:], strides, pads, dilations)
    return as_typed(importer, op, conv(importer.make, x, w, moving, op.integer("feature_group_count", 1), order))


def _complete(op: Op, names: list[Any], pair: tuple[str, str], spatial: int) -> bool:
    if set(map(str, names)) != {*pair, *map(str, range(spatial))} or len(names) != spatial + 2:
        raise op.error(f"axes {', '.join(pair)} and {spatial} spatial ones", str(names)[:80], kind="parse")
    return True
