"""Real factors as an integer factor and a shift, as integer networks scale (Jacob et al., CVPR 2018, section 2.2)."""

from math import frexp, isfinite

MAX_SHIFT = 62
"""The largest shift: products of 32 bits then still round without leaving 64 bits."""


def multiplier_and_shift(ratio: float) -> tuple[int, int] | None:
    """`(m, s)` with `m / 2**s` nearest to `ratio > 0`: m in [2**30, 2**31), 0 <= s <= 62.

    Ratios below 2**-32 keep s = 62 and get a smaller m.  None for ratios that are not positive, not finite or at least
    2**31.
    """
    if not (isfinite(ratio) and ratio > 0.0):
        return None
    fraction, exponent = frexp(ratio)
    multiplier, shift = round(fraction * 2**31), 31 - exponent
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift - 1
    if shift < 0:
        return None
    if shift > MAX_SHIFT:
        return round(ratio * 2.0**MAX_SHIFT), MAX_SHIFT
    return multiplier, shift


def common_shift(ratios: tuple[float, ...], bits: int) -> tuple[tuple[int, ...], int] | None:
    """`(m..., s)` with `m / 2**s` near to each ratio and the largest m in [2**(bits - 1), 2**bits].

    None if the ratios are not finite, all zero, or so large that s would be negative.
    """
    largest = max(abs(ratio) for ratio in ratios)
    if not (isfinite(largest) and largest > 0.0):
        return None
    shift = min(bits - frexp(largest)[1], MAX_SHIFT)
    if shift < 0:
        return None
    return tuple(round(ratio * 2.0**shift) for ratio in ratios), shift
