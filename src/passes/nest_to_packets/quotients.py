"""Integer quotients on vectors without an instruction for them: a bit of the quotient after the other.

The remainder starts as the dividend without as many of its low bits as the quotient has.  Each step takes the next of
them in, and takes the divisor away where that leaves no less than 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.expr import Call, Expr, Num, print_expr
from ...errors import TilewrightError
from .ranges import Range

if TYPE_CHECKING:
    from .lane_values import Values

SIGN = 31
"""What a word is shifted by to leave nothing but its sign."""


def power_of_two(limits: Range) -> int:
    """The exponent of a number that is known to be a power of two; -1 for others."""
    low, high = limits
    return low.bit_length() - 1 if low == high and low > 0 and low & (low - 1) == 0 else -1


def quotient(fn: str, x: Expr, y: Expr, limits: tuple[Range, Range]) -> Expr | None:
    """`div` or `floordiv` by other functions; None where `divided` has to do it: x from 0, y from 1 on.

    `TilewrightError` for divisors that may be 0 or less, and floors of negative quotients.
    """
    (low, _), (least, _) = limits
    exponent = power_of_two(limits[1])
    if exponent >= 0 and (fn == "floordiv" or low >= 0):
        return Call("rshift", (x, Num(exponent)))
    if least < 1 or (low < 0 and fn == "floordiv"):
        found = f"{limits[0][0]} to {limits[0][1]} by {limits[1][0]} to {limits[1][1]}"
        raise TilewrightError("unsupported", print_expr(Call(fn, (x, y))), "divisors of 1 at least", found)
    if low >= 0:
        return None
    size = Call("max", (x, Call("sub", (Num(0), x))))
    sign = Call("add", (Num(1), Call("lshift", (Call("rshift", (x, Num(SIGN))), Num(1)))))
    return Call("mul", (Call("div", (size, y)), sign))


def divided(values: Values, x: int, y: int, limits: tuple[Range, Range], dest: int) -> int:
    """The quotient of two registers of words, x from 0 and y from 1 on, in `dest`."""
    (_, most), (least, _) = limits
    bits = (most // least).bit_length()
    zero, one, sign = (values.number(n) for n in (0, 1, SIGN))
    move, add, sub, right = values.emitter.move(), *(values.function(fn) for fn in ("add", "sub", "rshift"))
    low = values.low_product()
    values.emit(move, dest, zero)
    if not bits:
        return dest
    rest, left, sized, taken = (values.groups.take() for _ in range(4))
    values.emit(right, rest, x, values.number(bits))
    values.emit(values.function("lshift"), left, x, values.number(SIGN + 1 - bits))
    for _ in range(bits):
        values.emit(right, sized, left, sign)  # -1 where the next bit is 1
        values.emit(add, left, left, left)
        values.emit(add, rest, rest, rest)
        values.emit(sub, rest, rest, sized)
        values.emit(sub, sized, rest, y)
        values.emit(right, sized, sized, sign)
        values.emit(add, sized, sized, one)  # 1 where the divisor is in the remainder
        values.emit(low, taken, y, sized)
        values.emit(sub, rest, rest, taken)
        values.emit(add, dest, dest, dest)
        values.emit(add, dest, dest, sized)
    return dest
