"""Tables of the outermost memories for the tiles that some skeletons may have: the multiples of one tile.

Many skeletons have the same instances below the last memory, so what is cut out of the tables for all tiles is kept.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....remembered import Scalar, Store
from ..space.model import EVERY, Bools, Floats, Ints
from ..tree.state import Grid
from .grids import Sizes, part_of, places_in, sizes_of
from .outcomes import Case
from .outer import MAX_PERFECT, Outer

MAX_CUT = 1 << 22
"""Cells of such tables that are kept."""

MAX_PARTS = 1024
"""Smallest tiles whose multiples are kept."""

MAX_ALONE = 1 << 17
"""Cells of all multiples with tables of their own, where there is no table for all tiles."""


class Section:
    """Tables of `outer` for some of its tiles, those of `part`; all have a cell for each."""

    def __init__(
        self, outer: Outer, part: tuple[Grid, Sizes], begin: bytes, store: Store[np.float64], places: Store[np.int64]
    ) -> None:
        self.outer, self._begin, self._store, self._places = outer, begin, store, places
        self.grid, self._cells_by_dim = part
        self.shape: tuple[int, ...] = tuple(self.grid.size.tolist())
        self._all = self.shape == outer.shape

    @cached_property
    def cells(self) -> Ints:
        """Which of the cells of the `outer` tables these are, (N,)."""
        return self.flat(places_in(self.outer.shape, self._cells_by_dim))

    def flat(self, table: NDArray[Scalar]) -> NDArray[Scalar]:
        """A table (N,) cell by cell."""
        return np.ascontiguousarray(np.broadcast_to(table, self.shape)).reshape(-1)

    def energies(self, kept: int) -> Floats:
        """As of `Outer`."""
        return self._kept(("energies", kept), lambda: self._of(self.outer.energies(kept)))

    def fits(self, kept: int) -> Bools:
        """Which tiles of the tensors `kept` fit."""
        return np.isfinite(self.energies(kept))

    def term(self, t: int, run: int, first: int, near: int = EVERY) -> Floats:
        """As of `Outer`, with axes of length 1 where a dimension does not matter."""
        return self._kept(("term", t, run, first, near), lambda: self._of(self.outer.term(t, run, first, near)))

    def terms(self, outcomes: list[Case], alive: int, some: tuple[int, ...]) -> Floats:
        """The sum of terms of the tensors `some`, for all `outcomes` of the tensors `alive`."""
        return self._kept(("terms", alive, some), lambda: self._sums(outcomes, some))

    def _sums(self, outcomes: list[Case], some: tuple[int, ...]) -> Floats:
        found = np.zeros((len(outcomes), *self.shape))
        for total, outcome in zip(found, outcomes, strict=True):
            for t in some:
                total += self.term(t, *outcome[t])
        return found

    def size(self, t: int) -> Floats:
        """Elements of tensor `t` in the tiles, with axes of length 1 where a dimension does not matter."""
        return self._kept(("size", t), lambda: self.outer.tables.size(t, sizes_of(self.grid, high=False)))

    def ports(self, outcomes: list[Case], alive: int, kept: int) -> Floats:
        """Cycles of ports where only `kept` are in the last memory, for all `outcomes` of the tensors `alive`."""
        tables = (self._of(self.outer.ports(outcome, kept)) for outcome in outcomes)
        return self._kept(("ports", alive, kept), lambda: np.stack([np.broadcast_to(t, self.shape) for t in tables]))

    def _of(self, table: Floats) -> Floats:
        """The tiles' part of a table; axes along which it does not change have length 1."""
        table = table[tuple(slice(None) if stride else slice(1) for stride in table.strides)]
        if self._all:
            return table
        key = self._begin, table.shape
        index = self._places.get(key)
        if index is None:
            index = places_in(table.shape, self._cells_by_dim)
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
    """The sections of one problem's tables.

    Imperfect tiles have tables of their own, of so many `cells`, if that is not 0.
    """

    def __init__(self, outer: Outer, cells: int = 0) -> None:
        self._outer, self._cells = outer, 0
        self._alone = MAX_PERFECT if outer.perfect and not outer.grid.perfect else cells
        self._store: Store[np.float64] = Store(MAX_CUT)
        self._places: Store[np.int64] = Store(MAX_CUT)
        self._found: dict[bytes, Section] = {}

    def of(self, begin: Ints, kept: int) -> Section:
        """The multiples of a tile (D,); with tables of their own, imperfect ones that fit for the tensors `kept`."""
        alone = self._alone > 0
        key = begin.tobytes() + (kept.to_bytes(8, "little") if alone and not self._outer.perfect else b"")
        if key not in self._found:
            outer = self._outer.multiples(begin.tolist(), kept, self._alone) if alone else self._outer
            self._cells += int(outer.grid.size.prod()) if alone else 0
            if len(self._found) >= MAX_PARTS or self._cells > MAX_ALONE:
                self._found.clear()
                self._cells = int(outer.grid.size.prod()) if alone else 0
            part = part_of(outer.grid, np.ones_like(begin) if alone else begin)
            self._found[key] = Section(outer, part, key, self._store, self._places)
        return self._found[key]
