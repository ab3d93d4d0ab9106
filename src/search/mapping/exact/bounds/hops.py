"""Energy of hops on the networks below memories: the least of a skeleton, and the placements that may lead to it.

A word takes the links to the last of the children that need it (`costs.exact`), which depend on the rows and columns
that dimensions have, and on the order of their loops there.
"""

from collections.abc import Iterator
from itertools import islice, product
from math import prod
from typing import NamedTuple

import numpy as np

from .....costs.exact.traffic import farthest
from .....costs.timeloop.batch_links import tell_apart
from .....remembered import remembered
from ...pricing import ROUNDING
from ..space.model import PLAIN, UNRELATED, WINDOW, Floats, Ints, Model
from ..space.skeleton import MOST_GAPS
from ..space.spreads import Factors, layouts_of, orders_along
from ..traffic.boxes import UNKNOWN
from ..tree.state import Skeleton

MOST, MOST_TOGETHER = 2000, 64
"""Placements on one mesh that are compared, and placements on all of them that are priced; if there are more, nothing
is known of hops."""

MOST_DIFFERENT = 256
"""Ways in which neighbours may differ that are told apart."""


class Placement(NamedTuple):
    """Factors by dimension along X and along Y, and the orders of those loops, innermost first."""

    x: Factors
    y: Factors
    order_x: Factors
    order_y: Factors


def every_placement(factors: Factors, mesh: tuple[int, int], *, split: bool) -> Iterator[Placement]:
    """All placements of a memory's children on its mesh."""
    for layout in layouts_of(factors, mesh, split=split):
        yield from (Placement(*layout, *orders) for orders in product(*map(orders_along, layout)))


def placements(
    model: Model, spread: tuple[Factors, ...], meshes: list[tuple[int, int]], *, split: bool
) -> tuple[list[list[Placement]], bool]:
    """In Timeloop's model, all placements that may differ in which neighbours have what, the plain one first.

    Also whether there are others: only so many are answered.
    """
    found: list[list[Placement]] = []
    for level, (factors, mesh) in enumerate(zip(spread, meshes, strict=True)):
        sums = ((model.kind == WINDOW).any(axis=0) & (np.array(factors) > 1)).any()
        most = MOST + 1 if sums or level == 0 or model.mesh[level, 0] == 0 else 1
        found.append(list(islice(every_placement(factors, mesh, split=split), most)))
    many = prod(map(len, found)) > MOST
    return [list(chosen) for chosen in islice(product(*found), 1 if many else None)], many


class Hops:
    """Placements on `meshes` of (columns, rows) and their hops, of `energies` in pJ per word and link of each memory's
    network; with `some` hops take energy at all."""

    def __init__(self, model: Model, meshes: list[tuple[int, int]], energies: list[float], *, split: bool) -> None:
        self._model, self._meshes, self._split = model, meshes, split
        self._energies, self.some = np.array(energies), any(energies)
        self._sums = np.array([[w >= 0 and row.count(w) > 1 for w in row] for row in model.window.tolist()])

    @remembered
    def gaps(self, spread: tuple[Factors, ...]) -> Ints:
        """`gaps` (L, G, D) of skeletons with that spread."""
        return np.stack([self._gaps(level, factors) for level, factors in enumerate(spread)])

    @remembered
    def _gaps(self, level: int, factors: Factors) -> Ints:
        """Of one memory's children in all placements: those that leave some tensor with sums in place elsewhere."""
        model, found = self._model, np.zeros((MOST_GAPS, len(factors)), np.int64)
        kinds = model.kind[self._sums.any(axis=1)]
        if not model.timeloop or not (self._sums & (np.array(factors) > 1)).any():
            return found
        placed = list(islice(every_placement(factors, self._meshes[level], split=self._split), MOST + 1))
        every = np.zeros((MOST_DIFFERENT, len(factors)), np.int64)
        known = 0 < len(placed) <= MOST and tell_apart(
            np.array(placed), self._meshes[level][0], kinds.max(axis=0) != UNRELATED, every
        )
        along = [(every[:, kind == PLAIN] == 0).all(axis=1) & every[:, kind == WINDOW].any(axis=1) for kind in kinds]
        every = every[np.any(along, axis=0)]
        if known and len(every) <= MOST_GAPS:
            found[: len(every)] = every
        else:
            found[0] = UNKNOWN
        return found

    def placements(self, spread: tuple[Factors, ...]) -> list[list[Placement]] | None:
        """Placements of a spread on all meshes such that no other has fewer links for all tensors; None if unknown."""
        found: list[list[Placement]] = []
        for level, factors in enumerate(spread):
            mine = self._best(level, factors)
            if mine is None or not mine[0]:
                return None
            found.append(mine[0])
        if prod(map(len, found)) > MOST_TOGETHER:
            return None
        return [list(chosen) for chosen in product(*found)]

    def least(self, skeleton: Skeleton) -> float:
        """Least energy of hops of a skeleton that is set up, however its instances are placed."""
        total = 0.0
        for level in np.flatnonzero(self._energies).tolist():
            best = self._best(level, tuple(skeleton.spread[level].tolist()))
            if best is not None and len(best[0]):
                words = np.array([self._words(skeleton, level, t) for t in range(len(self._model.full))])
                total += float(self._energies[level] * (best[1] @ (words * self._model.weight[level])).min())
        return total * (1 - ROUNDING)

    def _words(self, skeleton: Skeleton, level: int, t: int) -> float:
        """Least words of tensor `t` that pass the network below a memory, there and back."""
        model, inside = self._model, skeleton.inside
        full, children = float(model.full[t]), inside[level + 1]
        if not model.perfect:
            words = full
        elif skeleton.kept[:level, t].any():
            apart = model.kind[t] == UNRELATED
            words = full * float(np.prod(inside[-1][apart] // children[apart]))
        else:  # a step of all units brings no fewer elements along a sum of terms than its terms have values
            together = float(np.prod(children[model.kind[t] == PLAIN]))
            for window in range(int(model.windows[t])):
                together *= 1.0 + float((children[model.window[t] == window] - 1).sum())
            words = max(full, model.points / float(np.prod(children)) * together)
        back = max(0.0, words - float(skeleton.owned[level, t])) if model.is_output[t] else 0.0
        return words + back

    @remembered
    def _best(self, level: int, factors: Factors) -> tuple[list[Placement], Floats] | None:
        """Placements on one mesh, and links per word of each tensor (N, T)."""
        most = MOST + 1 if self._energies[level] else 1
        found = list(islice(every_placement(factors, self._meshes[level], split=self._split), most))
        if len(found) > MOST:
            return None
        links = np.array([self._links(placement) for placement in found]).reshape(len(found), len(self._model.full))
        order = np.argsort(links.sum(axis=1), kind="stable").tolist()
        kept: list[int] = []
        for n in order:
            if not (links[kept] <= links[n]).all(axis=1).any():
                kept.append(n)
        return [found[n] for n in kept], links[kept]

    def _links(self, placement: Placement) -> list[float]:
        """Links per word of each tensor, as `costs.exact.traffic.links_per_word`."""
        found: list[float] = []
        for kinds in (self._model.kind != UNRELATED).tolist():
            columns, width = farthest([(placement.x[d], kinds[d]) for d in placement.order_x])
            rows, _ = farthest([(placement.y[d], kinds[d]) for d in placement.order_y])
            found.append(columns + width * rows)
        return found
