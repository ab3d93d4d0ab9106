"""Children of memories: factors that dimensions may be spread over, and what columns and rows there are for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from .....algebra.factors import divisors_of
from .....costs.compiled import bare
from .model import PLAIN, UNRELATED, WINDOW, Bools, Floats, Ints, Model

Columns = tuple[int, int]
"""Columns and rows of a mesh."""


class Mesh(NamedTuple):
    """Children of each memory: `room` (L,) at most; `levels` (N,) that have some; `factors` (D, M) of a dimension, then
    0; `halves` as in the model; dimensions are spread in some `order` (D,)."""

    room: Ints
    levels: Ints
    factors: Ints
    halves: Bools
    order: Ints


class Fitting(NamedTuple):
    """Numbers of children (perfect factors only): all `numbers` (N,) that divide the iterations, rising, and the place
    `at` (R,) of each among them, -1 for others; `fits` (L, N) tells which of them lie on the meshes below a memory.

    `most` (T + 1, D + 1, L, N) is how often as many there may be once the first dimensions are spread: along others
    that may let tensor T share words, or along any; 0 where that was never asked.
    """

    numbers: Ints
    at: Ints
    fits: Bools
    most: Ints


def factors_of(bound: int, meshes: Sequence[Columns], *, perfect: bool, split: bool, every: bool) -> list[int]:
    """Numbers of children that a dimension may be spread over.

    With imperfect factors along one axis, more than half of the bound is no better than the half, but for the bound
    itself; unless `every` one counts: more children have more ports, how far a window moves depends on them, and of
    more children that each have sums of their own fewer come back to them.  Factors along both axes may leave part of
    the last row idle.
    """
    most = max(columns * rows for columns, rows in meshes)
    if perfect:
        return [factor for factor in divisors_of(bound) if factor <= most]
    found = {n for n in range(1, min(bound, most) + 1) if every or n == bound or n <= (bound + 1) // 2}
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
    timed = bool(np.isfinite(model.bandwidth).any())
    summed: Bools = (model.kind[model.is_output] == UNRELATED).any(axis=0)
    every: list[bool] = (timed | (model.kind == WINDOW).any(axis=0) | summed).tolist()
    lists = [
        factors_of(n, meshes, perfect=model.perfect, split=split, every=some) if may else [1]
        for n, some, may in zip(bounds, every, spread, strict=True)
    ]
    factors = np.zeros((len(bounds), max(len(found) for found in lists) + 1), np.int64)
    for d, found in enumerate(lists):
        factors[d, : len(found)] = found
    levels = np.flatnonzero(room > 1).astype(np.int64) if room.max() > 1 else np.zeros(1, np.int64)
    return Mesh(room, levels, factors, model.halves, _dearest_first(model))


def least_steps(model: Model, mesh: Mesh) -> float:
    """Fewest steps at all."""
    return float(np.prod(model.bounds.astype(np.float64)) / np.prod(mesh.room.astype(np.float64)))


def fitting_of(model: Model, groups: Sequence[Sequence[Columns]]) -> Fitting:
    """Which numbers of children lie on the meshes of each group."""
    rooms = [_room(group) for group in groups]
    left = every = np.arange(1, max(rooms) + 1)
    for bound in model.bounds.tolist():
        left = left // np.gcd(left, bound)
    numbers = every[left == 1]
    at = np.full(max(rooms) + 1, -1, np.int64)
    at[numbers] = np.arange(len(numbers))
    fits = np.zeros((len(groups), len(numbers)), np.bool_)
    for level, group in enumerate(groups):
        found = children_on(group)
        fits[level, numbers < len(found)] = found[numbers[numbers < len(found)]]
    most = np.zeros((len(model.full) + 1, len(model.bounds) + 1, *fits.shape), np.int64)
    return Fitting(numbers, at, fits, most)


def children_on(meshes: Sequence[Columns]) -> Bools:
    """Which numbers of children may lie on some meshes that act as one.

    So many along each axis as there is room for.  Where factors may have parts along several axes, that depends on the
    product of perfect ones alone, and what divides it lies on the meshes, too; else fewer do.
    """
    found = np.array([False, True])
    for axis in (axis for mesh in meshes for axis in mesh if axis > 1):
        children = np.outer(np.flatnonzero(found), np.arange(1, axis + 1))
        found = np.zeros(int(children.max()) + 1, np.bool_)
        found[children] = True
    return found


def _room(group: Sequence[Columns]) -> int:
    return prod(columns * rows for columns, rows in group)


def _dearest_first(model: Model) -> Ints:
    """Dimensions in the order of what spreading them may save at most: that decides soon what is too much."""
    cheapest: Floats = np.minimum.reduce(np.where(model.is_output, model.write, model.read), axis=0)
    return np.argsort(-((model.kind != PLAIN) * cheapest[:, None]).sum(axis=0), kind="stable").astype(np.int64)


@bare
def number_of(fitting: Fitting, factors: Ints) -> int:
    """The place of a number of children among all that divide the iterations."""
    children = 1
    for factor in factors:
        children *= factor
    return int(fitting.at[children])


@bare
def most_more(model: Model, order: Ints, fitting: Fitting, t: int, done: int, level: int, at: int) -> int:
    """How often the children number `at` of a memory there may be at most, once `done` dimensions in `order` are
    spread: along those of the others that may let tensor `t` share words; along any, if `t` is their number."""
    known = fitting.most[t, done, level]
    if known[at] == 0:
        children, known[at] = fitting.numbers[at], 1
        for more in fitting.numbers[::-1]:
            place = fitting.at[more * children] if more * children < fitting.at.shape[0] else -1
            if place >= 0 and fitting.fits[level, place] and divides(model, order, t, done, more):
                known[at] = more
                break
    return int(known[at])


@bare
def divides(model: Model, order: Ints, t: int, done: int, children: int) -> bool:
    """Whether so many children divide the iterations of the dimensions that `most_more` speaks of."""
    for d in order[done:]:
        if t == model.full.shape[0] or model.kind[t, d] != PLAIN:
            part, whole = children, int(model.bounds[d])
            while whole:
                part, whole = whole, part % whole
            children //= part
    return children == 1
