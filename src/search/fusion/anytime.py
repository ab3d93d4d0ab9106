"""Our own search: exact where the lattice is small, else windows of a good partition solved exactly, one after another.

A window is a few neighbouring groups; the layers in them are partitioned anew by a shortest path over the downsets
between what runs before and what runs after, so that no partition of the window is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .evaluate import Evaluator
from .lattice import Lattice, TooLargeError, nothing
from .progress import random_state, restore_random
from .simple import best_cuts, depth_order, greedy, per_layer
from .space import Groups, Space


@dataclass(frozen=True)
class AnytimeOptions:
    """The whole lattice is tried with `whole_steps`, windows with `window_steps`.

    The search ends when `patience` windows in a row were not improved.
    """

    whole_steps: int = 200_000
    window_steps: int = 4_000
    patience: int = 400


@dataclass
class Anytime:
    """The first step finds partitions to begin with and tries the whole lattice; each later one solves one window."""

    space: Space
    evaluator: Evaluator
    options: AnytimeOptions
    seed: int
    rest: Callable[[int], float] = nothing
    best: Groups = ()
    best_cost: float = 0.0
    lower_bound: float = 0.0
    proven: bool = False
    samples: int = 0
    idle: int = 0
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self._take(per_layer(self.space))
        self.lower_bound = self.rest(0)

    @property
    def finished(self) -> bool:
        return self.proven or self.idle >= self.options.patience

    def step(self) -> None:
        """Make the partition better, or learn that it is best."""
        if self.samples == 1:
            self._begin()
        else:
            self._window()

    def _take(self, groups: Groups) -> None:
        self.samples += 1
        cost = self.evaluator.total(groups)
        if not self.best or cost < self.best_cost:
            self.best, self.best_cost = groups, cost

    def _begin(self) -> None:
        for make in (greedy, depth_order):
            self._take(make(self.space, self.evaluator))
        self._take(best_cuts(self.space, self.evaluator, range(self.space.size)))
        lattice = Lattice(self.space, self.evaluator, 0, self.rest, self.best_cost, most_steps=self.options.whole_steps)
        try:
            cost, groups = lattice.solve()
        except TooLargeError:
            return
        if groups:
            self.best, self.best_cost = groups, cost
        self.proven, self.lower_bound = True, self.best_cost

    def _window(self) -> None:
        self.samples += 1
        self.idle += 1
        chosen = self._choose()
        union = 0
        for group in chosen:
            union |= group
        others = [group for group in self.best if group not in chosen]
        if len(chosen) < 2 or self.space.ordered([*others, union]) is None:
            return
        old = sum(map(self.evaluator.price, chosen))
        start = self.space.everything & ~union
        already = self.rest(start | union)
        lattice = Lattice(
            self.space,
            self.evaluator,
            start,
            lambda done: self.rest(done) - already,
            old,
            most_steps=self.options.window_steps,
        )
        try:
            cost, groups = lattice.solve()
        except TooLargeError:
            return
        ordered = self.space.ordered([*others, *groups])
        if ordered is not None and cost < old * (1 - 1e-9):
            self.best, self.idle = tuple(ordered), 0
            self.best_cost = self.evaluator.total(self.best)

    def _choose(self) -> list[int]:
        """A random group and some of its neighbours, and of theirs."""
        chosen = [self.random.choice(self.best)]
        for _ in range(self.random.choice((1, 1, 2, 3))):
            union = 0
            for group in chosen:
                union |= group
            touched = (self.space.readers(union) | self.space.sources(union)) & ~union
            near = [group for group in self.best if group & touched]
            if near:
                chosen.append(self.random.choice(near))
        return chosen

    def dump(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {
            "samples": self.samples,
            "best": list(self.best),
            "lower_bound": self.lower_bound,
            "proven": self.proven,
            "idle": self.idle,
            "random": random_state(self.random),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        self.samples, self.idle, self.proven = int(data["samples"]), int(data["idle"]), bool(data["proven"])
        self.best, self.lower_bound = tuple(data["best"]), float(data["lower_bound"])
        self.best_cost = self.evaluator.total(self.best)
        restore_random(self.random, data["random"])
