"""Prices of groups, asked once each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Protocol

from ...costs.fusion.graph import nodes_of
from ...costs.fusion.values import Metric, SubgraphCost
from .space import Space

METRICS: tuple[Metric, ...] = ("ema", "energy", "latency")


class Pricer(Protocol):
    """Prices groups of layers; None for a group that does not fit.  A single layer always has a price."""

    def cost(self, nodes: Iterable[int]) -> SubgraphCost | None: ...


class Evaluator:
    """Prices of groups under one metric, remembered; infinite where a group does not fit."""

    def __init__(self, space: Space, pricer: Pricer, metric: Metric = "ema") -> None:
        self.space = space
        self.pricer = pricer
        self.metric: Metric = metric
        self.evaluations = 0
        self._prices: dict[int, float] = {}

    def price(self, group: int) -> float:
        """The metric of one group."""
        found = self._prices.get(group)
        if found is None:
            self.evaluations += 1
            cost = self.pricer.cost(nodes_of(group))
            found = self._prices[group] = inf if cost is None else float(cost.value(self.metric))
        return found

    def may_fit(self, group: int) -> bool:
        """False only for groups that do not fit, however many layers are added."""
        parts = self.space.components(group)
        return len(parts) < 2 or all(part & (part - 1) == 0 or self.price(part) < inf for part in parts)

    def total(self, groups: Sequence[int]) -> float:
        """The metric of a partition (Cocco, formula 1)."""
        return sum(map(self.price, groups))
