"""What values an expression of integers can have, so that registers of fewer bits may hold them."""

from collections.abc import Callable, Mapping, Sequence

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import Access, Call, Expr, Num, print_expr
from ...errors import TilewrightError

Range = tuple[int, int]
"""The smallest and the largest value, both inclusive."""

MOST_SHIFT = 63


def range_of_type(type_name: str) -> Range:
    """All values of an integer type; `TilewrightError` (kind `unsupported`) for floats."""
    dtype = ELEMENT_TYPES[type_name]
    if dtype.kind not in "iu":
        raise TilewrightError("unsupported", type_name, "integers on vectors", type_name, "quantise the model")
    bits = 8 * dtype.itemsize
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "i" else (0, (1 << bits) - 1)


def within(inner: Range, outer: Range) -> bool:
    """Whether `outer` has all values of `inner`."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def range_of(expr: Expr, tensors: Mapping[str, Range]) -> Range:
    """The range of an expression over tensors of these ranges; exact integers, as the language's values are."""
    match expr:
        case Num(value) if isinstance(value, int):
            return value, value
        case Access(tensor, _):
            return tensors[tensor]
        case Call(fn, args):
            function = _function(fn)
            if function is not None:
                return function([range_of(arg, tensors) for arg in args])
        case _:
            pass
    raise TilewrightError("unsupported", print_expr(expr), "integers, tensors and functions of integers", "another")


def _function(fn: str) -> Callable[[Sequence[Range]], Range] | None:
    if fn in RANGES:
        return RANGES[fn]
    wanted = fn.removeprefix("sat_")
    if wanted not in ELEMENT_TYPES:
        return None
    limits = range_of_type(wanted)
    if fn != wanted:
        return lambda args: (max(min(args[0][0], limits[1]), limits[0]), min(max(args[0][1], limits[0]), limits[1]))
    return lambda args: args[0] if within(args[0], limits) else limits


def _corners(function: Callable[[int, int], int]) -> Callable[[Sequence[Range]], Range]:
    """For functions that are monotone in each argument: extremes are at corners."""

    def of(args: Sequence[Range]) -> Range:
        values = [function(a, b) for a in args[0] for b in args[1]]
        return min(values), max(values)

    return of


def _amount(shift: int) -> int:
    return min(max(shift, 0), MOST_SHIFT)


def _rounded(value: int, shift: int) -> int:
    amount = _amount(shift)
    return value + (1 << amount >> 1) >> amount


def _abs(args: Sequence[Range]) -> Range:
    low, high = args[0]
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _square(args: Sequence[Range]) -> Range:
    low, high = _abs(args)
    return low * low, high * high


def _clip(args: Sequence[Range]) -> Range:
    value, low, high = args
    return min(max(value[0], low[0]), high[0]), min(max(value[1], low[1]), high[1])


def _divided(args: Sequence[Range]) -> Range:
    """Quotients by zero are 0; the divisor's values nearest to 0 give the largest ones."""
    values = {0} if args[1][0] <= 0 <= args[1][1] else set[int]()
    divisors = {*args[1], *(d for d in (-1, 1) if args[1][0] <= d <= args[1][1])} - {0}
    for divisor in divisors:
        for value in args[0]:
            quotient = abs(value) // abs(divisor)
            values |= {quotient, -quotient} if (value < 0) != (divisor < 0) else {quotient}
            values |= {value // divisor}
    if args[0][0] <= 0 <= args[0][1]:
        values.add(0)
    return min(values), max(values)


RANGES: dict[str, Callable[[Sequence[Range]], Range]] = {
    "add": lambda args: (args[0][0] + args[1][0], args[0][1] + args[1][1]),
    "sub": lambda args: (args[0][0] - args[1][1], args[0][1] - args[1][0]),
    "rsub": lambda args: (args[1][0] - args[0][1], args[1][1] - args[0][0]),
    "mul": _corners(lambda a, b: a * b),
    "high_product": _corners(lambda a, b: a * b >> 31),
    "max": lambda args: (max(args[0][0], args[1][0]), max(args[0][1], args[1][1])),
    "min": lambda args: (min(args[0][0], args[1][0]), min(args[0][1], args[1][1])),
    "neg": lambda args: (-args[0][1], -args[0][0]),
    "abs": _abs,
    "square": _square,
    "relu": lambda args: (max(args[0][0], 0), max(args[0][1], 0)),
    "identity": lambda args: args[0],
    "clip": _clip,
    "rshift_round": _corners(_rounded),
    "rshift": _corners(lambda a, b: a >> _amount(b)),
    "lshift": _corners(lambda a, b: a << _amount(b)),
    "div": _divided,
    "floordiv": _divided,
    "select": lambda args: (min(args[1][0], args[2][0]), max(args[1][1], args[2][1])),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), lambda _: (0, 1)),  # pyright: ignore
}
"""Function -> the range of its values from those of its arguments."""
