"""Quick guesses of the objective: see `costs.exact.guess`."""

import numpy as np

from ....costs.exact.batch import workspace
from ....costs.exact.guess import guess_all, room
from ....costs.hierarchy import Architecture, MappingBatch, Problem
from ..objective import values_of
from ..pricing import Floats, Pricer, Prices
from ..values import Objective, Request


class Guess:
    """Guesses the objective of many mappings of one problem on one machine."""

    def __init__(self, arch: Architecture, problem: Problem, objective: Objective) -> None:
        known = workspace(arch, problem, 0)
        self.able = known.able
        """Whether there are guesses: not of problems beyond the limits of compiled code."""
        self.shape, self.machine = known.shape, known.machine
        self.objective: Objective = objective

    def values(self, batch: MappingBatch) -> Floats:
        """Guessed objective (pJ cycles, pJ or cycles) of each mapping, infinite where it surely does not fit; (N,).

        All 0 where there are no guesses.
        """
        if not self.able:
            return np.zeros(len(batch))
        found = self.energies_and_cycles(batch, fitting=True)
        return values_of(self.objective, found[:, 0], found[:, 1])

    def energies_and_cycles(self, batch: MappingBatch, *, fitting: bool) -> Floats:
        """Guessed energy (pJ) and cycles of each mapping, and 1 where it may fit, else 0; (N, 3).

        With `fitting` both are infinite where it surely does not fit.
        """
        arrays = batch.arrays()
        found = np.empty((len(batch), 3))
        if len(batch):
            guess_all(self.shape, self.machine, arrays, found, fitting, room(*arrays.temporal.shape[1:]))
        return found


class GuessPricer(Pricer):
    """Prices that are guesses, where there are any: for searches that compare many mappings."""

    def __init__(self, guess: Guess, arch: Architecture, problem: Problem, request: Request) -> None:
        super().__init__(arch, problem, request)
        self._guess = guess

    def _chunk(self, batch: MappingBatch) -> Prices:
        if not self._guess.able:
            return super()._chunk(batch)
        energies, cycles, fits = self._guess.energies_and_cycles(batch, fitting=False).T
        return Prices(energies, cycles, fits > 0)
