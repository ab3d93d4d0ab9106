"""Orders of loops within blocks that may differ in price; perfect factors only.

What passes between a memory that keeps a tensor and its parent depends on the loops outside that memory, in this way:

- A tensor without windows is sent again at every step of its first (innermost) loop and of all outside that one.  So
  only the number of iterations of unrelated loops inside of the first counts: the more, the fewer words.
- Of a tensor with windows, a step finds something if all loops of plain dimensions stay where they are: outside of the
  first such loop every step moves that one, at least back to 0.  So only the order of loops inside of the first plain
  one counts.  What a step of a loop finds depends on which loops are inside, not on their order; loops of unrelated
  dimensions that follow each other, of n and m iterations, move the tensor n m - 1 times all the way back, in either
  order.

Equal orders in this sense have one price, and of orders that are equal for all tensors with windows those with no more
iterations for any of the others cost no less.  What the others cost is known before an order is priced.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .model import PLAIN, UNRELATED, WINDOW, Bools, Floats, Ints, Model
from .orders import Blocks, Order, count_of, orders_of
from .walk import Skeleton

MAX_ORDERS = 5040
"""Orders that are looked at, not priced, for one mapping."""

MAX_KNOWN = 512
"""Patterns of blocks whose orders are kept."""

Place = tuple[int, int]
"""A tensor and a memory that keeps it; or a loop, by memory and dimension."""

Loops = frozenset[Place]
"""Loops whose order does not matter."""


class Leaf(NamedTuple):
    """A walk's mapping: factors and order (L, D), blocks that may be rearranged, bounds of objective and energy."""

    factors: Ints
    order: Ints
    blocks: Blocks
    bound: float
    energy: float


class Variants(NamedTuple):
    """`orders` (N, L, D), of `kind` (N,) for tensors with windows; where another is kept, it rests in the loops (N, P)
    of `sets` (M, L, D)."""

    orders: Ints
    kind: Ints
    loops: Ints
    sets: Bools


class Sequences:
    """Orders of the loops of one problem's mappings."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._kind: list[list[int]] = model.kind.tolist()
        self._slides: list[bool] = (model.kind == WINDOW).any(axis=1).tolist()
        self._known: dict[tuple[object, ...], Variants] = {}

    def needed(self, leaf: Leaf, skeleton: Skeleton, most: float) -> Ints | None:
        """Orders (N, L, D), one of which is as good as any whose energy may be below `most`.

        None if there are too many to look at.
        """
        looping = [
            [(free, tuple(d for d in dims if row[d] > 1)) for free, dims in memory]
            + [(False, tuple(d for d, bound in enumerate(row) if bound == 1))]
            for memory, row in zip(leaf.blocks, leaf.factors.tolist(), strict=True)
        ]
        if count_of(looping) > MAX_ORDERS:
            return None
        places: list[Place] = [(t, level) for level, t in np.argwhere(skeleton.kept[:-1] > 0).tolist()]
        key = tuple(tuple(memory) for memory in looping), tuple(places)
        if key not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._variants(looping, places)
        variants = self._known[key]
        plain = [place for place in places if not self._slides[place[0]]]
        loops = self._loops(leaf.order.tolist(), [(row > 1).tolist() for row in leaf.factors])
        own = [[_iterations(self._resting(t, level, loops), leaf.factors) for t, level in plain]]
        counts = np.where(variants.sets, leaf.factors, 1).prod(axis=(1, 2))[variants.loops]
        less = self._energies(np.array(own, np.int64), plain, leaf.factors, skeleton)[0]
        energies = leaf.energy - less + self._energies(counts, plain, leaf.factors, skeleton)
        chosen = np.flatnonzero(energies < most)
        return variants.orders[_longest(chosen, variants.kind, counts)]

    def _energies(self, counts: Ints, plain: list[Place], factors: Ints, skeleton: Skeleton) -> Floats:
        """Energy (N,) of tensors that rest for `counts` (N, P) iterations where they are kept."""
        model, found = self._model, np.zeros(len(counts))
        for (t, level), rests in zip(plain, counts.T, strict=True):
            parent, unrelated = int(skeleton.parent[level + 1, t]), model.kind[t] == UNRELATED
            sent = model.full[t] * float(factors[level + 1 :, unrelated].prod()) / rests
            up, down = (sent * float(skeleton.spread[m + 1 :, unrelated].prod()) for m in (parent, level))
            if model.is_output[t]:
                again = np.maximum(0.0, up - skeleton.owned[parent, t]) * model.read[parent, t]
                fills = np.maximum(0.0, down - skeleton.owned[level, t]) * model.write[level, t]
                found += again + up * model.write[parent, t] + down * model.read[level, t] + fills
            else:
                found += up * model.read[parent, t] + down * model.write[level, t]
        return found

    def _variants(self, looping: Blocks, places: list[Place]) -> Variants:
        """All orders that differ."""
        own = [{d for _, dims in memory[:-1] for d in dims} for memory in looping]
        moves = [[d in mine for d in range(len(self._kind[0]))] for mine in own]
        kinds: dict[object, int] = {}
        sets: dict[Loops, int] = {frozenset(): 0}
        found: dict[tuple[int, ...], tuple[Order, ...]] = {}
        for order in orders_of(looping):
            loops = self._loops(order, moves)
            sliding = tuple(self._sequence(t, level, loops) for t, level in places if self._slides[t])
            resting = (self._resting(t, level, loops) for t, level in places if not self._slides[t])
            mine = kinds.setdefault(sliding, len(kinds)), *(sets.setdefault(some, len(sets)) for some in resting)
            found.setdefault(mine, order)
        which = np.zeros((len(sets), len(looping), len(self._kind[0])), np.bool_)
        for some, n in sets.items():
            for level, d in some:
                which[n, level, d] = True
        rows = np.array(list(found), np.int64)
        return Variants(np.array(list(found.values()), np.int64), rows[:, 0], rows[:, 1:], which)

    def _loops(self, order: list[list[int]] | tuple[Order, ...], moves: list[list[bool]]) -> list[Place]:
        """The loops of an order from inside, of those that move anything."""
        return [(level, d) for level, dims in enumerate(order) for d in dims if moves[level][d]]

    def _resting(self, t: int, level: int, loops: list[Place]) -> Loops:
        """Loops outside of memory `level`, inside of the first that moves tensor `t`."""
        found: list[Place] = []
        for loop in loops:
            if loop[0] > level:
                if self._kind[t][loop[1]] != UNRELATED:
                    break
                found.append(loop)
        return frozenset(found)

    def _sequence(self, t: int, level: int, loops: list[Place]) -> tuple[Loops, ...]:
        """Loops outside of memory `level`, inside of the first plain one of tensor `t`."""
        found: list[Loops] = []
        together: list[Place] = []
        for loop in loops:
            if loop[0] <= level:
                continue
            kind = self._kind[t][loop[1]]
            if kind == PLAIN:
                break
            if kind == WINDOW:
                found += [frozenset(together), frozenset((loop,))]
                together = []
            else:
                together.append(loop)
        return *found, frozenset(together)


def _longest(chosen: Ints, kind: Ints, counts: Ints) -> Ints:
    """Those of the `chosen` orders of one kind in which no tensor rests longer, but where another rests less long."""
    found: list[int] = []
    for n in chosen.tolist():
        others = chosen[kind[chosen] == kind[n]]
        longer = (counts[others] >= counts[n]).all(axis=1)
        equal = (counts[others] == counts[n]).all(axis=1)
        if not (longer & ~equal).any() and others[equal].min() == n:
            found.append(n)
    return np.array(found, np.int64)


def _iterations(loops: Loops, factors: Ints) -> int:
    found = 1
    for level, d in loops:
        found *= int(factors[level, d])
    return found
