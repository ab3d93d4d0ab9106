"""Convolutions, products, pools and resizing of TFLite as ONNX nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .reader import DAMAGED, Scaling
from .translation import Translation

PADDINGS = ("SAME_UPPER", "VALID")
"""ONNX's names of `Padding`, by its number."""


def activated(t: Translation, name: str) -> str:
    """What the operator's fused activation makes of a value."""
    match t.operator.option("FusedActivationFunction"):
        case 0:
            return name
        case 1:
            return t.emit("Relu", name)
        case 2:
            return clipped(t, name, -1, 1)
        case 3:
            return clipped(t, name, 0, 6)
        case 4:
            return t.emit("Tanh", name)
        case other:
            raise t.operator.error("a fused activation of NONE, RELU, RELU_N1_TO_1, RELU6, TANH", str(other))


def clipped(t: Translation, name: str, low: float, high: float) -> str:
    """A value within bounds."""
    bounds = [t.constant(np.array(bound, np.float32), "bound") for bound in (low, high)]
    return t.emit("Clip", name, *bounds)


def _padding(t: Translation) -> str:
    number = t.operator.option("Padding")
    if number not in (0, 1):
        raise t.operator.error("padding SAME or VALID", str(number), "parse", DAMAGED)
    return PADDINGS[number]


def _strides(t: Translation) -> list[int]:
    return [t.operator.option("StrideH"), t.operator.option("StrideW")]


def _weights(t: Translation, index: int, perm: Sequence[int]) -> str:
    """Weights as numbers, with their axes in the order `perm`; scales are along the first axis of that."""
    tensor = t.tensor(index)
    if len(tensor.shape) != len(perm):
        raise t.operator.error(f"weights of {len(perm)} axes", f"shape {list(tensor.shape)}", "shape")
    if tensor.data is None:  # narrower floats that a DEQUANTIZE makes f32
        return t.emit("Transpose", t.real(index), perm=perm)
    name = t.constant(tensor.data.transpose(perm), f"{t.names[index]}.weight")
    scaling = tensor.scaling
    if scaling is None:
        return name
    if scaling.scale.ndim and scaling.axis != perm[0]:
        raise t.operator.error("scales along the channels of results", f"along axis {scaling.axis}", "shape")
    return t.dequantized(name, Scaling(scaling.scale, scaling.zero, 0))


def _bias(t: Translation, position: int, x: int, w: int) -> list[str]:
    """The numbers of a bias, for the inputs of a node; its integers count products of the scales of x and w."""
    index = t.optional(position)
    if index is None:
        return []
    bias, left, right = (t.tensor(i) for i in (index, x, w))
    if bias.data is None:
        return [t.real(index)]
    if bias.data.ndim != 1:
        raise t.operator.error("a bias of one axis", f"shape {list(bias.data.shape)}", "shape")
    if left.scaling is None or right.scaling is None or bias.data.dtype.kind != "i":
        return [t.real(index)]
    scale = np.asarray(left.scaling.scale * right.scaling.scale, np.float32)
    name = f"{t.names[index]}.bias"
    if bias.data.dtype != np.int32:
        return [t.constant((bias.data * scale.astype(np.float64)).astype(np.float32), name)]
    zero = np.zeros(scale.shape, np.int32)
    return [t.dequantized(t.constant(bias.data, name), Scaling(scale, zero, 0))]


def convolution(t: Translation) -> None:
    """CONV_2D: weights have results, rows, columns, channels; channels of a group where the input has more."""
    x, w = t.input(0), t.input(1)
    channels, per_group = t.extent(x, 3), t.extent(w, 3)
    if per_group < 1 or channels % per_group:
        raise t.operator.error(f"weights of a divisor of {channels} channels", f"{per_group}", "shape")
    _convolve(t, _weights(t, w, (0, 3, 1, 2)), channels // per_group)


def depthwise(t: Translation) -> None:
    """DEPTHWISE_CONV_2D: weights have 1, rows, columns, results; several results of a channel are beside each other."""
    channels, w = t.extent(t.input(0), 3), t.input(1)
    if t.rank(w) != 4 or t.extent(w, 0) != 1:
        found = f"shape {list(t.tensor(w).shape)}"
        raise t.operator.error("weights of shape [1, rows, columns, results]", found, "shape")
    _convolve(t, _weights(t, w, (3, 0, 1, 2)), channels)


def _convolve(t: Translation, weights: str, groups: int) -> None:
    x, w = t.input(0), t.input(1)
    dilations = [t.operator.option("DilationHFactor", 1), t.operator.option("DilationWFactor", 1)]
    inputs = [t.real(x, True), weights, *_bias(t, 2, x, w)]
    attributes = {"strides": _strides(t), "dilations": dilations, "group": groups, "auto_pad": _padding(t)}
    t.define(t.output(), activated(t, t.emit("Conv", *inputs, **attributes)), True)


def transposed_convolution(t: Translation) -> None:
    """TRANSPOSE_CONV: inputs are the shape of the result, weights (results, rows, columns, channels), x and a bias."""
    shape, w, x, strides = t.numbers(0, "shape of the result"), t.input(1), t.input(2), _strides(t)
    if len(shape) != 4 or t.rank(w) != 4 or t.rank(x) != 4:
        raise t.operator.error("shape, weights and input of 4 axes", f"{shape}", "shape")
    inputs = [t.real(x, True), t.emit("Transpose", t.real(w), perm=[3, 0, 1, 2]), *_bias(t, 3, x, w)]
    if _padding(t) == "VALID":
        full = [(t.extent(x, axis + 1) - 1) * strides[axis] + t.extent(w, axis + 1) for axis in (0, 1)]
        over = [wanted - extent for wanted, extent in zip(shape[1:3], full, strict=True)]
        made = t.emit("ConvTranspose", *inputs, strides=strides, output_padding=over)
    else:
        made = t.emit("ConvTranspose", *inputs, strides=strides, auto_pad="SAME_UPPER", output_shape=shape[1:3])
    t.define(t.output(), activated(t, made), True)


def fully_connected(t: Translation) -> None:
    """FULLY_CONNECTED: rows of the input by the rows of the weights."""
    if t.operator.option("WeightsFormat"):
        raise t.operator.error("weights row by row", "shuffled ones", lever="convert the model with the default format")
    x, w = t.input(0), t.input(1)
    if t.rank(w) != 2:
        raise t.operator.error("weights of 2 axes", f"{t.rank(w)}", "shape")
    rows = t.real(x)
    if t.rank(x) != 2 or t.tensor(x).shape[1] != t.extent(w, 1):
        rows = t.emit("Reshape", rows, t.integers([-1, t.extent(w, 1)]))
    made = activated(t, t.emit("Gemm", rows, _weights(t, w, (0, 1)), *_bias(t, 2, x, w), transB=1))
    if not t.operator.option("KeepNumDims") or t.rank(x) == 2:
        t.define(t.output(), made)
        return
    leading = t.emit("Slice", t.emit("Shape", t.real(x)), t.integers([0]), t.integers([-1]))
    shape = t.emit("Concat", leading, t.integers([t.extent(w, 0)]), axis=0)
    t.define(t.output(), made, then=lambda name: t.emit("Reshape", name, shape))


def batch_matmul(t: Translation) -> None:
    """BATCH_MATMUL."""
    sides = [t.real(t.input(i)) for i in (0, 1)]
    for i, option in enumerate(("AdjX", "AdjY")):
        rank = t.rank(t.input(i))
        if t.operator.option(option):
            sides[i] = t.emit("Transpose", sides[i], perm=[*range(rank - 2), rank - 1, rank - 2])
    t.define(t.output(), t.emit("MatMul", *sides))


def pool(t: Translation) -> None:
    """AVERAGE_POOL_2D, over what is inside of the image, and MAX_POOL_2D."""
    x = t.input(0)
    kernel = [t.operator.option("FilterHeight"), t.operator.option("FilterWidth")]
    op = "AveragePool" if t.operator.kind == "AVERAGE_POOL_2D" else "MaxPool"
    made = t.emit(op, t.real(x, True), kernel_shape=kernel, strides=_strides(t), auto_pad=_padding(t))
    if op == "MaxPool" and not t.operator.option("FusedActivationFunction"):
        t.move(t.output(), made, [x], True)
    else:
        t.define(t.output(), activated(t, made), True)


def resize(t: Translation) -> None:
    """RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""
    x, sizes = t.input(0), t.numbers(1, "sizes")
    if len(sizes) != 2 or t.rank(x) != 4:
        raise t.operator.error("an image of 4 axes and 2 sizes", f"{t.rank(x)} and {len(sizes)}", "shape")
    linear = t.operator.kind == "RESIZE_BILINEAR"
    corners, half = t.operator.option("AlignCorners"), t.operator.option("HalfPixelCenters")
    attributes = {
        "mode": "linear" if linear else "nearest",
        "coordinate_transformation_mode": "align_corners" if corners else "half_pixel" if half else "asymmetric",
        "nearest_mode": "round_prefer_ceil" if corners or half else "floor",
    }
    made = t.emit("Resize", t.real(x, True), "", "", t.integers(sizes), axes=[2, 3], **attributes)
    if linear:
        t.define(t.output(), made, True)
    else:
        t.move(t.output(), made, [x], True)
