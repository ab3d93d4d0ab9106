"""What it costs at least to keep the group of one layer within the room for weights.

The group holds its centre and leaves out what cannot be with it; results that pass its border are paid for.  Its
weights are within the capacity, which counts by a price on each byte of them (a Lagrangian relaxation): at any price
the cheapest such set of layers is a minimum cut, and its cost, less that price for the whole capacity, is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    def _edges(self, sink: int, prices: NDArray[np.int64], worth: NDArray[np.int64]) -> NDArray[np.int64]:
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
