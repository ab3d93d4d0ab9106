"""The scalar functions that values may call: arity, type rule and NumPy meaning.

Inside a value there are two kinds of numbers: int64 (exact, wraps modulo 2^64) and float32 (float64 only where a
float64 tensor takes part).  Rules: `num` brings its arguments to their common kind, `float` brings them to floats,
`int` wants integers, `any` takes them as they are.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TilewrightError
from .element import ELEMENT_TYPES, Array, is_float, limits

_I64_LOW, _I64_HIGH = float(-(2**63)), float(2**63 - 1024)


@dataclass(frozen=True)
class Function:
    """A scalar function; `numpy` works elementwise with broadcasting on arguments prepared by `rule`."""

    name: str
    arity: int
    rule: str  # num, float, int, any
    numpy: Callable[..., Array]


def call_function(name: str, args: Sequence[Array]) -> Array:
    """Applies a function to arrays (or NumPy scalars) of any element type, with the rules of the language."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise TilewrightError("unsupported", name, "a known function", f"`{name}`")
    if len(args) != function.arity:
        raise TilewrightError("unsupported", name, f"{function.arity} arguments", f"{len(args)}")
    return function.numpy(*prepare(function.rule, args))


def prepare(rule: str, args: Sequence[Array]) -> Sequence[Array]:
    """The arguments converted as a function's rule says."""
    if rule == "any":
        return args
    if rule == "int":
        return [to_int64(arg) for arg in args]
    dtype = common_dtype(args)
    if rule == "float" and dtype.kind != "f":
        dtype = np.dtype(np.float32)
    return [arg.astype(dtype, copy=False) for arg in args]


def common_dtype(args: Sequence[Array]) -> np.dtype[Any]:
    """float64 if an argument is, else float32 if an argument is a float, else int64."""
    kinds = [arg.dtype for arg in args]
    if any(dtype == np.float64 for dtype in kinds):
        return np.dtype(np.float64)
    if any(is_float(dtype) for dtype in kinds):
        return np.dtype(np.float32)
    return np.dtype(np.int64)


def to_int64(value: Array) -> Array:
    """Integers as int64; floats truncated toward zero, NaN as 0, clamped to what int64 holds."""
    if not is_float(value.dtype):
        return value.astype(np.int64, copy=False)
    clamped = np.clip(
        np.nan_to_num(value.astype(np.float64), nan=0.0, posinf=_I64_HIGH, neginf=_I64_LOW), _I64_LOW, _I64_HIGH
    )
    return np.asarray(clamped).astype(np.int64)


def cast(value: Array, dtype: np.dtype[Any]) -> Array:
    """`value` in another element type: integers wrap, floats truncate toward zero on the way to integers."""
    if not is_float(dtype) and is_float(value.dtype):
        value = to_int64(value)
    return value.astype(dtype, copy=False)


def _cast_function(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32 if is_float(dtype) else np.int64)
    return lambda x: cast(x, dtype).astype(wide, copy=False)


def _saturate(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    low, high = limits(dtype)
    return lambda x: np.clip(to_int64(x), low, high)


def _div(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient = np.floor_divide(np.abs(a), np.abs(_nonzero(b)))
    return np.where(b == 0, 0, quotient * np.sign(a) * np.sign(b))


def _floordiv(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.floor(np.divide(a, b))
    return np.where(b == 0, 0, np.floor_divide(a, _nonzero(b)))


def _mod(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.mod(a, b)
    return np.where(b == 0, 0, np.mod(a, _nonzero(b)))


def _ceildiv(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.ceil(np.divide(a, b))
    return np.where(b == 0, 0, -np.floor_divide(-a, _nonzero(b)))


def _nonzero(b: Array) -> Array:
    return np.where(b == 0, np.int64(1), b)


def _pow(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return np.power(a, b)
    powers = np.power(a, np.maximum(b, 0))
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, inverse, powers)


def _erf(x: Array) -> Array:
    from scipy.special import erf  # pyright: ignore

    return np.asarray(erf(x), dtype=x.dtype)


def _gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(x.dtype.type(math.sqrt(2 / math.pi)) * (x + 0.044715 * x * x * x)))


def _hard_sigmoid(x: Array, alpha: Array, beta: Array) -> Array:
    return np.clip(alpha * x + beta, x.dtype.type(0), x.dtype.type(1))


def _hard_swish(x: Array) -> Array:
    return x * np.clip(x * x.dtype.type(1 / 6) + x.dtype.type(0.5), x.dtype.type(0), x.dtype.type(1))


def _select(c: Array, a: Array, b: Array) -> Array:
    a, b = prepare("num", (a, b))
    return np.where(c != 0, a, b)


def _rshift_round(x: Array, s: Array) -> Array:
    shift = np.clip(s, 0, 63)
    half = np.where(shift > 0, np.left_shift(np.int64(1), np.maximum(shift - 1, 0)), 0)
    return np.right_shift(x + half, shift)


def _rshift(x: Array, s: Array) -> Array:
    return np.right_shift(x, np.clip(s, 0, 63))


def _lshift(x: Array, s: Array) -> Array:
    return np.left_shift(x, np.clip(s, 0, 63))


def _compare(ufunc: np.ufunc) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.asarray(ufunc(a, b)).astype(np.int64)


def _table() -> dict[str, Function]:
    rows: list[tuple[str, int, str, Callable[..., Array]]] = [
        ("add", 2, "num", np.add),
        ("sub", 2, "num", np.subtract),
        ("mul", 2, "num", np.multiply),
        ("div", 2, "num", _div),
        ("rsub", 2, "num", lambda a, b: np.subtract(b, a)),
        ("rdiv", 2, "num", lambda a, b: _div(b, a)),
        ("floordiv", 2, "num", _floordiv),
        ("mod", 2, "num", _mod),
        ("ceildiv", 2, "num", _ceildiv),
        ("pow", 2, "num", _pow),
        ("rpow", 2, "num", lambda a, b: _pow(b, a)),
        ("max", 2, "num", np.maximum),
        ("min", 2, "num", np.minimum),
        ("neg", 1, "num", np.negative),
        ("abs", 1, "num", np.abs),
        ("sign", 1, "num", np.sign),
        ("square", 1, "num", np.square),
        ("relu", 1, "num", lambda x: np.maximum(x, x.dtype.type(0))),
        ("identity", 1, "any", lambda x: x),
        ("floor", 1, "num", lambda x: np.floor(x) if x.dtype.kind == "f" else x),
        ("ceil", 1, "num", lambda x: np.ceil(x) if x.dtype.kind == "f" else x),
        ("rint", 1, "num", lambda x: np.rint(x) if x.dtype.kind == "f" else x),
        ("exp", 1, "float", np.exp),
        ("log", 1, "float", np.log),
        ("log2", 1, "float", np.log2),
        ("sqrt", 1, "float", np.sqrt),
        ("rsqrt", 1, "float", lambda x: np.divide(1, np.sqrt(x))),
        ("reciprocal", 1, "float", lambda x: np.divide(1, x)),
        ("sin", 1, "float", np.sin),
        ("cos", 1, "float", np.cos),
        ("erf", 1, "float", _erf),
        ("tanh", 1, "float", np.tanh),
        ("sigmoid", 1, "float", lambda x: np.divide(1, 1 + np.exp(-x))),
        ("softplus", 1, "float", lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))),
        ("softsign", 1, "float", lambda x: x / (1 + np.abs(x))),
        ("gelu", 1, "float", lambda x: 0.5 * x * (1 + _erf(x * x.dtype.type(math.sqrt(0.5))))),
        ("gelu_tanh", 1, "float", _gelu_tanh),
        ("hard_swish", 1, "float", _hard_swish),
        ("leaky_relu", 2, "float", lambda x, alpha: np.where(x >= 0, x, alpha * x)),
        ("elu", 2, "float", lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))),
        ("hard_sigmoid", 3, "float", _hard_sigmoid),
        ("clip", 3, "num", lambda x, low, high: np.minimum(np.maximum(x, low), high)),
        ("select", 3, "any", _select),
        ("rshift_round", 2, "int", _rshift_round),
        ("rshift", 2, "int", _rshift),
        ("lshift", 2, "int", _lshift),
        ("shift_right", 2, "int", lambda x, s: np.where(s < 0, _lshift(x, -s), _rshift(x, s))),
        ("band", 2, "int", np.bitwise_and),
        ("bor", 2, "int", np.bitwise_or),
        ("bxor", 2, "int", np.bitwise_xor),
    ]
    comparisons = ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal)
    comparisons += ("gt", np.greater), ("ge", np.greater_equal)
    rows += [(name, 2, "num", _compare(ufunc)) for name, ufunc in comparisons]
    rows += [(name, 1, "any", _cast_function(dtype)) for name, dtype in ELEMENT_TYPES.items()]
    rows += [(f"sat_{n}", 1, "any", _saturate(ELEMENT_TYPES[n])) for n in ("i8", "u8", "i16", "u16", "i32")]
    return {row[0]: Function(*row) for row in rows}


FUNCTIONS: dict[str, Function] = _table()
"""All functions by name."""

COMMUTATIVE = ("add", "mul", "max", "min")
"""Functions of two arguments that may change places."""

REVERSED = {"sub": "rsub", "div": "rdiv", "pow": "rpow"}
"""Function -> the one that takes its two arguments the other way round."""
