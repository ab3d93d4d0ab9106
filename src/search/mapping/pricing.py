"""Objective values of many mappings at once, under the cost model that a request names."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...costs.bounds import bounds_of
from ...costs.clock import Limit, processor_seconds
from ...costs.hierarchy import Architecture, LoopMapping, MappingBatch, Problem, pack
from ...costs.model import price_batch_with
from .objective import bound_of, unit_of, values_of
from .values import Mapped, Request

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

ROUNDING = 1e-9
"""Relative slack of bounds, for rounding in sums."""

CHUNK = 1 << 14
"""Mappings that are priced together, to bound memory."""


@dataclass(frozen=True)
class Prices:
    """Energy (pJ), cycles and validity of N mappings, each (N,)."""

    energy_pj: Floats
    cycles: Floats
    valid: Bools


class Pricer:
    """Prices mappings of one problem on one machine, counts them, and remembers when it was made."""

    def __init__(self, arch: Architecture, problem: Problem, request: Request) -> None:
        self.arch, self.problem, self.request = arch, problem, request
        self.evaluated = 0
        self._start, self._limit = processor_seconds(), Limit(request.time_limit_s)
        self.kept = kept_tensors(arch, problem)

    @property
    def seconds(self) -> float:
        """Processor time since the search began."""
        return processor_seconds() - self._start

    @property
    def late(self) -> bool:
        """Whether the time limit has passed, or the process was asked to stop."""
        return self._limit.late

    def report(self, best: float) -> None:
        """Tell the request's listener about a better mapping."""
        if self.request.report is not None:
            self.request.report(best * unit_of(self.request.objective), 0.0)

    def prices(self, batch: MappingBatch) -> Prices:
        """Prices of a batch; those of mappings that do not fit are computed all the same."""
        if not len(batch):
            return Prices(np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))
        self.evaluated += len(batch)
        parts = [self._chunk(batch.part(slice(i, i + CHUNK))) for i in range(0, len(batch), CHUNK)]
        return Prices(*(np.concatenate([getattr(part, name) for part in parts]) for name in Prices.__match_args__))

    def _chunk(self, batch: MappingBatch) -> Prices:
        return Prices(*price_batch_with(self.request.model, self.arch, self.problem, batch))

    def objective(self, prices: Prices) -> Floats:
        """What the request minimises: EDP in pJ cycles, energy in pJ or cycles; validity is left aside."""
        return values_of(self.request.objective, prices.energy_pj, prices.cycles)

    def values(self, batch: MappingBatch) -> Floats:
        """The objective of each mapping, infinite where it does not fit."""
        prices = self.prices(batch)
        return np.where(prices.valid, self.objective(prices), np.inf)

    def answer(self, mapping: LoopMapping) -> Mapped:
        """`mapping` as a mapper's answer; it is proven best only where it meets the bound of all mappings."""
        prices = self.prices(pack(self.arch, self.problem, [mapping]))
        seconds = self.seconds
        energy, cycles = float(prices.energy_pj[0]), int(prices.cycles[0])
        bound, objective = self.bound(), self.request.objective
        proven = values_of(objective, energy, float(cycles)) * unit_of(objective) <= bound * (1 + ROUNDING)
        return Mapped(mapping, energy * 1e-12 * cycles, energy, cycles, bound, proven, self.evaluated, seconds)

    def bound(self) -> float:
        """The bound that does not depend on mappings, remembered; 0 for Timeloop's model, which may go below it."""
        if self.request.model == "timeloop":
            return 0.0
        return bound_of(bounds_of(self.arch, self.problem), self.request.objective)


def kept_tensors(arch: Architecture, problem: Problem) -> Bools:
    """Which tensors each level keeps where nothing is bypassed by choice: all that it may hold, (L, T)."""
    kept = np.array([arch.may_hold(level, problem) for level in range(len(arch.levels))], np.bool_)
    kept[-1] = True
    return kept
