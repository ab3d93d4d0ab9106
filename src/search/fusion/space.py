"""The layer graph as sets of bits, what makes a set of sets a partition, and prices of groups, asked once each."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from math import inf
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from ...algebra.dag import Dag, bits
from ...algebra.element import Ints
from ...costs.fusion.pricer import CostTable
from ...costs.fusion.values import Metric, SubgraphCost

Groups = tuple[int, ...]
"""Sets of layers, in an order of execution."""

MOST_KEPT = 100_000
"""Sets whose sources, readers and connected parts are remembered."""


class Waiting(NamedTuple):
    """A group by its lowest layer, and what others must have made before it."""

    lowest: int
    needs: int
    group: int


class Space(Dag):
    """The layers of a network, and which sets of sets of them are partitions that can run."""

    def ordered(self, groups: Sequence[int]) -> list[int] | None:
        """The groups in an order of execution, those with the lowest layers first; None where they wait in a circle."""
        order: list[int] = []
        blocked: list[tuple[int, int]] = []
        done = 0
        for _, needs, group in sorted(map(self._known_needs, groups)):
            if needs & ~done:
                blocked.append((needs, group))
                continue
            order.append(group)
            done |= group
            place = 0
            while place < len(blocked):
                needs, group = blocked[place]
                if needs & ~done:
                    place += 1
                else:
                    del blocked[place]
                    order.append(group)
                    done |= group
                    place = 0
        return None if blocked else order

    @cached_property
    def _known_needs(self) -> Callable[[int], Waiting]:
        """What a group waits for; remembered."""
        return lru_cache(MOST_KEPT)(
            lambda group: Waiting((group & -group).bit_length() - 1, self.sources(group) & ~group, group)
        )

    @cached_property
    def known_members(self) -> Callable[[int], tuple[int, ...]]:
        """The layers of a set, ascending; remembered."""
        return lru_cache(MOST_KEPT)(lambda group: tuple(bits(group)))

    @cached_property
    def known_components(self) -> Callable[[int], list[int]]:
        """`components`, remembered."""
        return lru_cache(MOST_KEPT)(self.components)

    @cached_property
    def known_readers(self) -> Callable[[int], int]:
        """`readers`, remembered."""
        return lru_cache(MOST_KEPT)(self.readers)

    @cached_property
    def known_sources(self) -> Callable[[int], int]:
        """`sources`, remembered."""
        return lru_cache(MOST_KEPT)(self.sources)

    def fault(self, groups: Sequence[int]) -> str | None:
        """What makes the sets no partition into connected groups that can run one after another, in words."""
        union = 0
        for group in groups:
            if not group or union & group or group & ~self.everything:
                return "each layer in exactly one group"
            union |= group
            if not self.connected(group):
                return "connected groups"
        if union != self.everything:
            return "each layer in exactly one group"
        return None if self.ordered(groups) is not None else "groups that do not wait for each other in a circle"


class Pricer(Protocol):
    """Prices groups of layers; None for a group that does not fit.  A single layer always has a price."""

    def cost(self, nodes: Iterable[int]) -> SubgraphCost | None: ...


@runtime_checkable
class ManyPricer(Protocol):
    """A pricer of many groups at once, given as members one after another and where each group begins."""

    def cost_many(self, members: Ints, starts: Ints) -> CostTable: ...


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
