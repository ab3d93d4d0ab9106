"""`tensor_flow` for a whole batch: the closed forms of `temporal` and `spatial` on arrays.

A level whose children may serve each other through links, whose hops are paid for, or whose offsets along one axis come
from three or more dimensions, is analysed mapping by mapping with `level_traffic`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.batch import Ints, MappingBatch
from ..hierarchy.values import Architecture, LoopMapping, Problem, Tensor
from .batch_nest import Motion, Nest, extents_of, group_counts
from .spatial import Placement
from .traffic import LoopShifts, Traffic, level_traffic, loop_shifts

Floats = NDArray[np.float64]


@dataclass
class Flows:
    """What `TensorFlow` holds, for one tensor in all mappings: arrays (N, L), `outermost` (N,)."""

    content: Floats
    delivered: Floats
    received: Floats
    peer: Floats
    hop_words: Floats
    link_words: Floats
    tiles: Ints
    partitions: Ints
    outermost: Ints

    @staticmethod
    def empty(tiles: Ints, partitions: Ints, outermost: Ints) -> Flows:
        """No traffic yet."""
        a, b, c, d, e, f = (np.zeros(tiles.shape) for _ in range(6))
        return Flows(a, b, c, d, e, f, tiles, partitions, outermost)


class Analysis:
    """One batch on one machine; `flows` analyses one tensor."""

    def __init__(self, arch: Architecture, problem: Problem, batch: MappingBatch, nest: Nest, *, links: bool) -> None:
        self._arch = arch
        self._problem = problem
        self._batch = batch
        self._nest = nest
        self._links = links
        self._mappings: dict[int, LoopMapping] = {}
        self._placements: dict[Placement, Placement] = {}

    def flows(self, number: int) -> Flows:
        """Traffic of tensor `number` after bypass."""
        tensor = self._problem.tensors[number]
        kept = self._batch.kept[:, :, number]
        level_count = kept.shape[1]
        outermost = level_count - 1 - kept[:, ::-1].argmax(axis=1)
        extents = np.prod(extents_of(tensor, self._nest.tile), axis=2)
        found = Flows.empty(extents, self._partitions(tensor, extents), outermost)
        motion = Motion(self._nest, tensor)
        shifts: dict[int, LoopShifts] = {}
        for level in range(level_count):
            self._level(found, motion, tensor, level, shifts)
        self._receive(found)
        self._mask(found, kept)
        return found

    def _level(self, found: Flows, motion: Motion, tensor: Tensor, level: int, shifts: dict[int, LoopShifts]) -> None:
        words, linkable = motion.words(level)
        groups, alone = group_counts(self._nest, tensor, level)
        fan_out = self._nest.fan_out[:, level]
        found.content[:, level] = words * groups
        found.delivered[:, level] = words * fan_out
        if self._links:
            alone = alone | linkable
        if self._arch.levels[level].hop_energy_pj:
            for n in np.flatnonzero((fan_out > 1) & ~alone).tolist():
                placement = self._placement(n, tensor, level, shifts)
                found.hop_words[n, level] = placement.hops(placement.plain) * words[n]
        for n in np.flatnonzero(alone).tolist():
            traffic = self._one(n, tensor, level, shifts)
            found.content[n, level] = traffic.content
            found.delivered[n, level] = traffic.delivered
            found.hop_words[n, level] = traffic.hop_words
            found.link_words[n, level] = traffic.link_words

    def _placement(self, n: int, tensor: Tensor, level: int, shifts: dict[int, LoopShifts]) -> Placement:
        if n not in self._mappings:
            self._mappings[n] = self._batch.mapping(n, self._problem)
        if n not in shifts:
            shifts[n] = loop_shifts(self._mappings[n], tensor, len(self._problem.dims))
        placement = shifts[n].placement(level, self._arch.fan_out(level), len(tensor.coefficients))
        return self._placements.setdefault(placement, placement)

    def _one(self, n: int, tensor: Tensor, level: int, shifts: dict[int, LoopShifts]) -> Traffic:
        placement = self._placement(n, tensor, level, shifts)
        child = tensor.extents(tuple(self._nest.child[n, level].tolist()))
        hops = self._arch.levels[level].hop_energy_pj > 0
        loops = shifts[n].moves(level)
        return level_traffic(placement, child, loops, resident=level > 0, links=self._links, hops=hops)

    def _receive(self, found: Flows) -> None:
        """Fills from the parent and from neighbours, before bypass."""
        instances = np.ones(len(found.outermost))
        for level in range(found.content.shape[1] - 1, 0, -1):
            fan_out = self._nest.fan_out[:, level]
            instances = instances * fan_out
            found.peer[:, level - 1] = found.link_words[:, level] / instances
            share = found.delivered[:, level] / fan_out
            found.received[:, level - 1] = np.where(level - 1 < found.outermost, share, 0.0)

    def _mask(self, found: Flows, kept: NDArray[np.bool_]) -> None:
        """Hand the accesses of levels without the tensor to the next level outside, innermost first."""
        for level in range(kept.shape[1] - 1):
            away = ~kept[:, level]
            content = found.content[:, level] * self._nest.fan_out[:, level + 1]
            scale = np.where(away, content / np.maximum(found.delivered[:, level + 1], 1.0), 1.0)
            found.content[:, level + 1] *= scale
            found.delivered[:, level + 1] *= scale
            found.link_words[away, level + 1] = 0
            found.link_words[away, level] = 0
            found.peer[away, level] = 0

    def _partitions(self, tensor: Tensor, tiles: Ints) -> Ints:
        partitions = tiles.copy()
        together = np.prod(extents_of(tensor, self._nest.children), axis=2)
        for level in range(tiles.shape[1] - 1, 0, -1):
            owned = partitions[:, level]
            part = owned * tiles[:, level - 1] // together[:, level]
            partitions[:, level - 1] = np.where(self._nest.fan_out[:, level] > 1, part, owned)
        return partitions
