"""What operations on rows work on, and what their values lie between."""

from dataclasses import dataclass

import numpy as np

from ...algebra.element import Ints

LIMIT = 1 << 31

FUNCTIONS: dict[str, tuple[str, int, bool]] = {
    "add": ("A + B", 2, False),
    "sub": ("A - B", 2, False),
    "mul": ("A * B // pow(2, SHIFT)", 2, False),
    "div": ("A / B", 2, True),
    "max": ("max(A, B)", 2, True),
    "min": ("min(A, B)", 2, True),
    "relu": ("relu(A)", 1, True),
    "abs": ("abs(A)", 1, True),
    "sign": ("sign(A)", 1, True),
    "eq": ("A == B", 2, True),
    "ne": ("A != B", 2, True),
    "gt": ("A > B", 2, True),
    "ge": ("A >= B", 2, True),
    "lt": ("A < B", 2, True),
    "le": ("A <= B", 2, True),
}
"""Function -> text of the instruction, arguments, and whether it wants the values themselves, not modulo 2^32."""


@dataclass(frozen=True)
class Term:
    """An operand: `name` (an integer is itself) and what its elements lie between, one for all columns or one each.

    `kind` is `rows` of a tile, a `column` with an element for each row, a `vector` with a constant for each column, or
    a `number`.  `wrapped`: it may leave 32 bits inside an expression.
    """

    name: str | int
    low: Ints
    high: Ints
    kind: str
    wrapped: bool = False

    @property
    def power(self) -> int | None:
        """The exponent of a number that is a power of two."""
        value = self.name
        return value.bit_length() - 1 if isinstance(value, int) and value > 0 and value.bit_count() == 1 else None


def constant(value: int) -> Term:
    """A number."""
    array = np.array([value], np.int64)
    return Term(value, array, array, "number")


def whole(bits: int) -> tuple[Ints, Ints]:
    """The least and greatest signed integer of some bits."""
    return np.array([-1 << (bits - 1)], np.int64), np.array([(1 << (bits - 1)) - 1], np.int64)


def interval(fn: str, a: Term, b: Term | None = None) -> tuple[Ints, Ints]:
    """What a function's values lie between."""
    if b is None:
        return _unary(fn, a)
    match fn:
        case "add":
            return a.low + b.low, a.high + b.high
        case "sub":
            return a.low - b.high, a.high - b.low
        case "mul":
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return np.minimum.reduce(np.broadcast_arrays(*ends)), np.maximum.reduce(np.broadcast_arrays(*ends))
        case "max":
            return np.maximum(a.low, b.low), np.maximum(a.high, b.high)
        case "min":
            return np.minimum(a.low, b.low), np.minimum(a.high, b.high)
        case "div":
            size = np.maximum(np.abs(a.low), np.abs(a.high)) // np.maximum(np.where(b.low > 0, b.low, 1), 1)
            return np.where((a.low >= 0) & (b.low >= 0), 0, -size), size
        case _:
            return np.array([0], np.int64), np.array([1], np.int64)


def _unary(fn: str, a: Term) -> tuple[Ints, Ints]:
    zero = np.array([0], np.int64)
    match fn:
        case "relu":
            return np.maximum(a.low, 0), np.maximum(a.high, 0)
        case "abs":
            return zero, np.maximum(np.abs(a.low), np.abs(a.high))
        case _:
            return zero - 1, zero + 1
