"""Comparisons, logic, choices, remainders and bits; bool is ui8 of 0 and 1."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from ...dialects import graph
from .arguments import broadcast_shape, numpy_type
from .elementwise import NUMBERS, aligned
from .formulas import Formulas
from .scope import Node, Scope, Value

PAIRS = {
    **{"Equal": "eq", "Less": "lt", "LessOrEqual": "le", "Greater": "gt", "GreaterOrEqual": "ge"},
    **{"And": "mul", "Or": "max", "Xor": "ne"},
    **{"BitwiseAnd": "band", "BitwiseOr": "bor", "BitwiseXor": "bxor"},
}
"""ONNX operators on two tensors of one type, and the kinds of `graph.binary`; bools are 0 and 1."""

SIGNED = ("int8", "int32", "int64")


def paired(scope: Scope, node: Node) -> Sequence[Value]:
    """Comparisons, logic and operators on bits; the right operand is lined up."""
    scope.require_type(node, 1, (scope.dtype(node, 0).name,))
    left = scope.tensor(node, 0)
    return (Formulas(scope, node).binary(PAIRS[node.op], left, aligned(scope, node, left, scope.tensor(node, 1))),)


def negation(scope: Scope, node: Node) -> Sequence[Value]:
    """Not."""
    return (Formulas(scope, node).binary("eq", scope.tensor(node, 0), 0),)


def where(scope: Scope, node: Node) -> Sequence[Value]:
    """Where; a condition that is the same everywhere takes one side."""
    scope.require_type(node, 1, (*NUMBERS, "bool"))
    scope.require_type(node, 2, (scope.dtype(node, 1).name,))
    shape = broadcast_shape(node, *(scope.shape(node, i) for i in range(3)))
    make = Formulas(scope, node)
    if scope.is_constant(node, 0):
        condition = scope.constant(node, 0)
        if condition.size and (condition.all() or not condition.any()):
            side = 1 if condition.all() else 2
            if scope.shape(node, side) == shape:
                return (scope.value(node, side),)
            return (make.expand(scope.tensor(node, side), shape),)
    scope.require_type(node, 0, ("bool",))
    result = make.select(*(scope.tensor(node, i) for i in range(3)))
    return (make.expand(result, shape),)


def is_nan(scope: Scope, node: Node) -> Sequence[Value]:
    """IsNaN: what is not itself."""
    x = scope.tensor(node, 0)
    return (Formulas(scope, node).binary("ne", x, x),)


def is_inf(scope: Scope, node: Node) -> Sequence[Value]:
    """IsInf: beyond the largest number of either sign, or of one."""
    make, x, most = Formulas(scope, node), scope.tensor(node, 0), float(np.finfo(np.float32).max)
    above, below = node.integer("detect_positive", 1), node.integer("detect_negative", 1)
    if above and below:
        return (make.binary("gt", make.unary("abs", x), most),)
    if not above and not below:
        return (make.binary("lt", make.unary("abs", x), 0.0),)
    return (make.binary("gt", x, most) if above else make.binary("lt", x, -most),)


def mod(scope: Scope, node: Node) -> Sequence[Value]:
    """Mod: with the divisor's sign, or with the dividend's (fmod)."""
    for index in (0, 1):
        scope.require_type(node, index, NUMBERS)
    make, x, y = Formulas(scope, node), scope.tensor(node, 0), scope.tensor(node, 1)
    if not node.integer("fmod", 0) or scope.dtype(node, 0).kind == "u":
        return (make.binary("mod", x, y),)
    if scope.dtype(node, 0).kind == "i":  # the smallest number has no magnitude of its type
        x, y = make.cast(x, np.int64), make.cast(y, np.int64)
    rest = make.binary("mod", make.unary("abs", x), make.unary("abs", y))
    return (make.cast(make.mul(make.unary("sign", x), rest), scope.dtype(node, 0)),)


def mean(scope: Scope, node: Node) -> Sequence[Value]:
    """Mean of any number of tensors."""
    make, count = Formulas(scope, node), len(node.inputs)
    return (make.div(reduce(make.add, map(make.operand, range(count))), float(count)),)


def bit_shift(scope: Scope, node: Node) -> Sequence[Value]:
    """BitShift: to the left a product with a power of two, to the right its quotient rounded down.

    Shifts beyond the width, and negative ones, leave nothing but the sign.
    """
    direction = node.text("direction", "")
    if direction not in ("LEFT", "RIGHT"):
        raise node.error("direction LEFT or RIGHT", repr(direction), kind="parse")
    make, dtype = Formulas(scope, node), scope.dtype(node, 0)
    x, y = (make.cast(scope.tensor(node, i), np.int64) for i in (0, 1))
    y = make.select(make.binary("lt", y, 0), 40, make.binary("min", y, 40))
    factor = make.binary("pow", make.number(2, x), y)
    if direction == "LEFT":
        return (make.cast(make.mul(x, factor), dtype),)
    rest = make.binary("mod", x, factor)
    return (make.cast(make.div(make.sub(x, rest), factor), dtype),)


def bitwise_not(scope: Scope, node: Node) -> Sequence[Value]:
    """BitwiseNot: -1 - x, modulo the type's size."""
    make, x = Formulas(scope, node), scope.tensor(node, 0)
    return (make.sub(255 if scope.dtype(node, 0).kind == "u" else -1, x),)


def bit_cast(scope: Scope, node: Node) -> Sequence[Value]:
    """BitCast between integers of one size, which wrap."""
    make, x, wanted = Formulas(scope, node), scope.tensor(node, 0), numpy_type(node, "to")
    given = scope.dtype(node, 0)
    if wanted is None or wanted.itemsize != given.itemsize or "f" in (wanted.kind + given.kind):
        raise node.error("integers of one size", f"{given} to {wanted}")
    truth = given == np.bool_ or wanted == np.bool_
    return (scope.emit(graph.UnaryOp("identity", x)) if truth else make.cast(x, wanted),)
