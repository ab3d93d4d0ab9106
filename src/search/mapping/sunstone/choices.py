"""What one step of the search may choose: tiles of a stage, a spread above it, and the order of loops there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal

import numpy as np

from ....costs.hierarchy import Problem
from ..draw import joined
from ..pricing import Bools, Ints
from ..room import Room
from .orders import Order, Reuse
from .stages import Choices, Stage, Step
from .tiles import maximal_with_fill
from .unroll import Spread, allowed_dims, spreads

IntraLevel = Literal["unrolling-tiling-ordering", "tiling-unrolling-ordering", "ordering-tiling-unrolling"]
"""In which order a step decides: the rows of the paper's Table VI."""


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

    def choices(
        self, how: IntraLevel, step: Step, inside: Ints, left: Ints, late: Callable[[], bool] = lambda: False
    ) -> Choices:
        """Factors that divide `left`: of the tile of the step's stage, which has `inside` already, and of a spread.

        Not all of them once it is `late`, but some.
        """
        parts: list[Choices] = []
        for part in self._parts(how, step, inside, left):
            parts.append(part)
            if late() and any(len(found.temporal) for found in parts):
                break
        return _distinct(joined(parts))

    def _parts(self, how: IntraLevel, step: Step, inside: Ints, left: Ints) -> Iterator[Choices]:
        groups: list[tuple[int | None, Ints]] = [(main, self._every) for main in self._mains] or [(None, self._every)]
        if how == "ordering-tiling-unrolling" and self._mains:
            groups = [(order.main_tensor(), self._every[i : i + 1]) for i, order in enumerate(self.orders)]
        for main, orders in groups:
            dims = frozenset(self.reuse.dims)
            allowed = dims if main is None else allowed_dims(self.reuse, main)
            grow = dims if main is None else self.reuse.indexing(main)
            if how == "unrolling-tiling-ordering" or step.stage is None:
                for spread in self._spreads(step.above, left, allowed):
                    used = np.prod(spread, axis=0)
                    yield self._crossed(self._tiles(step.stage, inside, used, left // used, grow), [spread], orders)
            else:
                for factors in self._tiles(step.stage, inside, np.ones_like(left), left, grow):
                    found = self._spreads(step.above, left // factors, allowed)
                    roomy = [spread for spread in found if self._holds(step.above, factors * inside, spread)]
                    yield self._crossed(factors[None], roomy, orders)

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

    def _holds(self, above: Stage, tile: Ints, spread: Spread) -> bool:
        """Whether the tiles of all instances fit together in the memories around them."""
        both = (tile * np.prod(spread, axis=0))[None]
        return all(self.room.fits(level, both)[0] for level in range(above.first, len(self.room.capacity)))

    def _spreads(self, above: Stage, left: Ints, allowed: Collection[int]) -> list[Spread]:
        key = tuple(left.tolist()), frozenset(allowed), above.array
        if key not in self._known:
            self._known[key] = spreads(key[0], key[1], self.reuse.dims, above.array, self.split)
        return self._known[key]

    def _crossed(self, tiles: Ints, found: list[Spread], orders: Ints) -> Choices:
        """Every tile with every spread and every order."""
        shape = len(found), tiles.shape[1]
        columns, rows = (np.array([spread[axis] for spread in found], np.int64).reshape(shape) for axis in (0, 1))
        t, s, o = (index.ravel() for index in np.indices((len(tiles), len(found), len(orders))))
        return Choices(tiles[t], columns[s], rows[s], orders[o])


def _distinct(choices: Choices) -> Choices:
    keys = np.concatenate([choices.temporal, choices.columns, choices.rows, choices.order], axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    return choices.part(np.sort(first))
