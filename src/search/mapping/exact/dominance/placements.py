"""Placements of children that differ in Timeloop's model: a child takes words from those to its sides.

Statement 17 of docs/exact-mapper.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..bounds.hops import Placement
from ..space.model import PLAIN, UNRELATED, WINDOW, Ints, Model

MAX_KEY = 1 << 62
"""Numbers that may tell neighbours of one child from those of another; where there are more, all placements count."""


def distinct_placements(model: Model, layouts: Sequence[Sequence[Placement]]) -> list[Sequence[Placement]]:
    """Of some `layouts`, by memory, one of those in which all children have the same neighbours."""
    found: dict[tuple[object, ...], Sequence[Placement]] = {}
    known: dict[tuple[int, Placement], bytes | Placement] = {}
    for layout in layouts:
        for level, placement in enumerate(layout):
            if (level, placement) not in known:
                known[level, placement] = neighbourhood(model, placement, int(model.mesh[level, 0]))
        found.setdefault(tuple(known[level, placement] for level, placement in enumerate(layout)), layout)
    return list(found.values())


def neighbourhood(model: Model, placement: Placement, width: int) -> bytes | Placement:
    """What neighbours may have for children in rows of `width`: for each tensor with sums and each of its boxes, how
    far away along sums the neighbours of its children are, of those that have the same along plain axes.

    The placement itself if that does not fit in numbers.
    """
    places, parts = coordinates(placement), list[bytes]()
    size = np.array(placement.x) * np.array(placement.y)
    beside = sides(len(places), max(width, int(np.prod(placement.x))))
    for t in np.flatnonzero(model.windows).tolist():
        sums = (model.kind[t] == WINDOW) & (size > 1)
        mine = np.flatnonzero(model.kind[t] != UNRELATED)
        boxes = np.ravel_multi_index(tuple(places[:, mine].T), tuple(size[mine])) if len(mine) else np.zeros(1)
        radix = np.cumprod([1, *(2 * n for n in size[sums].tolist())], dtype=object)
        if int(radix[-1]) ** 4 * int(size[mine].prod()) >= MAX_KEY:
            return placement
        away = (places[beside] - places[:, None]) * (beside >= 0)[..., None]
        far = ((away[..., sums] + size[sums] * (away[..., sums] != 0)) * radix[:-1].astype(np.int64)).sum(axis=2)
        far *= (away[..., model.kind[t] == PLAIN] == 0).all(axis=2)
        far.sort(axis=1)
        far[:, 1:] *= far[:, 1:] != far[:, :-1]
        far.sort(axis=1)
        keys = boxes
        for side in range(4):
            keys = keys * int(radix[-1]) + far[:, side]
        parts.append(np.sort(keys).tobytes())
    return b"".join(parts)


def coordinates(placement: Placement) -> Ints:
    """Where children are in their parent's tile, (P, D), row by row."""
    found = np.zeros((1, len(placement.x)), np.int64)
    stride = np.ones(len(placement.x), np.int64)
    for factors, order in (placement.x, placement.order_x), (placement.y, placement.order_y):
        for d in order:
            move = np.zeros((factors[d], 1, len(stride)), np.int64)
            move[:, 0, d] = np.arange(factors[d]) * stride[d]
            found = (move + found).reshape(-1, len(stride))
            stride[d] *= factors[d]
    return found


def sides(children: int, width: int) -> Ints:
    """The neighbours (P, 4) of each of some children in rows of `width`; -1 where there is none."""
    places = np.arange(children)
    columns = places % width
    right = np.where((columns + 1 < width) & (places + 1 < children), places + 1, -1)
    left = np.where(columns > 0, places - 1, -1)
    below = np.where(places + width < children, places + width, -1)
    above = np.where(places >= width, places - width, -1)
    return np.stack([right, left, below, above], axis=1)
