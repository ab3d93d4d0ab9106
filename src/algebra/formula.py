"""Plain formulas over numbers (cycles, energies, field values), in Python's own exact integers and floats."""

import math
from collections.abc import Callable, Mapping

from ..errors import TilewrightError
from .expr import Call, Expr, Name, Num, print_expr

Number = int | float


def evaluate_formula(expr: Expr, env: Mapping[str, Number]) -> Number:
    """The value of `expr` with names from `env`.

    Integers stay exact; `/` truncates on two integers and divides otherwise; comparisons give 0 or 1.
    Raises `TilewrightError` (kind `formula`) for an unknown name, an unknown function, tensor accesses, a division by
    zero and results that no float can hold.
    """
    try:
        return _value(expr, env)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise TilewrightError("formula", print_expr(expr), "a value", str(error)) from None


def _value(expr: Expr, env: Mapping[str, Number]) -> Number:
    match expr:
        case Num(value):
            return value
        case Name(id):
            if id not in env:
                raise TilewrightError("formula", print_expr(expr), f"one of {', '.join(env) or 'no names'}", id)
            return env[id]
        case Call(fn, args) if fn in FORMULA_FUNCTIONS:
            arity, function = FORMULA_FUNCTIONS[fn]
            if len(args) != arity:
                raise TilewrightError("formula", print_expr(expr), f"{arity} arguments", f"{len(args)}")
            return function(*(_value(arg, env) for arg in args))
        case _:
            raise TilewrightError("formula", print_expr(expr), "functions of numbers", "something else")


def _div(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _ceildiv(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return math.ceil(a / b)
    return -(-a // b)


def _pow(a: Number, b: Number) -> Number:
    exact = isinstance(a, int) and isinstance(b, int) and b >= 0 and a.bit_length() * b <= 4096
    return a**b if exact else math.pow(a, b)


def _rshift_round(a: Number, s: Number) -> Number:
    shift = int(s)
    if not 0 <= shift <= 63:
        raise ValueError(f"a shift of {shift} bits")
    return int(a) if shift == 0 else (int(a) + (1 << (shift - 1))) >> shift


FORMULA_FUNCTIONS: dict[str, tuple[int, Callable[..., Number]]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, _div),
    "floordiv": (2, lambda a, b: a // b),
    "mod": (2, lambda a, b: a % b),
    "neg": (1, lambda a: -a),
    "abs": (1, lambda a: a if a >= 0 else -a),
    "max": (2, lambda a, b: a if a >= b else b),
    "min": (2, lambda a, b: a if a <= b else b),
    "ceildiv": (2, _ceildiv),
    "pow": (2, _pow),
    "sqrt": (1, math.sqrt),
    "exp": (1, math.exp),
    "log": (1, math.log),
    "log2": (1, math.log2),
    "floor": (1, math.floor),
    "ceil": (1, math.ceil),
    "rint": (1, round),
    "eq": (2, lambda a, b: int(a == b)),
    "ne": (2, lambda a, b: int(a != b)),
    "lt": (2, lambda a, b: int(a < b)),
    "le": (2, lambda a, b: int(a <= b)),
    "gt": (2, lambda a, b: int(a > b)),
    "ge": (2, lambda a, b: int(a >= b)),
    "select": (3, lambda c, a, b: a if c else b),
    "clip": (3, lambda x, low, high: min(max(x, low), high)),
    "relu": (1, lambda a: max(a, 0)),
    "identity": (1, lambda a: a),
    "rshift_round": (2, _rshift_round),
}
"""Functions that formulas may call: name -> (arity, implementation)."""
