"""Annealing by moves across the borders of groups; each asks for the prices of two or three groups only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, log
from random import Random

from ...algebra.dag import bits, union
from .evaluate import Evaluator
from .space import Groups, Space


def neighbourhood(space: Space, groups: Groups, random: Random) -> list[int]:
    """A random group and some of its neighbours, and of theirs."""
    chosen = [random.choice(groups)]
    for _ in range(random.choice((1, 1, 2, 3))):
        whole = union(chosen)
        touched = (space.readers(whole) | space.sources(whole)) & ~whole
        near = [group for group in groups if group & touched]
        if near:
            chosen.append(random.choice(near))
    return chosen


@dataclass
class Refiner:
    """Groups in an order of execution that moves keep valid.

    A move takes a layer, with the layers of its group that need it (or that it needs), to a group that reads it (or
    that it reads), or makes them a group; what is left of the group falls apart into its connected parts.
    """

    space: Space
    evaluator: Evaluator
    random: Random
    groups: list[int] = field(default_factory=list[int])
    prices: list[float] = field(default_factory=list[float])
    owner: list[int] = field(default_factory=list[int])
    cost: float = inf
    best: Groups = ()
    best_cost: float = inf

    def start(self, groups: Groups) -> None:
        """Begin with a partition in an order of execution."""
        self.groups = list(groups)
        self.prices = [self.evaluator.price(group) for group in groups]
        self.owner = [0] * self.space.size
        for place, group in enumerate(groups):
            self._own(place, group)
        self.cost = sum(self.prices)
        if self.cost < self.best_cost:
            self.best, self.best_cost = tuple(groups), self.cost

    def run(self, moves: int, hot: float, cold: float, late: Callable[[], bool] = bool) -> None:
        """Try `moves` moves while the temperature falls from `hot` to `cold`, as long as it is not `late`."""
        for step in range(moves):
            if late():
                break
            temperature = hot * (cold / hot) ** (step / moves)
            self._try(temperature)

    def _try(self, temperature: float) -> None:
        number = self.random.randrange(self.space.size)
        forward = self.random.random() < 0.5
        home = self.owner[number]
        group = self.groups[home]
        closure = self.space.descendants[number] if forward else self.space.ancestors[number]
        moved = (closure & group) | 1 << number
        target = self._target(moved, home, forward)
        if target is None:
            return
        rest = group & ~moved
        parts = self.space.components(rest) if rest else []
        joined = moved | (self.groups[target] if target >= 0 else 0)
        old = self.prices[home] + (self.prices[target] if target >= 0 else 0.0)
        # A change is accepted with probability exp(-change / temperature): drawn first, so that moves that the bounds
        # alone rule out need no price.
        limit = old - temperature * log(1 - self.random.random())
        if self.evaluator.at_least(joined) + sum(map(self.evaluator.at_least, parts)) > limit:
            return
        price = self.evaluator.price(joined) + sum(map(self.evaluator.price, parts))
        if price <= limit and price < inf:
            self._apply(home, target, joined, parts, forward)
            self.cost += price - old
            if self.cost < self.best_cost * (1 - 1e-12):
                self.best, self.best_cost = tuple(self.groups), self.cost

    def _target(self, moved: int, home: int, forward: bool) -> int | None:
        """The group that takes the moved layers: -1 for a new one, None for none."""
        near = (self.space.readers(moved) if forward else self.space.sources(moved)) & ~moved
        places = sorted({self.owner[number] for number in bits(near)})
        if self.random.random() < 0.1:
            return -1 if moved != self.groups[home] else None
        if not places:
            return None
        return places[0] if forward else places[-1]

    def _apply(self, home: int, target: int, joined: int, parts: list[int], forward: bool) -> None:
        """Replace the two groups; the moved layers run right after (or before) what is left of their group."""
        made = [joined] if target < 0 else []
        stay = [*parts, *made] if forward else [*made, *parts]
        groups: list[int] = []
        prices: list[float] = []
        for place, group in enumerate(self.groups):
            fresh = stay if place == home else [joined] if place == target else None
            groups.extend([group] if fresh is None else fresh)
            prices.extend([self.prices[place]] if fresh is None else map(self.evaluator.price, fresh))
        before, self.groups, self.prices = self.groups, groups, prices
        for place, group in enumerate(groups):
            if place >= len(before) or before[place] != group:
                self._own(place, group)

    def _own(self, place: int, group: int) -> None:
        for number in bits(group):
            self.owner[number] = place
