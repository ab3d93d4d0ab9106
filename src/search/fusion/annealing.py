"""Simulated annealing over partitions, with the mutations of the genetic search (Cocco, section 4.2.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from random import Random
from typing import Any

from .evaluate import Evaluator
from .genome import Variation
from .progress import random_state, restore_random
from .space import Groups, Space


@dataclass(frozen=True)
class AnnealingOptions:
    """`samples` partitions are scored; the temperature falls from `hot` to `cold` times the first cost."""

    samples: int = 50_000
    hot: float = 0.02
    cold: float = 1e-6


@dataclass
class Annealing:
    """One step scores one batch of `BATCH` partitions."""

    space: Space
    evaluator: Evaluator
    options: AnnealingOptions
    seed: int
    samples: int = 0
    best: Groups = ()
    best_cost: float = 0.0
    current: Groups = ()
    cost: float = 0.0
    scale: float = 0.0
    random: Random = field(init=False)
    variation: Variation = field(init=False)

    BATCH = 100

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.variation = Variation(self.space, self.evaluator, self.random)
        self.current = self.best = self.variation.initial()
        self.cost = self.best_cost = self.scale = self.evaluator.total(self.current)
        self.samples = 1

    @property
    def finished(self) -> bool:
        return self.samples >= self.options.samples

    def step(self) -> None:
        """Score some more partitions."""
        for _ in range(min(self.BATCH, self.options.samples - self.samples)):
            self._move()

    def _move(self) -> None:
        options, share = self.options, self.samples / self.options.samples
        temperature = self.scale * options.hot * (options.cold / options.hot) ** share
        changed = self.variation.settle(self.variation.mutate(self.current))
        cost = self.evaluator.total(changed)
        self.samples += 1
        if cost <= self.cost or self.random.random() < exp((self.cost - cost) / temperature):
            self.current, self.cost = changed, cost
        if cost < self.best_cost:
            self.best, self.best_cost = changed, cost

    def dump(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {
            "samples": self.samples,
            "best": list(self.best),
            "current": list(self.current),
            "scale": self.scale,
            "random": random_state(self.random),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        self.samples, self.scale = int(data["samples"]), float(data["scale"])
        self.best, self.current = tuple(data["best"]), tuple(data["current"])
        self.best_cost, self.cost = self.evaluator.total(self.best), self.evaluator.total(self.current)
        restore_random(self.random, data["random"])
