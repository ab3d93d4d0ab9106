"""Resize and Upsample by nearest neighbour: which element each element of the result comes from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import arguments
from .load import Array
from .movement import nearest
from .node import Node
from .scope import Scope, Value

MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "asymmetric",
    "align_corners",
    "tf_half_pixel_for_nn",
)
"""The accepted ways of mapping coordinates."""

MAX_EXTENT = arguments.MAX_INDICES
"""The largest extent of a resized axis."""


def resize(scope: Scope, node: Node) -> Sequence[Value]:
    """Resize and Upsample, mode nearest."""
    if node.text("mode", "nearest") != "nearest":
        raise node.error("mode nearest", node.text("mode", "nearest"), "resize by nearest neighbour")
    mode = node.text("coordinate_transformation_mode", "half_pixel" if node.version >= 11 else "asymmetric")
    if mode not in MODES:
        raise node.error(f"coordinate_transformation_mode {', '.join(MODES)}", mode)
    shape = scope.shape(node, 0)
    axes = node.integers("axes", range(len(shape)))
    axes = tuple(arguments.axis_of(node, axis, len(shape)) for axis in axes)
    extents = [shape[axis] for axis in axes]
    scales, sizes = _scales_and_sizes(scope, node, extents)
    rounding = node.text("nearest_mode", "round_prefer_floor" if node.version >= 11 else "floor")
    indices = {
        axis: _rounded(node, _coordinates(mode, n, m, s), rounding, n)
        for axis, n, m, s in zip(axes, extents, sizes, scales, strict=True)
        if m != n or s != 1
    }
    return (nearest(scope, scope.tensor(node, 0), node.outputs[0], indices),)


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


def _coordinates(mode: str, n: int, m: int, scale: float) -> Array:
    """Where in an axis of `n` elements each of the `m` elements of the result lies."""
    i = np.arange(m, dtype=np.float64)
    match mode:
        case "asymmetric":
            return i / scale
        case "align_corners":
            return i * (n - 1) / (m - 1) if m > 1 else i * 0
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
