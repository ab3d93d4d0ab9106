"""All ways to spread dimensions over the instances below each memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import prod

import numpy as np

from .....algebra.factors import divisors_of
from .meshes import Fitting, Mesh
from .model import Floats, Ints, Model
from .perfect_spreads import Ways, hunt, new_trail

Factors = tuple[int, ...]
Layout = tuple[Factors, Factors]
"""Factors by dimension along X and along Y."""

AT_ONCE = 1024
"""Spreads that are found between two looks at the clock."""

MANY = 4096
"""Spreads of one class: if there are more, those of larger bounds are left for later."""


def layout_of(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Layout | None:
    """A way to place `factors` on a mesh of (columns, rows), or None."""
    if min(mesh) == 1:
        ones = (1,) * len(factors)
        return None if prod(factors) > max(mesh) else (factors, ones) if mesh[1] == 1 else (ones, factors)
    return next(layouts_of(factors, mesh, split=split), None)


def layouts_of(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Iterator[Layout]:
    """All ways to place `factors` on a mesh of (columns, rows)."""
    columns, rows = mesh
    looping = [d for d, factor in enumerate(factors) if factor > 1]

    def go(i: int, x: dict[int, int], width: int, height: int) -> Iterator[Layout]:
        if width > columns or height > rows:
            return
        if i == len(looping):
            along = tuple(x.get(d, 1) for d in range(len(factors)))
            yield along, tuple(factor // part for factor, part in zip(factors, along, strict=True))
            return
        d = looping[i]
        for part in divisors_of(factors[d]) if split else (1, factors[d]):
            yield from go(i + 1, x | {d: part}, width * part, height * (factors[d] // part))

    if prod(factors) <= columns * rows:
        yield from go(0, {}, 1, 1)


def orders_along(factors: Factors) -> list[Factors]:
    """Orders of the loops of more than one iteration; the others come last."""
    ones = tuple(d for d, factor in enumerate(factors) if factor == 1)
    return [(*order, *ones) for order in permutations(d for d, factor in enumerate(factors) if factor > 1)]


def placed(spread: Sequence[Factors], meshes: Sequence[tuple[int, int]], *, split: bool) -> list[Layout] | None:
    """How a spread's instances are placed in each memory's mesh, or None if one has no room."""
    found = [layout_of(factors, mesh, split=split) for factors, mesh in zip(spread, meshes, strict=True)]
    fitting = [layout for layout in found if layout is not None]
    return fitting if len(fitting) == len(found) else None


def hold_choices(may: tuple[tuple[bool, ...], ...], *, bypass: bool) -> list[list[Factors]]:
    """Per tensor, the ways to keep it in memories but the outermost: tuples of 0 and 1 by memory."""
    found: list[list[Factors]] = []
    for t in range(len(may[0])):
        options = [((1, 0) if bypass else (1,)) if level[t] else (0,) for level in may[:-1]]
        found.append(list(product(*options)))
    return found


def chain_arrays(chains: list[list[Factors]]) -> tuple[Ints, Ints]:
    """Ways to keep tensors as (T, K, L), and how many there are (T,); the outermost memory keeps all."""
    many = np.array([len(found) for found in chains], np.int64)
    table = np.ones((len(chains), int(many.max()), len(chains[0][0]) + 1), np.int64)
    for t, found in enumerate(chains):
        table[t, : len(found), :-1] = found
    return table, many


class Spreads:
    """The spreads of a problem over a mesh, in classes of their bounds; perfect factors only."""

    def __init__(self, model: Model, mesh: Mesh, fitting: Fitting) -> None:
        self.model, self._mesh, self._fitting = model, mesh, fitting
        self.begin(0.0, 0.0)
        self.over = True

    def begin(self, low: float, high: float) -> None:
        """Go for the spreads of the least bounds above `low`, at most `high`."""
        self._trail, self._within, self.over = new_trail(self.model, self._mesh), (low, high), False
        self._trail.at[0] = 0
        self._parts: list[tuple[Ints, Floats]] = []
        self._number, self._most = 0, MANY

    def look(self, ways: Ways, most: float) -> None:
        """Look for some more, of bounds of at most `most`; it may be `over` then."""
        if most < self._within[1]:
            self._cut(most)
        out, values = np.empty((AT_ONCE, *self._trail.spread.shape), np.int64), np.empty(AT_ONCE)
        kind = self.model, self._mesh, self._fitting, ways, self._trail
        found = int(hunt(*kind, self._within, out, values))
        if found:
            self._parts.append((out[:found].copy(), values[:found].copy()))
            self._number += found
        self.over = bool(self._trail.at[0] < 0)
        if self._number > self._most:
            self._cut(float(np.partition(self.found()[1], MANY // 2)[MANY // 2]))
            self._most = max(MANY, 2 * self._number)  # many may have one bound

    def _cut(self, high: float) -> None:
        """Leave those above `high` for later."""
        spreads, values = self.found()
        later = values > high
        self._trail.beyond[0] = min(self._trail.beyond[0], values[later].min(initial=np.inf))
        self._parts, self._number = [(spreads[~later], values[~later])], int((~later).sum())
        self._within = self._within[0], high

    def found(self) -> tuple[Ints, Floats]:
        """Those spreads (N, L, D), with their bounds (N,)."""
        none = np.empty((0, *self._trail.spread.shape), np.int64), np.empty(0)
        spreads, values = zip(none, *self._parts, strict=True)
        return np.concatenate(spreads), np.concatenate(values)

    @property
    def beyond(self) -> float:
        """A lower bound of all others above these; inf if there are none."""
        return float(self._trail.beyond[0])
