"""Elementwise operators: one input, two inputs with broadcasting, and Clip."""

from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...algebra.element import ELEMENT_TYPES, float_limits, is_float, is_foreign
from ...dialects import graph
from .folder import cast_array, cast_type
from .formulas import Formulas
from .scope import Node, Scope, Value, element_type, shape_of

NUMBERS = ("float32", "int8", "uint8", "int32", "int64")
"""Element types with arithmetic."""

UNARY = {
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Erf": "erf",
    "Exp": "exp",
    "Log": "log",
    "Sqrt": "sqrt",
    "Reciprocal": "reciprocal",
    "Neg": "neg",
    "Abs": "abs",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "rint",
    "HardSwish": "hard_swish",
    "Sign": "sign",
    "Sin": "sin",
    "Cos": "cos",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Elu": "elu",
    "HardSigmoid": "hard_sigmoid",
    "LeakyRelu": "leaky_relu",
}
"""ONNX operators of one input, and the kinds of `graph.unary`."""

PARAMETERS = {"Elu": {"alpha": 1.0}, "HardSigmoid": {"alpha": 0.2, "beta": 0.5}, "LeakyRelu": {"alpha": 0.01}}
"""Attributes of some of them, and what these are where a node does not say."""

INTEGER_UNARY = ("Relu", "Neg", "Abs", "Sign")
"""Those that integers have, too."""

BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "Max": "max",
    "Min": "min",
    "Sum": "add",
    "Pow": "pow",
}
"""ONNX operators of two or more inputs, and the kinds of `graph.binary`."""


def unary(scope: Scope, node: Node) -> Sequence[Value]:
    """Operators of one input that are a layer each."""
    given: dict[str, Any] = {name: node.real(name, usual) for name, usual in PARAMETERS.get(node.op, {}).items()}
    return (scope.emit(graph.UnaryOp(UNARY[node.op], scope.tensor(node, 0), **given), node.outputs[0]),)


def gelu(scope: Scope, node: Node) -> Sequence[Value]:
    """Gelu, exact or by tanh."""
    mode = node.text("approximate", "none")
    if mode not in ("none", "tanh"):
        raise node.error("approximate none or tanh", mode)
    kind = "gelu_tanh" if mode == "tanh" else "gelu"
    return (scope.emit(graph.UnaryOp(kind, scope.tensor(node, 0)), node.outputs[0]),)


def binary(scope: Scope, node: Node) -> Sequence[Value]:
    """Operators of two inputs, or of more as a chain; broadcasting as NumPy's, or opset 6's."""
    for index in range(len(node.inputs)):
        scope.require_type(node, index, NUMBERS)
    value = scope.tensor(node, 0)
    if len(node.inputs) == 1:
        return (value,)
    if node.op == "Pow" and scope.dtype(node, 0) != scope.dtype(node, 1):
        return (_power(scope, node),)
    last = len(node.inputs) - 1
    for index in range(1, last + 1):
        right = aligned(scope, node, value, scope.tensor(node, index))
        name = node.outputs[0] if index == last else f"{node.outputs[0]}.{index}"
        value = scope.emit(graph.BinaryOp(BINARY[node.op], value, right), name)
    return (value,)


def _power(scope: Scope, node: Node) -> SSAValue:
    """A power whose exponent is of another type; a float one makes the base a float."""
    make, base, exponent = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    kinds = {scope.dtype(node, 0).kind, scope.dtype(node, 1).kind}
    wide = np.float32 if "f" in kinds else np.int64
    return make.cast(make.binary("pow", make.cast(base, wide), make.cast(exponent, wide)), scope.dtype(node, 0))


def aligned(scope: Scope, node: Node, left: SSAValue, right: SSAValue) -> SSAValue:
    """Before opset 7 the right side lines up with the left one from attribute `axis` on."""
    shape, rank = shape_of(right), len(shape_of(left))
    axis = node.integer("axis", rank - len(shape))
    if node.version >= 7 or "axis" not in node.attributes:
        return right
    padded = (*shape, *(1,) * (rank - axis - len(shape)))
    return scope.emit(graph.ReshapeOp(right, padded), f"{node.outputs[0]}.right")


def clip(scope: Scope, node: Node) -> Sequence[Value]:
    """Clip; bounds known only at run time become a max and a min."""
    x, name = scope.tensor(node, 0), node.outputs[0]
    if node.version < 11:
        low, high = (node.real(n, 0.0) if n in node.attributes else None for n in ("min", "max"))
        return (_clipped(scope, x, low, high, name),)
    fixed = [not node.has_input(i) or scope.is_constant(node, i) for i in (1, 2)]
    if all(fixed):
        return (_clipped(scope, x, scope.scalar(node, 1), scope.scalar(node, 2), name),)
    for index, kind in ((1, "max"), (2, "min")):
        if node.has_input(index):
            part = f"{name}.{kind}" if index == 1 and node.has_input(2) else name
            x = scope.emit(graph.BinaryOp(kind, x, scope.tensor(node, index)), part)
    return (x,)


def _clipped(scope: Scope, x: SSAValue, low: float | None, high: float | None, name: str) -> SSAValue:
    if low is None and high is None:
        return x
    return scope.emit(graph.ClipOp(x, min=low, max=high), name)


def selu(scope: Scope, node: Node) -> Sequence[Value]:
    """Selu: Elu with alpha, times gamma."""
    later = node.version >= 6
    alpha = node.real("alpha", 1.67326319217681884765625 if later else 1.6732)
    gamma = node.real("gamma", 1.05070102214813232421875 if later else 1.0507)
    make = Formulas(scope, node)
    return (make.mul(make.unary("elu", scope.tensor(node, 0), alpha), gamma),)


def prelu(scope: Scope, node: Node) -> Sequence[Value]:
    """PRelu: x below zero times a slope; before opset 7 one slope for each channel, or one."""
    make, x, slope = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    shape, given = shape_of(x), shape_of(slope)
    if node.version < 7:
        if given not in ((1,), shape[1:2]):
            raise node.error(f"a slope, or {shape[1:2]}", str(list(given)), kind="shape")
        slope = make.reshape(slope, () if given == (1,) else (*given, *(1,) * (len(shape) - 2)))
    return (make.select(make.binary("lt", x, 0), make.mul(x, slope), x),)


def cast(scope: Scope, node: Node) -> Sequence[Value]:
    """Cast and CastLike between the element types that tensors may have."""
    dtype = scope.dtype(node, 1) if node.op == "CastLike" else cast_type(node)
    element_type(node.label, dtype.name)
    if scope.is_constant(node, 0):
        return (cast_array(node, scope.constant(node, 0), dtype),)
    x = scope.tensor(node, 0)
    if dtype == np.bool_:
        if x in scope.truths:
            return (x,)
        truth = Formulas(scope, node).binary("ne", x, 0)
        scope.truths.add(truth)
        return (truth,)
    if scope.dtype(node, 0) == dtype:
        return (x,)
    if dtype == np.uint8 and x in scope.truths:
        return (scope.emit(graph.UnaryOp("identity", x)),)
    return (scope.cast(_representable(Formulas(scope, node), x, dtype), dtype),)


def _representable(make: Formulas, x: SSAValue, dtype: np.dtype[np.generic]) -> SSAValue:
    """x within what a type below 16 bits holds, where the cast saturates; for powers of two rounded to one."""
    if not is_foreign(dtype) or not is_float(dtype) or dtype.itemsize > 1:
        return x
    x = make.cast(x, np.float32)
    if make.node.integer("saturate", 1):
        low, high = float_limits(dtype)
        x = make.scope.emit(graph.ClipOp(x, min=low, max=high))
    mode = make.node.text("round_mode", "up")
    if dtype != ELEMENT_TYPES["f8e8m0fnu"] or mode == "nearest":
        return x
    near = make.cast(make.cast(x, dtype), np.float32)
    if mode == "up":
        return make.select(make.binary("lt", near, x), make.mul(near, 2.0), near)
    return make.select(make.binary("gt", near, x), make.mul(near, 0.5), near)


ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
"""Coefficients of arctan(z) = z + z^3 (c3 + z^2 (c2 + z^2 (c1 + z^2 c0))) for |z| below tan(pi/8) (Cephes, atanf)."""


def _sinh(make: Formulas, x: SSAValue) -> SSAValue:
    """With t = exp(-|x|) - 1: -t (t + 2) / (2 (t + 1)), and x's sign."""
    t = make.expm1(make.unary("neg", make.unary("abs", x)))
    size = make.div(make.mul(make.unary("neg", t), make.add(t, 2.0)), make.mul(make.add(t, 1.0), 2.0))
    return make.mul(make.unary("sign", x), size)


def _asinh(make: Formulas, x: SSAValue) -> SSAValue:
    """log(1 + (|x| + x^2 / (1 + sqrt(x^2 + 1)))), and x's sign."""
    size, square = make.unary("abs", x), make.mul(x, x)
    root = make.unary("sqrt", make.add(square, 1.0))
    return make.mul(make.unary("sign", x), make.log1p(make.add(size, make.div(square, make.add(root, 1.0)))))


def _acosh(make: Formulas, x: SSAValue) -> SSAValue:
    """With t = x - 1: log(1 + (t + sqrt(t (t + 2))))."""
    t = make.sub(x, 1.0)
    return make.log1p(make.add(t, make.unary("sqrt", make.mul(t, make.add(t, 2.0)))))


def _atanh(make: Formulas, x: SSAValue) -> SSAValue:
    """log(1 + 2|x| / (1 - |x|)) / 2, and x's sign."""
    size = make.unary("abs", x)
    quotient = make.div(make.mul(size, 2.0), make.sub(1.0, size))
    return make.mul(make.unary("sign", x), make.mul(make.log1p(quotient), 0.5))


def _atan(make: Formulas, x: SSAValue) -> SSAValue:
    """Of -1/t, (t - 1)/(t + 1) or t itself, t = |x|, by a polynomial; pi/2, pi/4 or 0 more; and x's sign."""
    t = make.unary("abs", x)
    far, middle = make.binary("gt", t, 2.414213562373095), make.binary("gt", t, 0.4142135623730950)
    inner = make.select(middle, make.div(make.sub(t, 1.0), make.add(t, 1.0)), t)
    z = make.select(far, make.div(-1.0, t), inner)
    start = make.select(far, pi / 2, make.mul(make.cast(middle, np.float32), pi / 4))
    square = make.mul(z, z)
    value = make.mul(square, ATAN[0])
    for coefficient in ATAN[1:]:
        value = make.mul(make.add(value, coefficient), square)
    total = make.add(start, make.add(make.mul(value, z), z))
    return make.mul(make.unary("sign", x), total)


def _asin(make: Formulas, x: SSAValue) -> SSAValue:
    """2 atan(x / (1 + sqrt(1 - x^2)))."""
    root = make.unary("sqrt", make.mul(make.sub(1.0, x), make.add(x, 1.0)))
    return make.mul(_atan(make, make.div(x, make.add(root, 1.0))), 2.0)


def _acos(make: Formulas, x: SSAValue) -> SSAValue:
    """2 atan(sqrt((1 - x) / (1 + x)))."""
    root = make.unary("sqrt", make.div(make.sub(1.0, x), make.add(x, 1.0)))
    return make.mul(_atan(make, root), 2.0)


FUNCTIONS: Mapping[str, Callable[[Formulas, SSAValue], SSAValue]] = {
    "Acos": _acos,
    "Acosh": _acosh,
    "Asin": _asin,
    "Asinh": _asinh,
    "Atan": _atan,
    "Atanh": _atanh,
    "Cosh": lambda make, x: make.mul(make.add(make.unary("exp", x), make.unary("exp", make.unary("neg", x))), 0.5),
    "Sinh": _sinh,
    "Tan": lambda make, x: make.div(make.unary("sin", x), make.unary("cos", x)),
}
"""ONNX operators of one input and how they are computed."""


def function(scope: Scope, node: Node) -> Sequence[Value]:
    """One of `FUNCTIONS`, in f32."""
    return (FUNCTIONS[node.op](Formulas(scope, node), scope.tensor(node, 0)),)
