"""All ways to spread dimensions over the instances below each memory, and what they cost at least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from ....costs.compiled import compiled, inner
from ..exact.lattice import divisors
from .model import Bools, Floats, Ints, Model
from .skeleton import set_spread, tensor_energy
from .walk import Skeleton

Factors = tuple[int, ...]
Layout = tuple[Factors, Factors]
"""Factors by dimension along X and along Y."""

MAX_SPREADS = 1 << 18
"""Spreads that are ranked at a time."""


def factors_of(bound: int, meshes: list[tuple[int, int]], *, perfect: bool, split: bool) -> list[int]:
    """Numbers of children that a dimension may be spread over.

    With imperfect factors along one axis, more than half of the bound is no better than the half, but for the bound
    itself.  Factors along both axes may leave part of the last row idle.
    """
    most = max(columns * rows for columns, rows in meshes)
    if perfect:
        return [factor for factor in divisors(bound) if factor <= most]
    found = {n for n in range(1, min(bound, most) + 1) if n == bound or n <= (bound + 1) // 2}
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
    """The spreads of a problem on meshes of (columns, rows), one per memory, in the order of their steps."""

    def __init__(self, model: Model, meshes: list[tuple[int, int]], *, split: bool) -> None:
        self._bounds, self._perfect, self._halves = model.bounds, model.perfect, model.halves
        bounds: list[int] = model.bounds.tolist()
        self._room = np.array([columns * rows for columns, rows in meshes], np.int64)
        lists = [factors_of(bound, meshes, perfect=model.perfect, split=split) for bound in bounds]
        self._factors = np.zeros((len(bounds), max(len(found) for found in lists) + 1), np.int64)
        for d, found in enumerate(lists):
            self._factors[d, : len(found)] = found
        self._levels = np.flatnonzero(self._room > 1).astype(np.int64)

    def least_steps(self) -> float:
        """Fewest steps at all."""
        return float(np.prod(self._bounds.astype(np.float64))) / float(np.prod(self._room.astype(np.float64)))

    def between(self, low: float, high: float) -> Ints | None:
        """Spreads (N, L, D) of more than `low` and at most `high` steps; None if they are too many."""
        room = np.ones((MAX_SPREADS, len(self._room), len(self._bounds)), np.int64)
        mesh = self._bounds, self._halves, self._room, self._levels, self._factors
        found = int(enumerate_spreads(*mesh, self._perfect, low, high, room))
        return None if found < 0 else room[:found].copy()


@inner
def steps_of(bounds: Ints, chosen: Ints) -> float:
    """Steps with factors `chosen` (L, D)."""
    total = 1.0
    for d in range(bounds.shape[0]):
        spread = 1
        for level in range(chosen.shape[0]):
            spread *= chosen[level, d]
        total *= -(-bounds[d] // spread)
    return total


@compiled
def enumerate_spreads(
    bounds: Ints,
    halves: Bools,
    room: Ints,
    levels: Ints,
    factors: Ints,
    perfect: bool,
    low: float,
    high: float,
    out: Ints,
) -> int:
    """Fill `out` with the spreads of more than `low` and at most `high` steps; their number, or -1 for too many."""
    dims, places = bounds.shape[0], bounds.shape[0] * levels.shape[0]
    chosen = np.ones((room.shape[0], dims), np.int64)
    cursor = np.zeros(places + 1, np.int64)
    before = np.zeros(places + 1, np.int64)
    left = room.copy()
    count, at = 0, 0
    while at >= 0:
        if at == places:
            steps = steps_of(bounds, chosen)
            if low < steps <= high:
                if count == out.shape[0]:
                    return -1
                out[count] = chosen
                count += 1
            at -= 1
            continue
        d, level = at // levels.shape[0], levels[at % levels.shape[0]]
        if cursor[at] == 0:
            before[at] = left[level]
        left[level] = before[at]
        factor = factors[d, cursor[at]]
        chosen[level, d] = 1
        if factor == 0 or factor > left[level]:
            cursor[at] = 0
            at -= 1
            continue
        cursor[at] += 1
        chosen[level, d] = factor
        left[level] = left[level] // factor
        if useful(bounds, halves, chosen, left, d, perfect, high):
            at += 1
    return count


@inner
def useful(bounds: Ints, halves: Bools, chosen: Ints, left: Ints, d: int, perfect: bool, high: float) -> bool:
    """Whether factors up to dimension `d` can be completed to at most `high` steps."""
    spread, spare = 1, 1.0
    for level in range(chosen.shape[0]):
        idle = chosen[level, d] // 2 if halves[level] else chosen[level, d] - 1
        if spread * idle >= bounds[d] and chosen[level, d] > 1:
            return False
        spread *= chosen[level, d]
        spare *= left[level]
    if perfect and bounds[d] % spread:
        return False
    steps = 1.0
    for e in range(bounds.shape[0]):
        total = 1
        for level in range(chosen.shape[0]):
            total *= chosen[level, e]
        if e < d:
            steps *= -(-bounds[e] // total)
        elif e > d:
            steps *= bounds[e]
        else:
            steps *= bounds[e] / min(total, bounds[e])
    return steps / spare <= high * (1 + 1e-9)


@compiled
def rank(model: Model, skeleton: Skeleton, spreads: Ints, chains: Ints, many: Ints, outer: Floats) -> Floats:
    """Least energy (N,) with spreads (N, L, D), whichever of the `chains` (T, K, L), `many` (T,), keep the tensors.

    `outer` (2 ** T,) is the least energy beyond the last memory but one, by the tensors that it keeps.
    """
    found = np.full(spreads.shape[0], np.inf)
    tensors = chains.shape[0]
    last = skeleton.kept.shape[0] - 1
    least = np.empty((tensors, 2))
    for n in range(found.shape[0]):
        skeleton.spread[:] = spreads[n]
        set_spread(skeleton)
        least[:] = np.inf
        for t in range(tensors):
            for k in range(many[t]):
                skeleton.kept[:, t] = chains[t, k]
                which = chains[t, k, last - 1]
                least[t, which] = min(least[t, which], tensor_energy(model, skeleton, t))
        for mask in range(outer.shape[0]):
            total = model.base + outer[mask]
            for t in range(tensors):
                total += least[t, (mask >> t) & 1]
            found[n] = min(found[n], total)
    return found
