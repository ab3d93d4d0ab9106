"""Descent by exact prices: guesses say which neighbours are worth one."""

from __future__ import annotations

import numpy as np

from ....costs.hierarchy import MappingBatch
from ..pricing import Ints, Pricer
from .anneal import Annealer
from .guess import Guess

DRAWS = 4096
"""Random steps from a mapping: its neighbours."""

TOGETHER, MANY = 8, 64
"""Neighbours that are priced together, the most promising first, of those that are and where all are."""

TRUST = 1.05
"""Guesses are taken to be right up to this factor."""

MOST = 40
"""Neighbours of one mapping that are priced at most, unless all are."""


class Climber:
    """Goes to the best neighbour as long as there is a better one."""

    def __init__(self, pricer: Pricer, guess: Guess, annealer: Annealer) -> None:
        self.pricer, self.guess, self.annealer = pricer, guess, annealer

    def climb(self, one: MappingBatch, *, whole: bool = False) -> tuple[float, MappingBatch]:
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
