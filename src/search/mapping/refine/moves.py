"""Mappings one move away: another factor, two dimensions that change places, a loop's place, a tensor kept or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ....algebra.factors import primes_of
from ....costs.exact.batch import spreads_allowed
from ....costs.hierarchy import Architecture, MappingBatch, Problem
from ..draw import fits_arrays, joined
from ..pricing import Bools, Ints, kept_tensors
from ..values import Request

KINDS = ("temporal", "spatial_x", "spatial_y")


class Moves:
    """The neighbourhood of a mapping in the space of a request; batches of one mapping go in, of many come out."""

    def __init__(self, arch: Architecture, problem: Problem, request: Request) -> None:
        self.arch, self.problem = arch, problem
        self.split = request.space.split_axes
        self.imperfect = request.space.factors == "imperfect" and request.model == "exact"
        slots = [(0, level) for level in range(len(arch.levels))]
        for level in range(len(arch.levels)):
            slots += [(axis + 1, level) for axis, width in enumerate(arch.fan_out(level)) if width > 1]
        self._kinds, self._levels = np.array(slots, np.int64).T
        self._dims = [d for d, bound in enumerate(problem.bounds) if bound > 1]
        kept = kept_tensors(arch, problem)
        self._free: Ints = np.argwhere(kept[:-1]) if request.space.bypass else np.zeros((0, 2), np.int64)
        self._hashes: Ints = np.random.default_rng(0).integers(1, 1 << 40, (3, len(arch.levels), len(problem.dims)))

    @property
    def kinds(self) -> tuple[Callable[[MappingBatch], MappingBatch], ...]:
        """All kinds of moves, cheap ones first."""
        return self.rebypassed, self.reordered, self.refactored, self.exchanged

    def around(self, one: MappingBatch) -> MappingBatch:
        """All mappings one move away that fit the arrays."""
        return self._allowed(joined([move(one) for move in self.kinds]))

    def _allowed(self, batch: MappingBatch) -> MappingBatch:
        batch = fits_arrays(self.arch, batch)
        batch = batch.part(spreads_allowed(self.arch, self.problem, batch))
        if self.split:
            return batch
        both = ((batch.spatial_x > 1) & (batch.spatial_y > 1)).any(axis=(1, 2))
        return batch.part(np.asarray(~both, np.bool_))

    def refactored(self, one: MappingBatch) -> MappingBatch:
        """Another factor in one slot of a dimension, made up for in another slot."""
        factors, slots = self._factors(one)
        rows: list[Ints] = []
        for d in self._dims:
            bound, own = self.problem.bounds[d], slots[:, d]
            others = self._others(own, bound)
            rest = own.prod() // (own[:, None, None] * own[None, None, :]) * others[:, :, None]
            partner = -(-bound // np.maximum(rest, 1))
            good = (others[:, :, None] > 0) & (np.arange(len(own))[:, None, None] != np.arange(len(own)))
            if not self.imperfect:
                good &= rest * partner == bound
            a, g, b = np.nonzero(good)
            rows.append(np.stack([np.full(len(a), d), a, others[a, g], b, partner[a, g, b]], axis=1))
        found = np.concatenate(rows) if rows else np.zeros((0, 5), np.int64)
        every = np.repeat(factors[None], len(found), axis=0)
        n, (d, a, g, b, partner) = np.arange(len(found)), found.T
        every[n, self._kinds[a], self._levels[a], d] = g
        every[n, self._kinds[b], self._levels[b], d] = partner
        return self._with_factors(one, every)

    def exchanged(self, one: MappingBatch) -> MappingBatch:
        """A part of a factor goes from one slot to another, and a part of another dimension's comes back."""
        factors, slots = self._factors(one)
        given = self._parts(slots)
        if not len(given):
            return one.part(slice(0, 0))
        i, j = (index.ravel() for index in np.indices((len(given), len(given))))
        a, d, left, p = given[i].T
        b, e, rest, q = given[j].T
        different = (a < b) & (d != e)
        a, d, left, p, b, e, rest, q = (x[different] for x in (a, d, left, p, b, e, rest, q))
        every = np.repeat(factors[None], len(a), axis=0)
        n = np.arange(len(a))
        every[n, self._kinds[a], self._levels[a], d] = left
        every[n, self._kinds[b], self._levels[b], d] *= p
        every[n, self._kinds[b], self._levels[b], e] = rest
        every[n, self._kinds[a], self._levels[a], e] *= q
        return self._with_factors(one, every)

    def _parts(self, slots: Ints) -> Ints:
        """What slots may give away: rows of (slot, dimension, factor that is left, factor that goes)."""
        rows: list[tuple[int, int, int, int]] = []
        for a, d in np.argwhere(slots > 1).tolist():
            factor = int(slots[a, d])
            for p in {factor, *(prime for prime, _ in primes_of(factor)), *((2, 3) if self.imperfect else ())}:
                if p <= factor:
                    rows.append((a, d, -(-factor // p), p))
        return np.array(sorted(rows), np.int64).reshape(-1, 4)

    def _factors(self, one: MappingBatch) -> tuple[Ints, Ints]:
        """Factors of a batch of one by kind, level and dimension, and by slot and dimension."""
        factors = np.stack([getattr(one, kind)[0] for kind in KINDS])
        return factors, factors[self._kinds, self._levels]

    def _others(self, own: Ints, bound: int) -> Ints:
        """Other factors for each slot (S, G), 0 where there is none."""
        rows: list[list[int]] = []
        primes = [prime for prime, _ in primes_of(bound)]
        for factor in own.tolist():
            found = {factor * prime for prime in primes} | {factor // prime for prime in primes if factor % prime == 0}
            if self.imperfect:
                found |= {factor - 1, factor + 1, factor * 2, -(-factor // 2), factor * 3}
            rows.append(sorted(other for other in found if 1 <= other <= bound and other != factor))
        table = np.zeros((len(rows), max(map(len, rows))), np.int64)
        for row, found in zip(table, rows, strict=True):
            row[: len(found)] = found
        return table

    def _with_factors(self, one: MappingBatch, every: Ints) -> MappingBatch:
        """The mapping with each of these factors (N, 3, L, D), equal ones once; a new loop in three places."""
        keys = (every * self._hashes).sum(axis=(1, 2, 3))
        every = every[np.unique(keys, return_index=True)[1]]
        parts = {kind: np.ascontiguousarray(every[:, k]) for k, kind in enumerate(KINDS)}
        found = replace(one.repeated(0, len(every)), **parts)
        opened = (found.temporal > 1) & (one.temporal == 1)
        new = opened.any(axis=(1, 2))
        some = found.part(new)
        return joined([found, *(_placed(some, opened[new], at) for at in (-1, len(self.problem.dims)))])

    def reordered(self, one: MappingBatch) -> MappingBatch:
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
        repeated = one.repeated(0, len(found))
        for row, order in enumerate(found):
            repeated.order[row] = order
        return repeated

    def rebypassed(self, one: MappingBatch) -> MappingBatch:
        """One tensor more or less kept at one level."""
        repeated = one.repeated(0, len(self._free))
        rows = np.arange(len(self._free))
        repeated.kept[rows, self._free[:, 0], self._free[:, 1]] ^= True
        return repeated


def _placed(batch: MappingBatch, which: Bools, at: int) -> MappingBatch:
    """The mappings with some loops (N, L, D) put before or behind the others of their level."""
    places = np.where(which, at, batch.order.argsort(axis=2))
    return replace(batch, order=places.argsort(axis=2, kind="stable"))
