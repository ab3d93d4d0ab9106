"""The least energy from each memory outwards, for every tile that it may hold: a bound for what a walk does not know.

With a tile `T` in a memory, what passes between it and the next one that keeps a tensor depends on `T`, on which loops
come next, and on the outer tile `U` only along the loops that let a tensor rest.  So the least over all `U` that
contain `T` is a sweep per dimension over the table of the next memory outwards, those along which a tensor rests kept
apart until its words are added.  Loops may also rest a tensor through a memory whose other loops are all 1: its words
are then bounded by those for loops of any length.
"""

from __future__ import annotations

import numpy as np

from .grids import Sizes, cells_of, grid_of, sizes_of, swept
from .inward import Layer, Step, kept_at
from .model import Bools, Floats, Ints, Model
from .outcomes import Orders, Outcome, outcomes_of
from .outer import Outer
from .tables import Tables
from .walk import Beyond, Skeleton

MAX_INNER = 1 << 15
"""Cells of the grid of an inner memory."""


class Ahead:
    """Makes the tables of one skeleton after another."""

    def __init__(self, model: Model, tables: Tables, outer: Outer) -> None:
        self._model, self._tables, self._outer = model, tables, outer
        self._dims = tables.dims
        self._every = (1 << self._dims) - 1
        self._orders = Orders(model)
        self._outermost: dict[tuple[int, tuple[int, ...]], Floats] = {}
        self._outcomes: dict[int, list[Outcome]] = {}

    def layers(self, skeleton: Skeleton) -> list[Layer]:
        """Tables of all memories but the outermost, innermost first."""
        last = self._outer.last
        found = [Layer(self._outer.grid, self._outer.energies(kept_at(skeleton, last - 1)))]
        for level in range(last - 2, -1, -1):
            found.insert(0, self._inner(skeleton, level, found[0]))
        return found

    def beyond(self, layers: list[Layer], skeleton: Skeleton) -> Beyond:
        """The tables that a walk reads."""
        masks = [self._orders.masks(kept) for kept in self._inside(skeleton)]
        parts = [self._swept(layer, found) for layer, found in zip(layers[:-1], masks[:-1], strict=True)]
        kept = kept_at(skeleton, len(layers) - 1)
        if (kept, masks[-1]) not in self._outermost:
            self._outermost = {(kept, masks[-1]): self._swept(layers[-1], masks[-1])}
        widest = max(layer.grid.low.shape[1] for layer in layers)
        size, stride = (np.ones((len(layers), self._dims), np.int64) for _ in range(2))
        low = np.zeros((len(layers), self._dims, widest), np.int64)
        which = np.zeros((len(layers), 1 << self._dims), np.int64)
        scale = np.ones((len(layers), self._dims), np.int64)
        scale[-1] = skeleton.inside[-1] // skeleton.inside[-2]
        start = 0
        for level, layer in enumerate(layers):
            size[level], stride[level] = layer.grid.size, layer.grid.stride
            low[level, :, : layer.grid.low.shape[1]] = layer.grid.low
            which[level] = start + best_masks(masks[level], self._dims) * int(layer.grid.size.prod())
            start = start + parts[level].size if level + 2 < len(layers) else 0
        inner = np.concatenate([np.zeros(1), *(part.reshape(-1) for part in parts)])[1:]
        return Beyond(inner, self._outermost[kept, masks[-1]].reshape(-1), which, size, low, stride, scale)

    def _inside(self, skeleton: Skeleton) -> list[int]:
        """Per memory but the outermost, the tensors that may rest when its loops begin: those kept further in."""
        found = [0]
        for level in range(len(skeleton.kept) - 2):
            found.append(found[-1] | kept_at(skeleton, level))
        return found

    def _swept(self, layer: Layer, masks: tuple[int, ...]) -> Floats:
        """The least energy over tiles that contain a cell's and agree with it in each of `masks`, (K, C)."""
        done = {self._every: layer.energy}
        waiting = sorted(masks, key=lambda mask: -mask.bit_count())
        for mask in waiting:
            near = min((m for m in done if m & mask == mask), key=lambda m: m.bit_count())
            table = done[near]
            for d in range(self._dims):
                if near >> d & 1 and not mask >> d & 1:
                    table = swept(layer.grid, table, d)
            done[mask] = table
        return np.stack([done[mask] for mask in masks])

    def least(self, layers: list[Layer], skeleton: Skeleton) -> float:
        """Least energy of all words between memories."""
        layer = layers[0]
        start = skeleton.spread[0] * (skeleton.inside[-1] // skeleton.inside[-2] if len(layers) == 1 else 1)
        places = tuple(slice(int(cells_of(layer.grid, d, start[d : d + 1])[0]), None) for d in range(self._dims))
        return float(layer.energy[places].min())

    def _inner(self, skeleton: Skeleton, level: int, after: Layer) -> Layer:
        model = self._model
        outside: list[int] = (skeleton.inside[-1] // skeleton.inside[level + 1]).tolist()
        reach = [-(-n // o) for n, o in zip(self._tables.bounds, outside, strict=True)]
        most = [self._most(skeleton, level, d, end) for d, end in enumerate(reach)]
        grid = grid_of(reach, perfect=model.perfect, cells=MAX_INNER, most=most)
        kept = kept_at(skeleton, level)
        if kept not in self._outcomes:
            self._outcomes[kept] = outcomes_of(model, kept)
        step = Step(model, self._tables, skeleton, level, grid, after)
        best = np.full(tuple(grid.size.tolist()), np.inf)
        for outcome in self._outcomes[kept]:
            np.minimum(best, step.least(outcome, kept), out=best)
        best[np.broadcast_to(~self._fits(level, kept, sizes_of(grid, high=False)), best.shape)] = np.inf
        return Layer(grid, best)

    def _most(self, skeleton: Skeleton, level: int, d: int, end: int) -> int:
        """The largest tile along `d` that fits with tiles of one elsewhere."""
        lo, hi = 1, end
        kept = kept_at(skeleton, level)
        ones = [np.ones(1, np.int64)] * self._dims
        while lo < hi:
            middle = (lo + hi + 1) // 2
            sizes = tuple(np.array([middle]) if e == d else one for e, one in enumerate(ones))
            if self._fits(level, kept, sizes).all():
                lo = middle
            else:
                hi = middle - 1
        return lo

    def _fits(self, level: int, kept: int, low: Sizes) -> Bools:
        used = np.zeros((1,) * self._dims)
        for t in range(len(self._model.full)):
            if kept >> t & 1:
                used = used + self._tables.size(t, low) * self._model.weight[level, t]
        return used <= self._model.capacity[level] * (1 + 1e-12)


def best_masks(masks: tuple[int, ...], dims: int) -> Ints:
    """For each set of fixed dimensions, the place of the largest of `masks` that it contains."""
    found = np.zeros(1 << dims, np.int64)
    for fixed in range(1 << dims):
        fitting = [i for i, mask in enumerate(masks) if mask & ~fixed == 0]
        found[fixed] = max(fitting, key=lambda i: (masks[i].bit_count(), -i))
    return found
