"""What may come next in a walk."""

from __future__ import annotations

from .....costs.compiled import bare
from ..bounds.nodes import Task
from ..dominance.factors import next_bound
from ..space.model import UNRELATED, WINDOW, Ints

CLOSE, GROUP_FIRST, SLIDE = 0, 1, 2
"""What may come next at a level: nothing; loops that move some tensors; a sliding one first."""


LEVEL, ALIVE, REMAINING, TODO, KILLED, GROUP, FIRST, DEPTH, MODE, CURSOR, DIM = range(11)
"""Columns of a frame's integers.

ALIVE tensors rest so far; loops of TODO come next at LEVEL, then others of REMAINING.  One of them moves the tensors
KILLED: the loop FIRST, after which those of GROUP come, or, if FIRST is negative, one of GROUP.
"""


@bare
def moved_by(task: Task, alive: int, d: int) -> int:
    """Tensors that loop `d` would move."""
    killed = 0
    for t in range(task.model.kind.shape[0]):
        if (alive >> t) & 1 and task.model.kind[t, d] != UNRELATED:
            killed |= 1 << t
    return killed


@bare
def resting_dims(task: Task, alive: int, remaining: int) -> int:
    """Dimensions of `remaining` that move none of the tensors `alive`."""
    found = 0
    for d in range(task.model.bounds.shape[0]):
        if (remaining >> d) & 1 and moved_by(task, alive, d) == 0:
            found |= 1 << d
    return found


@bare
def slides(task: Task, killed: int, d: int) -> bool:
    """Whether dimension `d` is part of a window of some tensor in `killed`."""
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1 and task.model.kind[t, d] == WINDOW:
            return True
    return False


@bare
def note(row: Ints, kind: int, loops: int, killed: int, which: int) -> None:
    """Fill a row of what may come next."""
    row[0], row[1], row[2], row[3] = kind, loops, killed, which


@bare
def options(task: Task, row: Ints, found: Ints) -> int:
    """What may come next in a frame: rows of `found` (D + 1, 4) as (kind, loops, tensors that move, group or first
    loop)."""
    model = task.model
    level, alive, remaining = row[LEVEL], row[ALIVE], row[REMAINING]
    last = task.skeleton.kept.shape[0] - 1
    looping, count = 0, 0
    for d in range(model.bounds.shape[0]):
        if (remaining >> d) & 1 and next_bound(task, level, d, 0) > 1:
            looping |= 1 << d
    if looping == 0 or (alive != 0 and level < last):
        note(found[0], CLOSE, 0, 0, 0)
        count = 1
    for d in range(model.bounds.shape[0]):
        if not (looping >> d) & 1:
            continue
        killed = moved_by(task, alive, d)
        if killed == 0:
            continue
        rest = resting_dims(task, alive & ~killed, remaining)
        if slides(task, killed, d):
            note(found[count], SLIDE, rest & ~(1 << d), killed, d)
            count += 1
            continue
        group = 0
        for other in range(model.bounds.shape[0]):
            if (looping >> other) & 1 and moved_by(task, alive, other) == killed and not slides(task, killed, other):
                group |= 1 << other
        if group & ((1 << d) - 1) == 0:
            note(found[count], GROUP_FIRST, rest, killed, group)
            count += 1
    return count
