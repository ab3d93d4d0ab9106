"""Tiles of a layer that only the vector engine works on: the least DRAM traffic, then the fewest tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import prod

from ...errors import InfeasibleError
from .choose import steps
from .values import Loop


def vector_tiles(
    extents: Mapping[str, int], y: Loop, x: Loop, fits: Callable[[Mapping[str, int]], bool], lanes: int = 0
) -> dict[str, int]:
    """Sizes by dim (batch 1) of tiles that `fits` says fit.

    With `lanes`, a tile has all blocks of columns and at most so many rows.  `InfeasibleError` where nothing fits.
    """
    best: tuple[tuple[float, int], dict[str, int]] | None = None
    for n, ty, tx in product(*(steps(extents[dim]) for dim in ("n", "y", "x"))):
        if lanes and (n < extents["n"] or ty * tx > lanes):
            continue
        tiles = prod(-(-extents[dim] // size) for dim, size in (("n", n), ("y", ty), ("x", tx)))
        score = (y.input(ty) * x.input(tx) / (ty * tx), tiles)
        tile = {"batch": 1, "n": n, "y": ty, "x": tx}
        if (best is None or score < best[0]) and fits(tile):
            best = score, tile
    if best is None:
        rows = extents["n"] if lanes else 1
        raise InfeasibleError("vector memory", rows * y.taps * x.taps, 0, "rows", "fewer columns, taps or operations")
    return best[1]
