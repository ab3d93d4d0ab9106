"""Bounds of all ways to keep tensors with one spread, at once."""

from __future__ import annotations

import numpy as np

from .....costs.compiled import compiled, inner
from ..space.model import Floats, Ints, Model, one_way
from ..space.skeleton import fill
from ..space.ways import Ways
from ..traffic.words import has_room
from ..tree.state import Skeleton
from .nodes import first_words, port_cycles, value_of

SLACK = 1 - 1e-9
"""For rounding in sums."""


@inner
def far_words(model: Model, skeleton: Skeleton, inside: int, far: Floats) -> None:
    """Words of the outermost memory in the first tiles of all tensors kept further in than memory `inside`: `far` (2,)
    in and out."""
    far[:] = 0.0
    last, covered = skeleton.kept.shape[0] - 1, np.empty(model.bounds.shape[0], np.int64)
    for t in range(0 if model.timeloop else model.kind.shape[0]):
        own = skeleton.parent[0, t]
        if own < inside:
            words = first_words(model, skeleton, t, own, skeleton.inside[own + 1], last, covered)
            far[1 if model.is_output[t] else 0] += words * model.weight[last, t]


@inner
def steady_cycles(model: Model, skeleton: Skeleton) -> float:
    """Least cycles but for filling and draining, by steps and by ports."""
    last, steps = skeleton.spread.shape[0], 1.0
    for d in range(model.bounds.shape[0]):
        steps *= -(-model.bounds[d] // skeleton.inside[last, d])
    return max(steps, port_cycles(model, skeleton, skeleton.floor))


@inner
def waiting_cycles(model: Model, far: Floats) -> float:
    """Least cycles of the outermost memory's port for the first words in and the last ones out."""
    limits = model.bandwidth[-1]
    return (far[0] / one_way(limits, False) + far[1] / one_way(limits, True)) * SLACK


@compiled
def steady_and_far(model: Model, skeleton: Skeleton, far: Floats) -> float:
    """`steady_cycles` of a skeleton that is complete, and `far_words` of tensors not kept in the last memory only."""
    far_words(model, skeleton, skeleton.kept.shape[0] - 2, far)
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
            far_words(model, skeleton, skeleton.kept.shape[0] - 1, far)
            cycles = max(ways.least_cycles, steady_cycles(model, skeleton) + waiting_cycles(model, far))
            bounds[n] = value_of(ways.objective, energy + float(ways.beyond[masks[n]]), cycles)
