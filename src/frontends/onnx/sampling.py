"""Elements read between places: Resize, Upsample and GridSample; and Col2Im, which sums them.

Nearest neighbour takes the element that each one of the result comes from; linear and cubic are products with constant
matrices, axis by axis.
"""

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import Array
from ...dialects.types import shape_of
from . import arguments
from .arguments import integer_list
from .formulas import Formulas, check_constant_size
from .load import check_size
from .movement import nearest
from .scope import Node, Scope, Value

MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "asymmetric",
    "align_corners",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
"""The accepted ways of mapping coordinates."""

MAX_EXTENT = arguments.MAX_INDICES
"""The largest extent of a resized axis."""


def resize(scope: Scope, node: Node) -> Sequence[Value]:
    """Resize and Upsample."""
    kind = node.text("mode", "nearest")
    if kind not in ("nearest", "linear", "cubic"):
        raise node.error("mode nearest, linear or cubic", kind)
    mode = node.text("coordinate_transformation_mode", "half_pixel" if node.version >= 11 else "asymmetric")
    if mode not in MODES:
        raise node.error(f"coordinate_transformation_mode {', '.join(MODES)}", mode)
    shape = scope.shape(node, 0)
    axes = node.integers("axes", range(len(shape)))
    axes = tuple(arguments.axis_of(node, axis, len(shape)) for axis in axes)
    extents = [shape[axis] for axis in axes]
    scales, sizes = _scales_and_sizes(scope, node, extents)
    regions = _regions(scope, node, mode, len(axes))
    places = {
        axis: _coordinates(mode, n, m, s, region)
        for axis, n, m, s, region in zip(axes, extents, sizes, scales, regions, strict=True)
        if m != n or s != 1 or mode == "tf_crop_and_resize"
    }
    result = scope.tensor(node, 0)
    if kind == "nearest":
        rounding = node.text("nearest_mode", "round_prefer_floor" if node.version >= 11 else "floor")
        indices = {axis: _rounded(node, x, rounding, shape[axis]) for axis, x in places.items()}
        result = nearest(scope, result, node.outputs[0], indices)
    else:
        scope.require_type(node, 0, ("float32",))
        for axis, x in places.items():
            check_constant_size(node, len(x), shape[axis])
            scale = scales[axes.index(axis)]
            result = Formulas(scope, node).along(result, axis, _interpolation(node, kind, x, shape[axis], scale))
    return (_extrapolated(scope, node, result, places, shape) if mode == "tf_crop_and_resize" else result,)


def _regions(scope: Scope, node: Node, mode: str, count: int) -> list[tuple[float, float]]:
    """The part of each axis that tf_crop_and_resize takes, of 0 to 1."""
    if mode != "tf_crop_and_resize":
        return [(0.0, 1.0)] * count
    given = scope.constant(node, 1).reshape(-1).astype(np.float64)
    if given.size != 2 * count or not np.all(np.isfinite(given)):
        raise node.error(f"{2 * count} numbers as region", f"{given.size}", kind="shape")
    return [(float(given[i]), float(given[count + i])) for i in range(count)]


def _extrapolated(
    scope: Scope, node: Node, result: SSAValue, places: dict[int, Array], shape: Sequence[int]
) -> SSAValue:
    """The value of extrapolation where a place is outside of the input."""
    inside = np.ones((), np.bool_)
    for axis in range(len(shape)):
        x = places.get(axis)
        along = np.ones(1, np.bool_) if x is None else (x >= 0) & (x <= shape[axis] - 1)
        inside = inside[..., None] & along
    if inside.all():
        return result
    make = Formulas(scope, node)
    value = node.real("extrapolation_value", 0.0)
    result = make.select(make.constant(inside.astype(np.uint8)), result, value)
    return make.expand(result, shape_of(result))


def _interpolation(node: Node, kind: str, x: Array, extent: int, scale: float) -> Array:
    """The matrix of weights: for each place how much each element of the axis counts."""
    shrunk = min(scale, 1.0) if node.integer("antialias", 0) else 1.0
    reach = 1 if kind == "linear" else 2
    start = int(np.floor(-reach / shrunk) + 1)
    taps = np.floor(x)[:, None] + np.arange(start, 2 - start)
    distance = np.abs(taps - x[:, None]) * shrunk
    if kind == "linear":
        weights = np.clip(1 - distance, 0, None)
    else:
        weights = _cubic(distance, node.real("cubic_coeff_a", -0.75))
    outside = (taps < 0) | (taps >= extent)
    if node.integer("exclude_outside", 0):
        weights = np.where(outside, 0.0, weights)
    weights = weights / weights.sum(1, keepdims=True)
    matrix = np.zeros((len(x), extent))
    rows = np.broadcast_to(np.arange(len(x))[:, None], taps.shape)
    np.add.at(matrix, (rows, np.clip(taps, 0, extent - 1).astype(np.int64)), weights)
    return matrix


def _cubic(s: Array, a: float) -> Array:
    inner = ((a + 2) * s - (a + 3)) * s * s + 1
    outer = ((a * s - 5 * a) * s + 8 * a) * s - 4 * a
    return np.where(s <= 1, inner, np.where(s < 2, outer, 0.0))


def _scales_and_sizes(scope: Scope, node: Node, extents: Sequence[int]) -> tuple[list[float], list[int]]:
    position = 2 if node.op == "Resize" and node.version >= 11 else 1
    given = node.attributes.get("scales")
    floats: Array | None = np.asarray(given, np.float32) if isinstance(given, tuple) else None
    if floats is None:
        floats = scope.optional_constant(node, position)
    if floats is not None and floats.size == len(extents) and np.all(floats > 0) and np.all(floats < MAX_EXTENT):
        scales = [float(s) for s in floats.reshape(-1)]
        sizes = [int(np.floor(n * s)) for n, s in zip(extents, scales, strict=True)]
    elif node.has_input(3):
        scales, sizes = _from_sizes(scope, node, extents)
    else:
        raise node.error(f"{len(extents)} scales above 0, or sizes", "neither", kind="shape")
    if min(sizes, default=1) < 0 or max(sizes, default=1) > MAX_EXTENT:
        raise node.error(f"extents of at most {MAX_EXTENT}", str(sizes), kind="shape")
    return scales, sizes


def _from_sizes(scope: Scope, node: Node, extents: Sequence[int]) -> tuple[list[float], list[int]]:
    sizes = list(arguments.integer_list(node, lambda i: scope.constant(node, i), 3))
    if len(sizes) != len(extents) or not all(extents):
        raise node.error(f"{len(extents)} sizes of axes that are not empty", str(sizes), kind="shape")
    scales = [m / n for m, n in zip(sizes, extents, strict=True)]
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return scales, sizes
    if policy not in ("not_larger", "not_smaller"):
        raise node.error("keep_aspect_ratio_policy stretch, not_larger or not_smaller", policy)
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [scale] * len(extents), [int(np.floor(n * scale + 0.5)) for n in extents]


def _coordinates(mode: str, n: int, m: int, scale: float, region: tuple[float, float]) -> Array:
    """Where in an axis of `n` elements each of the `m` elements of the result lies."""
    i = np.arange(m, dtype=np.float64)
    match mode:
        case "asymmetric":
            return i / scale
        case "align_corners":
            return i * (n - 1) / (scale * n - 1) if m > 1 else i * 0
        case "tf_crop_and_resize":
            first, last = region
            if m == 1:
                return i * 0 + (first + last) * (n - 1) / 2
            return first * (n - 1) + i * (last - first) * (n - 1) / (m - 1)
        case "tf_half_pixel_for_nn":
            return (i + 0.5) / scale
        case "half_pixel_symmetric":
            offset = n / 2 * (1 - m / (n * scale))
            return offset + (i + 0.5) / scale - 0.5
        case "pytorch_half_pixel" if m == 1:
            return i * 0
        case _:
            return (i + 0.5) / scale - 0.5


def _rounded(node: Node, x: Array, rounding: str, n: int) -> Array:
    match rounding:
        case "floor":
            picked = np.floor(x)
        case "ceil":
            picked = np.ceil(x)
        case "round_prefer_floor":
            picked = np.ceil(x - 0.5)
        case "round_prefer_ceil":
            picked = np.floor(x + 0.5)
        case _:
            raise node.error("nearest_mode floor, ceil, round_prefer_floor or round_prefer_ceil", rounding)
    return np.clip(picked, 0, max(0, n - 1)).astype(np.int64)


GRID_MODES = {"bilinear": "linear", "linear": "linear", "nearest": "nearest", "bicubic": "cubic", "cubic": "cubic"}

CUBIC = -0.75
"""The coefficient of cubic interpolation."""


def grid_sample(scope: Scope, node: Node) -> Sequence[Value]:
    """GridSample: each result is the sum of all elements, weighted by how near its place they are, axis by axis."""
    for index in (0, 1):
        scope.require_type(node, index, ("float32",))
    make, x, grid = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, places = shape_of(x), shape_of(grid)
    rank = len(shape) - 2
    kind = GRID_MODES.get(node.text("mode", "bilinear" if node.version < 20 else "linear"))
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

    def at(tap: int) -> SSAValue:
        place = make.add(low, float(tap))
        weight = _cubic_formula(make, make.unary("abs", make.sub(x, place)), outer=tap in (-1, 2))
        place = make.unary("rint", _inside(make, place, extent, padding, aligned))
        return make.mul(make.cast(make.binary("eq", place, make.constant(elements)), np.float32), weight)

    return reduce(make.add, map(at, range(-1, 3)))


def _cubic_formula(make: Formulas, s: SSAValue, outer: bool) -> SSAValue:
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

    def placed(tap: tuple[int, ...]) -> SSAValue:
        value = parts
        for axis, at in enumerate(tap):
            value = make.part(value, 1 + axis, int(at), 1)
        value = make.reshape(value, (shape[0] * channels, *counts))
        for axis in range(rank):
            apart = make.stuffed(value, 1 + axis, strides[axis])
            start = int(tap[axis]) * dilations[axis]
            value = make.pad(apart, 1 + axis, start, wide[axis] - start - shape_of(apart)[1 + axis])
        return value

    total = reduce(make.add, map(placed, np.ndindex(*block)))
    for axis, extent in enumerate(image):
        total = make.part(total, 1 + axis, pads[axis], extent)
    return (make.reshape(total, (shape[0], channels, *image)),)
