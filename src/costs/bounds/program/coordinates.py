"""Sets of coordinates along an axis, and what affine forms make of them.

A set is a bit mask of known coordinates, or `-m`: at least m consecutive ones, nobody knows which.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Axis = int
Ints = NDArray[np.int64]
Term = tuple[int, int, Axis]
"""A dim in a form: its coefficient, extent and coordinates."""

MOST = 1 << 22
"""Points that are looked at one by one; beyond, nothing is known."""


def everything(size: int) -> Axis:
    """All coordinates of an axis."""
    return (1 << size) - 1


def run(length: int, size: int) -> Axis:
    """At least `length` consecutive coordinates of an axis."""
    return everything(size) if length >= size else -length


def count(axis: Axis) -> int:
    """Coordinates at least."""
    return axis.bit_count() if axis >= 0 else -axis


def members(mask: Axis) -> Ints:
    """The coordinates of a mask."""
    raw = np.frombuffer(mask.to_bytes(mask.bit_length() // 8 + 1, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little"))


def mask_of(flags: NDArray[np.bool_]) -> Axis:
    """The mask of the coordinates that are flagged."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


@lru_cache(maxsize=1 << 14)
def image(terms: tuple[Term, ...], const: int, size: int) -> Axis:
    """What a form surely reaches within an axis; 0 for nothing."""
    unknown = [term for term in terms if term[2] < 0]
    if not unknown:
        if len(terms) == 1 and terms[0][0] == 1 and const >= 0:
            return (terms[0][2] << const) & everything(size)
        if (span := _dense(terms)) is not None:
            return ((everything(span) << max(const, 0)) >> max(-const, 0)) & everything(size)
        if prod(count(axis) for _, _, axis in terms) > MOST:
            return 0
        return _reached(_sums([(a, members(axis)) for a, _, axis in terms], const), size)
    spans = [a * (extent - 1) for a, extent, _ in terms]
    inside = const + sum(s for s in spans if s < 0) >= 0 and const + sum(s for s in spans if s > 0) < size
    if inside and len(terms) == 1 and terms[0][0] == 1:
        return run(-terms[0][2], size)
    window = taps(terms, const, size) if len(unknown) == 1 else None
    if window is not None:
        return run(window.length, size)
    return run(1, size) if inside else 0


class Taps(NamedTuple):
    """What is so wherever a run is: the length of the run of coordinates that are reached, at how many points they are,
    and for each term which of its coordinates meet some of them.
    """

    length: int
    points: int
    met: tuple[Axis, ...]


@lru_cache(maxsize=1 << 12)
def taps(terms: tuple[Term, ...], const: int, size: int) -> Taps | None:
    """Of a form with a run at an unknown place.

    None where that is too much to look at.
    """
    at = next(i for i, term in enumerate(terms) if term[2] < 0)
    coefficient, extent, axis = terms[at]
    others = [(a, members(mask)) for a, _, mask in (*terms[:at], *terms[at + 1 :])]
    points = prod(len(values) for _, values in others)
    if (extent + axis + 1) * -axis * points > MOST or (extent + axis + 1) * size > MOST:
        return None
    places = np.arange(extent + axis + 1)[:, None] + np.arange(-axis)
    at_all = coefficient * places.reshape(places.shape + (1,) * len(others)) + _grid(others, const)
    inside = (at_all >= 0) & (at_all < size)
    flags = np.zeros((len(places), size + 1), np.bool_)
    flags[np.arange(len(places)).reshape((-1,) + (1,) * (at_all.ndim - 1)), np.where(inside, at_all, size)] = True
    length = _longest_everywhere(flags[:, :size])
    met: list[Axis] = []
    for i, (_, values) in enumerate(others):
        sure = inside.any(axis=tuple(d for d in range(1, inside.ndim) if d != i + 2)).all(axis=0)
        met.append(_reached(values[sure], int(values.max(initial=0)) + 1))
    met.insert(at, axis)
    points = int(inside.reshape(len(places), -1).sum(axis=1).min())
    return Taps(length, points, tuple(met))


@lru_cache(maxsize=1 << 12)
def within(dims: tuple[Axis, ...], forms: tuple[tuple[tuple[int, ...], int, int], ...]) -> tuple[int, tuple[Axis, ...]]:
    """Points of known dims at which all forms (coefficient of each dim, constant, size) are within their axes, and the
    coordinates of each dim at such points; none where that is too much to look at.
    """
    if prod(mask.bit_count() for mask in dims) > MOST:
        return 0, (0,) * len(dims)
    values = [members(mask) for mask in dims]
    inside = np.ones([len(v) for v in values], np.bool_)
    for coefficients, const, size in forms:
        at = _grid(list(zip(coefficients, values, strict=True)), const)
        inside &= (at >= 0) & (at < size)
    kept = [inside.any(axis=tuple(d for d in range(inside.ndim) if d != i)) for i in range(inside.ndim)]
    masks = [_reached(v[flags], int(v.max(initial=0)) + 1) for v, flags in zip(values, kept, strict=True)]
    return int(inside.sum()), tuple(masks)


def preimage(axis: Axis, coefficient: int, const: int, extent: int, size: int) -> Axis:
    """The coordinates of a known axis that a dim reaches by `coefficient` * dim + `const`."""
    if coefficient == 1 and const >= 0:
        return (axis >> const) & everything(extent)
    flags = np.zeros(size, np.bool_)
    flags[members(axis)] = True
    at = coefficient * np.arange(extent) + const
    inside = (at >= 0) & (at < size)
    return mask_of(inside & flags[np.where(inside, at, 0)])


def _dense(terms: Sequence[Term]) -> int | None:
    """How many consecutive values, from 0, a form of whole dims has without its constant; None where it has gaps."""
    span = 1
    for coefficient, extent, axis in sorted(terms):
        if not 0 <= coefficient <= span or axis != everything(extent):
            return None
        span += coefficient * (extent - 1)
    return span


def _grid(terms: Sequence[tuple[int, Ints]], const: int) -> Ints:
    """The values of a form at all points, one array axis per dim."""
    total = np.full((1,) * len(terms), const, np.int64)
    for i, (coefficient, values) in enumerate(terms):
        shape = [1] * len(terms)
        shape[i] = len(values)
        total = total + coefficient * values.reshape(shape)
    return total


def _sums(terms: Sequence[tuple[int, Ints]], const: int) -> Ints:
    """Different values of a form."""
    total = np.array([const], np.int64)
    for coefficient, values in terms:
        total = np.unique(total[:, None] + coefficient * values)
    return total


def _reached(values: Ints, size: int) -> Axis:
    flags = np.zeros(size, np.bool_)
    flags[values[(values >= 0) & (values < size)]] = True
    return mask_of(flags)


def _longest_everywhere(flags: NDArray[np.bool_]) -> int:
    """The longest run of flags of the row that has the shortest one."""
    at = np.arange(1, flags.shape[1] + 1)
    gaps = np.maximum.accumulate(np.where(flags, 0, at), axis=1)
    return int((at - gaps).max(axis=1, initial=0).min())
