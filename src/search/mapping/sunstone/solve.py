"""Level by level, the most promising choice first, with alpha-beta pruning."""

from dataclasses import replace
from itertools import pairwise
from math import prod

import numpy as np

from ....costs.hierarchy import Architecture, MappingBatch, Problem
from ....costs.places import nothing_fits
from ....interruption import stop_unless, stoppable
from ..pricing import Floats, Ints, Pricer
from ..room import Room
from ..values import Mapped, Request
from .choices import Choices, Chooser, Stage, Step, extended, stages_of, tile_of, undecided
from .orders import orders_of, reuse_of

CHUNK = 1024
"""Choices between two looks at the time limit."""

WIDTHS = 24, 6
"""Most choices that are followed of the first step, and of each later one."""


def solve(
    arch: Architecture,
    problem: Problem,
    request: Request,
    widths: tuple[int, int] = WIDTHS,
    pricer: Pricer | None = None,
) -> Mapped:
    """Sunstone's mapping of `problem`, searched and priced with the request's model and objective.

    At most `widths` choices are followed, of the first step and of each later one; alpha-beta mostly ends sooner.
    Another `pricer` may price what is compared, and the answer.  Raises InfeasibleError if nothing fits.
    """
    search = _Search(pricer or Pricer(arch, problem, request), widths)
    with stoppable():
        search.expand(undecided(search.room.kept, len(problem.dims)), 0)
    stop_unless(search.best)
    return search.answer()


class _Search:
    """One search: its steps, and the best mapping so far."""

    def __init__(self, pricer: Pricer, widths: tuple[int, int]) -> None:
        arch, problem, request = pricer.arch, pricer.problem, pricer.request
        self.pricer = pricer
        self.room = Room(arch, problem, request.model, request.space)
        reuse = reuse_of(problem)
        self.chooser = Chooser(problem, self.room, reuse, orders_of(reuse), request.space.split_axes)
        self.widths = widths
        self.bounds = np.array(problem.bounds)
        self.steps = _steps(stages_of(arch, self.room))
        self.best: MappingBatch | None = None
        self.value = np.inf

    def expand(self, partial: MappingBatch, number: int) -> None:
        """Decide step `number` in every promising way, and go on with the next."""
        step, last = self.steps[number], number + 1 == len(self.steps)
        decided = tile_of(partial)[0]
        limit = self.pricer.request.time_limit_s
        share = np.inf if limit is None else limit * (number + 1) / len(self.steps)  # of this step and those before
        left = self.bounds // decided
        choices = self.chooser.choices(step, decided, left, lambda: self.pricer.seconds > share)
        values = self._values(partial, choices, step, last)
        promising = np.argsort(values, kind="stable")[: self.widths[min(number, 1)]]
        for row in promising.tolist():
            if not values[row] < self.value or (self.pricer.late and self.best is not None):
                return
            found = extended(partial, choices.part(np.array([row])), step)
            if not last:
                self.expand(found, number + 1)
                continue
            self.value, self.best = float(values[row]), self._completed(found, step)
            self.pricer.report(self.value)

    def _completed(self, batch: MappingBatch, step: Step) -> MappingBatch:
        """Mappings, with all that is left of the bounds as loops of one level."""
        batch.temporal[:, step.outside] *= self.bounds // tile_of(batch)
        return batch

    def _values(self, partial: MappingBatch, choices: Choices, step: Step, last: bool) -> Floats:
        """The objective if the step is the last; else what it is at least, the rest moving no word again."""
        batch = self._completed(extended(partial, choices, step), step)
        values = np.full(len(batch), np.inf)
        for start in range(0, len(batch), CHUNK):
            if self.pricer.late and (start or self.best is not None):
                break
            rows = slice(start, start + CHUNK)
            if last:
                values[rows] = self.pricer.values(batch.part(rows))
            else:
                prices = self.pricer.prices(batch.part(rows))
                values[rows] = self.pricer.objective(replace(prices, cycles=prices.cycles / step.later))
        return values

    def answer(self) -> Mapped:
        """The best mapping, its loop orders chosen once more with all factors known."""
        if self.best is None:
            raise nothing_fits(self.pricer.arch, self.pricer.problem, "sunstone")
        best = self.best
        for step in self.steps:
            best = self._reordered(best, step.outside, self.chooser.every)
        return self.pricer.answer(best.mapping(0, self.pricer.problem))

    def _reordered(self, best: MappingBatch, level: int, orders: Ints) -> MappingBatch:
        """`best` with the order at `level` that makes it cheapest."""
        every = best.repeated(0, len(orders) + 1)
        every.order[1:, level] = orders
        index = int(self.pricer.values(every).argmin())
        return every.part(slice(index, index + 1))


def _steps(stages: tuple[Stage, ...]) -> list[Step]:
    """The array below the innermost stage, if any, and pairs of neighbouring stages from inside."""
    arrays = [prod(stage.array) for stage in stages]
    steps = [Step(stage, above, prod(arrays[i + 2 :])) for i, (stage, above) in enumerate(pairwise(stages))]
    alone = arrays[0] > 1 or not steps
    return [Step(None, stages[0], prod(arrays[1:])), *steps] if alone else steps
