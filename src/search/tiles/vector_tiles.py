"""Tiles of a layer that only the vector engine works on: the least DRAM traffic, then the fewest tiles."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod

from ...errors import InfeasibleError
from .choose import steps
from .values import Block, Loop


def vector_tiles(
    extents: Mapping[str, int], y: Loop, x: Loop, rows: tuple[int, int], vectors: int, tensors: int
) -> dict[str, int]:
    """Sizes by dim (batch 1).

    Of the two memories' `rows` the first holds the input with its halo, a row per block of columns for each of
    `vectors`, and `tensors` more tiles; the second the result.  `InfeasibleError` where not one row fits.
    """
    best: tuple[tuple[float, int], dict[str, int]] | None = None
    for n, ty, tx in product(*(steps(extents[dim]) for dim in ("n", "y", "x"))):
        halo = y.input(ty) * x.input(tx) * n
        out = n * ty * tx
        if halo + vectors * n + tensors * out > rows[0] or out > rows[1]:
            continue
        tiles = prod(-(-extents[dim] // size) for dim, size in (("n", n), ("y", ty), ("x", tx)))
        score = (halo / out, tiles)
        if best is None or score < best[0]:
            best = score, {"batch": 1, "n": n, "y": ty, "x": tx}
    if best is None:
        need = y.taps * x.taps + vectors + tensors
        raise InfeasibleError("vector memory", need, rows[0], "rows", "fewer taps at once")
    return best[1]


def vector_blocks(extents: Mapping[str, int], tile: Mapping[str, int]) -> list[Block]:
    """Boxes of equal tiles that cover the extents."""
    parts: dict[str, list[tuple[int, int, int]]] = {}
    for dim, size in tile.items():
        whole, rest = divmod(extents[dim], size)
        parts[dim] = [(0, size, whole)] if whole else []
        parts[dim] += [(whole * size, rest, 1)] if rest else []
    names = list(tile)
    return [
        Block(*({d: part[i] for d, part in zip(names, choice, strict=True)} for i in range(3)))
        for choice in product(*parts.values())
    ]
