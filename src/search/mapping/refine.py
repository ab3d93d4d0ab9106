"""Hill climbing from a mapping: other factors, orders and bypasses, as long as one of them is cheaper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

import numpy as np

from ...costs.hierarchy import Architecture, LoopMapping, MappingBatch, Problem, pack
from ...errors import InfeasibleError
from .draw import Sampler, fits_arrays, joined
from .factors import primes_of
from .pricing import Ints, Pricer, nothing_fits
from .sunstone import solve as sunstone
from .values import Mapped, Request

KINDS = ("temporal", "spatial_x", "spatial_y")
DRAWS = 4096
"""Random mappings among which starts are looked for."""
STARTS = 3
"""Random mappings that are climbed from."""


def solve(arch: Architecture, problem: Problem, request: Request, starts: Sequence[LoopMapping] = ()) -> Mapped:
    """A good mapping soon: Sunstone's, and the best of some random ones, each refined to a local optimum.

    `starts` are refined first.
    Honours the whole space of the request: bypass, imperfect factors and splits where it has them.  Raises
    InfeasibleError if nothing that fits was found.
    """
    pricer = Pricer(arch, problem, request)
    climber = Climber(arch, problem, pricer)
    best: tuple[float, LoopMapping] | None = None
    given = (pack(arch, problem, [mapping]) for mapping in starts)
    found = chain(given, _starts(arch, problem, request, pricer))
    while not (pricer.late and best is not None) and (start := next(found, None)) is not None:
        value, mapping = climber.climb(start)
        if value < (np.inf if best is None else best[0]):
            best = value, mapping
            pricer.report(value)
    if best is None:
        raise nothing_fits(arch, problem, "refine")
    return pricer.answer(best[1])


def _starts(arch: Architecture, problem: Problem, request: Request, pricer: Pricer) -> Iterator[MappingBatch]:
    limit = None if request.time_limit_s is None else request.time_limit_s / 3
    with suppress(InfeasibleError):  # of what it had time to look at
        found = sunstone(arch, problem, replace(request, time_limit_s=limit, report=None), widths=(1, 1))
        yield pack(arch, problem, [found.mapping])
    batch = fits_arrays(arch, Sampler(arch, problem, request.space, request.seed).draw(DRAWS))
    values = pricer.values(batch)
    for row in np.argsort(values, kind="stable")[:STARTS].tolist():
        if np.isfinite(values[row]):
            yield batch.part(slice(row, row + 1))


class Climber:
    """Descent to the best neighbour of each kind, until no neighbour is better."""

    def __init__(self, arch: Architecture, problem: Problem, pricer: Pricer) -> None:
        self.arch, self.problem, self.pricer = arch, problem, pricer
        space = pricer.request.space
        self.bypass, self.split = space.bypass, space.split_axes
        self.imperfect = space.factors == "imperfect" and pricer.request.model == "exact"
        self.slots = [(0, level) for level in range(len(arch.levels))]
        for level in range(len(arch.levels)):
            self.slots += [(axis + 1, level) for axis, width in enumerate(arch.fan_out(level)) if width > 1]

    def climb(self, start: MappingBatch) -> tuple[float, LoopMapping]:
        """The local optimum from a batch of one mapping, and its objective.

        Cheap moves come first: of a tensor, then of a loop's place; factors change where none of those helps.
        """
        best, value = start, float(self.pricer.values(start)[0])
        better = True
        while better and not self.pricer.late:
            better = False
            for move in (self._rebypassed, self._reordered, self._refactored):
                around = fits_arrays(self.arch, self._allowed(move(best)))
                values = self.pricer.values(around)
                index = int(values.argmin()) if len(values) else 0
                if len(values) and values[index] < value * (1 - 1e-12):
                    best, value, better = around.part(slice(index, index + 1)), float(values[index]), True
                    break
        return value, best.mapping(0, self.problem)

    def neighbours(self, one: MappingBatch) -> MappingBatch:
        """All mappings one move away."""
        return joined([self._refactored(one), self._reordered(one), self._rebypassed(one)])

    def _allowed(self, batch: MappingBatch) -> MappingBatch:
        if self.split:
            return batch
        both = ((batch.spatial_x > 1) & (batch.spatial_y > 1)).any(axis=(1, 2))
        return MappingBatch(*(getattr(batch, name)[~both] for name in MappingBatch.__match_args__))

    def _refactored(self, one: MappingBatch) -> MappingBatch:
        """Another factor in one slot of a dimension, made up for in another slot."""
        factors = np.stack([getattr(one, kind)[0] for kind in KINDS])
        found: list[Ints] = []
        for dim, bound in enumerate(self.problem.bounds):
            for a in self.slots:
                for factor in self._other_factors(int(factors[*a, dim]), bound):
                    for b in self.slots:
                        if a == b:
                            continue
                        others = int(factors[:, :, dim].prod() // factors[*a, dim] // factors[*b, dim]) * factor
                        partner = -(-bound // others)
                        if not self.imperfect and others * partner != bound:
                            continue
                        changed = factors.copy()
                        changed[*a, dim], changed[*b, dim] = factor, partner
                        found.append(changed)
        if not found:
            return one
        every = np.unique(np.stack(found), axis=0)
        repeated = self._repeated(one, len(every))
        temporal, columns, rows = (np.ascontiguousarray(every[:, kind]) for kind in range(len(KINDS)))
        return replace(repeated, temporal=temporal, spatial_x=columns, spatial_y=rows)

    def _other_factors(self, factor: int, bound: int) -> list[int]:
        primes = [prime for prime, _ in primes_of(bound)]
        found = {factor * prime for prime in primes} | {factor // prime for prime in primes if factor % prime == 0}
        if self.imperfect:
            found |= {factor - 1, factor + 1, factor * 2, -(-factor // 2), factor * 3}
        return sorted(other for other in found if 1 <= other <= bound and other != factor)

    def _reordered(self, one: MappingBatch) -> MappingBatch:
        """One loop moved to another place among those of its level."""
        found: list[Ints] = []
        for level in range(1, one.order.shape[1]):
            order = one.order[0, level].tolist()
            moving = [dim for dim in order if one.temporal[0, level, dim] > 1]
            for dim in moving:
                rest = [other for other in moving if other != dim]
                for place in range(len(moving)):
                    changed = one.order[0].copy()
                    new = [*rest[:place], dim, *rest[place:]]
                    changed[level] = [*new, *(other for other in order if other not in moving)]
                    found.append(changed)
        repeated = self._repeated(one, len(found))
        for row, order in enumerate(found):
            repeated.order[row] = order
        return repeated

    def _rebypassed(self, one: MappingBatch) -> MappingBatch:
        """One tensor more or less kept at one level."""
        free = np.argwhere(self.pricer.kept[:-1]) if self.bypass else np.zeros((0, 2), np.int64)
        repeated = self._repeated(one, len(free))
        for row, (level, tensor) in enumerate(free.tolist()):
            repeated.kept[row, level, tensor] ^= True
        return repeated

    def _repeated(self, one: MappingBatch, count: int) -> MappingBatch:
        return MappingBatch(*(np.repeat(getattr(one, name), count, axis=0) for name in MappingBatch.__match_args__))
