"""What is asked of a search for schedules, the objective at which it ends, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

from ...costs.clock import Limit
from ...costs.dram import Model, Timetable
from ...costs.dram.bound import lower_bound
from ...zoo.schedule_networks.layers import Network
from .anneal import Chain

Progress = Callable[[int, int], None]
"""Told how much is done of how much."""

POWERS = {"edp": (1.0, 1.0), "energy": (1.0, 0.0), "latency": (0.0, 1.0)}
"""Powers of energy and of latency in what is minimised, by the objective's name."""


@dataclass(frozen=True)
class Objective:
    """energy ** `energy_power` x latency ** `latency_power`, to be small."""

    energy_power: float = 1.0
    latency_power: float = 1.0

    def cost(self, energy_pj: float, latency_cycles: float) -> float:
        """Its logarithm."""
        return self.energy_power * log(energy_pj) + self.latency_power * log(latency_cycles)


@dataclass(frozen=True)
class Effort:
    """How much to search: `chains` walks of `rounds` candidates each (None: by model and batch), on `jobs` threads.

    The answer depends on `seed`, `chains` and `rounds`, not on `jobs`.  It ends early after `time_limit_s`
    processor seconds of all threads together, or where the objective is at most `gap` (0.01 for 1 %) above its bound.
    """

    seed: int = 0
    chains: int | None = None
    rounds: int | None = None
    jobs: int = 1
    time_limit_s: float | None = None
    gap: float = 0.0


@dataclass(frozen=True)
class Found:
    """The best schedule, the same fusion without prefetch, and how many candidates were scored."""

    timetable: Timetable
    double_buffered: Timetable | None
    evaluations: int


def cost_within(gap: float, network: Network, model: Model, batch: int, objective: Objective) -> float:
    """Logarithm of the objective `gap` above its bound over all schedules; minus infinity for a gap of 0."""
    if gap == 0:
        return -inf
    bound = lower_bound(network, model, batch)
    if not (bound.energy_pj > 0 and bound.latency_cycles > 0):
        return -inf
    return objective.cost(bound.energy_pj, bound.latency_cycles) + log(1 + gap)


@dataclass
class Goal:
    """The cost that walks are to reach, and the least number of a walk that has.

    Walks of larger numbers then end, those of smaller ones go on: the answer is the same in whatever order they run.
    """

    cost: float
    reached_by: int

    def of_walk(self, number: int, chain: Chain, limit: Limit) -> Limit:
        """`limit`, which is over where this walk, or one of a smaller number, has reached the goal."""
        return _GoalLimit(self, number, chain, limit)


class _GoalLimit(Limit):
    def __init__(self, goal: Goal, number: int, chain: Chain, limit: Limit) -> None:
        super().__init__(None)
        self.goal, self.number, self.chain, self.limit = goal, number, chain, limit

    @property
    def left_s(self) -> float:
        """As of the limit, nothing where the goal is reached."""
        if self.chain.costs[1] <= self.goal.cost:
            self.goal.reached_by = min(self.goal.reached_by, self.number)
        return -inf if self.goal.reached_by <= self.number else self.limit.left_s
