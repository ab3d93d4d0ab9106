"""Our co-exploration: all capacities in one search.

A cost is a vector with one number per candidate.  Shortest paths over cuts of an order, or over downsets, add and
compare such vectors, so one run gives the best partition of its space for every candidate, and with it the whole front
of size against cost.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from random import Random

import numpy as np

from ...algebra.dag import bits
from ...algebra.element import Floats, Ints
from ...costs.pareto import each_lower
from ...interruption import stoppable
from .capacity import CapacityEvaluator
from .codesign import Best, Plan
from .lattice import TooLargeError, extensions, path_between
from .possible import Possible
from .refine import Refiner, window_of
from .space import Groups
from .stretches import Stretches
from .units import Tolls

MOST_STEPS = 100_000
"""Steps of the lattice that are tried, priced or not."""


@dataclass
class Front:
    """The least metric found for each candidate, and the partition that has it.

    `possible` is false only where no group that holds the layers fits any candidate (None: not known), with weights
    divided over `cores`.
    """

    plan: Plan
    tolls: Tolls
    possible: Possible | None = None
    cores: int = 1
    costs: Floats = field(init=False)
    groups: list[Groups] = field(init=False)
    proven: bool = False

    def __post_init__(self) -> None:
        count = len(self.plan.choices.candidates)
        self.costs = np.full(count, inf)
        self.groups = [()] * count

    @property
    def totals(self) -> Floats:
        """Formula 2 for each candidate."""
        return self.plan.choices.sizes + self.plan.alpha * self.costs

    @property
    def best(self) -> int:
        """The best candidate."""
        return int(np.argmin(self.totals))

    def offer(self, groups: Groups) -> None:
        """Take a partition wherever it is better than what is known."""
        totals = self.plan.choices.totals(groups)
        for candidate in np.flatnonzero(totals < self.costs * (1 - 1e-12)):
            self.costs[candidate], self.groups[candidate] = totals[candidate], groups

    def pareto(self) -> list[int]:
        """Candidates for which no smaller or equal one costs as little, by size."""
        order = sorted(range(len(self.costs)), key=lambda c: (self.plan.choices.sizes[c], self.costs[c]))
        return list(each_lower(order, self.costs.__getitem__))

    def cuts(self, order: Sequence[int], most: int) -> None:
        """The best cuts of a topological order, for all candidates at once, with some `most` groups priced.

        Cuts lie at places where less is live than around them: first than far around, then than ever less far, as
        long as there are prices left.  Cells of a network that are alike are cut alike, and priced once.
        """
        stretches = Stretches(self.plan.choices, order, self._live(order), most, self.possible)
        costs, came = stretches.shortest()
        for candidate in map(int, np.flatnonzero(costs < self.costs * (1 - 1e-12))):
            groups = stretches.groups(came[:, candidate])
            self.costs[candidate], self.groups[candidate] = costs[candidate], groups

    def _live(self, order: Sequence[int]) -> list[float]:
        """What it costs to load what is live at each place of an order."""
        space = self.plan.choices.space
        live, done = [0.0], 0
        for number in order:
            done |= 1 << number
            live.append(sum(self.tolls.loads[n] for n in bits(space.sources(space.everything & ~done) & done)))
        return live

    def evaluator(self, candidate: int) -> CapacityEvaluator:
        """Prices under one candidate; what cannot fit it is told without a price."""
        choices, least = self.plan.choices, self.tolls.least
        if self.possible is None:
            return choices.at(candidate, least)
        buffers = choices.candidates[candidate]
        room = buffers.global_bytes if buffers.weight_bytes is None else buffers.weight_bytes
        fits = replace(
            self.possible, weight_capacity=float(room * self.cores), map_capacity=float(buffers.global_bytes), known={}
        )
        return choices.at(candidate, lambda group: least(group) if fits(group) else inf)

    def exact(self, more: int) -> None:
        """The least cost of formula 2 over all partitions and candidates, proven, with `more` groups priced at most.

        Raises `TooLargeError` where it is given up.
        """
        most = self.plan.choices.evaluations + more
        limits = (float(self.totals.min()) * (1 + 1e-12) - self.plan.choices.sizes) / self.plan.alpha
        downsets = _Downsets(self.plan, self.tolls, limits, most, possible=self.possible)
        for candidate, cost, groups in downsets.solve():
            if cost < self.costs[candidate] * (1 - 1e-12):
                self.groups[candidate], self.costs[candidate] = groups, cost
        self.proven = True

    def window(self, candidate: int, random: Random, most: int) -> None:
        """The best groups in place of a few neighbours of a candidate; given up where `most` evaluations are passed."""
        choices, groups = self.plan.choices, self.groups[candidate]
        window = window_of(choices.space, groups, random)
        if window is None:
            return
        limits = np.full(len(self.costs), -inf)
        limits[candidate] = float(choices.totals(window.chosen)[candidate]) * (1 - 1e-9)
        try:
            found = list(_Downsets(self.plan, self.tolls, limits, most, window.outside, WINDOW_STEPS).solve())
        except TooLargeError:
            return
        for _, _, better in found:
            ordered = choices.space.ordered([*window.others, *better])
            if ordered is not None:
                self.offer(tuple(ordered))


@dataclass
class _Downsets:
    """Shortest paths over the downsets above `start`, for all candidates at once, if they can end within `limits`.

    `limits` are the most that the layers outside of `start` may cost under each candidate (minus infinity: it is left
    out).  Groups that cannot be part of such a path are not priced.
    """

    plan: Plan
    tolls: Tolls
    limits: Floats
    most_evaluations: int
    start: int = 0
    most_steps: int = MOST_STEPS
    possible: Callable[[int], bool] | None = None
    steps: int = 0
    tries: int = 0
    costs: dict[int, Floats] = field(default_factory=dict[int, Floats])
    came: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def solve(self) -> Iterator[tuple[int, float, Groups]]:
        """Candidate, metric and groups of all that end within their limits."""
        space = self.plan.choices.space
        self.costs[self.start] = np.where(self.limits > -inf, 0.0, inf)
        levels: list[list[int]] = [[] for _ in range(space.size + 1)]
        levels[self.start.bit_count()].append(self.start)
        for level in levels:
            for done in level:
                for after in self._expand(done):
                    levels[after.bit_count()].append(after)
        goal = space.everything
        if goal in self.costs:
            for candidate in map(int, np.flatnonzero(self.costs[goal] < inf)):
                yield (
                    candidate,
                    float(self.costs[goal][candidate]),
                    path_between(self.start, goal, lambda done, candidate=candidate: self.came[done, candidate]),
                )

    def _expand(self, done: int) -> list[int]:
        """Try all groups after `done`; the downsets that are met for the first time."""
        choices, tolls = self.plan.choices, self.tolls
        slack = self.limits - self.costs[done]
        useful = np.flatnonzero(slack >= tolls.rest(done))
        fresh: list[int] = []
        if len(useful) == 0:
            return fresh
        most = float(slack[useful].max())
        known: dict[int, float] = {}

        def price(group: int) -> float:
            hopeless = tolls.least(group) + tolls.rest(done | group) > most
            found = known[group] = -1.0 if hopeless else float(choices.prices(group)[useful].min())
            return found

        for group in extensions(choices.space, done, None if self.possible else price, self._may_fit):
            self.steps += 1
            if self.steps > self.most_steps or choices.evaluations > self.most_evaluations:
                raise TooLargeError
            least = known[group] if group in known else price(group)
            if 0 <= least < inf:
                fresh.extend(self._reach(done, group, useful))
        return fresh

    def _may_fit(self, group: int, part: int) -> bool:
        self.tries += 1
        if self.tries > 4 * self.most_steps:
            raise TooLargeError
        return self.possible is None or self.possible(group)

    def _reach(self, done: int, group: int, useful: Ints) -> list[int]:
        """Take the step from `done` by `group`; where it leads, if nothing led there before."""
        after = done | group
        total = self.costs[done][useful] + self.plan.choices.prices(group)[useful]
        within = total + self.tolls.rest(after) <= self.limits[useful]
        useful, total = useful[within], total[within]
        if len(useful) == 0:
            return []
        first = after not in self.costs
        costs = self.costs.setdefault(after, np.full(len(self.limits), inf))
        better = total < costs[useful]
        costs[useful[better]] = total[better]
        self.came.update({(after, int(candidate)): group for candidate in useful[better]})
        return [after] if first else []


def ours(plan: Plan, tolls: Tolls, possible: Possible, cores: int = 1) -> tuple[Best, Front]:
    """All candidates at once: cuts of two orders, then borders annealed; the lattice where that brings nothing.

    `possible` is that of `Front.exact`; weights are divided over `cores`.

    Prices at most a tenth as many groups as `plan` lets others score points, but for what the last cuts need.
    """
    space, budget = plan.choices.space, plan.samples // 10
    front, random, best = Front(plan, tolls, possible, cores), Random(plan.seed), Best()
    with stoppable():
        depth = sorted(range(space.size), key=lambda number: (space.depth[number], number))
        kinds = len({plan.choices.structure(1 << number) for number in range(space.size)})
        for order, most, singles in ((list(range(space.size)), budget // 3, kinds), (depth, budget // 6, 0)):
            front.cuts(order, min(most, singles + budget // CUTS))
            _note(best, front)
        idle = 0
        while plan.choices.evaluations < budget - MOVE and idle < PATIENCE and not (plan.ended(best) or front.proven):
            before = best.cost
            _refine(front, random, budget, idle)
            if idle >= STUCK and front.groups[front.best]:
                front.window(front.best, random, min(budget - 1, plan.choices.evaluations + WINDOW_PRICES))
            _note(best, front)
            idle = 0 if best.cost < before else idle + 1
            if idle in PROOFS:
                with suppress(TooLargeError):
                    front.exact(min(budget // EXACT, budget - plan.choices.evaluations) - 1)
    _note(best, front)
    return best, front


CUTS, EXACT = 5, 5
"""Shares of the budget that go into the cuts of each of two orders, beside single layers of all kinds, and into the
lattice: one of so many parts each."""

STUCK, PATIENCE, PROOFS = 5, 30, (5, 29)
"""Rounds in a row that brought nothing, after which windows are solved, after which the search ends, and after which
the lattice is tried."""


def _refine(front: Front, random: Random, budget: int, idle: int) -> None:
    """Anneal the borders at the best candidate or at a good one, then cut the order of what comes out anew.

    The longer nothing was found (`idle` rounds), the worse a candidate may be.
    """
    choices = front.plan.choices
    totals = front.totals
    near = sorted(map(int, np.flatnonzero(totals < inf)), key=lambda candidate: float(totals[candidate]))
    if not near:
        return
    candidate = near[min(len(near) - 1, int(random.expovariate(1) * (2 + idle)))]
    refiner = Refiner(choices.space, front.evaluator(candidate), random)
    refiner.start(front.groups[candidate])
    heat = HEATS[idle % len(HEATS)] * float(front.costs[candidate])
    for chunk in range(CHUNKS):
        if choices.evaluations >= budget - MOVE:
            break
        fall = 1000 ** (-1 / CHUNKS)
        refiner.run(MOVES, heat * fall**chunk, heat * fall ** (chunk + 1), lambda: choices.evaluations >= budget - MOVE)
    front.offer(refiner.best)
    front.offer(refiner.line.in_order())
    order = [number for group in refiner.best for number in bits(group)]
    spare = min(budget - choices.evaluations, max(RECUT, budget // RECUTS))
    if spare > 0:
        front.cuts(order, spare)


RECUT, RECUTS = 20, 20
"""Groups that may be priced when an order that annealing found is cut anew, for all candidates: so many, or one of so
many parts of the budget."""

MOVE = 3
"""Groups that a move asks for, rarely more."""

CHUNKS, MOVES, HEATS = 10, 1000, (1e-5, 1e-4, 3e-4, 1e-3, 3e-3)
"""Moves of a round; its temperature at first, as a share of the metric: higher the longer nothing was found."""

WINDOW_PRICES, WINDOW_STEPS = 200, 5000
"""Groups that may be priced in a window, and steps that may be tried."""


def _note(best: Best, front: Front) -> None:
    best.samples = front.plan.choices.evaluations
    candidate = front.best
    best.keep(float(front.totals[candidate]), candidate, front.groups[candidate])
    front.plan.tell(best)
