"""The factors that a walk gives a dimension at a memory, one after the other."""

from __future__ import annotations

from ....costs.compiled import bare
from .model import UNRELATED, WINDOW
from .promise import Task, cell_of, fits
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
def better_outside(task: Task, level: int, d: int, alive: int) -> bool:
    """Whether loop `d`, of the outermost at memory `level`, is as good inside of the loops of the next one.

    Tiles get smaller then.  That is all where each tensor whose tiles do has no other loops outside: it passes once,
    in whatever tiles.  Tensors that rest (those `alive` do so up to here) must not mind that more children have work in
    the last tile.
    """
    model, skeleton, state = task.model, task.skeleton, task.state
    last, smaller = skeleton.kept.shape[0] - 1, False
    if level >= last:
        return False
    for t in range(model.kind.shape[0]):
        if model.kind[t, d] == WINDOW:
            return False
        inside = False
        for c in range(level + 1):
            inside |= skeleton.kept[c, t] > 0
        if inside and model.kind[t, d] == UNRELATED:
            rests = skeleton.kept[level, t] > 0 or (alive >> t) & 1 > 0
            if rests and not model.perfect and skeleton.spread[level + 1, d] > 1:
                return False
        elif inside:
            smaller = True
            if model.windows[t] > 0:
                return False
            for e in range(model.bounds.shape[0]):
                outside = skeleton.inside[last + 1, e] // skeleton.inside[level + 1, e]
                if model.kind[t, e] == UNRELATED and state.tile[level, e] * outside < model.bounds[e]:
                    return False
    return smaller or level > 0 or skeleton.spread[1, d] > 1


@bare
def some_better_outside(task: Task, level: int, alive: int) -> bool:
    """Whether one of the outermost loops of memory `level`, which are all chosen, belongs to the next one."""
    model, loops, length = task.model, task.state.loops, task.state.length[0]
    begin = length
    while begin > 0 and loops[begin - 1, 0] == level and loops[begin - 1, 3] == loops[length - 1, 3]:
        begin -= 1
    for i in range(begin, length):
        d, found = loops[i, 1], True
        for t in range(model.kind.shape[0]):
            for j in range(begin, length):
                if level > 0 and not model.perfect and model.kind[t, d] != UNRELATED:
                    found &= model.kind[t, loops[j, 1]] != UNRELATED
        if found and better_outside(task, level, d, alive):
            return True
    return False


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
    if bound == 0 and (idle(task, level) or (level == 0 and better_outside(task, 0, d, 0))):
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


@bare
def first_limit(task: Task, level: int, d: int) -> int:
    """What `next_bound` begins at: more than the factors of dimension `d` that fit, 0 if all do, 1 if none does."""
    state, most = task.state, next_bound(task, level, d, 0)
    tile = state.tile[level]
    tile[d] = state.base[level, d] * most
    if level == task.skeleton.kept.shape[0] - 1 or fits(task, level, tile):
        tile[d] = state.base[level, d]
        return 0
    low, high = 0, most
    while low < high - 1:
        middle = (low + high) // 2
        tile[d] = state.base[level, d] * middle
        if fits(task, level, tile):
            low = middle
        else:
            high = middle
    tile[d] = state.base[level, d]
    return low + 1


@bare
def below_cell(task: Task, level: int, d: int, bound: int) -> int:
    """The smallest factor of dimension `d` that leads to the same cell as `bound`; at least 1."""
    beyond, base = task.beyond, task.state.base[level, d]
    tile = min(base * bound * beyond.scale[level, d], task.model.bounds[d])
    low = beyond.low[level, d, cell_of(beyond, level, d, tile)]
    return max(1, -(-low // (base * beyond.scale[level, d])))
