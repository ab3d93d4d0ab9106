"""A lower bound from prices on units: no group costs less than the prices of its units together.

A partition then costs at least the sum of all prices.  Prices that some groups fall short of are mended: each group has
a first unit, so the most by which a group that begins with it falls short, summed over all units, is taken off (the
dual of set partition).  Better prices are found by subgradients, step by step (Held and Karp 1971).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...algebra.dag import bits
from .closure import RESOURCES, Closures, closures_of
from .cuts import Floats
from .first import firsts_of
from .flow import cheapest_sets
from .listed import Listed, cheapest_listed, list_all
from .relaxed import Chains

MOST_GROUPS = 20_000
"""Groups with the same first unit are listed where there are no more than this."""

STALE, SHORTER, LEAST_STEP = 15, 0.7, 0.005
"""After so many steps without a better bound, steps become shorter by a factor, until they are this short."""

KEPT = 0.7
"""The share of the last direction in the next one."""

SCALE = 10.0
"""Prices on shares of the room, against those on units."""


@dataclass
class Dual:
    """Prices for the units of `chains`; `best` is the largest bound on transfers so far, or 0."""

    chains: Chains
    listed: Listed
    closures: Closures
    best: float = 0.0
    step_share: float = 0.5
    stale: int = 0
    prices: Floats = field(default_factory=lambda: np.zeros(0))
    tolls: Floats = field(default_factory=lambda: np.zeros((0, RESOURCES)))
    kept: tuple[Floats, Floats] | None = None
    moved: tuple[Floats, Floats] | None = None

    def begin(self, groups: Sequence[int]) -> None:
        """Take prices a little below those that the groups of a partition pay."""
        units = self.chains.units
        count = len(units.heads)
        self.prices, self.tolls = 0.9 * self._paid(groups), np.zeros((count, RESOURCES))
        self.kept = self.moved = None

    def _paid(self, groups: Sequence[int]) -> Floats:
        """What each unit stores in a partition, and its part of what its group loads."""
        units = self.chains.units
        home = [next(k for k, group in enumerate(groups) if group >> head & 1) for head in units.heads]
        place = {head: i for i, head in enumerate(units.heads)}
        readers: dict[tuple[int, int], list[int]] = {}
        for i in range(len(units.heads)):
            for source in bits(units.reads(i)):
                if source in place and home[place[source]] != home[i]:
                    readers.setdefault((place[source], home[i]), []).append(i)
        paid = np.zeros(len(units.heads))
        for (source, _), numbers in readers.items():
            for i in numbers:
                paid[i] += units.tolls.loads[units.heads[source]] / len(numbers)
        for source in {source for source, _ in readers}:
            paid[source] += units.store(source)
        return paid

    def bound(self, prices: Floats, tolls: Floats) -> tuple[float, Floats, Floats]:
        """The bound at these prices, and how it grows with them."""
        values, slopes = np.zeros(len(prices)), np.ones(len(prices))
        excess = np.zeros_like(tolls)
        if len(self.closures.firsts):
            cheapest_sets(self.closures, prices, tolls, values, slopes, excess)
        cheapest_listed(self.listed, prices, values, slopes)
        return float(prices.sum() + values.sum()) * (1 - 1e-12), slopes, excess

    def improve(self, target: float, steps: int) -> bool:
        """Take some steps towards `target`, which the bound cannot pass; whether more may help."""
        for _ in range(steps):
            if self.step_share < LEAST_STEP or self.best >= target:
                return False
            if self.chains.left_s() <= 0:
                return True
            found, slopes, excess = self.bound(self.prices, self.tolls)
            if found > self.best or self.kept is None:
                self.best, self.kept, self.stale = max(found, self.best), (self.prices, self.tolls), 0
            else:
                self.stale += 1
            if self.stale > STALE:
                self.step_share, self.stale, self.moved = self.step_share * SHORTER, 0, None
                self.prices, self.tolls = self.kept
                continue
            self._move(target - found, slopes, excess)
        return True

    def _move(self, missing: float, slopes: Floats, excess: Floats) -> None:
        excess = np.where((self.tolls <= 0) & (excess < 0), 0.0, excess)
        if self.moved is not None:
            slopes, excess = slopes + KEPT * self.moved[0], excess + KEPT * self.moved[1]
        self.moved = slopes, excess
        length = float((slopes**2).sum() + SCALE**2 * (excess**2).sum())
        step = self.step_share * missing / max(length, 1e-9)
        self.prices = self.prices + step * slopes
        self.tolls = np.maximum(0.0, self.tolls + step * SCALE**2 * excess)


def dual_of(chains: Chains) -> Dual:
    """The search for prices; groups are listed where they are few.  `TooLargeError` where that takes too long."""
    units, room = chains.units, chains.room
    count = len(units.heads)
    firsts = firsts_of(units.tables(range(count)), room)
    around = [firsts.near(first) for first in range(count)]
    listed = list_all(around, room, MOST_GROUPS)
    known = set(listed.firsts.tolist())
    return Dual(chains, listed, closures_of(around, [v for v in range(count) if v not in known], room))
