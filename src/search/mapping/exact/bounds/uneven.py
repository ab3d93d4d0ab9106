"""Steps that one after the other a tile takes at least where it does not share the work evenly; imperfect factors.

Statement 16 of docs/exact-mapper.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..space.model import Floats, Ints
from .grids import Sizes
from .tables import along

MAX_SIZES = 1 << 12
"""Sizes of a cell that are looked at, at most; of larger cells nothing is known."""


def steps_of(sizes: Ints, bound: int, inside: int, outside: int) -> Ints:
    """Steps along a dimension at least, with tiles of such `sizes` of a memory with so many units `inside`, of which
    `outside` are side by side.

    Some instance has as many blocks as come to each, or as many whole ones.
    """
    blocks = -(-bound // sizes)
    whole, alone = -(-sizes // inside), -(-(bound - (blocks - 1) * sizes) // inside)
    rounds = -(-blocks // outside)
    last = np.where((blocks - 1) % outside == 0, alone, whole)
    return (rounds - 1) * whole + last


@lru_cache(4096)
def _least_steps(low: tuple[int, ...], high: tuple[int, ...], bound: int, inside: int, outside: int) -> Ints:
    """`steps_of` by cell of sizes from the first to the second, at least."""
    if max(b - a for a, b in zip(low, high, strict=True)) > MAX_SIZES:
        return np.full(len(low), -(-bound // (inside * outside)))
    every = (np.arange(a, b + 1) for a, b in zip(low, high, strict=True))
    return np.array([steps_of(sizes, bound, inside, outside).min() for sizes in every])


def steps_by_cell(tiles: tuple[Sizes, Sizes], bounds: list[int], inside: Ints, outside: Ints) -> Floats:
    """Steps of all dimensions together, by cell of tiles from the first to the second, at least."""
    found: Floats = np.ones((1,) * len(bounds))
    for d, (low, high) in enumerate(zip(*tiles, strict=True)):
        steps = _least_steps(tuple(low.tolist()), tuple(high.tolist()), bounds[d], int(inside[d]), int(outside[d]))
        found = found * along(steps, d, len(bounds))
    return found
