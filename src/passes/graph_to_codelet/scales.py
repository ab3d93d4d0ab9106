"""Requantisation as operations on sums of 32 bits: shifts for powers of two, else exact products by digits.

A machine multiplies sums by numbers modulo 2^32.  The factor `multiplier / 2^shift` is written with `TOP` bits and
up to three digits behind the binary point.  Each digit times a sum stays within 32 bits, because sums are first clipped
to where the result changes.  With one digit:

    (x (top + low 2^-b) 2^-TOP)  =  (x top + (x low >> b)) >> TOP        rounded down, exactly

The result is the graph's for all sums that can be: the least sums that give each result are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algebra.element import Ints

FARTHEST_SHIFT = 15
"""What all implementations of VTA shift by."""

TOP = 22
"""Bits behind the point of the product by the first digit: results of up to 2^8 then have 30."""

DIGITS = 3
"""Digits after the first at most."""


@dataclass(frozen=True)
class Step:
    """A function of sums and numbers: one for each channel, or one for all.

    Sums `target` are changed, 0 those of the layer, others copies beside them; without `values` the other operand is
    sums `source`.  `copy` sets `target` to them.
    """

    function: str
    values: Ints | None = None
    target: int = 0
    source: int = 0


@dataclass(frozen=True)
class Scale:
    """`clip(((x multiplier + half) >> shift) + zero, low, high)` as `graph.requantize`, of each channel or of all."""

    multiplier: Ints
    shift: Ints
    zero: int = 0
    low: int = -128
    high: int = 127

    @staticmethod
    def of(multiplier: Ints, shift: Ints, zero: int, low: int, high: int) -> Scale:
        """A scale whose shift may be to the left, which the multiplier takes."""
        return Scale(multiplier << np.maximum(-shift, 0), np.maximum(shift, 0), zero, low, high)

    @property
    def half(self) -> Ints:
        """What rounds: half of what is shifted away."""
        return np.where(self.shift > 0, np.int64(1) << np.maximum(self.shift - 1, 0), 0)


def bounds(low: int, high: int) -> tuple[Step, ...]:
    """Values between two numbers."""
    return _step("max", low), _step("min", high)


def steps_of(scale: Scale, bias: Ints, least: Ints, most: Ints) -> tuple[Step, ...] | None:
    """The steps for sums that, with the bias, are from `least` to `most`; None where none are exact."""
    return _shifted(scale, bias, least, most) or _multiplied(scale, bias, least, most)


def _step(function: str, values: Any, target: int = 0) -> Step:
    return Step(function, np.atleast_1d(np.asarray(values, np.int64)), target)


def _shifted(scale: Scale, bias: Ints, least: Ints, most: Ints) -> tuple[Step, ...] | None:
    """A rounding constant, a shift and bounds, where multipliers are powers of two."""
    zeros = np.array([(int(m) & -int(m)).bit_length() - 1 for m in scale.multiplier])
    distance = scale.shift - zeros
    farthest = 2 * FARTHEST_SHIFT if len(set(distance.tolist())) == 1 else FARTHEST_SHIFT
    if (scale.multiplier != 1 << zeros).any() or distance.max() > farthest or distance.min() < -FARTHEST_SHIFT:
        return None
    within = bool((distance > 0).all())
    half = np.where(distance > 0, np.int64(1) << np.maximum(distance - 1, 0), 0)
    added = half + (np.int64(scale.zero) << np.maximum(distance, 0)) * within
    scaled = np.maximum(-distance, 0)
    if (np.maximum(abs(least + added), abs(most + added)) << scaled).max() >= 1 << 31:
        return None
    steps = [_step("add", bias + added), _step("shift_right", distance)]
    steps += [] if within else [_step("add", scale.zero)]
    return tuple(one for one in steps if one.values is not None and one.values.any()) + bounds(scale.low, scale.high)


def _multiplied(scale: Scale, bias: Ints, least: Ints, most: Ints) -> tuple[Step, ...] | None:
    """Products by digits."""
    results = np.arange(scale.low + 1, scale.high + 1) - scale.zero
    factors = scale.multiplier / 2.0**scale.shift
    if not len(results) or factors.max() >= 1 << (31 - TOP) or max(-least.min(), most.max()) >= 1 << 31:
        return None
    changes = _first_sums(scale.multiplier, scale.shift, scale.half, results)
    clipped = bool((np.maximum(abs(least), abs(most)) * factors).max() >= (1 << (30 - TOP)) - 1)
    start, end = least, most
    if clipped:
        start, end = (np.clip(one, changes[:, 0] - 1, changes[:, -1]) for one in (least, most))
    digit = 30 - int(max(abs(start).max(), abs(end).max())).bit_length()
    for count in range(DIGITS + 1):
        point = TOP + digit * count
        whole = _rounded(scale.multiplier, point - scale.shift)
        half = np.full(1, 1 << (point - 1), object)
        if digit < 1 or min(whole) < 1:
            continue
        found = _first_sums(whole, np.full(1, point), half, results)
        if (_within(changes, start, end) == _within(found, start, end)).all():
            break
    else:
        return None
    steps = [_step("add", bias)] if bias.any() else []
    steps += [_step("max", start), _step("min", end)] if clipped else []
    steps += _products(whole, digit, count)
    steps += [_step("shift_right", FARTHEST_SHIFT)]
    rest = TOP - FARTHEST_SHIFT
    steps += [_step("add", (1 << (rest - 1)) + (scale.zero << rest)), _step("shift_right", rest)]
    return (*steps, *(() if clipped and factors.max() < 1 else bounds(scale.low, scale.high)))


def _products(whole: Ints, digit: int, count: int) -> list[Step]:
    """The sums times a number with `count` digits behind the first, but for what is behind the last."""
    steps: list[Step] = []
    carry = 0
    for number in range(count):
        low = (whole >> digit * number) & ((1 << digit) - 1)
        if low.any() or carry:
            copy = 1 + (carry == 1)
            steps += [Step("copy", None, copy), _step("mul", low.astype(np.int64), copy)]
            steps += [Step("add", None, copy, carry)] if carry else []
            steps += [_step("shift_right", digit, copy)]
            carry = copy
    steps += [_step("mul", (whole >> digit * count).astype(np.int64))]
    return steps + ([Step("add", None, 0, carry)] if carry else [])


def _rounded(multiplier: Ints, left: Ints) -> Any:
    """`multiplier 2^left`, rounded; Python's integers."""
    wide, left = multiplier.astype(object), left.astype(object)
    right = np.maximum(-left, 0)
    return ((wide << np.maximum(left, 0)) + ((1 << right) >> 1)) >> right


def _first_sums(multiplier: Any, shift: Ints, added: Any, results: Ints) -> Ints:
    """For each channel the least sum that gives each result or more."""
    kind = np.int64 if int(shift.max()) <= 53 and int(np.max(multiplier)) < 1 << 62 else object
    factor, above = np.asarray(multiplier, kind)[:, None], np.asarray(added, kind)[:, None]
    wanted = results.astype(kind)[None, :] << shift.astype(kind)[:, None]
    found = -((above - wanted) // factor)
    limit = 1 << 33
    return np.clip(found, -limit, limit).astype(np.int64)


def _within(changes: Ints, start: Ints, end: Ints) -> Ints:
    """Where results change among the sums that can be."""
    return np.clip(changes, start[:, None], end[:, None] + 1)


def shifts_of(distance: int) -> list[int]:
    """A shift in steps of at most FARTHEST_SHIFT."""
    steps = [FARTHEST_SHIFT] * (distance // FARTHEST_SHIFT) if distance > 0 else []
    return [*steps, *([rest] if (rest := distance - sum(steps)) else [])]
