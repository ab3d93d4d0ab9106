"""Children of memories: factors that dimensions may be spread over, and all ways to place them."""

from collections.abc import Iterator, Sequence
from itertools import chain, permutations, product
from math import prod
from typing import NamedTuple

import numpy as np

from .....algebra.factors import divisors_of
from .model import Bools, Ints, Model

Factors = tuple[int, ...]
Layout = tuple[Factors, Factors]
"""Factors by dimension along X and along Y."""

Columns = tuple[int, int]
"""Columns and rows of a mesh."""


class Mesh(NamedTuple):
    """Children of each memory: `room` (L,) at most; `levels` (N,) that have some; `factors` (D, M) of a dimension, then
    0; `fits` (L, R) whether so many of a memory's fill whole rows."""

    room: Ints
    levels: Ints
    factors: Ints
    fits: Bools


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
    room = np.array([prod(chain.from_iterable(group)) for group in groups], np.int64)
    meshes = [group[0] if len(group) == 1 else (most, 1) for group, most in zip(groups, room.tolist(), strict=True)]
    lists = [
        factors_of(n, meshes, perfect=model.perfect, split=split) if may else [1]
        for n, may in zip(bounds, spread, strict=True)
    ]
    factors = np.zeros((len(bounds), max(len(found) for found in lists) + 1), np.int64)
    for d, found in enumerate(lists):
        factors[d, : len(found)] = found
    levels = np.flatnonzero(room > 1).astype(np.int64) if room.max() > 1 else np.zeros(1, np.int64)
    fits = np.zeros((len(groups), int(room.max()) + 1), np.bool_)
    fits[:, 1] = True
    for row, group in zip(fits, groups, strict=True):
        for axis in chain.from_iterable(group):
            row[np.outer(np.flatnonzero(row), np.arange(1, axis + 1))] = True
    return Mesh(room, levels, factors, fits)


def layout_of(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Layout | None:
    """A way to place `factors` on a mesh of (columns, rows), or None."""
    if min(mesh) == 1:
        ones = (1,) * len(factors)
        return None if prod(factors) > max(mesh) else (factors, ones) if mesh[1] == 1 else (ones, factors)
    return next(layouts_of(factors, mesh, split=split), None)


def layouts_of(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Iterator[Layout]:
    """All ways to place `factors` on a mesh of (columns, rows)."""
    columns, rows = mesh
    looping = [d for d, factor in enumerate(factors) if factor > 1]

    def go(i: int, x: dict[int, int], width: int, height: int) -> Iterator[Layout]:
        if width > columns or height > rows:
            return
        if i == len(looping):
            along = tuple(x.get(d, 1) for d in range(len(factors)))
            yield along, tuple(factor // part for factor, part in zip(factors, along, strict=True))
            return
        d = looping[i]
        for part in divisors_of(factors[d]) if split else (1, factors[d]):
            yield from go(i + 1, x | {d: part}, width * part, height * (factors[d] // part))

    if prod(factors) <= columns * rows:
        yield from go(0, {}, 1, 1)


def orders_along(factors: Factors) -> list[Factors]:
    """Orders of the loops of more than one iteration; the others come last."""
    ones = tuple(d for d, factor in enumerate(factors) if factor == 1)
    return [(*order, *ones) for order in permutations(d for d, factor in enumerate(factors) if factor > 1)]


def placed(spread: Sequence[Factors], meshes: Sequence[tuple[int, int]], *, split: bool) -> list[Layout] | None:
    """How a spread's instances are placed in each memory's mesh, or None if one has no room."""
    found = [layout_of(factors, mesh, split=split) for factors, mesh in zip(spread, meshes, strict=True)]
    fitting = [layout for layout in found if layout is not None]
    return fitting if len(fitting) == len(found) else None


def hold_choices(may: tuple[tuple[bool, ...], ...], *, bypass: bool) -> list[list[Factors]]:
    """Per tensor, the ways to keep it in memories but the outermost: tuples of 0 and 1 by memory."""
    free = (1, 0) if bypass else (1,)
    return [list(product(*(free if level[t] else (0,) for level in may[:-1]))) for t in range(len(may[0]))]


def chain_arrays(chains: list[list[Factors]]) -> tuple[Ints, Ints]:
    """Ways to keep tensors as (T, K, L), and how many there are (T,); the outermost memory keeps all."""
    many = np.array([len(found) for found in chains], np.int64)
    table = np.ones((len(chains), int(many.max()), len(chains[0][0]) + 1), np.int64)
    for t, found in enumerate(chains):
        table[t, : len(found), :-1] = found
    return table, many
