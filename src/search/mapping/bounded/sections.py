"""Tables of the outermost memories for the tiles that some skeletons may have: the multiples of one tile.

Many skeletons have the same instances below the last memory, so what is cut out of the tables for all tiles is kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .grids import Part, Store, part_of, places_in
from .model import Bools, Floats, Ints
from .outcomes import Outcome
from .outer import Outer

MAX_CUT = 1 << 22
"""Cells of such tables that are kept."""

MAX_PARTS = 1024
"""Smallest tiles whose multiples are kept."""

MAX_ALONE = 1 << 17
"""Cells of all multiples with tables of their own, where there is no table for all tiles."""


class Section:
    """Tables of `outer` for some of its tiles, those of `part`; all have a cell for each."""

    def __init__(
        self, outer: Outer, part: Part, begin: bytes, store: Store[np.float64], places: Store[np.int64]
    ) -> None:
        self._outer, self._begin, self._store, self._places = outer, begin, store, places
        self._part, self._all = part, bool((part.grid.size == outer.grid.size).all())
        self.grid, self.tiles = part.grid, part.tiles
        self.shape: tuple[int, ...] = tuple(part.grid.size.tolist())

    def energies(self, kept: int) -> Floats:
        """As of `Outer`."""
        return self._kept(("energies", kept), lambda: self._of(self._outer.energies(kept)))

    def fits(self, kept: int) -> Bools:
        """Which tiles of the tensors `kept` fit."""
        return np.isfinite(self.energies(kept))

    def fewest(self, kept: int) -> Floats:
        """As of `Outer`."""
        return self._kept(("fewest", kept), lambda: self._of(self._outer.fewest(kept)))

    def term(self, t: int, run: int, first: int) -> Floats:
        """As of `Outer`, with axes of length 1 where a dimension does not matter."""
        return self._kept(("term", t, run, first), lambda: self._of(self._outer.term(t, run, first)))

    def size(self, t: int) -> Floats:
        """Elements of tensor `t` in the tiles, with axes of length 1 where a dimension does not matter."""
        return self._kept(("size", t), lambda: self._outer.sizes(t, self.tiles))

    def ways(self, kept: int) -> tuple[Floats, Floats]:
        """For each thing that loops may mean for the tensors `kept`, first axis: energy and cycles of ports."""
        return (
            self._kept(("energy", kept), lambda: self._stacked([table for table, _ in self._outer.ways(kept)])),
            self._kept(("ports", kept), lambda: self._stacked([table for _, table in self._outer.ways(kept)])),
        )

    def ports(self, outcomes: list[Outcome], alive: int, kept: int) -> Floats:
        """Cycles of ports where only `kept` are in the last memory, for all `outcomes` of the tensors `alive`."""

        return self._kept(
            ("some ports", alive, kept),
            lambda: self._stacked([self._outer.ports(outcome, kept) for outcome in outcomes]),
        )

    def _stacked(self, tables: list[Floats]) -> Floats:
        return np.stack([np.broadcast_to(self._of(table), self.shape) for table in tables])

    def _of(self, table: Floats) -> Floats:
        """The tiles' part of a table; axes along which it does not change have length 1."""
        table = table[tuple(slice(None) if stride else slice(1) for stride in table.strides)]
        if self._all:
            return table
        key = self._begin, table.shape
        index = self._places.get(key)
        if index is None:
            index = places_in(table.shape, self._part.places)
            self._places.put(key, index)
        return table.reshape(-1)[index]

    def _kept(self, what: object, make: Callable[[], Floats]) -> Floats:
        key = self._begin, what
        found = self._store.get(key)
        if found is None:
            found = make()
            self._store.put(key, found)
        return found


class Sections:
    """The sections of one problem's tables."""

    def __init__(self, outer: Outer) -> None:
        self._outer, self._cells = outer, 0
        self._store: Store[np.float64] = Store(MAX_CUT)
        self._places: Store[np.int64] = Store(MAX_CUT)
        self._found: dict[bytes, Section] = {}

    def of(self, begin: Ints) -> Section:
        """The multiples of a tile (D,)."""
        key = begin.tobytes()
        if key not in self._found:
            outer, whole = self._outer, self._outer.grid
            alone = outer.perfect and not whole.perfect
            if alone:
                outer = self._outer.multiples(begin.tolist())
                self._cells += int(outer.grid.size.prod())
            if len(self._found) >= MAX_PARTS or self._cells > MAX_ALONE:
                self._found.clear()
                self._cells = int(outer.grid.size.prod()) if alone else 0
            part = part_of(outer.grid, np.ones_like(begin) if alone else begin)
            self._found[key] = Section(outer, part, key, self._store, self._places)
        return self._found[key]
