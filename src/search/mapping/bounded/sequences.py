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
iterations for any of the others cost no less.
"""

from __future__ import annotations

from .model import PLAIN, UNRELATED, WINDOW, Ints, Model
from .orders import Blocks, Order, count_of, orders_of

MAX_ORDERS = 5040
"""Orders that are looked at, not priced, for one mapping."""

MAX_KNOWN = 512
"""Patterns of blocks whose orders are kept."""

Place = tuple[int, int]
"""A loop: its memory and dimension."""

Resting = tuple[Place, ...]
"""Loops in which a tensor rests."""

Variant = tuple[tuple[Order, ...], tuple[Resting, ...]]
"""An order by memory, and for each memory that keeps a tensor without windows, the loops in which that rests."""


class Sequences:
    """Orders of the loops of one problem's mappings."""

    def __init__(self, model: Model) -> None:
        self._kind: list[list[int]] = model.kind.tolist()
        self._slides: list[bool] = (model.kind == WINDOW).any(axis=1).tolist()
        self._known: dict[tuple[object, ...], list[list[Variant]]] = {}

    def needed(self, factors: Ints, blocks: Blocks, kept: Ints) -> list[tuple[Order, ...]] | None:
        """Orders by memory of loops `factors` (L, D) with tensors `kept` (L, T), one of which is as good as any.

        None if there are too many to look at.
        """
        looping = [
            [(free, tuple(d for d in dims if row[d] > 1)) for free, dims in memory]
            + [(False, tuple(d for d, bound in enumerate(row) if bound == 1))]
            for memory, row in zip(blocks, factors.tolist(), strict=True)
        ]
        if count_of(looping) > MAX_ORDERS:
            return None
        key = tuple(tuple(memory) for memory in looping), kept.tobytes()
        if key not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._variants(looping, kept)
        found: list[tuple[Order, ...]] = []
        for variants in self._known[key]:
            found += _longest(variants, factors)
        return found

    def _variants(self, looping: Blocks, kept: Ints) -> list[list[Variant]]:
        """Orders that are equal for tensors with windows, one list after the other."""
        places = [(t, level) for t in range(kept.shape[1]) for level in range(len(kept) - 1) if kept[level, t]]
        groups: dict[object, dict[tuple[Resting, ...], Variant]] = {}
        for order in orders_of(looping):
            loops = [
                (level, d)
                for level, (dims, memory) in enumerate(zip(order, looping, strict=True))
                for d in dims[: len(dims) - len(memory[-1][1])]
            ]
            resting: list[Resting] = []
            sliding: list[object] = []
            for t, level in places:
                outside = [loop for loop in loops if loop[0] > level]
                if self._slides[t]:
                    sliding.append(self._sequence(t, outside))
                else:
                    resting.append(self._resting(t, outside))
            groups.setdefault(tuple(sliding), {}).setdefault(tuple(resting), (order, tuple(resting)))
        return [list(group.values()) for group in groups.values()]

    def _resting(self, t: int, loops: list[Place]) -> Resting:
        """Loops inside of the first that moves tensor `t`."""
        kind = self._kind[t]
        first = next((i for i, (_, d) in enumerate(loops) if kind[d] != UNRELATED), len(loops))
        return tuple(sorted(loops[:first]))

    def _sequence(self, t: int, loops: list[Place]) -> tuple[Resting, ...]:
        """Loops inside of the first plain one of tensor `t`, those together whose order does not matter."""
        kind = self._kind[t]
        first = next((i for i, (_, d) in enumerate(loops) if kind[d] == PLAIN), len(loops))
        found: list[Resting] = []
        together: list[Place] = []
        for loop in loops[:first]:
            if kind[loop[1]] == UNRELATED:
                together.append(loop)
            else:
                found += [tuple(sorted(together)), (loop,)]
                together = []
        return *found, tuple(sorted(together))


def _longest(variants: list[Variant], factors: Ints) -> list[tuple[Order, ...]]:
    """Orders in which no tensor rests longer, but where another rests less long."""
    if len(variants) == 1:
        return [variants[0][0]]
    counts: list[tuple[int, ...]] = []
    for _, resting in variants:
        counts.append(tuple(_iterations(loops, factors) for loops in resting))
    found: dict[tuple[int, ...], tuple[Order, ...]] = {}
    for (order, _), mine in zip(variants, counts, strict=True):
        if not any(other != mine and all(a >= b for a, b in zip(other, mine, strict=True)) for other in counts):
            found.setdefault(mine, order)
    return list(found.values())


def _iterations(loops: Resting, factors: Ints) -> int:
    found = 1
    for level, d in loops:
        found *= int(factors[level, d])
    return found
