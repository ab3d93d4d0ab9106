"""Functions of one element that hardware has not, written with those that it has; accurate for small arguments, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import pi

import numpy as np
from xdsl.ir import SSAValue

from .formulas import Formulas
from .node import Node
from .scope import Scope, Value

ATAN = (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1)
"""Coefficients of arctan(z) = z + z^3 (c3 + z^2 (c2 + z^2 (c1 + z^2 c0))) for |z| below tan(pi/8) (Cephes, atanf)."""


def _tan(make: Formulas, x: SSAValue) -> SSAValue:
    return make.div(make.unary("sin", x), make.unary("cos", x))


def _sinh(make: Formulas, x: SSAValue) -> SSAValue:
    """With t = exp(-|x|) - 1: -t (t + 2) / (2 (t + 1)), and x's sign."""
    t = make.expm1(make.unary("neg", make.unary("abs", x)))
    size = make.div(make.mul(make.unary("neg", t), make.add(t, 2.0)), make.mul(make.add(t, 1.0), 2.0))
    return make.mul(make.unary("sign", x), size)


def _cosh(make: Formulas, x: SSAValue) -> SSAValue:
    return make.mul(make.add(make.unary("exp", x), make.unary("exp", make.unary("neg", x))), 0.5)


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
    "Cosh": _cosh,
    "Sinh": _sinh,
    "Tan": _tan,
}
"""ONNX operators of one input and how they are computed."""


def function(scope: Scope, node: Node) -> Sequence[Value]:
    """One of `FUNCTIONS`, in f32."""
    return (FUNCTIONS[node.op](Formulas(scope, node), scope.tensor(node, 0)),)
