"""GridSample and Col2Im: elements read at computed places, or summed at constant ones, as products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.types import shape_of
from .arguments import integer_list
from .formulas import Formulas
from .load import check_size
from .node import Node
from .scope import Scope, Value

MODES = {"bilinear": "linear", "linear": "linear", "nearest": "nearest", "bicubic": "cubic", "cubic": "cubic"}

CUBIC = -0.75
"""The coefficient of cubic interpolation."""


def grid_sample(scope: Scope, node: Node) -> Sequence[Value]:
    """GridSample: each result is the sum of all elements, weighted by how near its place they are, axis by axis."""
    for index in (0, 1):
        scope.require_type(node, index, ("float32",))
    make, x, grid = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, places = shape_of(x), shape_of(grid)
    rank = len(shape) - 2
    kind = MODES.get(node.text("mode", "bilinear" if node.version < 20 else "linear"))
    padding = node.text("padding_mode", "zeros")
    if kind is None or padding not in ("zeros", "border", "reflection") or places[-1] != rank:
        found = f"{node.text('mode', 'linear')}, {padding}, grid {list(places)}"
        raise node.error("linear, nearest or cubic; zeros, border or reflection", found)
    count, aligned = prod(places[1:-1]), bool(node.integer("align_corners", 0))
    check_size(node.label, (shape[0], count, *shape[2:]), 4)
    flat = make.reshape(grid, (shape[0], count, rank))
    weights: SSAValue | None = None
    for axis, extent in enumerate(shape[2:]):
        coordinate = make.part(flat, 2, rank - 1 - axis, 1)
        near = _weights(make, _unnormalised(make, coordinate, extent, aligned), extent, kind, padding, aligned)
        if weights is None:
            weights = near
            continue
        before = shape_of(weights)[2]
        rows, columns = (shape[0], count, before, 1), (shape[0], count, 1, extent)
        both = make.mul(make.reshape(weights, rows), make.reshape(near, columns))
        weights = make.reshape(both, (shape[0], count, before * extent))
    assert weights is not None
    columns = make.transpose(weights, [0, 2, 1])
    result = make.matmul(make.reshape(x, (*shape[:2], prod(shape[2:]))), columns)
    return (make.reshape(result, (*shape[:2], *places[1:-1])),)


def _unnormalised(make: Formulas, x: SSAValue, extent: int, aligned: bool) -> SSAValue:
    """-1 to 1 as places: of the middles of the outermost elements, or of their borders."""
    if aligned:
        return make.mul(make.add(x, 1.0), (extent - 1) / 2)
    return make.div(make.sub(make.mul(make.add(x, 1.0), float(extent)), 1.0), 2.0)


def _weights(make: Formulas, x: SSAValue, extent: int, kind: str, padding: str, aligned: bool) -> SSAValue:
    """How much each element of an axis counts at places `[n, p, 1]`."""
    elements = np.arange(extent, dtype=np.float32)
    if kind == "nearest":
        place = _inside(make, make.unary("rint", x), extent, padding, aligned)
        return make.cast(make.binary("eq", make.unary("rint", place), make.constant(elements)), np.float32)
    if kind == "linear":
        place = _inside(make, x, extent, padding, aligned)
        return make.unary("relu", make.sub(1.0, make.unary("abs", make.sub(place, make.constant(elements)))))
    low = make.unary("floor", x)
    total: SSAValue | None = None
    for tap in range(-1, 3):
        place = make.add(low, float(tap))
        weight = _cubic(make, make.unary("abs", make.sub(x, place)), outer=tap in (-1, 2))
        place = make.unary("rint", _inside(make, place, extent, padding, aligned))
        part = make.mul(make.cast(make.binary("eq", place, make.constant(elements)), np.float32), weight)
        total = part if total is None else make.add(total, part)
    assert total is not None
    return total


def _cubic(make: Formulas, s: SSAValue, outer: bool) -> SSAValue:
    """The cubic kernel at distances of 1 to 2, or below 1."""
    a = CUBIC
    coefficients = (a, -5 * a, 8 * a, -4 * a) if outer else (a + 2, -(a + 3), 0.0, 1.0)
    value = make.mul(s, coefficients[0])
    for coefficient in coefficients[1:-1]:
        value = make.mul(make.add(value, coefficient), s)
    return make.add(value, coefficients[-1])


def _inside(make: Formulas, x: SSAValue, extent: int, padding: str, aligned: bool) -> SSAValue:
    """Places brought inside by the mode of padding; those of zeros stay outside."""
    if padding == "zeros":
        return x
    if padding == "reflection":
        low, high = (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)
        span = high - low
        if span:
            around = make.binary("mod", make.sub(x, low), 2 * span)
            x = make.add(make.binary("min", around, make.sub(2 * span, around)), low)
    return make.binary("min", make.binary("max", x, 0.0), extent - 1.0)


def column_to_image(scope: Scope, node: Node) -> Sequence[Value]:
    """Col2Im: each row of a block put at its places, and all summed."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    image, block = (integer_list(node, lambda i: scope.constant(node, i), i) for i in (1, 2))
    rank, shape = len(image), shape_of(x)
    dilations, strides = (node.integers(name, (1,) * rank) for name in ("dilations", "strides"))
    pads = node.integers("pads", (0,) * 2 * rank)
    if min((*block, *image, *dilations, *strides), default=0) < 1 or len(block) != rank or len(pads) != 2 * rank:
        raise node.error("blocks and images of one rank", f"{block} and {image}", kind="shape")
    check_size(node.label, (shape[0], *image), 4)
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, block, strict=True)]
    wide = [n + pads[i] + pads[rank + i] for i, n in enumerate(image)]
    counts = [(n - r) // s + 1 for n, r, s in zip(wide, reach, strides, strict=True)]
    channels = shape[1] // prod(block)
    if channels * prod(block) != shape[1] or prod(counts) != shape[2] or min(counts) < 1:
        raise node.error(f"{prod(counts)} columns", f"shape {list(shape)}", kind="shape")
    parts = make.reshape(x, (shape[0] * channels, *block, *counts))
    total: SSAValue | None = None
    for tap in np.ndindex(*block):
        value = parts
        for axis, at in enumerate(tap):
            value = make.part(value, 1 + axis, int(at), 1)
        value = make.reshape(value, (shape[0] * channels, *counts))
        for axis in range(rank):
            value = _placed(make, value, 1 + axis, int(tap[axis]) * dilations[axis], strides[axis], wide[axis])
        total = value if total is None else make.add(total, value)
    assert total is not None
    for axis, extent in enumerate(image):
        total = make.part(total, 1 + axis, pads[axis], extent)
    return (make.reshape(total, (shape[0], channels, *image)),)


def _placed(make: Formulas, x: SSAValue, axis: int, start: int, stride: int, extent: int) -> SSAValue:
    """Elements of an axis `stride` apart from `start` on, zeros elsewhere."""
    apart = make.stuffed(x, axis, stride)
    return make.pad(apart, axis, start, extent - start - shape_of(apart)[axis])
