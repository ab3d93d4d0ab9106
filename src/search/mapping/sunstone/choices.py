"""What one step of the search may choose: tiles of a stage, a spread above it, and the order of loops there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from ....costs.hierarchy import Problem
from ..draw import joined
from ..pricing import Bools, Ints
from ..room import Room
from .orders import Order, Reuse
from .stages import Choices, Stage, Step
from .tiles import maximal_with_fill
from .unroll import Spread, allowed_dims, spreads


class Chooser:
    """All choices at one stage, given what is inside it."""

    def __init__(self, problem: Problem, room: Room, reuse: Reuse, orders: tuple[Order, ...], split: bool) -> None:
        self.problem, self.room, self.reuse, self.orders, self.split = problem, room, reuse, orders, split
        self._every = np.array([self.full_order(order) for order in orders])
        self._known: dict[tuple[tuple[int, ...], frozenset[int], tuple[int, int]], list[Spread]] = {}
        self._mains = sorted({order.main_tensor() for order in orders if order.dims})

    def full_order(self, order: Order) -> list[int]:
        """All dimensions inner to outer: those of `order`, then the others."""
        others = [dim for dim in range(len(self.problem.dims)) if dim not in order.dims]
        return [*order.dims, *others]

    def choices(self, step: Step, inside: Ints, left: Ints, late: Callable[[], bool]) -> Choices:
        """Factors that divide `left`: of the tile of the step's stage, which has `inside` already, and of a spread.

        Not all of them once it is `late`, but some.
        """
        parts: list[Choices] = []
        for part in self._parts(step, inside, left):
            parts.append(part)
            if late() and any(len(found.temporal) for found in parts):
                break
        return _distinct(joined(parts))

    def _parts(self, step: Step, inside: Ints, left: Ints) -> Iterator[Choices]:
        for main in self._mains or [None]:
            dims = frozenset(self.reuse.dims)
            allowed = dims if main is None else allowed_dims(self.reuse, main)
            grow = dims if main is None else self.reuse.indexing(main)
            for spread in self._spreads(step.above, left, allowed):
                used = np.prod(spread, axis=0)
                yield self._crossed(self._tiles(step.stage, inside, used, left // used, grow), spread)

    def _tiles(self, stage: Stage | None, inside: Ints, used: Ints, left: Ints, grow: Collection[int]) -> Ints:
        """Largest tiles that fit in the stage and, `used` times, in all memories around it; and the smallest."""
        smallest = np.ones((1, len(left)), np.int64)
        if stage is None:
            return smallest

        def fits(factors: Ints) -> Bools:
            good = np.ones(len(factors), np.bool_)
            for level in range(stage.first, len(self.room.capacity)):
                good &= self.room.fits(level, factors * inside * (1 if level in stage.levels else used))
            return good

        if not fits(smallest)[0]:
            return smallest[:0]
        rest = frozenset(self.reuse.dims) - frozenset(grow)
        largest = maximal_with_fill(left.tolist(), grow, rest, fits)
        return largest if (largest == 1).all() else np.concatenate([largest, smallest])

    def _spreads(self, above: Stage, left: Ints, allowed: Collection[int]) -> list[Spread]:
        key = tuple(left.tolist()), frozenset(allowed), above.array
        if key not in self._known:
            self._known[key] = spreads(key[0], key[1], self.reuse.dims, above.array, self.split)
        return self._known[key]

    def _crossed(self, tiles: Ints, spread: Spread) -> Choices:
        """Every tile with every order, and one spread."""
        t, o = (index.ravel() for index in np.indices((len(tiles), len(self._every))))
        columns, rows = (np.repeat(np.array([factors], np.int64), len(t), axis=0) for factors in spread)
        return Choices(tiles[t], columns, rows, self._every[o])


def _distinct(choices: Choices) -> Choices:
    keys = np.concatenate([choices.temporal, choices.columns, choices.rows, choices.order], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    return choices.part(np.sort(first))
