"""Good mappings soon: annealed populations, the mappings of Sunstone and CoSA, and descent from each of them."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import log2

import numpy as np

from ....costs.hierarchy import Architecture, LoopMapping, MappingBatch, Problem, pack
from ....costs.places import nothing_fits
from ....errors import InfeasibleError
from ....interruption import stop_unless, stoppable
from ..cosa import solve as cosa
from ..draw import Sampler, fits_arrays
from ..pricing import Ints, Pricer
from ..sunstone import solve as sunstone
from ..values import Mapped, Request
from .anneal import Annealer
from .guess import Guess, GuessPricer

DRAWS = 4096
"""Random mappings among which starts are looked for, again and again, and random steps from one: its neighbours."""

TOGETHER, MANY = 8, 64
"""Neighbours that are priced together, the most promising first, of those that are and where all are."""

TRUST = 1.05
"""Guesses are taken to be right up to this factor."""

MOST = 40
"""Neighbours of one mapping that are priced at most, unless all are."""

CHAINS, STAGES = 16, 4
"""Mappings that are annealed side by side; of each stage the better half goes on."""

STEPS, STEPS_EACH = 60_000, 400
"""Steps of all chains of a round together, at most, and for each slot of a factor and doubling of a bound."""

STEPS_PER_S, LIMITED_STEPS = 150_000, 750_000
"""Steps of a round for each second of a time limit (nearly half of what it has time for), and at most: with as much
time, long rounds find better mappings than many short ones."""

ENDS, SHORTER = 2, 16
"""In Timeloop's model, of which guesses know little: mappings of a round from which a descent begins, and how much
shorter rounds are."""

HOT, WARM, COLD = 0.3, 0.1, 0.003
"""A chain gets worse by about this factor in a step: at first, at first where it starts from the best, and at last."""

PATIENCE, LIMITED_PATIENCE = 3, 12
"""Rounds without success after which a search ends, and one with a time limit."""

PEERS_AFTER, PEER_SHARE, PEER_LEAST_S = 1, 0.15, 0.3
"""Rounds before mappings of other mappers are looked for, the part of a time limit that each may take, and processor
seconds below which it finds nothing.  Sunstone's way of choosing goes by guesses."""


def solve(arch: Architecture, problem: Problem, request: Request, starts: Sequence[LoopMapping] = ()) -> Mapped:
    """A good mapping soon: `starts`, Sunstone's, CoSA's and annealed random ones, each refined to a local optimum.

    Honours the whole space of the request: bypass, imperfect factors and splits where it has them.  Raises
    InfeasibleError if nothing that fits was found.
    """
    search = _Refinement(arch, problem, request)
    with stoppable():
        for mapping in starts:
            search.offer(pack(arch, problem, [mapping]))
        search.rounds()
    stop_unless(search.best)
    return search.answer()


class _Refinement:
    """The best mapping so far, and where to look for others."""

    def __init__(self, arch: Architecture, problem: Problem, request: Request) -> None:
        self.arch, self.problem, self.request = arch, problem, request
        self.pricer = Pricer(arch, problem, request)
        self.pricer.bound()  # the answer needs it, and it is part of the time
        self.guess = Guess(arch, problem, request.objective)
        self.annealer = Annealer(arch, problem, request, self.guess)
        self.best: MappingBatch | None = None
        self.value = np.inf
        doublings = log2(problem.macs) if problem.macs > 1 else 1.0
        self.steps = min(STEPS, int(STEPS_EACH * self.annealer.slots * doublings))
        self.patience, self.ends = PATIENCE, ENDS if request.model == "timeloop" else 1
        if request.time_limit_s is not None:
            self.steps = min(LIMITED_STEPS, int(STEPS_PER_S * request.time_limit_s))
            self.patience = LIMITED_PATIENCE
        if request.model == "timeloop":
            self.steps //= SHORTER

    @property
    def over(self) -> bool:
        """Whether it is late, and there is an answer."""
        return self.pricer.late and self.best is not None

    def offer(self, start: MappingBatch, *, whole: bool = False) -> bool:
        """Climb from a mapping, and keep what is found if it is the best; whether it is."""
        value, found = self._climb(start, whole=whole or self.request.model == "timeloop")
        better = value < self.value * (1 - 1e-12)
        if better:
            self.value, self.best = value, found
            self.pricer.report(value)
        return better

    def _climb(self, one: MappingBatch, *, whole: bool = False) -> tuple[float, MappingBatch]:
        """Where no neighbour is better, from a batch of one mapping, and its objective.

        With `whole` every neighbour of the last mapping is priced, else those of which the guess is not far above.
        """
        value, better = float(self.pricer.values(one)[0]), True
        while better and not self.pricer.late:
            better = False
            around = self.annealer.around(one, DRAWS)
            for rows in self._promising(around, one, value, whole=whole):
                part = around.part(rows)
                values = self.pricer.values(part)
                index = int(values.argmin())
                if values[index] < value * (1 - 1e-12):
                    one, value, better = part.part(slice(index, index + 1)), float(values[index]), True
                    break
                if self.pricer.late:
                    break
        return value, one

    def _promising(self, around: MappingBatch, one: MappingBatch, value: float, *, whole: bool) -> list[Ints]:
        """Rows of `around` to be priced together, the least guess first."""
        guesses = self.guess.values(around)
        rows, together = np.argsort(guesses, kind="stable"), MANY
        if not whole and self.guess.able:
            own = float(self.guess.values(one)[0]) if np.isfinite(value) else np.inf
            rows, together = rows[guesses[rows] < own * TRUST][:MOST], TOGETHER
        return [rows[i : i + together] for i in range(0, len(rows), together)]

    def rounds(self) -> None:
        """Anneal random mappings, and the best once more, until nothing gets better."""
        drawn, number, last = self._drawn(), 0, 0
        while not self.over and number - last <= self.patience:
            number += 1
            if number == PEERS_AFTER + 1 and self._peers():
                last = number
            again = number % 3 == 0 and self.best is not None
            for found in self._reheated() if again else self._population(drawn):
                if self.offer(found):
                    last = number
            if not self.guess.able and number > CHAINS:
                break
        if self.best is not None and not self.over:
            self.offer(self.best, whole=True)

    def _drawn(self) -> Iterator[MappingBatch]:
        """Random mappings, the most promising of some first, then of some others."""
        sampler = Sampler(self.arch, self.problem, self.request.space, self.request.seed)
        fruitless = 0
        while fruitless < PATIENCE:
            batch = fits_arrays(self.arch, sampler.draw(DRAWS))
            values = self.guess.values(batch) if self.guess.able else self.pricer.values(batch)
            rows = [row for row in np.argsort(values, kind="stable").tolist() if np.isfinite(values[row])]
            fruitless = 0 if rows else fruitless + 1
            for row in rows[: 4 * CHAINS]:
                yield batch.part(slice(row, row + 1))

    def _population(self, drawn: Iterator[MappingBatch]) -> list[MappingBatch]:
        """The best of some random mappings, annealed side by side, or some of the best; none if none is left."""
        chains = [start for start, _ in zip(drawn, range(CHAINS if self.guess.able else 1), strict=False)]
        heats = np.geomspace(HOT, COLD, STAGES + 1).tolist()
        for hot, cold in pairwise(heats):
            steps = self.steps // STAGES // max(1, len(chains))
            ended: list[tuple[float, MappingBatch]] = []
            for start in chains:
                found = start if self.over else self.annealer.run(start, steps, hot, cold)
                ended.append((float(self.guess.values(found)[0]), found))
            ended.sort(key=lambda pair: pair[0])
            chains = [found for _, found in ended[: max(self.ends, len(ended) // 2)]]
        return chains[: self.ends]

    def _reheated(self) -> list[MappingBatch]:
        """The best mapping annealed once more; none if that leads nowhere else."""
        assert self.best is not None
        found, heats = self.best, np.geomspace(WARM, COLD, CHAINS + 1).tolist()
        for hot, cold in pairwise(heats):
            if not self.over:
                found = self.annealer.run(found, self.steps // CHAINS, hot, cold)
        return [found] if self.guess.values(found)[0] < self.guess.values(self.best)[0] else []

    def _peers(self) -> bool:
        """Climb from Sunstone's and CoSA's mappings, where there is time for them; whether one leads to the best."""
        limit = None if self.request.time_limit_s is None else self.request.time_limit_s * PEER_SHARE
        if limit is not None and limit < PEER_LEAST_S:
            return False
        request = replace(self.request, time_limit_s=limit, report=None)
        better, pricer = False, GuessPricer(self.guess, self.arch, self.problem, request)
        for mapper in partial(sunstone, widths=(1, 1), pricer=pricer), cosa:
            with suppress(InfeasibleError):  # of what it had time to look at
                found = mapper(self.arch, self.problem, request)
                better |= self.offer(pack(self.arch, self.problem, [found.mapping]))
        return better

    def answer(self) -> Mapped:
        """The best mapping; raises InfeasibleError if there is none."""
        if self.best is None:
            raise nothing_fits(self.arch, self.problem, "refine")
        return self.pricer.answer(self.best.mapping(0, self.problem))
