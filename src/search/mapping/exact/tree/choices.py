"""What may come next in a walk."""

from __future__ import annotations

from .....costs.compiled import bare
from ..bounds.nodes import Task
from ..dominance.branches import EVERY, closing_cases, not_late, two_cases
from ..dominance.factors import next_bound
from ..space.model import UNRELATED, WINDOW, Ints

CLOSE, FREE, GROUP_FIRST, SLIDE = 0, 1, 2, 3
"""What may come next at a level: nothing; loops in any order; loops that move some tensors; a sliding one first."""


LEVEL, ALIVE, REMAINING, TODO, KILLED, GROUP, FIRST, DEPTH, MODE, CURSOR, DIM, NEAR, OUTSIDE, INSIDE = range(14)
SLID, MARK, BY, TIMES, FINDS, OPEN = range(14, 20)
"""Columns of a frame's integers.

ALIVE tensors rest so far; loops of TODO come next at LEVEL, then others of REMAINING.  One of them moves the tensors
KILLED: the loop FIRST, after which those of GROUP come, or, if FIRST is negative, one of GROUP.
Windows find something in loops NEAR; outermost loops OUTSIDE come after some INSIDE.
A window of tensor SLID (-1: none) was moved by loop BY with bound TIMES; it found something in loops FINDS, and those
of OPEN could come next; its tile is that of depth MARK.
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
def resting(task: Task, level: int, alive: int, remaining: int, outside: int, inside: int) -> int:
    """As `resting_dims`; loops `outside` of the outermost memory come after some `inside`."""
    found = resting_dims(task, alive, remaining)
    return not_late(task, alive, found, outside, inside) if level == task.skeleton.kept.shape[0] - 1 else found


@bare
def slides(task: Task, killed: int, d: int) -> bool:
    """Whether dimension `d` is part of a window of some tensor in `killed`."""
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1 and task.model.kind[t, d] == WINDOW:
            return True
    return False


@bare
def note(row: Ints, kind: int, loops: int, killed: int, which: int, outside: int, inside: int) -> None:
    """Fill a row of what may come next."""
    row[0], row[1], row[2], row[3] = kind, loops, killed, which
    row[4], row[5], row[6], row[7] = EVERY, 0, outside, inside


@bare
def closings(task: Task, row: Ints, found: Ints) -> int:
    """The rows of `options` where the loops of a memory below the outermost are over."""
    note(found[0], CLOSE, 0, 0, 0, row[OUTSIDE], row[INSIDE])
    found[0, 4] = row[FINDS]
    if row[SLID] < 0 or not closing_cases(task, row[LEVEL], row[SLID], row[FINDS], row[OPEN], found[1, 4:]):
        found[0, 4] = found[1, 4] if row[SLID] >= 0 else EVERY
        return 1
    found[0, 4], found[1, 4] = found[1, 4], row[FINDS]
    if found[1, 6] == 0:
        found[1, 6], found[1, 7] = row[OUTSIDE], row[INSIDE]
    found[1, 0] = CLOSE
    return 2


@bare
def options(task: Task, row: Ints, found: Ints) -> int:
    """What may come next in a frame: rows of `found` (2 D + 3, 8) as (kind, loops, tensors that move, group or first
    loop), and the columns of `two_cases`."""
    model = task.model
    level, alive, remaining, outside, inside = row[LEVEL], row[ALIVE], row[REMAINING], row[OUTSIDE], row[INSIDE]
    last = task.skeleton.kept.shape[0] - 1
    looping = 0
    for d in range(model.bounds.shape[0]):
        if (remaining >> d) & 1 and next_bound(task, level, d, 0) > 1:
            looping |= 1 << d
    if looping == 0:
        found[0, 0] = CLOSE
        return 1 if level == last else closings(task, row, found)
    if alive == 0:
        note(found[0], FREE, remaining, 0, 0, 0, 0)
        return 1
    count = closings(task, row, found) if level < last else 0
    for d in range(model.bounds.shape[0]):
        if not (looping >> d) & 1:
            continue
        killed = moved_by(task, alive, d)
        if killed == 0:
            continue
        rest = resting(task, level, alive & ~killed, remaining, outside, inside)
        if slides(task, killed, d):
            note(found[count], SLIDE, rest & ~(1 << d), killed, d, outside, inside)
            count += 1
            if two_cases(task, level, alive, killed, d, remaining, found[count, 4:]):
                count = second_case(task, level, alive & ~killed, remaining, found, count)
            continue
        group = 0
        for other in range(model.bounds.shape[0]):
            if (looping >> other) & 1 and moved_by(task, alive, other) == killed and not slides(task, killed, other):
                group |= 1 << other
        if group & ((1 << d) - 1) == 0:
            note(found[count], GROUP_FIRST, rest, killed, group, outside, inside)
            count += 1
    return count


@bare
def second_case(task: Task, level: int, alive: int, remaining: int, found: Ints, count: int) -> int:
    """Complete row `count` of `options`, a second case of the row before; returns the number of rows."""
    one, other = found[count - 1], found[count]
    one[4], other[4] = other[4], EVERY
    if other[6] == 0:
        other[6], other[7] = one[6], one[7]
    rest = resting(task, level, alive, remaining, other[6], other[7])
    other[0], other[1], other[2], other[3] = SLIDE, rest & ~(1 << one[3] | other[5]), one[2], one[3]
    return count + 1
