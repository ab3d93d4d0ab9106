"""Factors of a sum's words for rows of tiles, in Timeloop's model.

Statement 17 of docs/exact-mapper.md.
"""

from __future__ import annotations

from typing import NamedTuple

from .....costs.compiled import compiled
from ..space.model import EVERY, Floats, Ints, Model
from ..traffic.boxes import along_boxes, box_along, boxes_along, share_sent
from ..traffic.windows import Transfer


class BoxKind(NamedTuple):
    """The first loop, whether it has any number of iterations (`loops`), whether boxes of children are `loose`, and
    whether only the words count that come for `sure`.
    """

    first: int
    loops: bool
    loose: bool
    sure: bool


@compiled
def box_rows(model: Model, t: int, w: int, sizes: Ints, known: BoxKind, out: Floats) -> None:
    """Fill `out` (N,) with the factors of sum `w` for tiles, those of children and steps, `sizes` (3, N, D)."""
    first, loops, loose, sure = known
    for n in range(out.shape[0]):
        tile, child, step = sizes[0, n], sizes[1, n], sizes[2, n]
        bound = 0 if loops or first < 0 else model.bounds[first] // step[first]
        box = Transfer(tile, child, step, child, model.bounds, first, bound, 0, EVERY, False)
        if sure:
            out[n] = boxes_along(model, t, w, tile, child, loose) * box_along(model, t, w, child)
        else:
            out[n] = along_boxes(model, t, w, box, loose)


@compiled
def share_rows(model: Model, t: int, sizes: Ints, first: int, loops: bool, spread: Ints, out: Floats) -> None:
    """Fill `out` (N,) with `share_sent` for sizes as in `box_rows` where children are `spread` (D,)."""
    for n in range(out.shape[0]):
        tile, child, step = sizes[0, n], sizes[1, n], sizes[2, n]
        bound = 0 if loops else model.bounds[first] // step[first]
        box = Transfer(tile, child, step, child, model.bounds, first, bound, 0, EVERY, False)
        out[n] = share_sent(model, t, box, spread)
