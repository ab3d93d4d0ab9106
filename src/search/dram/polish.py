"""A look at all short groups: neighbouring layers fused in place of what they are, one after the other."""

from __future__ import annotations

from ...costs.dram.tables import HEIGHT, Ints
from ...costs.dram.workspace import CUT, FUSED_GROUP, JOINED, LAYER_GROUP, ORDER, STREAMED, TILES, Workspace
from .anneal import Chain, Task
from .starts import MOST_JOINED, cost, late

SPANS = 2, 3, 4, 5, 6
"""Layers of the groups that are tried."""


def polish(task: Task, chain: Chain, work: Workspace, deadline: float | None = None) -> None:
    """Go on from the best state of `chain`, with each short group that makes it better; counts what is scored.

    Random walks find such a group rarely where only one number of tiles will do.  Ends at `deadline`.
    """
    state, best = chain.best, float(chain.costs[1])
    for low in range(state.shape[1] - 1 if state.shape[1] <= MOST_JOINED else 0):
        if late(deadline):
            break
        for span in SPANS:
            if low + span > state.shape[1] or (state[CUT, low + 1 : low + span] == LAYER_GROUP).any():
                break
            rows = int(task.net.layers[state[ORDER, low + span - 1], HEIGHT])
            for tiles in sorted({1, 2, 4, rows, -(-rows // 2)}):
                trial = _grouped(state, low, low + span, tiles)
                found = cost(task, trial, work)
                chain.counts[0] += 1
                if found < best:
                    best, state = found, trial
    chain.best[:] = chain.now[:] = state
    chain.costs[:] = best


def _grouped(state: Ints, low: int, high: int, tiles: int) -> Ints:
    """`state` with the layers at places [low, high) as one fused group; groups that it cuts keep their tiles."""
    found = state.copy()
    if high < state.shape[1] and state[CUT, high] == JOINED:
        head = high
        while state[CUT, head] == JOINED:
            head -= 1
        found[TILES, high], found[STREAMED, high] = state[TILES, head], state[STREAMED, head]
        found[CUT, high] = FUSED_GROUP
    if state[CUT, low] == JOINED:
        found[CUT, low], found[STREAMED, low] = FUSED_GROUP, 0
    found[TILES, low] = tiles
    found[CUT, low + 1 : high] = JOINED
    found[TILES, low + 1 : high] = found[STREAMED, low + 1 : high] = 0
    return found


__all__ = ["polish"]
