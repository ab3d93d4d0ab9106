"""Loops outside of which a window finds nothing; imperfect factors.

A loop that goes through all of a plain dimension begins again whenever a loop outside of it advances, and then nothing
is left of what the last steps had.  The same holds for a term of a window that falls back further than a tile reaches.
A walk settles a tensor when a loop moves it, as if all loops further out could come in the best order for it; here it
learns which of them are outside of such a wall, and find nothing.

A leaf of the walk stands for other orders of a memory's loops, too.  But in all of them loops of outer memories are
outside, and one of the loops that move some tensors first is inside of all that move others, which rest still.

Statement 15 of docs/exact-mapper.md.
"""

from __future__ import annotations

from .....costs.compiled import bare
from ..bounds.nodes import Task
from ..space.model import PLAIN, UNRELATED, WINDOW, Ints
from ..traffic.ragged import other_term, understood
from ..traffic.rows import copy_row, copy_words
from ..traffic.settle import kill
from ..traffic.windows import alike
from .branches import EVERY


@bare
def beyond_walls(task: Task, closed: int) -> float:
    """Energy of tensors with windows that is not settled, where loops of memory `closed`, which are all chosen, are the
    first in which there is a wall for them."""
    model, state, more = task.model, task.state, 0.0
    if model.perfect:
        return more
    for t in range(model.kind.shape[0]):
        for level in range(1, closed + 1 if model.windows[t] > 0 else 0):
            at = mover_of(task, t, level)
            if at >= 0 and model.kind[t, state.loops[at, 1]] == WINDOW:
                if wall_of(task, t, level, at, closed, state.room[4]) == closed:
                    more += difference(task, t, level, at, state.room[4])
    return more


@bare
def mover_of(task: Task, t: int, level: int) -> int:
    """The first loop of memory `level` that moves tensor `t`, where that rests in a tile; else -1."""
    state = task.state
    rests = False
    for c in range(state.low[level, t], level):
        rests |= task.skeleton.kept[c, t] > 0
    for i in range(state.length[0] if rests else 0):
        if state.loops[i, 0] == level and task.model.kind[t, state.loops[i, 1]] != UNRELATED:
            return i
    return -1


@bare
def wall_of(task: Task, t: int, level: int, at: int, closed: int, reach: Ints) -> int:
    """The memory in which a wall for tensor `t` is that loop `at` of memory `level` moves, -1 if there is none yet.

    Fills `reach` (D,) with the iterations of loops that may come inside of the wall, but for that loop.
    """
    loops, length, i = task.state.loops, task.state.length[0], at + 1
    some = False
    for d in range(reach.shape[0]):
        reach[d] = 1
    while i < length and loops[i, 0] <= closed:
        memory, block, movers, every = loops[i, 0], loops[i, 3], 0, True
        while i < length and loops[i, 0] == memory and loops[i, 3] == block:
            reach[loops[i, 1]] *= loops[i, 2]
            stops = is_wall(task, t, level, at, i)
            some |= stops
            if loops[i, 4]:
                movers += 1
                every &= stops
            i += 1
        if (movers > 0 and every) or (some and (i == length or loops[i, 0] > memory)):
            return int(memory)
    return -1


@bare
def is_wall(task: Task, t: int, level: int, at: int, i: int) -> bool:
    """Whether nothing of tensor `t`, which loop `at` of memory `level` moves, is left after all of loop `i`.

    It has all steps of its dimension.  Children may be idle in the last, and have what they had in the one before.
    """
    model, skeleton, state = task.model, task.skeleton, task.state
    memory, d, bound = int(state.loops[i, 0]), int(state.loops[i, 1]), int(state.loops[i, 2])
    base, n = int(state.base[memory, d]), int(model.bounds[d])
    outside = skeleton.inside[skeleton.inside.shape[0] - 1, d] != skeleton.inside[memory + 1, d]
    if model.kind[t, d] == UNRELATED or outside or base * bound < n:
        return False
    back = -(-n // base) - (1 if all_busy(task, t, level, memory, d) else 2)
    if model.kind[t, d] == PLAIN:
        return back > 0
    w, free, e = model.window[t, d], 0, other_term(model, t, d)
    for f in range(model.bounds.shape[0]):
        all_inside = skeleton.inside[level + 1, f] == skeleton.inside[skeleton.inside.shape[0] - 1, f]
        free |= 1 << f if all_inside else 0
    if e < 0 or not understood(model, t, w, state.base[level], free):
        return False
    # Loops of the other term, further out, could take the window ahead as far as this one falls back.
    once = e == state.loops[at, 1] and state.base[level, e] * state.loops[at, 2] >= model.bounds[e]
    if not once and state.base[level, e] < model.bounds[e]:
        return False
    span = 1
    for f in (d, e):
        size = min(model.bounds[f], alike(model, f, state.base[level, f])[1])
        span += model.coefficient[t, f] * (size - 1)
    return bool(back * alike(model, d, base)[0] * model.coefficient[t, d] >= span)


@bare
def all_busy(task: Task, t: int, level: int, memory: int, d: int) -> bool:
    """Whether all children along `d` of the tiles in which tensor `t` rests at `level` have work in the last step of a
    loop of `memory`, for all factors that this one stands for."""
    skeleton, state = task.skeleton, task.state
    base, outermost = state.base[memory, d], -1
    for k in range(state.low[level, t] + 1, memory + 1):
        outermost = k if skeleton.spread[k, d] > 1 else outermost
    if outermost < 0:
        return True
    return bool(state.base[outermost, d] == base and task.model.bounds[d] % base == 0)


@bare
def difference(task: Task, t: int, level: int, at: int, reach: Ints) -> float:
    """What tensor `t`, which loop `at` of memory `level` moved, costs more if only loops of `reach` find anything."""
    state, found = task.state, 0.0
    mark, words = state.room[5], state.words[0]
    copy_row(mark, state.base[level])
    for i in range(at):
        if state.loops[i, 0] == level:
            mark[state.loops[i, 1]] *= state.loops[i, 2]
    first, bound = state.loops[at, 1], state.loops[at, 2]
    copy_words(words, task.skeleton.floor)
    found += kill(task, level, t, mark, first, bound, EVERY, reach, 0.0, words)
    found -= kill(task, level, t, mark, first, bound, EVERY, task.model.bounds, 0.0, words)
    copy_words(words, task.skeleton.floor)
    return max(found, 0.0)
