"""All ways to spread dimensions over the instances below each memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from ..exact.lattice import divisors
from .model import PLAIN, WINDOW, Floats, Ints, Model
from .prefixes import Mesh, Ways, hunt, new_trail

Factors = tuple[int, ...]
Layout = tuple[Factors, Factors]
"""Factors by dimension along X and along Y."""

AT_ONCE, PREFIXES = 1024, 50_000
"""Spreads that are found, and prefixes that are looked at, between two looks at the clock."""

MANY = 4096
"""Spreads of one class: if there are more, those of larger bounds are left for later."""


def factors_of(bound: int, meshes: list[tuple[int, int]], *, perfect: bool, split: bool, every: bool) -> list[int]:
    """Numbers of children that a dimension may be spread over.

    With imperfect factors along one axis, more than half of the bound is no better than the half, but for the bound
    itself; unless `every` one counts: more children have more ports, and how far a window moves depends on them.
    Factors along both axes may leave part of the last row idle.
    """
    most = max(columns * rows for columns, rows in meshes)
    if perfect:
        return [factor for factor in divisors(bound) if factor <= most]
    found = {n for n in range(1, min(bound, most) + 1) if every or n == bound or n <= (bound + 1) // 2}
    for columns, rows in meshes:
        if split and min(columns, rows) > 1:
            found |= {
                x * y
                for x in range(1, min(columns, bound) + 1)
                for y in range(1, min(rows, bound) + 1)
                if min(x * (y - 1), y * (x - 1)) < bound
            }
    return sorted(found)


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
        for part in divisors(factors[d]) if split else (1, factors[d]):
            yield from go(i + 1, x | {d: part}, width * part, height * (factors[d] // part))

    if prod(factors) <= columns * rows:
        yield from go(0, {}, 1, 1)


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


class Spreads:
    """The spreads of a problem on meshes of (columns, rows), one per memory, in classes of their bounds."""

    def __init__(self, model: Model, meshes: list[tuple[int, int]], *, split: bool) -> None:
        self.model = model
        bounds: list[int] = model.bounds.tolist()
        room = np.array([columns * rows for columns, rows in meshes], np.int64)
        timed = bool(np.isfinite(model.bandwidth).any())
        every: list[bool] = (timed | (model.kind == WINDOW).any(axis=0)).tolist()
        lists = [
            factors_of(n, meshes, perfect=model.perfect, split=split, every=some)
            for n, some in zip(bounds, every, strict=True)
        ]
        factors = np.zeros((len(bounds), max(len(found) for found in lists) + 1), np.int64)
        for d, found in enumerate(lists):
            factors[d, : len(found)] = found
        levels = np.flatnonzero(room > 1).astype(np.int64) if room.max() > 1 else np.zeros(1, np.int64)
        self.mesh = Mesh(room, levels, factors, model.halves, _dearest_first(model))
        self.begin(0.0, 0.0)
        self.over = True

    def least_steps(self) -> float:
        """Fewest steps at all."""
        return float(np.prod(self.model.bounds.astype(np.float64)) / np.prod(self.mesh.room.astype(np.float64)))

    def begin(self, low: float, high: float) -> None:
        """Go for the spreads of the least bounds above `low`, at most `high`."""
        self._trail, self._within, self.over = new_trail(self.model, self.mesh), (low, high), False
        self._trail.at[0] = 0
        self._spreads, self._values = np.empty((0, *self._trail.spread.shape), np.int64), np.empty(0)

    def look(self, ways: Ways, most: float) -> None:
        """Look for some more, of bounds of at most `most`; it may be `over` then."""
        if most < self._within[1]:
            self._cut(most)
        out, values = np.empty((AT_ONCE, *self._trail.spread.shape), np.int64), np.empty(AT_ONCE)
        found = int(hunt(self.model, self.mesh, ways, self._trail, *self._within, PREFIXES, out, values))
        self._spreads = np.concatenate([self._spreads, out[:found]])
        self._values = np.concatenate([self._values, values[:found]])
        self.over = bool(self._trail.at[0] < 0)
        if len(self._values) > MANY:
            self._cut(float(np.partition(self._values, MANY // 2)[MANY // 2]))

    def _cut(self, high: float) -> None:
        """Leave those above `high` for later."""
        rest = self._values > high
        if rest.any():
            self._trail.beyond[0] = min(self._trail.beyond[0], self._values[rest].min())
        self._spreads, self._values, self._within = self._spreads[~rest], self._values[~rest], (self._within[0], high)

    def found(self) -> tuple[Ints, Floats]:
        """Those spreads (N, L, D), with their bounds (N,)."""
        return self._spreads, self._values

    @property
    def beyond(self) -> float:
        """A lower bound of all others above these; inf if there are none."""
        return float(self._trail.beyond[0])


def _dearest_first(model: Model) -> Ints:
    """Dimensions in the order of what spreading them may save at most: that decides soon what is too much."""
    cheapest = np.minimum.reduce(np.where(model.is_output, model.write, model.read), axis=0)
    return np.argsort(-((model.kind != PLAIN) * cheapest[:, None]).sum(axis=0), kind="stable").astype(np.int64)
