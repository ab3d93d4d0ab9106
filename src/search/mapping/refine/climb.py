"""Descent to a local optimum: guesses say which neighbours are worth a price."""

from __future__ import annotations

import numpy as np

from ....costs.hierarchy import Architecture, MappingBatch, Problem
from ..pricing import Ints, Pricer
from .guess import Guess
from .moves import Moves

TOGETHER = 8
"""Neighbours that are priced together, the most promising first."""

TRUST = 1.05
"""Guesses are taken to be right up to this factor."""

MOST = 40
"""Neighbours of one mapping that are priced at most, unless all are."""


class Climber:
    """Goes to the best neighbour as long as there is a better one."""

    def __init__(self, arch: Architecture, problem: Problem, pricer: Pricer) -> None:
        self.pricer, self.problem = pricer, problem
        self.moves = Moves(arch, problem, pricer.request)
        self.guess = Guess(arch, problem, pricer.request.objective)

    def climb(self, one: MappingBatch, *, whole: bool = False) -> tuple[float, MappingBatch]:
        """The local optimum of prices from a batch of one mapping, and its objective.

        With `whole` every neighbour of the last mapping is priced, else those of which the guess is not far above.
        """
        value, better = float(self.pricer.values(one)[0]), True
        while better and not self.pricer.late:
            better = False
            around = self.moves.around(one)
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
        rows = np.argsort(guesses, kind="stable")
        if not whole and self.guess.able:
            own = float(self.guess.values(one)[0]) if np.isfinite(value) else np.inf
            rows = rows[guesses[rows] < own * TRUST][:MOST]
        return [rows[i : i + TOGETHER] for i in range(0, len(rows), TOGETHER)]

    def neighbours(self, one: MappingBatch) -> MappingBatch:
        """All mappings one move away."""
        return self.moves.around(one)
