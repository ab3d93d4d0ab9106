"""The factors that a walk gives a dimension at a memory, one after the other."""

from __future__ import annotations

from ....costs.compiled import bare
from .model import WINDOW
from .promise import Task
from .skeleton import busy_rows


@bare
def idle(task: Task, level: int) -> bool:
    """Whether loops of a memory can as well be those of the next one: it keeps nothing.

    One loop of both factors rests no tensor less, but for windows that slide; and where spatial loops lie between, it
    is all the same to tiles whether loops are inside or outside of these, but for windows.
    """
    model, skeleton = task.model, task.skeleton
    if not model.perfect:
        return False
    for t in range(model.kind.shape[0]):
        if skeleton.kept[level, t]:
            return False
        for inner in range(level):
            if skeleton.kept[inner, t] and model.windows[t] > 0:
                return False
        for d in range(model.bounds.shape[0]):
            if skeleton.spread[level + 1, d] > 1 and model.kind[t, d] == WINDOW:
                return False
    return True


@bare
def most_steps(task: Task, level: int, d: int) -> int:
    """The largest imperfect factor of dimension `d` that leaves all rows of children further out some work.

    Where the last child has less than the others, its tile may rest while theirs do not.
    """
    skeleton, n, full = task.skeleton, task.model.bounds[d], task.state.base[level, d]
    most = -(-n // full)
    for k in range(level + 1, skeleton.spread.shape[0]):
        if skeleton.spread[k, d] > 1:
            most = min(most, (n - 1) // (full * busy_rows(task.model, skeleton.spread, k, d)))
            full *= skeleton.spread[k, d]
    return max(most, 1)


@bare
def next_bound(task: Task, level: int, d: int, bound: int) -> int:
    """The factor of dimension `d` after `bound` (0: the first; factor 1 comes last), 0 where there is none."""
    model, state, inside = task.model, task.state, task.skeleton.inside
    n, base = model.bounds[d], state.base[level, d]
    outside = inside[inside.shape[0] - 1, d] // inside[level + 1, d]
    last = level == task.skeleton.kept.shape[0] - 1
    if last:
        return -(-n // base) if bound == 0 else 0
    if bound == 1:
        return 0
    if bound == 0 and idle(task, level):
        return 1
    if model.perfect:
        left = n // base // outside
        for i in range(model.many[d]):
            b = model.divisors[d, model.many[d] - 1 - i]
            if (bound == 0 or b < bound) and left % b == 0:
                return b
        return 0
    if bound == 0:
        return most_steps(task, level, d)
    if outside > 1:
        return bound - 1
    times = -(-n // (base * bound))
    return max(1, min(bound - 1, -(-(-(-n // base)) // (times + 1))))
