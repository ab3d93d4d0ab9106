"""Children of memories: factors that dimensions may be spread over, and what columns and rows there are for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from .....algebra.factors import divisors_of
from .model import Ints, Model

Columns = tuple[int, int]
"""Columns and rows of a mesh."""


class Mesh(NamedTuple):
    """Children of each memory: `room` (L,) at most; `levels` (N,) that have some; `factors` (D, M) of a dimension, then
    0."""

    room: Ints
    levels: Ints
    factors: Ints


def factors_of(bound: int, meshes: Sequence[Columns], *, perfect: bool, split: bool) -> list[int]:
    """Numbers of children that a dimension may be spread over; along both axes part of the last row may be idle."""
    most = max(columns * rows for columns, rows in meshes)
    if perfect:
        return [factor for factor in divisors_of(bound) if factor <= most]
    found = set(range(1, min(bound, most) + 1))
    for columns, rows in meshes:
        if split and min(columns, rows) > 1:
            found |= {
                x * y
                for x in range(1, min(columns, bound) + 1)
                for y in range(1, min(rows, bound) + 1)
                if min(x * (y - 1), y * (x - 1)) < bound
            }
    return sorted(found)


def mesh_of(model: Model, groups: Sequence[Sequence[Columns]], spread: Sequence[bool], *, split: bool) -> Mesh:
    """What dimensions may be spread over, where the meshes of a group act as one; a group for each memory."""
    bounds: list[int] = model.bounds.tolist()
    room = np.array([_room(group) for group in groups], np.int64)
    meshes = [group[0] if len(group) == 1 else (_room(group), 1) for group in groups]
    lists = [
        factors_of(n, meshes, perfect=model.perfect, split=split) if may else [1]
        for n, may in zip(bounds, spread, strict=True)
    ]
    factors = np.zeros((len(bounds), max(len(found) for found in lists) + 1), np.int64)
    for d, found in enumerate(lists):
        factors[d, : len(found)] = found
    levels = np.flatnonzero(room > 1).astype(np.int64) if room.max() > 1 else np.zeros(1, np.int64)
    return Mesh(room, levels, factors)


def _room(group: Sequence[Columns]) -> int:
    return prod(columns * rows for columns, rows in group)
