"""How long candidate tiles take when the next tile's loads are issued before the work on this one.

A loop that loads into two copies runs one iteration ahead (`codelet-pipeline`), so an iteration takes the longer of its
work and its transfers.  What loops inside load first cannot come before their own last iterations have let go of their
copies: that much of an iteration of a loop outside stalls.  Before all work come the first tiles of everything, whole
where a buffer is held outside of all loops; after it the last stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .grid import Grid


@dataclass(frozen=True)
class Transfer:
    """A buffer that is loaded or stored: the dims that cut it, and the cycles of one tile; an array over the grid."""

    loads: bool
    cut: tuple[str, ...]
    cycles: Any


def pipelined_cycles(grid: Grid, loops: Sequence[str], transfers: Sequence[Transfer], units: Sequence[Any]) -> Any:
    """Cycles of all tiles with loops over these dims, outermost first; `units` are the busy cycles of each queue."""
    loads, stores = (_by_level(grid, loops, [t for t in transfers if t.loads is way]) for way in (True, False))
    iterations: Any = 1
    for dim in loops:
        iterations = iterations * grid.counts[dim]
    work: Any = sum(units, start=np.zeros(grid.ones)) / iterations
    period: Any = np.zeros(grid.ones)
    for unit in units:
        period = np.maximum(period, unit / iterations)
    left: Any = np.full(grid.ones, np.inf)  # work that is left when the last load of a visit is done
    moving: Any = 0.0
    first: Any = 0.0
    for level in range(len(loops), 0, -1):
        count = grid.counts[loops[level - 1]]
        looped = count > 1
        moving = moving + loads[level] + stores[level]
        first = first + loads[level]
        step = np.maximum(period + np.maximum(0, first - left), moving)
        ahead = np.where(np.isinf(left), np.maximum(period, 2 * period - first), np.minimum(left, period))
        left = np.where(looped, ahead, left)
        work = work + (count - 1) * step
        period, moving = np.where(looped, count * step, period), moving * count
    return loads[0] + first + work + sum(stores)


def _by_level(grid: Grid, loops: Sequence[str], transfers: Sequence[Transfer]) -> list[Any]:
    """Cycles of transfers in an iteration of each loop: the innermost over several tiles that cuts them, 0 for none."""
    found: list[Any] = [np.zeros(grid.ones) for _ in range(len(loops) + 1)]
    for transfer in transfers:
        free: Any = np.ones(grid.ones, bool)
        for level in range(len(loops), 0, -1):
            dim = loops[level - 1]
            if dim in transfer.cut:
                found[level] = found[level] + np.where(free & (grid.counts[dim] > 1), transfer.cycles, 0)
                free = free & (grid.counts[dim] == 1)
        found[0] = found[0] + np.where(free, transfer.cycles, 0)
    return found
