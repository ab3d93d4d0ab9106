"""Cost formulas as functions of NumPy arrays, to price many candidates at once."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...algebra.expr import Call, Expr, Name, Num, print_expr
from ...errors import TilewrightError

Env = Mapping[str, Any]
Formula = Callable[[Env], Any]


def _div(a: Any, b: Any) -> Any:
    """The quotient; of integers, rounded toward zero."""
    first, second = np.asarray(a), np.asarray(b)
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return first / second
    quotient = np.abs(first) // np.abs(second)
    return np.where((first < 0) == (second < 0), quotient, -quotient)


def _ceildiv(a: Any, b: Any) -> Any:
    """The quotient, rounded up: of floats the rounded one, as a scalar formula has it (1.4 by 0.7 is 2)."""
    first, second = np.asarray(a), np.asarray(b)
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return np.ceil(first / second)
    return -(-first // second)


def _rshift_round(a: Any, s: Any) -> Any:
    value, shift = np.asarray(a, np.int64), np.asarray(s, np.int64)
    return (value + np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)) >> shift


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _div,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "neg": lambda a: -a,
    "abs": np.abs,
    "max": np.maximum,
    "min": np.minimum,
    "ceildiv": _ceildiv,
    "pow": lambda a, b: a**b,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "log2": np.log2,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "relu": lambda a: np.maximum(a, 0),
    "identity": lambda a: a,
    "rshift_round": _rshift_round,
    "select": np.where,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def compile_formula(expr: Expr) -> Formula:
    """A function of name -> number or array.

    Raises `TilewrightError` (kind `unsupported`) for a function that formulas cannot use.
    """
    match expr:
        case Num(value):
            return lambda env: value
        case Name(id):
            return lambda env: env[id]
        case Call(fn, args) if fn in _FUNCTIONS:
            return _call(_FUNCTIONS[fn], [compile_formula(arg) for arg in args])
        case _:
            raise TilewrightError(
                "unsupported", print_expr(expr), f"a formula of {', '.join(_FUNCTIONS)}", "something else"
            )


def _call(function: Callable[..., Any], args: list[Formula]) -> Formula:
    if len(args) == 1:
        (only,) = args
        return lambda env: function(only(env))
    if len(args) == 2:
        first, second = args
        return lambda env: function(first(env), second(env))
    return lambda env: function(*(arg(env) for arg in args))
