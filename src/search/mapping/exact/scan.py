"""All inner tiles of one spread, best middle tiles first by table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....costs.compiled import compiled, inner
from ..objective import value_of
from .bound import set_inner
from .links import place
from .model import Floats, Ints
from .visit import (
    Best,
    Task,
    first_bound,
    free_bound,
    level_cycles,
    objective_of,
    pattern_bound,
    visit_all,
    visit_known,
)


class Field(NamedTuple):
    """Where to search: inner tile numbers `tiles`, `table` (L,) of energy beyond the middle memory, its superset
    minimum `any` and those with a pattern's dimensions fixed `fixed` (G, L), `cross` masks (M, D), `layouts`
    (Y, 2, 4, D), room for `marks` (L,) and a list of tiles `waiting` (L,) with bounds `lows` (L,)."""

    tiles: Ints
    table: Floats
    any: Floats
    fixed: Floats
    cross: NDArray[np.bool_]
    layouts: Ints
    marks: Ints
    waiting: Ints
    lows: Floats


@compiled
def scan(best: Best, task: Task, field: Field) -> None:
    """Search all inner tiles of `field`."""
    model, lattice = task.model, task.lattice
    read, write = np.zeros(3), np.zeros(3)
    lowest = np.empty(field.tiles.shape[0])
    for n in range(field.tiles.shape[0]):
        lowest[n] = np.inf
        number: int = field.tiles[n]
        together = _together(task, number)
        if together < 0 or field.any[together] == np.inf:
            continue
        set_inner(task.inner, model, task.spread, lattice.tile[number])
        energy = free_bound(task, task.inner.left, read, write) + field.any[together]
        lowest[n] = objective_of(task, energy, read, write)
    ranked = np.argsort(lowest, kind="mergesort")
    for i in range(ranked.shape[0]):
        best_first: int = ranked[i]
        if lowest[best_first] >= best.value[0]:
            break
        tile: int = field.tiles[best_first]
        set_inner(task.inner, model, task.spread, lattice.tile[tile])
        waiting = _scan_middle(best, task, field, _together(task, tile))
        _visit_waiting(best, task, field, waiting)


@inner
def _together(task: Task, tile: int) -> int:
    """The number of the tile of all inner memories together; -1 where factors do not divide."""
    lattice, number = task.lattice, 0
    for d in range(task.spread.far.shape[0]):
        value = lattice.tile[tile, d]
        if value % task.spread.near[d] or task.model.bounds[d] % (value * task.spread.far[d]):
            return -1
    for d in range(task.spread.far.shape[0]):
        rank = lattice.rank[tile, d]
        want = lattice.tile[tile, d] * task.spread.far[d]
        for j in range(lattice.multiple_count[d, rank]):
            other = lattice.multiples[d, rank, j]
            if lattice.tile[other * lattice.stride[d], d] == want:
                number += other * lattice.stride[d]
                break
    return number


@inner
def _scan_middle(best: Best, task: Task, field: Field, start: int) -> int:
    """Visit middle tiles whose price is known by pattern; list the others in `field.waiting` (returns how many)."""
    any_link = task.near.shape[0] > 1
    for t in range(task.inner.linkable.shape[0]):
        any_link = any_link or task.inner.linkable[t] > 0
    _prepare_far(task)
    waiting = 0
    for p in range(task.patterns.length.shape[0]):
        waiting = _scan_pattern(best, task, field, start, p, any_link, waiting)
    for m in range(field.cross.shape[0]):
        waiting = _scan_cross(best, task, field, start, m, waiting)
    return waiting


@inner
def _prepare_far(task: Task) -> None:
    task.far.shape[0] = task.spread.scale[0]
    for t in range(task.inner.groups.shape[0]):
        task.far.active[t] = 0
        task.far.groups[t] = task.inner.groups[t]


@inner
def _scan_pattern(best: Best, task: Task, field: Field, start: int, p: int, linked: bool, waiting: int) -> int:
    patterns, inner, lattice = task.patterns, task.inner, task.lattice
    length = patterns.length[p]
    read, write = np.zeros(3), np.zeros(3)
    for i in range(length):
        if inner.left[patterns.order[p, i]] == 1:
            return waiting
    if patterns.monotone[p]:
        energy = pattern_bound(task, p, inner.left, read, write) + field.any[start]
        if objective_of(task, energy, read, write) >= best.value[0]:
            return waiting
    turn = np.ones(length, np.int64)
    bounds = np.ones(inner.left.shape[0], np.int64)
    while True:
        tile = start
        for i in range(length):
            d = patterns.order[p, i]
            r = lattice.rank[start, d]
            tile += (lattice.multiples[d, r, turn[i]] - r) * lattice.stride[d]
            bounds[d] = lattice.tile[tile, d] // inner.together[d]
        beyond = field.fixed[patterns.group[p], tile]
        if beyond < np.inf:
            energy = pattern_bound(task, p, bounds, read, write)
            cycles = float(level_cycles(task.model, task.spread, read, write))
            if value_of(task.objective, energy + beyond, cycles) < best.value[0]:
                waiting = _expand(best, task, field, tile, p, energy, cycles, linked, waiting)
        i = length - 1
        while i >= 0:
            d = patterns.order[p, i]
            turn[i] += 1
            if turn[i] < lattice.multiple_count[d, lattice.rank[start, d]]:
                break
            turn[i] = 1
            i -= 1
        if i < 0:
            return waiting


@inner
def _expand(
    best: Best, task: Task, field: Field, tile: int, p: int, energy: float, cycles: float, linked: bool, waiting: int
) -> int:
    """Middle tiles that agree with `tile` in the pattern's dimensions and contain it."""
    free = ~task.patterns.members[task.patterns.group[p]]
    turn = np.zeros(free.shape[0], np.int64)
    while True:
        other = tile_at(task, tile, turn)
        low = value_of(task.objective, energy + field.table[other], cycles)
        if field.table[other] < np.inf and low < best.value[0]:
            if linked:
                waiting = _wait(field, other, low, waiting)
            else:
                visit_known(best, task, other, p, energy, cycles, field.layouts[0])
        if not step_turn(task, tile, turn, free):
            return waiting


@inner
def _wait(field: Field, tile: int, low: float, waiting: int) -> int:
    if field.marks[tile] == 0:
        field.marks[tile] = waiting + 1
        field.waiting[waiting], field.lows[waiting] = tile, low
        return waiting + 1
    n = field.marks[tile] - 1
    field.lows[n] = min(field.lows[n], low)
    return waiting


@inner
def tile_at(task: Task, start: int, turn: Ints) -> int:
    """The tile whose divisors are the `turn`-th multiples of those of `start`."""
    lattice, number = task.lattice, start
    for d in range(turn.shape[0]):
        r = lattice.rank[start, d]
        number += (lattice.multiples[d, r, turn[d]] - r) * lattice.stride[d]
    return number


@inner
def step_turn(task: Task, start: int, turn: Ints, free: NDArray[np.bool_]) -> bool:
    """The next combination of multiples in the `free` dimensions."""
    for d in range(turn.shape[0] - 1, -1, -1):
        if free[d]:
            turn[d] += 1
            if turn[d] < task.lattice.multiple_count[d, task.lattice.rank[start, d]]:
                return True
            turn[d] = 0
    return False


@inner
def _scan_cross(best: Best, task: Task, field: Field, start: int, m: int, waiting: int) -> int:
    read, write = np.zeros(3), np.zeros(3)
    free = field.cross[m]
    turn = np.zeros(free.shape[0], np.int64)
    while True:
        tile = tile_at(task, start, turn)
        if field.table[tile] < np.inf:
            low = _lowest(task, task.lattice.tile[tile] // task.inner.together, field.table[tile], read, write)
            if low < best.value[0]:
                waiting = _wait(field, tile, low, waiting)
        if not step_turn(task, start, turn, free):
            return waiting


@inner
def _lowest(task: Task, middle: Ints, beyond: float, read: Floats, write: Floats) -> float:
    """The bound of a middle tile with loop bounds `middle` (D,): that of the best loop to be the innermost there."""
    low = np.inf
    for d in range(middle.shape[0]):
        if middle[d] > 1:
            energy = first_bound(task, middle, d, read, write)
            low = min(low, objective_of(task, energy + beyond, read, write))
    if low == np.inf:
        energy = free_bound(task, middle, read, write)
        low = objective_of(task, energy + beyond, read, write)
    return low


@inner
def _visit_waiting(best: Best, task: Task, field: Field, waiting: int) -> None:
    if waiting == 0:
        return
    every = task.near.shape[0] > 1
    links = every
    for t in range(task.inner.linkable.shape[0]):
        links = links or task.inner.linkable[t] > 0
    order = np.argsort(field.lows[:waiting], kind="mergesort")
    for y in range(field.layouts.shape[0] if links else 1):
        if field.lows[order[0]] >= best.value[0]:
            break
        if links:
            for t in range(task.inner.linkable.shape[0]):
                task.far.active[t] = task.inner.linkable[t]
                task.near.active[t] = 1 if every else 0
            place(task.far, task.model, task.inner.tile, field.layouts[y, 1], task.model.mesh[1, 0])
            place(task.near, task.model, np.ones_like(task.inner.tile), field.layouts[y, 0], task.model.mesh[0, 0])
        for i in range(waiting):
            n: int = order[i]
            if field.lows[n] >= best.value[0]:
                break
            tile: int = field.waiting[n]
            visit_all(best, task, tile, field.table[tile], field.layouts[y], links)
    field.marks[field.waiting[:waiting]] = 0
