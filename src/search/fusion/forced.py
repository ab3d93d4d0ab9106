"""A lower bound from what cannot be together: results that must pass through DRAM, whatever the partition.

A group is convex, so one that holds two layers holds all layers between them; a set that is not possible is in no
group.  Hence a layer and a reader of it whose hull is not possible are in different groups.  Along the network, windows
that share no result are bounded by what the group of a heavy layer must leave out (`Separation`).

What it costs at least to keep the group of one layer within the room for weights: the group holds its centre and leaves
out what cannot be with it; results that pass its border are paid for.  Its weights are within the capacity, which
counts by a price on each byte of them (a Lagrangian relaxation): at any price the cheapest such set of layers is a
minimum cut, and its cost, less that price for the whole capacity, is a bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from ...algebra.dag import bits
from ...algebra.element import Ints
from .possible import Possible
from .space import Space
from .units import Tolls

UNITS = 1 << 29
"""Capacities of a flow are integers: all of them together are at most this many."""

MOST_CUTS = 8


@dataclass(frozen=True)
class Side:
    """A minimum cut: at least what it costs, and the weights of the layers on the centre's side."""

    cost: float
    weight: float


@dataclass(frozen=True)
class Separation:
    """Layers by `weights`, those `barred` from the centre's group, and `results`: a price and all layers they join."""

    weights: Sequence[float]
    centre: int
    barred: Sequence[bool]
    results: Sequence[tuple[float, Sequence[int]]]
    capacity: float

    def bound(self) -> float:
        """What results that pass the border of the centre's group cost at least."""
        total = sum(price for price, _ in self.results)
        if total <= 0:
            return 0.0
        wide = self._cut(0.0)
        best = wide.cost
        if wide.weight <= self.capacity:
            return best
        narrow = self._cut(1e3 * total / self.capacity)
        for _ in range(MOST_CUTS):
            if wide.weight <= narrow.weight:
                break
            price = (narrow.cost - wide.cost) / (wide.weight - narrow.weight)
            found = self._cut(price)
            best = max(best, found.cost + price * (found.weight - self.capacity))
            if found.weight > self.capacity and found.weight < wide.weight:
                wide = found
            elif found.weight <= self.capacity and found.weight > narrow.weight:
                narrow = found
            else:
                break
        return best

    def _cut(self, price: float) -> Side:
        """The cheapest set with the centre where each byte of weights costs `price`."""
        from scipy.sparse import csr_array  # slow to load, seldom needed
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        count = len(self.weights)
        sink = count + 2 * len(self.results)
        prices = price * np.asarray(self.weights, float)
        prices[self.centre] = 0.0
        worth = np.array([value for value, _ in self.results])
        scale = UNITS / max(1e-9, float(worth.sum() + min(prices.sum(), 2 * worth.sum())))
        prices = np.minimum(prices, 2 * worth.sum())
        edges = self._edges(sink, (prices * scale).astype(np.int64), (worth * scale).astype(np.int64))
        ends, room = edges[:, :2], edges[:, 2].astype(np.int32)
        network = csr_array((room, (ends[:, 0], ends[:, 1])), shape=(sink + 1, sink + 1))
        flow = maximum_flow(network, self.centre, sink)
        left = csr_array(network - flow.flow)
        left.data[left.data < 0] = 0
        left.eliminate_zeros()
        reached = breadth_first_order(left, self.centre, return_predecessors=False)
        inside = reached[reached < count]
        weight = float(np.asarray(self.weights)[inside].sum())
        return Side(max(0.0, float(flow.flow_value) / scale - float(prices[inside].sum())), weight)

    def _edges(self, sink: int, prices: Ints, worth: Ints) -> Ints:
        """Rows of begin, end, capacity; a result is two nodes, joined both ways with its layers."""
        rows: list[tuple[int, int, int]] = []
        for v, barred in enumerate(self.barred):
            if v != self.centre:
                rows.append((v, sink, 2 * UNITS if barred else int(prices[v])))
        for place, (_, layers) in enumerate(self.results):
            begin = len(self.weights) + 2 * place
            rows.append((begin, begin + 1, int(worth[place])))
            rows.extend((v, begin, 2 * UNITS) for v in layers)
            rows.extend((begin + 1, v, 2 * UNITS) for v in layers)
        return np.array(rows, np.int64)


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
