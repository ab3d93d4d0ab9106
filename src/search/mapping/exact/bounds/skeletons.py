"""Bounds of all ways to keep tensors with one spread, at once."""

from __future__ import annotations

import numpy as np

from .....costs.compiled import compiled, inner
from ..space.model import Floats, Ints, Model, one_way
from ..space.skeleton import fill
from ..space.ways import Ways
from ..traffic.busy import busy_along
from ..traffic.words import has_room, union_size
from ..tree.state import Skeleton
from .nodes import value_of

SLACK = 1 - 1e-9
"""For rounding in sums."""


@inner
def first_tile(model: Model, skeleton: Skeleton, own: int) -> Ints:
    """Iterations at least that all instances of memory `own` have together in their first tiles, by dimension."""
    levels, dims = skeleton.spread.shape
    covered = skeleton.inside[levels].copy()
    for d in range(0 if model.perfect else dims):
        covered[d] = busy_along(model.halves, skeleton.spread, own, d, levels - 1, skeleton.inside[own + 1, d])
    return covered


@inner
def first_words(model: Model, skeleton: Skeleton, inside: int, far: Floats) -> None:
    """Words of the outermost memory in the first tiles of all tensors kept further in than memory `inside`: `far` (2,)
    in and out."""
    far[:] = 0.0
    last = skeleton.kept.shape[0] - 1
    for t in range(0 if model.timeloop else model.kind.shape[0]):
        own = skeleton.parent[0, t]
        if own < inside:
            words = (
                float(union_size(model, t, first_tile(model, skeleton, own), skeleton.inside[own + 1]))
                * model.weight[last, t]
            )
            far[1 if model.is_output[t] else 0] += words


@inner
def steady_cycles(model: Model, skeleton: Skeleton) -> float:
    """Least cycles but for filling and draining, by steps and by ports."""
    last, steps = skeleton.spread.shape[0], 1.0
    for d in range(model.bounds.shape[0]):
        steps *= -(-model.bounds[d] // skeleton.inside[last, d])
    most = steps
    for level in range(last):
        reads, writes = skeleton.floor[level, 0], skeleton.floor[level, 1]
        limits, used = model.bandwidth[level], skeleton.used[level]
        ports = max(reads / limits[0], writes / limits[1], (reads + writes) / limits[2]) / used
        most = max(most, ports * SLACK)
    return most


@inner
def waiting_cycles(model: Model, far: Floats) -> float:
    """Least cycles of the outermost memory's port for the first words in and the last ones out."""
    limits = model.bandwidth[-1]
    return (far[0] / one_way(limits, False) + far[1] / one_way(limits, True)) * SLACK


@compiled
def steady_and_far(model: Model, skeleton: Skeleton, far: Floats) -> float:
    """`steady_cycles` of a skeleton that is complete, and `first_words` of tensors not kept in the last memory only."""
    first_words(model, skeleton, skeleton.kept.shape[0] - 2, far)
    return steady_cycles(model, skeleton)


@inner
def may_fit(model: Model, skeleton: Skeleton) -> bool:
    """Whether all memories have room for the smallest tiles that they may keep."""
    for level in range(skeleton.kept.shape[0] - 1):
        if not has_room(model, skeleton.kept[level], level, skeleton.inside[level + 1]):
            return False
    return True


@compiled
def expand(model: Model, skeleton: Skeleton, ways: Ways, every: Ints, masks: Ints, bounds: Floats) -> None:
    """Fill `bounds` (N,) for a skeleton whose spread is set, with tensors kept as in `every` (N, L, T), `masks` (N,) of
    them in the last memory."""
    far = np.empty(2)
    for n in range(every.shape[0]):
        skeleton.kept[:] = every[n]
        energy = fill(model, skeleton)[1]
        bounds[n] = np.inf
        if may_fit(model, skeleton):
            first_words(model, skeleton, skeleton.kept.shape[0] - 1, far)
            cycles = max(ways.least_cycles, steady_cycles(model, skeleton) + waiting_cycles(model, far))
            bounds[n] = value_of(ways.objective, energy + float(ways.beyond[masks[n]]), cycles)
