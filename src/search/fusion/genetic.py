"""Cocco's genetic algorithm over partitions (Tan et al. 2024, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from .evaluate import Evaluator
from .genome import Variation
from .progress import random_state, restore_random
from .space import Groups, Space


@dataclass(frozen=True)
class GeneticOptions:
    """`samples` partitions are scored in generations of `population`.

    A child is a crossover with probability `crossover`, else a copy of a winner, and is mutated `1 + k` times with
    probability `again ** k`.  Winners are the best of `tournament` partitions drawn at random; the `elite` best stay.
    """

    samples: int = 50_000
    population: int = 100
    tournament: int = 4
    crossover: float = 0.4
    again: float = 0.4
    elite: int = 2


Scored = TypeVar("Scored", tuple[float, Groups], tuple[float, int, Groups])
"""A genome, its cost first."""


def selected(everyone: Sequence[Scored], count: int, options: GeneticOptions, random: Random) -> list[Scored]:
    """The best few of all, and winners of tournaments among the rest; nobody is taken twice (section 4.4.5)."""
    ranked = sorted(set(everyone))
    elite, rest = ranked[: options.elite], ranked[options.elite :]
    wanted = min(len(rest), count - len(elite))
    rounds = range(options.tournament)
    return elite + [rest.pop(min(random.randrange(len(rest)) for _ in rounds)) for _ in range(wanted)]


@dataclass
class Genetic:
    """One step is one generation."""

    space: Space
    evaluator: Evaluator
    options: GeneticOptions
    seed: int
    starts: tuple[Groups, ...] = ()
    samples: int = 0
    population: list[tuple[float, Groups]] = field(default_factory=list[tuple[float, Groups]])
    random: Random = field(init=False)
    variation: Variation = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.variation = Variation(self.space, self.evaluator, self.random)
        missing = self.options.population - len(self.starts)
        first = [*self.starts, *(self.variation.initial() for _ in range(missing))]
        self.population = self._scored(first)

    @property
    def finished(self) -> bool:
        return self.samples >= self.options.samples

    @property
    def best(self) -> Groups:
        return min(self.population)[1]

    @property
    def best_cost(self) -> float:
        return min(self.population)[0]

    def step(self) -> None:
        """Breed and score one generation, and select the next (sections 4.4.2 to 4.4.5)."""
        count = min(self.options.population, self.options.samples - self.samples)
        children = self._scored([self._child() for _ in range(count)])
        self.population = selected([*self.population, *children], self.options.population, self.options, self.random)

    def _scored(self, partitions: list[Groups]) -> list[tuple[float, Groups]]:
        self.samples += len(partitions)
        return [(self.evaluator.total(groups), groups) for groups in partitions]

    def _child(self) -> Groups:
        child = self.random.choice(self.population)[1]
        if self.random.random() < self.options.crossover:
            child = self.variation.crossover(child, self.random.choice(self.population)[1])
            if self.random.random() < 0.5:
                return self.variation.settle(child)
        child = self.variation.mutate(child)
        while self.random.random() < self.options.again:
            child = self.variation.mutate(child)
        return self.variation.settle(child)

    def dump(self) -> dict[str, Any]:
        """What is needed to go on."""
        return {
            "samples": self.samples,
            "population": [list(groups) for _, groups in self.population],
            "random": random_state(self.random),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        self.population = self._scored([tuple(groups) for groups in data["population"]])
        self.samples = int(data["samples"])
        restore_random(self.random, data["random"])
