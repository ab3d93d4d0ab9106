"""The least energy beyond the last memory before the outermost one, for every tile that it may hold."""

from __future__ import annotations

from math import prod

import numpy as np

from ....costs.compiled import compiled, inner
from ..exact.lattice import divisors
from .model import UNRELATED, WINDOW, Floats, Ints, Model
from .walk import Beyond, Grid
from .words import sent, settle, tile_size

MAX_CELLS = 1 << 17
"""Cells of a grid of imperfect tiles; neighbouring tiles share a cell where there are more."""

Outcome = tuple[tuple[int, int], ...]
"""Per tensor, the set of dimensions whose loops it rests in, and the sliding dimension that moves it first (or -1)."""


def grid_of(model: Model, *, perfect: bool) -> Grid:
    """Cells of tiles for a problem."""
    bounds: list[int] = model.bounds.tolist()
    lists = [divisors(bound) for bound in bounds] if perfect else [_distinct(bound) for bound in bounds]
    most = max(len(found) for found in lists)
    while prod(len(found) for found in lists) > MAX_CELLS and most > 2:
        most -= 1
        lists = [_thin(found, most) for found in lists]
        most = min(most, max(len(found) for found in lists))
    size = np.array([len(found) for found in lists], np.int64)
    low = np.zeros((len(lists), int(size.max())), np.int64)
    high = low.copy()
    for d, found in enumerate(lists):
        low[d, : len(found)] = found
        high[d, : len(found)] = [*(n - 1 for n in found[1:]), bounds[d]]
    exact = perfect and all(lists[d] == divisors(bound) for d, bound in enumerate(bounds))
    if exact:
        high = low.copy()
    stride = np.array([prod(size[d + 1 :].tolist()) for d in range(len(lists))], np.int64)
    return Grid(size, low, high, stride, exact)


def _distinct(bound: int) -> list[int]:
    """The smallest tile for every number of tiles that may cover `bound`."""
    found = {1}
    times = 1
    while times <= bound:
        tile = -(-bound // times)
        found.add(tile)
        if tile == 1:
            break
        times = -(-bound // (tile - 1))
    return sorted(found)


def _thin(found: list[int], most: int) -> list[int]:
    """At most `most` of the tiles, evenly by their place; the first and the last stay."""
    if len(found) <= most:
        return found
    return sorted({found[round(i * (len(found) - 1) / (most - 1))] for i in range(most)})


def outcomes_of(model: Model, kept: int) -> list[Outcome]:
    """What an order of loops may mean for the tensors `kept` (a set): all maximal outcomes."""
    tensors, dims = model.kind.shape
    kind, window = model.kind.tolist(), model.window.tolist()
    found: dict[Outcome, None] = {}

    def go(alive: int, remaining: int, rested: int, so_far: dict[int, tuple[int, int]]) -> None:
        resting = sum(1 << d for d in range(dims) if remaining >> d & 1 and not _moved(kind, alive, d))
        rested, remaining = rested | resting, remaining & ~resting
        if not alive or not remaining:
            rest = {t: (rested, -1) for t in range(tensors) if alive >> t & 1}
            full = so_far | rest
            found[tuple(full.get(t, (0, -1)) for t in range(tensors))] = None
            return
        seen: set[tuple[int, int]] = set()
        for d in range(dims):
            if not remaining >> d & 1:
                continue
            killed = _moved(kind, alive, d)
            sliding = any(killed >> t & 1 and kind[t][d] == WINDOW for t in range(tensors))
            if (killed, d if sliding else -1) in seen:
                continue
            seen.add((killed, d if sliding else -1))
            ends = {t: (rested, d if window[t][d] >= 0 else -1) for t in range(tensors) if killed >> t & 1}
            go(alive & ~killed, remaining & ~(1 << d), rested | 1 << d, so_far | ends)

    go(kept, (1 << dims) - 1, 0, {})
    relevant = [sum(1 << d for d in range(dims) if kind[t][d] == UNRELATED) for t in range(tensors)]
    cleaned = {
        tuple((run & relevant[t] if kept >> t & 1 else 0, first) for t, (run, first) in enumerate(outcome)): None
        for outcome in found
    }
    every = list(cleaned)
    return [mine for mine in every if not any(other != mine and _covers(other, mine) for other in every)]


def _moved(kind: list[list[int]], alive: int, d: int) -> int:
    return sum(1 << t for t, row in enumerate(kind) if alive >> t & 1 and row[d] != UNRELATED)


def _covers(better: Outcome, worse: Outcome) -> bool:
    return all(
        run | other == run and (first == slide or slide < 0)
        for (run, first), (other, slide) in zip(better, worse, strict=True)
    )


def outcome_arrays(outcomes: list[Outcome]) -> Ints:
    """Outcomes as (K, T, 2)."""
    return np.array(outcomes, np.int64).reshape(len(outcomes), -1, 2)


@inner
def tiles_along(model: Model, d: int, tile: Ints) -> int:
    """How many tiles cover dimension `d`."""
    bound: int = model.bounds[d]
    size: int = tile[d]
    return -(-bound // size)


@inner
def outcome_energy(
    model: Model, outcome: Ints, level: int, parent: int, tile: Ints, owned: float, words: Floats, t: int, perfect: bool
) -> float:
    """Energy between memories `level` and `parent` for tensor `t` if all loops are further out than `tile`."""
    run = tile.copy()
    for d in range(tile.shape[0]):
        if (outcome[t, 0] >> d) & 1:
            run[d] = model.bounds[d]
    first = outcome[t, 1]
    bound = tiles_along(model, first, tile) if first >= 0 else 1
    if bound == 1:
        first = -1
    moved = sent(model, t, run, tile, tile, first, bound, 0.0, perfect)
    return settle(model, t, level, parent, moved, moved, model.full[t], owned, words)


@compiled
def outer_table(model: Model, grid: Grid, outcomes: Ints, kept: int, children: int) -> Floats:
    """Least energy by cell for a last memory that keeps the set `kept`; inf where that does not fit.

    `children` instances of it share the outermost memory.
    """
    cells = 1
    for d in range(grid.size.shape[0]):
        cells *= grid.size[d]
    found = np.full(cells, np.inf)
    dims, tensors = model.kind.shape[1], model.kind.shape[0]
    last = model.capacity.shape[0] - 1
    low, high = np.empty(dims, np.int64), np.empty(dims, np.int64)
    words = np.zeros((last + 1, 2))
    for cell in range(cells):
        for d in range(dims):
            place = cell // grid.stride[d] % grid.size[d]
            low[d], high[d] = grid.low[d, place], grid.high[d, place]
        used = 0.0
        for t in range(tensors):
            if (kept >> t) & 1:
                used += tile_size(model, t, low) * model.weight[last - 1, t]
        if used > model.capacity[last - 1] * children * (1 + 1e-12):
            continue
        for k in range(outcomes.shape[0]):
            total = 0.0
            for t in range(tensors):
                if (kept >> t) & 1:
                    owned = model.full[t] * children
                    total += outcome_energy(model, outcomes[k], last - 1, last, high, owned, words, t, grid.perfect)
            found[cell] = min(found[cell], total)
    return found


@compiled
def grown(grid: Grid, table: Floats, fixed: int) -> Floats:
    """Per cell, the minimum of `table` over tiles that contain the cell's and agree with it in the set `fixed`."""
    found = table.copy()
    for d in range(grid.size.shape[0]):
        if (fixed >> d) & 1:
            continue
        for cell in range(found.shape[0] - 1, -1, -1):
            place = cell // grid.stride[d] % grid.size[d]
            for more in range(place + 1, grid.size[d]):
                if grid.perfect and grid.low[d, more] % grid.low[d, place]:
                    continue
                other = found[cell + (more - place) * grid.stride[d]]
                found[cell] = min(found[cell], other)
                if not grid.perfect:
                    break
    return found


class Outer:
    """Tables of one problem on one machine, made when they are first asked for."""

    def __init__(self, model: Model, children: int, *, perfect: bool) -> None:
        self._model, self._children = model, children
        self.grid = grid_of(model, perfect=perfect)
        self._beyond: dict[int, Beyond] = {}
        self._table: dict[int, Floats] = {}

    def least(self, kept: int) -> float:
        """Least energy beyond a last memory that keeps the set `kept`, or inf if none of its tiles fit."""
        return float(self._energies(kept).min())

    def beyond(self, kept: int) -> Beyond:
        """The tables for a last memory that keeps the set `kept`."""
        if kept not in self._beyond:
            table = self._energies(kept)
            masks = self._masks(kept)
            tables = np.stack([grown(self.grid, table, mask) for mask in masks])
            self._beyond[kept] = Beyond(tables, self._which(masks))
        return self._beyond[kept]

    def _energies(self, kept: int) -> Floats:
        if kept not in self._table:
            outcomes = outcome_arrays(outcomes_of(self._model, kept))
            self._table[kept] = outer_table(self._model, self.grid, outcomes, kept, self._children)
        return self._table[kept]

    def _masks(self, kept: int) -> list[int]:
        """Sets of dimensions that are worth a table: those that let some tensor rest."""
        kind = self._model.kind.tolist()
        del kept
        every = {sum(1 << d for d, k in enumerate(row) if k == UNRELATED) for row in kind}
        return [0, *sorted(mask for mask in every if mask)]

    def _which(self, masks: list[int]) -> Ints:
        dims = self._model.kind.shape[1]
        found = np.zeros(1 << dims, np.int64)
        for fixed in range(1 << dims):
            fitting = [i for i, mask in enumerate(masks) if mask & ~fixed == 0]
            found[fixed] = max(fitting, key=lambda i: (masks[i].bit_count(), -i))
        return found
