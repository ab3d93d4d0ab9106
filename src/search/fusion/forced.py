"""A lower bound from what cannot be together: results that must pass through DRAM, whatever the partition.

A group is convex, so one that holds two layers holds all layers between them; a set that does not fit does not fit with
more layers.  Hence a layer and a reader of it whose hull does not fit are in different groups, and so is at least one
pair of neighbours on every path between two layers whose hull does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from .evaluate import Evaluator
from .space import Space, bits
from .tolls import Tolls

UNIT = 1 << 20
"""Capacities of a flow are integers: the largest toll is this many units."""


@dataclass
class Forced:
    """The bound for one network; `weights` and `weight_capacity` say how many layers hold their weights together."""

    space: Space
    evaluator: Evaluator
    tolls: Tolls
    weights: Sequence[int]
    weight_capacity: float
    _fits: dict[int, bool] = field(default_factory=dict[int, bool])

    def bound(self) -> float:
        """What every partition costs at least."""
        costs = [self.least(number) for number in range(self.space.size)]
        return self.tolls.rest(0) + sum(costs) + self._cuts(costs)

    def least(self, number: int) -> float:
        """What the result of a layer costs at least beyond what `tolls` says of it alone."""
        readers = list(bits(self.space.after[number]))
        apart = [reader for reader in readers if not self.fits(self.hull(number, reader))]
        loads = max(self.packs(apart), self.packs(readers) - 1)
        store = self.tolls.stores[number] if loads and not self.tolls.exits >> number & 1 else 0.0
        return store + loads * self.tolls.loads[number]

    def hull(self, first: int, last: int) -> int:
        """Two layers and all between them."""
        return 1 << first | 1 << last | self.space.descendants[first] & self.space.ancestors[last]

    def fits(self, group: int) -> bool:
        """Whether a set of layers can be in one group."""
        if group & (group - 1) == 0:
            return True
        if sum(self.weights[number] for number in bits(group)) > self.weight_capacity:
            return False
        return self.evaluator.price(group) < inf

    def packs(self, readers: Sequence[int]) -> int:
        """How many groups these layers are in at least: by their weights, and by pairs that cannot be together."""
        if not readers:
            return 0
        small = [self.weights[reader] for reader in readers if self.weights[reader] <= self.weight_capacity]
        count = len(readers) - len(small)
        if small:
            count += max(1, ceil(sum(small) / self.weight_capacity))
        clique: list[int] = []
        for reader in readers:
            if all(not self.fits(self._between(reader, other)) for other in clique):
                clique.append(reader)
        return max(count, len(clique))

    def _between(self, a: int, b: int) -> int:
        return self.hull(min(a, b), max(a, b))

    def _cuts(self, known: Sequence[float]) -> float:
        """What cuts cost at least beyond `known`, in hulls that share no result, one after another."""
        total, first = 0.0, 0
        while first < self.space.size:
            found = self._window(first, known)
            if found is None:
                first += 1
                continue
            gain, last = found
            total += gain
            first = last
        return total

    def _window(self, first: int, known: Sequence[float]) -> tuple[float, int] | None:
        """The first layer whose hull with `first` does not fit: what their cut costs, and where to go on."""
        for last in range(first + 1, self.space.size):
            if not self.space.descendants[first] >> last & 1:
                continue
            hull = self.hull(first, last)
            if self.fits(hull):
                continue
            gain = self.cut(first, last, known)
            return (gain, last) if gain > 0 else None
        return None

    def cut(self, first: int, last: int, known: Sequence[float]) -> float:
        """The least cost, beyond `known`, of results of the hull that separate `last` from `first`: a minimum cut."""
        members = list(bits(self.hull(first, last)))
        place = {number: index for index, number in enumerate(members)}
        price = [max(0.0, self.tolls.stores[n] + self.tolls.loads[n] - known[n]) for n in members]
        scale = UNIT / max(max(price), 1e-9)
        rows: list[int] = []
        columns: list[int] = []
        room: list[int] = []
        for index, number in enumerate(members):
            rows.append(2 * index)
            columns.append(2 * index + 1)
            room.append(0 if number == last else int(price[index] * scale))
            for reader in bits(self.space.after[number]):
                if reader in place:
                    rows.append(2 * index + 1)
                    columns.append(2 * place[reader])
                    room.append(UNIT * 64)
        size = 2 * len(members)
        flow = maximum_flow(
            csr_array((np.array(room, np.int32), (rows, columns)), shape=(size, size)), 0, 2 * place[last]
        )
        return float(flow.flow_value) / scale
