"""Values of a sum of two terms, how loops move it, and divisors, in compiled code."""

from math import gcd

from ..algebra.element import Ints
from .compiled import bare


@bare
def distinct2(u: int, n: int, v: int, m: int) -> int:
    """How many values `u * i + v * j` has for `i < n`, `j < m`."""
    if n == 1 or m == 1:
        return n * m
    common = gcd(u, v)
    return n * m - max(0, n - v // common) * max(0, m - u // common)


@bare
def shared_by(u: int, n: int, v: int, m: int, shift: int, exact: bool) -> int:
    """Values at most that `u * i + v * j` (`i < n`, `j < m`) shares with itself moved by `shift` (or that at least)."""
    if n == 1:
        u, n, v, m = v, m, u, 1
    if m == 1:
        return 0 if exact and shift % u else max(0, n - -(-shift // u))
    if u == 1:
        u, n, v, m = v, m, u, n
    if exact and v == 1 and m < u:
        blocks, offset = shift // u, shift % u
        near, far = max(0, n - blocks) * max(0, m - offset), max(0, n - blocks - 1) * max(0, m - u + offset)
        return near + far
    return max(0, min(distinct2(u, n, v, m), u * (n - 1) + v * (m - 1) + 1 - shift))


@bare
def may_make(own: Ints, others: Ints, scales: tuple[int, int], begin: tuple[int, int], far: int) -> bool:
    """Whether the outermost of some loops of a dimension may move a sum by `far` and what all others of these make in
    one iteration each, and some of another dimension, if any.

    `own` and `others` (C, 3) are the first, the last and the sum of strides that loops of both may have, zeros where
    there are no more; they count `scales` times in the sum, and are multiples of `begin`.
    """
    for first, last, total in own:
        gap = scales[0] * (2 * last - total) - far
        if total == 0 or first % begin[0] or gap < 0:
            continue
        if gap == 0:
            return True
        for start, _, every in others:
            if scales[1] * every == gap and start % begin[1] == 0:
                return True
    return False


@bare
def has_divisor(number: int, first: int, final: int) -> bool:
    """Whether one of `first` to `final` divides a positive number."""
    if number < first:
        return False
    if final - first <= number // first - number // final:
        for factor in range(first, final + 1):
            if number % factor == 0:
                return True
        return False
    for times in range(max(1, number // final), number // first + 1):
        if number % times == 0 and first <= number // times <= final:
            return True
    return False
