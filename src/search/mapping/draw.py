"""Random mappings: every ordered factorisation of every bound is equally likely."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from ...algebra.factors import primes_of
from ...costs.hierarchy import Architecture, MappingBatch, Problem
from .pricing import Bools, Ints, kept_tensors
from .values import Space

Rows = TypeVar("Rows")

BATCH = 4096
"""Mappings that are drawn together."""


class Sampler:
    """Draws mappings of a space; factors are perfect, and arrays and memories may overflow."""

    def __init__(self, arch: Architecture, problem: Problem, space: Space, seed: int) -> None:
        self.arch, self.problem, self.space = arch, problem, space
        self._random: Generator = np.random.default_rng(seed)
        self._kept: Bools = kept_tensors(arch, problem)
        levels = range(len(arch.levels))
        self._slots = [("temporal", level) for level in levels]
        for level in levels:
            columns, rows = arch.fan_out(level)
            self._slots += [("spatial_x", level)] * (columns > 1) + [("spatial_y", level)] * (rows > 1)

    def draw(self, count: int) -> MappingBatch:
        """`count` mappings with random orders; bypass is random where the space has it."""
        shape = count, len(self.arch.levels), len(self.problem.dims)
        batch = MappingBatch(**self._factors(shape), **self._orders(shape), kept=self._keep(count))
        split = ((batch.spatial_x > 1) & (batch.spatial_y > 1)).any(axis=(1, 2))
        return batch if self.space.split_axes else batch.part(np.flatnonzero(~split))

    def bypasses(self) -> Bools:
        """All choices of what each level keeps, everything first; (N, L, T)."""
        free = np.argwhere(self._kept[:-1])
        if not self.space.bypass:
            return self._kept[None]
        choices = np.repeat(self._kept[None], 1 << len(free), axis=0)
        for bit, (level, tensor) in enumerate(free):
            choices[:, level, tensor] = (np.arange(len(choices)) >> bit) % 2 == 0
        return choices

    def _factors(self, shape: tuple[int, int, int]) -> dict[str, Ints]:
        found = {name: np.ones(shape, np.int64) for name in ("temporal", "spatial_x", "spatial_y")}
        spread = self.arch.may_spread(self.problem)
        for dim, bound in enumerate(self.problem.bounds):
            slots = [(name, level) for name, level in self._slots if spread[dim] or name == "temporal"]
            for prime, power in primes_of(bound):
                for (name, level), part in zip(slots, self._composition(shape[0], power, len(slots)).T, strict=True):
                    found[name][:, level, dim] *= prime**part
        return found

    def _composition(self, count: int, total: int, slots: int) -> Ints:
        """Numbers that add up to `total`, one per slot, each way equally likely (stars and bars)."""
        places = self._random.random((count, total + slots - 1)).argsort(axis=1)[:, : slots - 1]
        bars = np.sort(places, axis=1)
        edges = np.hstack([np.full((count, 1), -1), bars, np.full((count, 1), total + slots - 1)])
        return np.diff(edges, axis=1) - 1

    def _orders(self, shape: tuple[int, int, int]) -> dict[str, Ints]:
        names = ("order", "order_x", "order_y")
        return {name: self._random.random(shape).argsort(axis=2).astype(np.int64) for name in names}

    def _keep(self, count: int) -> Bools:
        kept = np.repeat(self._kept[None], count, axis=0)
        if self.space.bypass:
            kept[:, :-1] &= self._random.random(kept[:, :-1].shape) < 0.5
        return kept


def fits_arrays(arch: Architecture, batch: MappingBatch) -> MappingBatch:
    """The mappings whose spatial factors fit the arrays."""
    good = np.ones(len(batch), np.bool_)
    for level in range(len(arch.levels)):
        columns, rows = arch.fan_out(level)
        good &= (batch.spatial_x[:, level].prod(axis=1) <= columns) & (batch.spatial_y[:, level].prod(axis=1) <= rows)
    return batch.part(good)


def joined(batches: Sequence[Rows]) -> Rows:
    """The rows of some values whose fields are all arrays, in one."""
    kind: Any = type(batches[0])
    return kind(*(np.concatenate([getattr(batch, name) for batch in batches]) for name in kind.__match_args__))
