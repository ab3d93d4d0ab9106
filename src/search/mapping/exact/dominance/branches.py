"""What may come after a loop that slides, in two cases; perfect factors only.

Loops of a tensor's plain dimensions leave nothing of its windows, so only loops inside of the first of them find
something.  Either no further loop of an unrelated dimension is inside of it; or the first comes late, and other tensors
cannot rest in it where loops that move them come before.

Statement 15 of docs/exact-mapper.md.
"""

from __future__ import annotations

from .....costs.compiled import bare
from ..bounds.nodes import Task
from ..space.model import PLAIN, UNRELATED, WINDOW, Ints

EVERY = -1
"""The set of all dimensions."""

NEAR, BARRED, OUTSIDE, INSIDE = range(4)
"""Columns of `two_cases`: what finds something in the first case; in the second, dimensions that have no loop at this
memory, and those whose outermost loops come outside of others."""


@bare
def slider(task: Task, killed: int, d: int) -> int:
    """The only tensor of `killed` of which `d` moves a window, -1 if there are more."""
    found = -1
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1 and task.model.kind[t, d] == WINDOW:
            if found >= 0:
                return -1
            found = t
    return found


@bare
def dims_left(task: Task, level: int, t: int, kind: int) -> int:
    """Dimensions of tensor `t` of some kind with iterations beyond the tile of memory `level`."""
    inside, found = task.skeleton.inside, 0
    for d in range(task.model.bounds.shape[0]):
        outside = inside[inside.shape[0] - 1, d] // inside[level + 1, d]
        if task.model.kind[t, d] == kind and task.model.bounds[d] > task.state.tile[level, d] * outside:
            found |= 1 << d
    return found


@bare
def two_cases(task: Task, level: int, alive: int, killed: int, d: int, remaining: int, found: Ints) -> bool:
    """Whether there are two cases after loop `d`, which moves the tensors `killed` of `alive`; `found` (4,) has them.

    Loops of `remaining` may come next.
    """
    found[NEAR], found[BARRED], found[OUTSIDE], found[INSIDE] = EVERY, 0, 0, 0
    t = slider(task, killed, d)
    if not task.model.perfect or t < 0:
        return False
    last = task.skeleton.kept.shape[0] - 1
    plain = dims_left(task, level, t, PLAIN)
    if level == last:
        return resting_between(task, alive & ~killed, plain, d, found)
    waiting = dims_left(task, level, t, UNRELATED) & ~remaining
    if waiting == 0 or plain == 0:
        return False
    found[NEAR] = ~waiting
    for e in range(task.model.bounds.shape[0]):
        found[BARRED] |= 1 << e if task.model.kind[t, e] == PLAIN else 0
    if level == last - 1:
        found[OUTSIDE], found[INSIDE] = plain, waiting
    return True


@bare
def closing_cases(task: Task, level: int, t: int, near: int, opened: int, found: Ints) -> bool:
    """Whether there are two cases when the loops of memory `level` are over, one of which has moved a window of tensor
    `t`; these are in `found` (4,), as of `two_cases`.

    It found something in loops `near` then, and loops of `opened` could come after.  Dimensions of these without a loop
    have loops further out, if any.
    """
    found[NEAR], found[BARRED], found[OUTSIDE], found[INSIDE] = near, 0, 0, 0
    state, looping = task.state, 0
    for d in range(task.model.bounds.shape[0]):
        looping |= 1 << d if state.tile[level, d] > state.base[level, d] else 0
    waiting, plain = dims_left(task, level, t, UNRELATED) & opened & ~looping, 0
    for d in range(task.model.bounds.shape[0]):
        plain |= 1 << d if task.model.kind[t, d] == PLAIN else 0
    if waiting == 0:
        return False
    if plain & looping:
        found[NEAR] = near & ~waiting
        return False
    plain = dims_left(task, level, t, PLAIN)
    if plain == 0:
        return False
    found[NEAR] = near & ~waiting
    if level == task.skeleton.kept.shape[0] - 2:
        found[OUTSIDE], found[INSIDE] = plain, waiting
    return True


@bare
def resting_between(task: Task, others: int, plain: int, d: int, found: Ints) -> bool:
    """`two_cases` at the outermost memory: one of the `others` rests in a loop of `plain`, or none in any of them."""
    near, between = 1 << d, 0
    for t in range(task.model.kind.shape[0]):
        if (others >> t) & 1:
            unrelated = 0
            for e in range(task.model.bounds.shape[0]):
                unrelated |= 1 << e if task.model.kind[t, e] == UNRELATED else 0
            if unrelated & plain:
                near, between = near | unrelated, between | unrelated & plain
    if between == 0:
        return False
    found[NEAR], found[OUTSIDE], found[INSIDE] = near, between, 0
    return True


@bare
def not_late(task: Task, alive: int, dims: int, outside: int, inside: int) -> int:
    """Those of `dims` in whose loops of the outermost memory the tensors `alive` may rest.

    Loops of `outside` come after one of `inside`, so no tensor that all of these move rests in the former.
    """
    if outside == 0:
        return dims
    for t in range(task.model.kind.shape[0]):
        moved = 0
        for d in range(task.model.bounds.shape[0]):
            moved |= 1 << d if task.model.kind[t, d] != UNRELATED else 0
        if (alive >> t) & 1 and moved & inside == inside:
            return dims & ~outside
    return dims
