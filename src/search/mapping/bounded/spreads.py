"""All ways to spread dimensions over the instances below each memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from ..exact.lattice import divisors
from ..values import Space

Factors = tuple[int, ...]
Layout = tuple[Factors, Factors]
"""Factors by dimension along X and along Y."""


def factors_of(bound: int, *, perfect: bool, most: int) -> list[int]:
    """Numbers of children that a dimension may be spread over.

    With imperfect factors, more than half of the bound is no better than the half, but for the bound itself.
    """
    if perfect:
        return [factor for factor in divisors(bound) if factor <= most]
    return [n for n in range(1, min(bound, most) + 1) if n == bound or n <= (bound + 1) // 2]


def spreads_of(bounds: Factors, mesh: tuple[int, int], space: Space) -> list[Factors]:
    """All factors by dimension that a mesh of (columns, rows) has room for."""
    columns, rows = mesh
    most = columns * rows
    choices = [factors_of(bound, perfect=space.factors == "perfect", most=most) for bound in bounds]
    found: list[Factors] = []

    def go(so_far: Factors, left: int) -> None:
        if len(so_far) == len(bounds):
            if layout_of(so_far, mesh, split=space.split_axes) is not None:
                found.append(so_far)
            return
        for factor in choices[len(so_far)]:
            if factor > left:
                break
            go((*so_far, factor), left // factor)

    go((), most)
    return found


def layout_of(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Layout | None:
    """A way to place `factors` on a mesh of (columns, rows), or None."""
    return next(layouts_of(factors, mesh, split=split), None)


def layouts_of(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Iterator[Layout]:
    """All ways to place `factors` on a mesh of (columns, rows)."""
    columns, rows = mesh
    total = prod(factors)
    looping = [d for d, factor in enumerate(factors) if factor > 1]

    def go(i: int, x: dict[int, int], width: int, height: int) -> Iterator[Layout]:
        if width > columns or height > rows:
            return
        if i == len(looping):
            yield (
                tuple(x.get(d, 1) for d in range(len(factors))),
                tuple(factor // x.get(d, 1) for d, factor in enumerate(factors)),
            )
            return
        d = looping[i]
        parts = divisors(factors[d]) if split else [1, factors[d]]
        for part in parts:
            yield from go(i + 1, x | {d: part}, width * part, height * (factors[d] // part))

    if total <= columns * rows:
        yield from go(0, {}, 1, 1)


def hold_choices(may: tuple[tuple[bool, ...], ...], *, bypass: bool) -> list[list[tuple[int, ...]]]:
    """Per tensor, the ways to keep it in memories but the outermost: tuples of 0 and 1 by memory."""
    tensors = len(may[0])
    found: list[list[tuple[int, ...]]] = []
    for t in range(tensors):
        options = [((1, 0) if bypass else (1,)) if level[t] else (0,) for level in may[:-1]]
        found.append([chain for chain in product(*options)])
    return found
