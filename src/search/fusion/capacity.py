"""Capacities of buffers to choose from, and prices of groups under all of them at once."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol

import numpy as np

from ...algebra.dag import bits
from ...algebra.element import Floats
from ...costs.fusion.values import KIB, Buffers, Metric, SubgraphCost
from .space import MOST_KEPT, Evaluator, Space


def separate_buffers() -> tuple[Buffers, ...]:
    """128 to 2048 KB by 64 for activations, each with 144 to 2304 KB by 72 for weights (Cocco, section 5.3.1)."""
    return tuple(Buffers(a * KIB, w * KIB) for a in range(128, 2049, 64) for w in range(144, 2305, 72))


def shared_buffers() -> tuple[Buffers, ...]:
    """128 to 3072 KB by 64 for both (Cocco, section 5.3.1)."""
    return tuple(Buffers(size * KIB) for size in range(128, 3073, 64))


class WaysPricer(Protocol):
    """Says in what ways a group can run, whatever the capacities: the same for groups of one structure."""

    def ways(self, nodes: Iterable[int]) -> Sequence[SubgraphCost]: ...
    def structure(self, nodes: Sequence[int]) -> Hashable: ...


@dataclass
class Choices:
    """Candidates for the buffers, and what groups cost under each: of the ways that fit, the best.

    `regions` is how many regions the hardware tells apart.  `evaluations` counts groups that were priced: of those of
    one structure the first.
    """

    space: Space
    pricer: WaysPricer
    metric: Metric
    candidates: tuple[Buffers, ...]
    regions: int = 64

    def __post_init__(self) -> None:
        self.evaluations = 0
        self.sizes: Floats = np.array([buffers.total_bytes for buffers in self.candidates], float)
        shared = self.candidates[0].weight_bytes is None
        self._global: Floats = np.array([buffers.global_bytes for buffers in self.candidates], float)
        self._weight: Floats | None = None
        if not shared:
            self._weight = np.array([buffers.weight_bytes or 0 for buffers in self.candidates], float)
        self._prices: dict[int, Floats] = {}
        self._alike: dict[Hashable, Floats] = {}
        self._structures: dict[int, Hashable] = {}

    @property
    def groups(self) -> int:
        """How many groups were asked for, alike or not."""
        return len(self._prices)

    def prices(self, group: int) -> Floats:
        """The metric of a group under each candidate; infinite where it does not fit."""
        found = self._prices.get(group)
        if found is None:
            structure = self.structure(group)
            found = self._alike.get(structure)
            if found is None:
                found = self._alike[structure] = self._priced(tuple(bits(group)))
            self._prices[group] = found
        return found

    def _priced(self, members: Sequence[int]) -> Floats:
        self.evaluations += 1
        found = np.full(len(self.candidates), inf)
        for way in self.pricer.ways(members):
            if way.regions <= self.regions:
                np.minimum(found, np.where(self._fits(way), float(way.value(self.metric)), inf), out=found)
        return found

    def _fits(self, way: SubgraphCost) -> Any:
        if self._weight is None:
            return way.global_demand_bytes + way.weight_demand_bytes <= self._global
        return (way.global_demand_bytes <= self._global) & (way.weight_demand_bytes <= self._weight)

    def best_way(self, group: int, candidate: int) -> SubgraphCost | None:
        """The way that `prices` has taken."""
        ways = [
            w for w in self.pricer.ways(tuple(bits(group))) if w.regions <= self.regions and self._fits(w)[candidate]
        ]
        return min(ways, key=lambda way: way.value(self.metric)) if ways else None

    def totals(self, groups: Sequence[int]) -> Floats:
        """The metric of a partition under each candidate."""
        return np.sum([self.prices(group) for group in groups], axis=0)

    def known(self, group: int) -> bool:
        """Whether a group, or one that is alike, was priced."""
        return group in self._prices or self.structure(group) in self._alike

    def structure(self, group: int) -> Hashable:
        """What a group's prices depend on."""
        found = self._structures.get(group)
        if found is None:
            if len(self._structures) >= MOST_KEPT:
                self._structures.clear()
            found = self._structures[group] = self.pricer.structure(tuple(bits(group)))
        return found

    def at(self, candidate: int, least: Callable[[int], float] | None = None) -> "CapacityEvaluator":
        """Prices under one candidate; `least` bounds those of groups that were not asked for yet."""
        return CapacityEvaluator(self, candidate, least)


class CapacityEvaluator(Evaluator):
    """Prices of groups under one candidate of `choices`, which remembers them."""

    def __init__(self, choices: Choices, candidate: int, least: Callable[[int], float] | None) -> None:
        super().__init__(choices.space, _Nothing(), choices.metric)
        self.choices, self.candidate, self.least = choices, candidate, least

    def price(self, group: int) -> float:
        return float(self.choices.prices(group)[self.candidate])

    def at_least(self, group: int) -> float:
        return self.price(group) if self.least is None or self.choices.known(group) else self.least(group)


class _Nothing:
    def cost(self, nodes: Iterable[int]) -> SubgraphCost | None:
        raise AssertionError("prices come from the choices")
