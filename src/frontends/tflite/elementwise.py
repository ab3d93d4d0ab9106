"""Operators of TFLite that compute element by element, and reductions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .layers import activated, clipped
from .translation import TO_FIRST, Translation

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
