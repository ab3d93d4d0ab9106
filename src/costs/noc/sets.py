"""What a processing element needs of a tensor: sets of iterations by dim, and the elements that they touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..exact.nest import Nest
from ..hierarchy import Tensor

Ints = NDArray[np.int64]


@dataclass
class Needs:
    """The iterations of a tile, relative to its first one, in each dim.

    What is not `held` is not there any more at the next step.
    """

    tensor: Tensor
    bounds: tuple[int, ...]
    sets: tuple[Ints, ...]
    held: bool
    _known: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    @property
    def relevant(self) -> list[int]:
        """Dims that index the tensor."""
        rows = self.tensor.coefficients
        return [dim for dim in range(len(self.bounds)) if any(row[dim] for row in rows)]

    def words(self, starts: Ints, before: Ints) -> Ints:
        """Elements of tiles at rows of `starts` that those at rows of `before` lack (a row of -1: nothing before).

        Tiles that are moved alike lack alike unless they are cut off.
        """
        here = self.relevant
        new, old = starts[:, here], before[:, here]
        last = np.array([self.sets[dim][-1] for dim in here])
        limits = np.array([self.bounds[dim] for dim in here])
        whole = (np.maximum(new, old) + last < limits).all(axis=1, keepdims=True)
        low = np.where(whole, np.where(old < 0, new, np.minimum(new, old)), 0)
        rows = np.concatenate([new - low, np.where(old < 0, old, old - low)], axis=1)
        _, first, where = np.unique(packed(rows, limits), return_index=True, return_inverse=True)
        found = np.array([self._lacking(rows[place]) for place in first], np.int64)
        return found[where.ravel()]

    def _lacking(self, row: Ints) -> int:
        key = tuple(int(n) for n in row)
        if key not in self._known:
            half = len(key) // 2
            self._known[key] = self._count(key[:half], key[half:])
        return self._known[key]

    def _count(self, start: tuple[int, ...], before: tuple[int, ...]) -> int:
        new = self._axes(start)
        total = prod(len(axis) for axis in new)
        if before and before[0] < 0:
            return total
        old = self._axes(before)
        shared = prod(len(np.intersect1d(a, b, assume_unique=True)) for a, b in zip(new, old, strict=True))
        return total - shared

    def _axes(self, start: tuple[int, ...]) -> list[Ints]:
        """The indices along each axis of the tensor."""
        first = dict(zip(self.relevant, start, strict=True))
        found: list[Ints] = []
        for row in self.tensor.coefficients:
            places = np.zeros(1, np.int64)
            for dim in (dim for dim, c in enumerate(row) if c):
                steps = first[dim] + self.sets[dim]
                steps = row[dim] * steps[steps < self.bounds[dim]]
                places = np.unique(places[:, None] + steps)
            found.append(places)
        return found


def packed(rows: Ints, limits: Ints) -> Ints:
    """A number for each row, equal for equal rows; entries are from -1 on and below `limits`, which repeat."""
    radix = np.tile(limits + 1, rows.shape[1] // max(len(limits), 1))
    if np.prod(radix.astype(float)) >= 2**62:
        return np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    found = np.zeros(len(rows), np.int64)
    for column, size in enumerate(radix):
        found = found * size + rows[:, column] + 1
    return found


def needs_of(tensor: Tensor, nest: Nest, kept: int, below: int) -> Needs:
    """What instances of level `below` need of a tensor that is kept inside it, at level `kept` (-1: nowhere)."""
    sets: list[Ints] = []
    for dim in range(len(nest.bounds)):
        steps = np.arange(nest.tile(kept, dim))
        for place in nest.places[dim]:
            if place.order is None and kept < place.level < below:
                steps = np.unique(steps[:, None] + place.pitch * np.arange(place.bound))
        sets.append(steps)
    return Needs(tensor, nest.bounds, tuple(sets), kept >= 0)
