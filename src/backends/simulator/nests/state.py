"""What changes in the course of a run, and the names of its parts."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....algebra.element import Array, Ints
from .plan import CHILD_BITS, Plan

Counted = IntEnum("Counted", "READS FILLS UPDATES INWARDS OUTWARDS", start=0)
"""What is counted for each tensor in each instance of each level: words of its memory, words on the network below."""

Tile = IntEnum("Tile", "SHAPE BASE ABOVE OWN SEEN MOVED", start=0)
"""What is known of the tile in an instance: the number of its shape (-1: none), the place in the tensor, in the
parent and in the memory itself of its first iteration, the step when it was last needed, and when it last moved."""

Clock = IntEnum("Clock", "STEP WHOLE POINTS WIDEST DONE", start=0)
"""Steps so far, those of all units, points computed, the outermost level whose loops have moved since the last step,
and whether all is done."""

NEW, RETURNED = 0, 1
"""States of a word before any step has asked for it: a sum without a value, and one that came back."""

LoopRow = IntEnum("LoopRow", "LEVEL DIM PITCH BOUND", start=0)
"""What is known of a loop."""

CHILD = (1 << CHILD_BITS) - 1


class State(NamedTuple):
    """All that changes: `values` and `events` (step and child that last asked for it) of each word in each memory."""

    values: Array
    events: Ints
    passed: Ints
    digits: Ints
    offsets: Ints
    boxes: Ints
    counters: Ints
    marks: NDArray[np.uint8]
    held_values: Array
    held_events: Ints
    shifts: Ints
    clock: Ints


def make_state(plan: Plan, values: Array) -> State:
    """The state before the first step; `values` has all memories, the tensors off chip filled in."""
    tensors, levels = plan.parents.shape
    instances = int(plan.counters[-1, -1] + 1)
    bits = int(plan.words[-1, -1]) * sum(
        int(plan.first[k + 1] - plan.first[k]) for k in range(levels - 1) if plan.marks[k] >= 0
    )
    boxes = np.zeros((instances, 6), np.int64)
    boxes[:, Tile.SHAPE] = -1
    widest = int(plan.words[:, :-1].max(initial=1))
    return State(
        values,
        np.zeros(len(values), np.int64),
        np.zeros(int(plan.words[-1, -1]), np.int64),
        np.zeros(len(plan.loops), np.int64),
        np.zeros((levels, len(plan.bounds)), np.int64),
        boxes,
        np.zeros((instances, 5), np.int64),
        np.zeros(bits // 8 + 1, np.uint8),
        np.zeros(widest, values.dtype),
        np.zeros(widest, np.int64),
        np.zeros(tensors + 1, np.int64),
        np.array([0, 0, 0, levels - 1, 0]),
    )


def count_whole_steps(plan: Plan, state: State) -> None:
    """Counts what the steps of all units had in common."""
    tensors, units = plan.factors.shape
    for tensor in range(tensors):
        near, (moves, memory) = (
            plan.parents[tensor, 0],
            (Counted.INWARDS, Counted.READS) if tensor < tensors - 1 else (Counted.OUTWARDS, Counted.UPDATES),
        )
        for outer in range(1, near + 1):
            asking = plan.ancestors[:units, outer][plan.news[tensor] > outer]
            each = state.clock[Clock.WHOLE] * np.bincount(asking)
            rows = state.counters[plan.counters[tensor, outer] :][: len(each)]
            rows[:, moves] += each
            if outer == near:
                rows[:, memory] += each
