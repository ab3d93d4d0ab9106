"""Imperfect spreads that differ only in which of two meshes has which instances.

Where passive memories between two meshes keep nothing, the same instances of dimensions without windows may lie in
either mesh.  A loop of such a memory can as well run outside of both, unless its dimension is spread further out: then
another child is the one with less work at the ragged end.  So of such spreads one is searched as a whole, others for
the sake of such loops alone.

Statement 7 of docs/exact-mapper.md.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from ..space.model import WINDOW, Ints
from .symmetries import Kept, Order, Places, Spread


class Groups(NamedTuple):
    """Memories with meshes, those together between which nothing is kept; by group, whether anything is kept inside of
    its outermost mesh."""

    levels: tuple[Order, ...]
    inside: tuple[bool, ...]


class Twins:
    """Which of the spreads that have been asked for are alike; none with perfect factors, or where the place of
    instances matters."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._slides: list[bool] = (places.model.kind == WINDOW).any(axis=0).tolist()
        self._first: dict[tuple[object, ...], Spread] = {}
        self._groups: dict[Kept, Groups] = {}

    def superfluous(self, spread: Spread, kept: Kept) -> bool:
        """Whether all mappings of a skeleton are as good as those of another one that has been asked for before."""
        groups = self._of(kept)
        if all(len(group) == 1 for group in groups.levels):
            return False
        if self._first.setdefault(self._key(spread, groups), spread) == spread:
            return False
        masks = self._between(spread, groups)
        return not any(
            any(masks[group[0] : group[-1]]) and (inside or any(map(self._some_slide, masks[group[0] : group[-1]])))
            for group, inside in zip(*groups, strict=True)
        )

    def between(self, spread: Spread, kept: Kept) -> Ints:
        """By memory, (L,), the dimensions of which a mapping has some loop that is no twin's; none if it need not."""
        groups = self._of(kept)
        alone = all(len(group) == 1 for group in groups.levels)
        if alone or self._first.get(self._key(spread, groups), spread) == spread:
            return np.zeros(len(spread), np.int64)
        return np.array(self._between(spread, groups), np.int64)

    def _between(self, spread: Spread, groups: Groups) -> list[int]:
        """By memory between meshes of a group, the dimensions that are spread over those further out."""
        found = [0] * len(spread)
        for group in groups.levels:
            for level in range(group[0], group[-1]):
                outer = [spread[k] for k in group if k > level]
                found[level] = sum(1 << d for d, factors in enumerate(zip(*outer, strict=True)) if max(factors) > 1)
        return found

    def _some_slide(self, dims: int) -> bool:
        return any(slides and dims >> d & 1 for d, slides in enumerate(self._slides))

    def _key(self, spread: Spread, groups: Groups) -> tuple[object, ...]:
        """What twins have in common: instances by group, and by memory those of dimensions with windows."""
        rows: list[Order] = []
        for group in groups.levels:
            every = list(zip(*(spread[level] for level in group), strict=True))
            rows.append(tuple(0 if slides else prod(row) for slides, row in zip(self._slides, every, strict=True)))
            rows += [row for slides, row in zip(self._slides, every, strict=True) if slides]
        return groups.levels, tuple(rows)

    def _of(self, kept: Kept) -> Groups:
        """The groups of a way to keep tensors."""
        if kept not in self._groups:
            alone = self._places.alone or self._places.model.perfect
            levels = () if alone else tuple(tuple(group) for group in self._places.groups_of(kept) if group)
            inside = tuple(any(any(chain[: group[-1]]) for chain in kept) for group in levels)
            self._groups[kept] = Groups(levels, inside)
        return self._groups[kept]
