"""All inner tiles of one spread, best middle tiles first by table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....costs.exact.compiled import bare, bare_entry, part
from ....costs.timeloop.batch_arrays import Floats, Ints
from ....costs.timeloop.batch_links import place
from ..objective import value_of
from .bound import set_inner
from .least import FAR, FIRST, FREE, NEAR, PATTERN, Task, least
from .ranking import rank
from .visit import Best, visit_all, visit_known


class Field(NamedTuple):
    """Where to search: inner tile numbers `tiles`, `table` (L,) of energy beyond the middle memory, its superset
    minimum `any` and those with a pattern's dimensions fixed `fixed` (G, L), `cross` masks (M, D) of dimensions that
    do not loop at the middle memory, `layouts` (Y, 2, 4, D), room for `marks` (L,) and a list of tiles `waiting` (L,)
    with bounds `lows` (L,); `ranked` (4, L) are ranks of inner tiles and of waiting ones, and spares; `lowest` (L,) is
    by inner tile."""

    tiles: Ints
    table: Floats
    any: Floats
    fixed: Floats
    cross: NDArray[np.bool_]
    layouts: Ints
    marks: Ints
    waiting: Ints
    lows: Floats
    ranked: Ints
    lowest: Floats


@bare_entry
def scan(best: Best, task: Task, field: Field, first: int, last: int) -> bool:
    """Search the inner tiles [first, last) of `field`, by their bounds; whether others may hold something better.

    The first call, with `first` 0, puts them in that order.
    """
    model, lattice = task.model, task.lattice
    for n in range(field.tiles.shape[0] if first == 0 else 0):
        field.lowest[n] = np.inf
        number: int = field.tiles[n]
        together = _together(task, number)
        if together < 0 or field.any[together] == np.inf:
            continue
        set_inner(task.inner, model, task.spread, lattice.tile[number], task.room)
        energy, cycles = least(task, FREE, 0, task.inner.left)
        field.lowest[n] = value_of(task.objective, energy + field.any[together], cycles)
    if first == 0:
        rank(field.lowest, field.tiles.shape[0], field.ranked[0], field.ranked[2])
    for i in range(first, min(last, field.tiles.shape[0])):
        best_first: int = field.ranked[0, i]
        if field.lowest[best_first] >= best.value[0]:
            return False
        tile: int = field.tiles[best_first]
        set_inner(task.inner, model, task.spread, lattice.tile[tile], task.room)
        waiting = _scan_middle(best, task, field, _together(task, tile))
        _visit_waiting(best, task, field, waiting)
    return last < field.tiles.shape[0]


@bare
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


@part
def _scan_middle(best: Best, task: Task, field: Field, start: int) -> int:
    """Visit middle tiles whose price is known by pattern; list the others in `field.waiting` (returns how many)."""
    any_link = task.links.shape[NEAR, 0] > 1
    for t in range(task.inner.linkable.shape[0]):
        any_link = any_link or task.inner.linkable[t] > 0
    _prepare_far(task)
    waiting = 0
    for p in range(task.patterns.length.shape[0]):
        waiting = _scan_pattern(best, task, field, start, p, any_link, waiting)
    for m in range(field.cross.shape[0]):
        waiting = _scan_cross(best, task, field, start, m, waiting)
    return waiting


@part
def _prepare_far(task: Task) -> None:
    task.links.shape[FAR, 0] = task.spread.scale[0]
    for t in range(task.inner.groups.shape[0]):
        task.links.active[FAR, t] = 0
        task.links.groups[FAR, t] = task.inner.groups[t]


@part
def _scan_pattern(best: Best, task: Task, field: Field, start: int, p: int, linked: bool, waiting: int) -> int:
    patterns, inner, lattice = task.patterns, task.inner, task.lattice
    length, turn, bounds = patterns.length[p], task.room.turns[0], task.room.middle
    for d in range(bounds.shape[0]):
        turn[d], bounds[d] = 1, 1
    for i in range(length):
        if inner.left[patterns.order[p, i]] == 1:
            return waiting
    if patterns.monotone[p]:
        energy, cycles = least(task, PATTERN, p, inner.left)
        if value_of(task.objective, energy + field.any[start], cycles) >= best.value[0]:
            return waiting
    while True:
        tile = start
        for i in range(length):
            d = patterns.order[p, i]
            r = lattice.rank[start, d]
            tile += (lattice.multiples[d, r, turn[i]] - r) * lattice.stride[d]
            bounds[d] = lattice.tile[tile, d] // inner.together[d]
        beyond = field.fixed[patterns.group[p], tile]
        if beyond < np.inf:
            energy, cycles = least(task, PATTERN, p, bounds)
            if value_of(task.objective, energy + beyond, cycles) < best.value[0]:
                waiting = _expand(best, task, field, tile, p, (energy, cycles), linked, waiting)
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


@part
def _expand(
    best: Best, task: Task, field: Field, tile: int, p: int, inner: tuple[float, float], linked: bool, waiting: int
) -> int:
    """Middle tiles that agree with `tile` in the pattern's dimensions and contain it.

    `inner` are the least energy and cycles of the inner memories.
    """
    energy, cycles = inner
    fixed, turn = task.patterns.members[task.patterns.group[p]], task.room.turns[1]
    for d in range(turn.shape[0]):
        turn[d] = 0
    while True:
        other = tile_at(task, tile, turn)
        low = value_of(task.objective, energy + field.table[other], cycles)
        if field.table[other] < np.inf and low < best.value[0]:
            if linked:
                waiting = _wait(field, other, low, waiting)
            else:
                visit_known(best, task, other, p, energy, cycles, field.layouts[0])
        if not step_turn(task, tile, turn, fixed):
            return waiting


@bare
def _wait(field: Field, tile: int, low: float, waiting: int) -> int:
    if field.marks[tile] == 0:
        field.marks[tile] = waiting + 1
        field.waiting[waiting], field.lows[waiting] = tile, low
        return waiting + 1
    n = field.marks[tile] - 1
    field.lows[n] = min(field.lows[n], low)
    return waiting


@bare
def tile_at(task: Task, start: int, turn: Ints) -> int:
    """The tile whose divisors are the `turn`-th multiples of those of `start`."""
    lattice, number = task.lattice, start
    for d in range(turn.shape[0]):
        r = lattice.rank[start, d]
        number += (lattice.multiples[d, r, turn[d]] - r) * lattice.stride[d]
    return number


@bare
def step_turn(task: Task, start: int, turn: Ints, fixed: NDArray[np.bool_]) -> bool:
    """The next combination of multiples in the dimensions that are not `fixed`."""
    for d in range(turn.shape[0] - 1, -1, -1):
        if not fixed[d]:
            turn[d] += 1
            if turn[d] < task.lattice.multiple_count[d, task.lattice.rank[start, d]]:
                return True
            turn[d] = 0
    return False


@part
def _scan_cross(best: Best, task: Task, field: Field, start: int, m: int, waiting: int) -> int:
    turn, middle = task.room.turns[0], task.room.middle
    for d in range(turn.shape[0]):
        turn[d] = 0
    while True:
        tile = tile_at(task, start, turn)
        if field.table[tile] < np.inf:
            for d in range(turn.shape[0]):
                middle[d] = task.lattice.tile[tile, d] // task.inner.together[d]
            low = _lowest(task, middle, field.table[tile])
            if low < best.value[0]:
                waiting = _wait(field, tile, low, waiting)
        if not step_turn(task, start, turn, field.cross[m]):
            return waiting


@part
def _lowest(task: Task, middle: Ints, beyond: float) -> float:
    """The bound of a middle tile with loop bounds `middle` (D,): that of the best loop to be the innermost there."""
    low = np.inf
    for d in range(middle.shape[0]):
        if middle[d] > 1:
            energy, cycles = least(task, FIRST, d, middle)
            low = min(low, value_of(task.objective, energy + beyond, cycles))
    if low == np.inf:
        energy, cycles = least(task, FREE, 0, middle)
        low = value_of(task.objective, energy + beyond, cycles)
    return low


@part
def _visit_waiting(best: Best, task: Task, field: Field, waiting: int) -> None:
    if waiting == 0:
        return
    every = task.links.shape[NEAR, 0] > 1
    links = every
    for t in range(task.inner.linkable.shape[0]):
        links = links or task.inner.linkable[t] > 0
    order = field.ranked[1]
    rank(field.lows, waiting, order, field.ranked[3])
    for y in range(field.layouts.shape[0] if links else 1):
        if field.lows[order[0]] >= best.value[0]:
            break
        if links:
            for t in range(task.inner.linkable.shape[0]):
                task.links.active[FAR, t] = task.inner.linkable[t]
                task.links.active[NEAR, t] = 1 if every else 0
            place(task.links, task.model, FAR, task.inner.tile, field.layouts[y, 1])
            place(task.links, task.model, NEAR, task.nest.ones, field.layouts[y, 0])
        for i in range(waiting):
            n: int = order[i]
            if field.lows[n] >= best.value[0]:
                break
            tile: int = field.waiting[n]
            visit_all(best, task, tile, field.table[tile], field.layouts[y], links)
    for i in range(waiting):
        field.marks[field.waiting[i]] = 0
