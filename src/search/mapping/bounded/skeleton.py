"""A skeleton: which tensors memories keep, and the loops over their instances."""

from __future__ import annotations

import numpy as np

from ..exact.compiled import compiled, inner
from .model import UNRELATED, WINDOW, Ints, Model
from .walk import Skeleton
from .words import sent, settle


@inner
def spread_out(model: Model, t: int, inside: Ints, level: int, windows: bool) -> float:
    """Instances of memory `level` along dimensions that do not index tensor `t` (and those of windows)."""
    last = inside.shape[0] - 1
    found = 1.0
    for d in range(inside.shape[1]):
        if model.kind[t, d] == UNRELATED or (windows and model.kind[t, d] == WINDOW):
            found *= inside[last, d] // inside[level + 1, d]
    return found


@compiled
def fill(model: Model, skeleton: Skeleton) -> float:
    """Complete a skeleton whose `kept` and `spread` are set; returns the energy of the arithmetic and its operands."""
    levels, dims = skeleton.spread.shape
    skeleton.inside[0] = 1
    for level in range(levels):
        skeleton.inside[level + 1] = skeleton.inside[level] * skeleton.spread[level]
    for level in range(levels):
        used = 1
        for d in range(dims):
            used *= skeleton.inside[levels, d] // skeleton.inside[level + 1, d]
        skeleton.used[level] = used
    skeleton.floor[:] = 0
    skeleton.least_words[:] = 0
    energy = model.base
    for t in range(model.kind.shape[0]):
        above = levels - 1
        for level in range(levels - 2, -2, -1):
            skeleton.parent[level + 1, t] = above
            if level >= 0 and skeleton.kept[level, t]:
                above = level
        for level in range(levels):
            skeleton.owned[level, t] = model.full[t] * spread_out(model, t, skeleton.inside, level, True)
        for level in range(levels - 1):
            if skeleton.kept[level, t]:
                _least(model, skeleton, t, level)
                skeleton.floor[:] += skeleton.least_words[level, t]
        p = skeleton.parent[0, t]
        tile = skeleton.inside[p + 1]
        words = sent(model, t, tile, tile, tile, -1, 1, 0.0, True)
        energy += settle(model, t, -1, p, words, 0.0, skeleton.owned[p, t], 0.0, skeleton.floor)
    return energy


@inner
def _least(model: Model, skeleton: Skeleton, t: int, level: int) -> None:
    """What tensor `t` moves between memory `level` and its parent at least."""
    p = skeleton.parent[level + 1, t]
    up = model.full[t] * spread_out(model, t, skeleton.inside, p, False)
    down = model.full[t] * spread_out(model, t, skeleton.inside, level, False)
    owned = skeleton.owned[p, t], skeleton.owned[level, t]
    words = skeleton.least_words[level, t]
    skeleton.least[level, t] = settle(model, t, level, p, up, down, owned[0], owned[1], words)


def new_skeleton(levels: int, dims: int, tensors: int) -> Skeleton:
    """Room for a skeleton."""
    shape = levels, tensors
    return Skeleton(
        np.zeros(shape, np.int64),
        np.ones((levels, dims), np.int64),
        np.ones((levels + 1, dims), np.int64),
        np.zeros((levels + 1, tensors), np.int64),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros((levels, tensors, levels, 2)),
        np.zeros((levels, 2)),
        np.ones(levels, np.int64),
    )
