"""Annealing by moves across the borders of groups; each asks for the prices of two or three groups only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, log
from random import Random
from typing import NamedTuple

from ...algebra.dag import bits, union
from .space import Evaluator, Groups, Space

GAP = 1 << 40
"""Between neighbouring labels of a fresh line."""


class Neighbours(NamedTuple):
    """Groups to be made anew, the other ones, and the layers of these."""

    chosen: list[int]
    others: list[int]
    outside: int


def window_of(space: Space, groups: Groups, random: Random) -> Neighbours | None:
    """A random group and some of its neighbours, and of theirs; None where they could not be one group."""
    chosen = [random.choice(groups)]
    for _ in range(random.choice((1, 1, 2, 3))):
        whole = union(chosen)
        touched = (space.readers(whole) | space.sources(whole)) & ~whole
        near = [group for group in groups if group & touched]
        if near:
            chosen.append(random.choice(near))
    window, others = union(chosen), [group for group in groups if group not in chosen]
    if len(chosen) < 2 or space.ordered([*others, window]) is None:
        return None
    return Neighbours(chosen, others, space.everything & ~window)


@dataclass
class Line:
    """Groups in an order, by labels that ascend along it; a group is replaced by others without a look at the rest."""

    groups: dict[int, int] = field(default_factory=dict[int, int])
    after: dict[int, int] = field(default_factory=lambda: {-1: -1})
    before: dict[int, int] = field(default_factory=lambda: {-1: -1})

    def room(self, label: int, count: int) -> int:
        """How far apart so many groups in the place of one (-1: at the end) would be; 0 where they have no room."""
        left, right = max(self.before[label], 0), self.after[label] if label >= 0 else -1
        return (right - left) // (count + 1) if right >= 0 else GAP

    def put(self, label: int, groups: Sequence[int]) -> list[int]:
        """Put groups in the place of the one of a label (-1: at the end of the line); their labels."""
        gap, left = self.room(label, len(groups)), self.before[label]
        right = self.after[label] if label >= 0 else -1
        if label >= 0:
            del self.groups[label], self.after[label], self.before[label]
        made: list[int] = []
        for group in groups:
            made.append(max(left, 0) + gap)
            self.groups[made[-1]] = group
            self._link(left, made[-1])
            left = made[-1]
        self._link(left, right)
        return made

    def in_order(self) -> Groups:
        """The groups from first to last."""
        return tuple(self.groups[label] for label in self.labels())

    def labels(self) -> Iterator[int]:
        """The labels from first to last."""
        label = self.after[-1]
        while label >= 0:
            yield label
            label = self.after[label]

    def _link(self, one: int, two: int) -> None:
        self.after[one], self.before[two] = two, one


@dataclass
class Refiner:
    """Groups in an order of execution that moves keep valid.

    A move takes a layer, with the layers of its group that need it (or that it needs), to a group that reads it (or
    that it reads), or makes them a group; what is left of the group falls apart into its connected parts.
    """

    space: Space
    evaluator: Evaluator
    random: Random
    line: Line = field(default_factory=Line)
    prices: dict[int, float] = field(default_factory=dict[int, float])
    owner: list[int] = field(default_factory=list[int])
    cost: float = inf
    best: Groups = ()
    best_cost: float = inf

    def start(self, groups: Groups) -> None:
        """Begin with a partition in an order of execution."""
        self.line = Line()
        self.prices, self.owner = {}, [0] * self.space.size
        self._place(self.line.put(-1, groups))
        self.cost = sum(self.prices.values())
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
        group = self.line.groups[home]
        closure = self.space.descendants[number] if forward else self.space.ancestors[number]
        moved = (closure & group) | 1 << number
        target = self._target(moved, home, forward)
        if target is None:
            return
        joined = moved | (self.line.groups[target] if target >= 0 else 0)
        old = self.prices[home] + (self.prices[target] if target >= 0 else 0.0)
        # A change is accepted with probability exp(-change / temperature): drawn first, so that moves that the bounds
        # alone rule out need no price.
        limit = old - temperature * log(1 - self.random.random())
        least = self.evaluator.at_least(joined)
        if least > limit:
            return
        parts = self.space.known_components(group & ~moved)
        if least + sum(map(self.evaluator.at_least, parts)) > limit:
            return
        price = self.evaluator.price(joined) + sum(map(self.evaluator.price, parts))
        if price <= limit and price < inf:
            self._apply(home, target, joined, parts, forward)
            self.cost += price - old
            if self.cost < self.best_cost * (1 - 1e-12):
                self.best, self.best_cost = self.line.in_order(), self.cost

    def _target(self, moved: int, home: int, forward: bool) -> int | None:
        """The group that takes the moved layers: -1 for a new one, None for none."""
        near = (self.space.known_readers(moved) if forward else self.space.known_sources(moved)) & ~moved
        places = sorted({self.owner[number] for number in bits(near)})
        if self.random.random() < 0.1:
            return -1 if moved != self.line.groups[home] else None
        if not places:
            return None
        return places[0] if forward else places[-1]

    def _apply(self, home: int, target: int, joined: int, parts: list[int], forward: bool) -> None:
        """Replace the two groups; the moved layers run right after (or before) what is left of their group."""
        made = [joined] if target < 0 else []
        stay = [*parts, *made] if forward else [*made, *parts]
        if not self.line.room(home, len(stay)):
            fresh = self._renumber()
            home, target = fresh[home], fresh[target]
        if target >= 0:
            self.line.groups[target] = joined
            self._place([target])
        del self.prices[home]
        self._place(self.line.put(home, stay))

    def _renumber(self) -> dict[int, int]:
        """Labels far apart for all groups; the new ones by those of before."""
        before, self.line, self.prices = self.line, Line(), {}
        made = self.line.put(-1, before.in_order())
        self._place(made)
        return {-1: -1} | dict(zip(before.labels(), made, strict=True))

    def _place(self, labels: Iterable[int]) -> None:
        for label in labels:
            group = self.line.groups[label]
            self.prices[label] = self.evaluator.price(group)
            for number in bits(group):
                self.owner[number] = label
