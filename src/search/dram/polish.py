"""A look at all short groups: neighbouring layers fused in place of what they are, one after the other."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...costs.clock import NO_LIMIT, Limit
from ...costs.dram.tables import HEIGHT, Ints
from ...costs.dram.workspace import CUT, FUSED_GROUP, JOINED, LAYER_GROUP, ORDER, STREAMED, TILES, Workspace
from .anneal import Chain, Task
from .starts import MOST_JOINED, cheapest

SPANS = 2, 3, 4, 5, 6
"""Layers of the groups that are tried."""

COUNTS = 1, 2, 4, 8, 16
"""Tiles that are tried on either side of a DRAM cut when it is taken away, beside those that are there."""

MOST_SOFTENED = 40
"""DRAM cuts that are looked at."""


def polish(task: Task, chain: Chain, work: Workspace, limit: Limit = NO_LIMIT) -> None:
    """Go on from the best state of `chain`, with each short group that makes it better; counts what is scored.

    Random walks find such a group rarely where only one number of tiles will do.  Ends at `limit`.
    """
    state, best = _softened(task, chain, work, limit)
    for low in range(state.shape[1] - 1 if state.shape[1] <= MOST_JOINED else 0):
        if limit.late:
            break
        for span in SPANS:
            if low + span > state.shape[1] or (state[CUT, low + 1 : low + span] == LAYER_GROUP).any():
                break
            rows = int(task.net.layers[state[ORDER, low + span - 1], HEIGHT])
            trials = [_grouped(state, low, low + span, tiles) for tiles in sorted({1, 2, 4, rows, -(-rows // 2)})]
            found, best = cheapest(task, trials, work, best)
            chain.counts[0] += len(trials)
            state = state if found is None else found
    chain.best[:] = chain.now[:] = state
    chain.costs[:] = best


def _softened(task: Task, chain: Chain, work: Workspace, limit: Limit) -> tuple[Ints, float]:
    """The best state of `chain` without the DRAM cuts that it does better without, and its cost.

    What then stays in the buffer may need other tiles on both sides, which random walks seldom change at once.
    """
    state, best = chain.best.copy(), float(chain.costs[1])
    counts = sorted({*COUNTS, task.batch})
    for place in np.flatnonzero(state[CUT] == LAYER_GROUP)[1 : MOST_SOFTENED + 1].tolist():
        if limit.late:
            break
        before = head_before(state, place)
        trials: list[Ints] = []
        for one, two in product(
            sorted({*counts, int(state[TILES, before])}), sorted({*counts, int(state[TILES, place])})
        ):
            trial = state.copy()
            trial[CUT, place], trial[TILES, before], trial[TILES, place] = FUSED_GROUP, one, two
            trials.append(trial)
        found, best = cheapest(task, trials, work, best)
        chain.counts[0] += len(trials)
        state = state if found is None else found
    return state, best


def head_before(state: Ints, place: int) -> int:
    """Where the fused group before the one at `place` begins."""
    place -= 1
    while state[CUT, place] == JOINED:
        place -= 1
    return place


def _grouped(state: Ints, low: int, high: int, tiles: int) -> Ints:
    """`state` with the layers at places [low, high) as one fused group; groups that it cuts keep their tiles."""
    found = state.copy()
    if high < state.shape[1] and state[CUT, high] == JOINED:
        head = head_before(state, high)
        found[TILES, high], found[STREAMED, high] = state[TILES, head], state[STREAMED, head]
        found[CUT, high] = FUSED_GROUP
    if state[CUT, low] == JOINED:
        found[CUT, low], found[STREAMED, low] = FUSED_GROUP, 0
    found[TILES, low] = tiles
    found[CUT, low + 1 : high] = JOINED
    found[TILES, low + 1 : high] = found[STREAMED, low + 1 : high] = 0
    return found


__all__ = ["polish"]
