"""A lower bound from what cannot be together: results that must pass through DRAM, whatever the partition.

A group is convex, so one that holds two layers holds all layers between them; a set that is not possible is in no
group.  Hence a layer and a reader of it whose hull is not possible are in different groups.  Along the network, windows
that share no result are bounded by what the group of a heavy layer must leave out (`Separation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from ...algebra.dag import bits
from .possible import Possible
from .separate import Separation
from .space import Space
from .tolls import Tolls

HEAVY = 1 / 8
"""Windows end at layers with at least this share of the room for weights,"""

MOST_HEAVY, REACH = 150, 3
"""at no more of them than this, and are this many of them long at most."""


@dataclass
class Forced:
    """The bound for one network."""

    space: Space
    possible: Possible
    tolls: Tolls
    _apart: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def bound(self, *, windows: bool = True) -> float:
        """What every partition costs at least; without `windows` less, but sooner."""
        costs = [self.least(number) for number in range(self.space.size)]
        return self.tolls.rest(0) + sum(costs) + (self._windows(costs) if windows else 0.0)

    def apart(self, number: int) -> list[int]:
        """The readers of a layer that are in no group with it."""
        if number not in self._apart:
            readers = bits(self.space.after[number])
            self._apart[number] = [reader for reader in readers if not self.together(number, reader)]
        return self._apart[number]

    def least(self, number: int) -> float:
        """What the result of a layer costs at least beyond what `tolls` says of it alone."""
        readers = list(bits(self.space.after[number]))
        return self._passing(number, max(self.packs(self.apart(number)), self.packs(readers) - 1))

    def _passing(self, number: int, loads: int) -> float:
        store = self.tolls.stores[number] if loads and not self.tolls.exits >> number & 1 else 0.0
        return store + loads * self.tolls.loads[number]

    def together(self, a: int, b: int) -> bool:
        """Whether two layers, and all between them, may be in one group."""
        first, last = min(a, b), max(a, b)
        hull = 1 << first | 1 << last | self.space.descendants[first] & self.space.ancestors[last]
        return self.possible(hull)

    def packs(self, readers: Sequence[int]) -> int:
        """How many groups these layers are in at least: by their weights, and by pairs that cannot be together."""
        if not readers:
            return 0
        weights, capacity = self.possible.weights, self.possible.weight_capacity
        small = [weights[reader] for reader in readers if weights[reader] <= capacity]
        count = len(readers) - len(small)
        if small:
            count += max(1, ceil(sum(small) / capacity))
        clique: list[int] = []
        for reader in readers:
            if all(not self.together(reader, other) for other in clique):
                clique.append(reader)
        return max(count, len(clique))

    def _windows(self, known: Sequence[float]) -> float:
        """What windows cost at least beyond `known`: the best choice of them, one after another."""
        least = HEAVY * self.possible.weight_capacity
        heavy = [v for v in range(self.space.size) if self.possible.weights[v] >= least]
        ends = sorted({0, *(heavy[i * len(heavy) // MOST_HEAVY] for i in range(MOST_HEAVY) if heavy)})
        total = [0.0]
        for place in range(1, len(ends)):
            starts = range(max(0, place - REACH), place)
            total.append(max(total[start] + self.window(ends[start], ends[place], known) for start in starts))
        return total[-1]

    def window(self, first: int, last: int, known: Sequence[float]) -> float:
        """What results made from `first` on, before `last`, cost at least beyond `known`."""
        results: list[tuple[float, list[int]]] = []
        inside = (1 << last + 1) - (1 << first)
        for number in range(first, last):
            readers = list(bits(self.space.after[number] & inside))
            price = min(
                (self._passing(number, self.packs(sorted({*self.apart(number), r}))) for r in readers), default=0.0
            )
            if price > known[number]:
                results.append((price - known[number], [number - first, *(r - first for r in readers)]))
        if not results:
            return 0.0
        capacity = self.possible.weight_capacity
        weights = self.possible.weights[first : last + 1]
        best = 0.0
        for centre in (first, last):
            barred = [v != centre and not self.together(v, centre) for v in range(first, last + 1)]
            best = max(best, Separation(weights, centre - first, barred, results, capacity).bound())
        return best
