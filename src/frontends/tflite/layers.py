"""Layers of TFLite as ONNX nodes: convolutions, products, pools, resizing, single elements and reductions."""

from collections.abc import Callable, Sequence

import numpy as np

from .reader import DAMAGED, Scaling
from .translation import TO_FIRST, Translation

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


UNARY = {
    **{"ABS": "Abs", "CEIL": "Ceil", "COS": "Cos", "ELU": "Elu", "EXP": "Exp", "FLOOR": "Floor"},
    **{"HARD_SWISH": "HardSwish", "LOG": "Log", "LOGICAL_NOT": "Not", "LOGISTIC": "Sigmoid", "NEG": "Neg"},
    **{"RELU": "Relu", "ROUND": "Round", "SIGN": "Sign", "SIN": "Sin", "SQRT": "Sqrt", "TANH": "Tanh"},
}
BOUNDS = {"RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1), "RELU_0_TO_1": (0, 1)}
BINARY = {
    **{"ADD": "Add", "DIV": "Div", "MUL": "Mul", "POW": "Pow", "SUB": "Sub", "MAXIMUM": "Max", "MINIMUM": "Min"},
    **{"EQUAL": "Equal", "GREATER": "Greater", "GREATER_EQUAL": "GreaterOrEqual", "LESS": "Less"},
    **{"LESS_EQUAL": "LessOrEqual", "LOGICAL_AND": "And", "LOGICAL_OR": "Or", "FLOOR_MOD": "Mod", "PRELU": "PRelu"},
}
REDUCTIONS = {
    **{"MEAN": "ReduceMean", "SUM": "ReduceSum", "REDUCE_MAX": "ReduceMax", "REDUCE_MIN": "ReduceMin"},
    "REDUCE_PROD": "ReduceProd",
}


def operands(t: Translation, *indices: int) -> tuple[list[str], bool]:
    """Tensors that are broadcast to each other, in one order of axes; whether that is channels first.

    That order is taken where one of them has it.
    """
    first = any(t.is_first(i) for i in indices if t.rank(i) == 4) and max(map(t.rank, indices)) == 4
    return [t.real(i, first) if not first or t.rank(i) == 4 else _spread(t, i) for i in indices], first


def _spread(t: Translation, index: int) -> str:
    """A tensor of fewer than four axes with channels first: the last of its axes is the channels."""
    tensor, missing = t.tensor(index), 4 - t.rank(index)
    if missing == 4:
        return t.real(index)
    if tensor.data is not None and tensor.scaling is not None and not tensor.scaling.scale.ndim:
        array = tensor.data.reshape((1,) * missing + tensor.data.shape).transpose(TO_FIRST)
        return t.dequantized(t.constant(array, t.names[index]), tensor.scaling)
    whole = t.emit("Unsqueeze", t.real(index), t.integers(range(missing)))
    return t.emit("Transpose", whole, perm=TO_FIRST)


Make = Callable[..., str]
"""Emits the nodes of an operator for the names of its inputs."""


def elementwise(t: Translation) -> None:
    """One of `ELEMENTWISE`, with broadcasting."""
    sides, first = operands(t, *(t.input(i) for i in range(len(t.operator.inputs))))
    t.define(t.output(), ELEMENTWISE[t.operator.kind][1](t, *sides), first)


def _unary(op: str) -> Make:
    return lambda t, x: t.emit(op, x)


def _bounded(low: float, high: float) -> Make:
    return lambda t, x: clipped(t, x, low, high)


def _binary(op: str) -> Make:
    """An operator of ONNX with a fused activation."""
    return lambda t, *sides: activated(t, t.emit(op, *sides))


def _squared_difference(t: Translation, *sides: str) -> str:
    difference = t.emit("Sub", *sides)
    return t.emit("Mul", difference, difference)


def _floor_div(t: Translation, *sides: str) -> str:
    """Of integers what is left without the remainder, which has the divisor's sign."""
    if t.tensor(t.input(0)).dtype.kind == "f":
        return t.emit("Floor", t.emit("Div", *sides))
    return t.emit("Div", t.emit("Sub", sides[0], t.emit("Mod", *sides)), sides[1])


def _select(t: Translation, *sides: str) -> str:
    """SELECT with one truth for each row is not broadcasting."""
    condition, chosen = (t.rank(t.input(i)) for i in (0, 1))
    if t.operator.kind == "SELECT" and condition not in (0, chosen):
        raise t.operator.error("a condition of the shape of what is chosen", f"{condition} axes")
    return t.emit("Where", *sides)


def _dequantize(t: Translation, x: str) -> str:
    """Of integers, or of narrower floats."""
    return x if t.tensor(t.input(0)).scaling is not None else t.emit("Cast", x, to=1)


ELEMENTWISE: dict[str, tuple[int, Make]] = {
    **{kind: (1, _unary(op)) for kind, op in UNARY.items()},
    **{kind: (1, _bounded(*bounds)) for kind, bounds in BOUNDS.items()},
    **{kind: (2, _binary(op)) for kind, op in BINARY.items()},
    "CAST": (1, lambda t, x: t.cast(x, t.output())),
    "DEQUANTIZE": (1, _dequantize),
    "FLOOR_DIV": (2, _floor_div),
    "GELU": (1, lambda t, x: t.emit("Gelu", x, approximate="tanh" if t.operator.option("Approximate") else "none")),
    "LEAKY_RELU": (1, lambda t, x: t.emit("LeakyRelu", x, alpha=float(t.operator.option("Alpha")))),
    "NOT_EQUAL": (2, lambda t, *sides: t.emit("Not", t.emit("Equal", *sides))),
    "QUANTIZE": (1, lambda _, x: x),
    "RSQRT": (1, lambda t, x: t.emit("Reciprocal", t.emit("Sqrt", x))),
    "SELECT": (3, _select),
    "SELECT_V2": (3, _select),
    "SQUARE": (1, lambda t, x: t.emit("Mul", x, x)),
    "SQUARED_DIFFERENCE": (2, _squared_difference),
}
"""Operators that compute element by element: how many inputs they have, and what they are in ONNX."""


def add_n(t: Translation) -> None:
    """ADD_N."""
    sides, first = operands(t, *(t.input(i) for i in range(len(t.operator.inputs))))
    t.define(t.output(), t.emit("Sum", *sides), first)


def softmax(t: Translation) -> None:
    """SOFTMAX and LOG_SOFTMAX along the last axis."""
    x, beta = t.real(t.input(0)), t.operator.option("Beta", 1.0)
    if t.operator.kind == "SOFTMAX" and beta != 1:
        x = t.emit("Mul", x, t.constant(np.array(beta, np.float32), "beta"))
    op = "Softmax" if t.operator.kind == "SOFTMAX" else "LogSoftmax"
    t.define(t.output(), t.emit(op, x, axis=-1))


def reduce(t: Translation) -> None:
    """Reductions along constant axes."""
    x, keep = t.input(0), bool(t.operator.option("KeepDims"))
    rank = t.rank(x)
    axes = sorted({axis % rank if -rank <= axis < rank else axis for axis in t.numbers(1, "axes")})
    if any(not 0 <= axis < rank for axis in axes):
        raise t.operator.error(f"axes of {rank}", str(axes), "shape")
    first = t.is_first(x) and rank == 4 and (keep or axes == [1, 2])
    if not axes:
        t.move(t.output(), t.real(x, first), [x], first)
        return
    placed = sorted(TO_FIRST.index(axis) for axis in axes) if first else axes
    made = t.emit(REDUCTIONS[t.operator.kind], t.real(x, first), t.integers(placed), keepdims=1)
    if keep:
        t.define(t.output(), made, first)
    else:  # axes are dropped behind the quantisation, which has to follow the sum to be its scaling
        t.define(t.output(), made, then=lambda name: t.emit("Squeeze", name, t.integers(placed)))


def l2_normalization(t: Translation) -> None:
    """L2_NORMALIZATION along the last axis."""
    t.define(t.output(), activated(t, t.emit("LpNormalization", t.real(t.input(0)), axis=-1, p=2)))


def local_response(t: Translation) -> None:
    """LOCAL_RESPONSE_NORMALIZATION, whose alpha counts for each of the channels that it sums."""
    size = 2 * int(t.operator.option("Radius")) + 1
    alpha, beta, bias = (float(t.operator.option(n)) for n in ("Alpha", "Beta", "Bias"))
    made = t.emit("LRN", t.real(t.input(0), True), size=size, alpha=alpha * size, beta=beta, bias=bias)
    t.define(t.output(), made, True)


def arg_extreme(t: Translation) -> None:
    """ARG_MAX and ARG_MIN along a constant axis."""
    op = "ArgMax" if t.operator.kind == "ARG_MAX" else "ArgMin"
    made = t.emit(op, t.real(t.input(0)), axis=t.number(1, "axis"), keepdims=0)
    t.define(t.output(), t.cast(made, t.output()))


def cumulative_sum(t: Translation) -> None:
    """CUMSUM along a constant axis."""
    axis = t.constant(np.array(t.number(1, "axis"), np.int64), "axis")
    flags = {"exclusive": int(t.operator.option("Exclusive")), "reverse": int(t.operator.option("Reverse"))}
    t.define(t.output(), t.emit("CumSum", t.real(t.input(0)), axis, **flags))
