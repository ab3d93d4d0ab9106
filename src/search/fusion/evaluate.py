"""Prices of groups, asked once each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import inf
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...algebra.dag import bits
from ...costs.fusion.pricer import CostTable
from ...costs.fusion.values import Metric, SubgraphCost
from .space import Space

METRICS: tuple[Metric, ...] = ("ema", "energy", "latency")


class Pricer(Protocol):
    """Prices groups of layers; None for a group that does not fit.  A single layer always has a price."""

    def cost(self, nodes: Iterable[int]) -> SubgraphCost | None: ...


@runtime_checkable
class ManyPricer(Protocol):
    """A pricer of many groups at once, given as members one after another and where each group begins."""

    def cost_many(self, members: NDArray[np.int64], starts: NDArray[np.int64]) -> CostTable: ...


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
            cost = self.pricer.cost(tuple(bits(group)))
            found = self._prices[group] = inf if cost is None else float(cost.value(self.metric))
        return found

    def at_least(self, group: int) -> float:
        """What one group costs at least, where that is cheaper to say than its price."""
        return self.price(group)

    def prepare(self, groups: Sequence[int]) -> None:
        """Ask for the prices of many groups at once, where the pricer can do that."""
        fresh = [group for group in dict.fromkeys(groups) if group not in self._prices]
        if len(fresh) < 2 or not isinstance(self.pricer, ManyPricer):
            return
        members = [tuple(bits(group)) for group in fresh]
        starts = np.cumsum([0, *map(len, members)])
        table = self.pricer.cost_many(np.fromiter(chain.from_iterable(members), np.int64), starts)
        values = np.where(table.fits, table.metric(self.metric), inf).tolist()
        self._prices.update(zip(fresh, map(float, values), strict=True))
        self.evaluations += len(fresh)

    def may_fit(self, group: int, part: int) -> bool:
        """False only for groups that do not fit, however many layers are added: as a connected part of it does not.

        `part` is the connected part that was not asked about before.
        """
        return part == group or part & (part - 1) == 0 or self.price(part) < inf

    def total(self, groups: Sequence[int]) -> float:
        """The metric of a partition (Cocco, formula 1)."""
        return sum(map(self.price, groups))
