"""Capacities and partition together, as Cocco's evaluation has it: two steps, annealing, and the genetic algorithm.

Tan et al. 2024, sections 4.1.2, 4.4 and 5.3; the cost is formula 2, bytes of buffers plus `alpha` times the metric.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp
from random import Random

from ...costs.clock import NO_LIMIT, Limit
from ...interruption import stoppable
from .capacity import Choices
from .genetic import Genetic, GeneticOptions, Variation, annealed, selected
from .result import Report
from .space import Groups


@dataclass
class Best:
    """The best point so far, and how many points were scored when it was found."""

    cost: float = float("inf")
    candidate: int = 0
    groups: Groups = ()
    samples: int = 0
    history: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    points: list[tuple[int, float, float]] = field(default_factory=list[tuple[int, float, float]])

    def offer(self, cost: float, candidate: int, groups: Groups) -> None:
        """Count one point, and keep it if it is the best."""
        self.samples += 1
        self.keep(cost, candidate, groups)

    def keep(self, cost: float, candidate: int, groups: Groups) -> None:
        """Keep a point that was counted if it is the best."""
        if cost < self.cost * (1 - 1e-12):
            self.cost, self.candidate, self.groups = cost, candidate, groups
            self.history.append((self.samples, cost))


@dataclass(frozen=True)
class Plan:
    """What is explored: the choices, `alpha`, points to score in all, and in a two-step scheme per candidate.

    No point is scored after `limit`, nor where the best costs `enough` or less; `report` is told what was scored, and
    the best cost.
    """

    choices: Choices
    alpha: float
    samples: int = 50_000
    per_candidate: int = 5_000
    seed: int = 0
    limit: Limit = NO_LIMIT
    report: Report | None = None
    enough: float = 0.0

    def ended(self, best: Best) -> bool:
        """Whether no more is to be scored: it is late, or the best is good enough."""
        return self.limit.late or best.cost <= self.enough

    def tell(self, best: Best) -> None:
        """Tell how far the search is."""
        if self.report is not None and best.groups:
            self.report(best.samples, best.cost, 0.0)

    def cost(self, candidate: int, groups: Groups) -> float:
        """Formula 2."""
        metric = sum(float(self.choices.prices(group)[candidate]) for group in groups)
        return float(self.choices.sizes[candidate]) + self.alpha * metric


def two_step(plan: Plan, candidates: Iterator[int]) -> Best:
    """For one candidate after another, the genetic partition; the best of all."""
    best = Best()
    with stoppable():
        while best.samples < plan.samples and not (plan.ended(best) and best.groups):
            candidate = next(candidates, None)
            if candidate is None:
                break
            samples = min(plan.per_candidate, plan.samples - best.samples)
            search = Genetic(
                plan.choices.space, plan.choices.at(candidate), GeneticOptions(samples), plan.seed + best.samples
            )
            with stoppable():
                while not search.finished and not plan.limit.late:
                    search.step()
            best.samples += search.samples
            best.keep(plan.cost(candidate, search.best), candidate, search.best)
            plan.tell(best)
    return best


def random_candidates(plan: Plan) -> Iterator[int]:
    """Candidates at random (RS of section 5.1.3)."""
    random = Random(plan.seed)
    while True:
        yield random.randrange(len(plan.choices.candidates))


def grid_candidates(plan: Plan) -> Iterator[int]:
    """A coarse grid from large to small (GS of section 5.1.3): as many as there are samples for."""
    count, total = max(1, plan.samples // plan.per_candidate), len(plan.choices.candidates)
    sizes = plan.choices.sizes
    order = sorted(range(total), key=lambda candidate: (-sizes[candidate], candidate))
    for place in range(count):
        yield order[place * (total - 1) // max(1, count - 1)]


def neighbour(plan: Plan, candidate: int, random: Random) -> int:
    """Another candidate, drawn from a normal distribution around one (mutation-DSE, section 4.4.3)."""
    choices = plan.choices
    widths = len({buffers.weight_bytes for buffers in choices.candidates})
    rows = len(choices.candidates) // widths
    row, column = divmod(candidate, widths)
    row = round(random.gauss(row, max(1.0, rows / 8)))
    column = round(random.gauss(column, max(1.0, widths / 8))) if widths > 1 else 0
    return min(max(row, 0), rows - 1) * widths + min(max(column, 0), widths - 1)


def middle(plan: Plan, a: int, b: int) -> int:
    """The candidate nearest to the mean of two (crossover, section 4.4.2)."""
    widths = len({buffers.weight_bytes for buffers in plan.choices.candidates})
    (row, column), (other_row, other_column) = divmod(a, widths), divmod(b, widths)
    return (row + other_row) // 2 * widths + (column + other_column) // 2


def annealing(plan: Plan) -> Best:
    """Simulated annealing over both (SA of section 5.1.3)."""
    best = Best()
    with stoppable():
        _anneal(plan, best)
    return best


def _anneal(plan: Plan, best: Best) -> None:
    random = Random(plan.seed)
    candidate = random.randrange(len(plan.choices.candidates))
    groups = Variation(plan.choices.space, plan.choices.at(candidate), random).initial()
    cost = plan.cost(candidate, groups)
    scale = cost
    best.offer(cost, candidate, groups)
    while best.samples < plan.samples and not plan.ended(best):
        plan.tell(best)
        temperature = scale * annealed(best.samples / plan.samples)
        moved = neighbour(plan, candidate, random) if random.random() < 0.2 else candidate
        variation = Variation(plan.choices.space, plan.choices.at(moved), random)
        changed = variation.settle(groups if moved != candidate else variation.mutate(groups))
        price = plan.cost(moved, changed)
        best.offer(price, moved, changed)
        if price <= cost or random.random() < exp((cost - price) / temperature):
            candidate, groups, cost = moved, changed, price


Genome = tuple[float, int, Groups]
"""Cost, candidate, partition."""


def genetic(plan: Plan) -> Best:
    """Cocco: the genetic algorithm over both."""
    return _Genetic(plan).run()


class _Genetic:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.options = plan, GeneticOptions()
        self.random, self.best = Random(plan.seed), Best()

    def run(self) -> Best:
        with stoppable():
            self._generations()
        return self.best

    def _generations(self) -> None:
        count = len(self.plan.choices.candidates)
        drawn = [self.random.randrange(count) for _ in range(self.options.population)]
        people = [self._scored(candidate, self._variation(candidate).initial()) for candidate in drawn]
        while self.best.samples < self.plan.samples and not self.plan.ended(self.best):
            children = [self._child(people) for _ in range(self.options.population)]
            people = selected([*people, *children], self.options.population, self.options, self.random)
            self.plan.tell(self.best)

    def _variation(self, candidate: int) -> Variation:
        return Variation(self.plan.choices.space, self.plan.choices.at(candidate), self.random)

    def _scored(self, candidate: int, groups: Groups) -> Genome:
        cost = self.plan.cost(candidate, groups)
        self.best.offer(cost, candidate, groups)
        metric = (cost - float(self.plan.choices.sizes[candidate])) / self.plan.alpha
        self.best.points.append((self.best.samples, float(self.plan.choices.sizes[candidate]), metric))
        return cost, candidate, groups

    def _child(self, people: list[Genome]) -> Genome:
        _, candidate, groups = self.random.choice(people)
        if self.random.random() < self.options.crossover:
            _, other, mom = self.random.choice(people)
            candidate = middle(self.plan, candidate, other)
            groups = self._variation(candidate).crossover(groups, mom)
        if self.random.random() < 0.2:
            candidate = neighbour(self.plan, candidate, self.random)
        variation = self._variation(candidate)
        groups = variation.mutate(groups)
        while self.random.random() < self.options.again:
            groups = variation.mutate(groups)
        return self._scored(candidate, variation.settle(groups))
