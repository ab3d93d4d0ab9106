"""Two loops of one dimension that are as good as one.

Statement 13 of docs/exact-mapper.md.
"""

from .....costs.compiled import bare
from ..bounds.nodes import Task
from ..space.model import EVERY, UNRELATED
from ..space.skeleton import may_cross, moves_kept


@bare
def may_stay(task: Task, level: int, d: int) -> bool:
    """Whether part of a tensor may stay at the ragged end of the loop of dimension `d` at a memory, or of another with
    as many tiles; see `ragged.ragged_share`."""
    model, state = task.model, task.state
    n, base = model.bounds[d], state.base[level, d]
    blocks, times = -(-n // base), -(-n // state.tile[level, d])
    if model.perfect or times == 1:
        return False
    if (blocks - 1) % (times - 1) == 0:
        return True
    return (blocks - 2) % (times - 1) == 0 and may_idle(task, level, d)


@bare
def may_idle(task: Task, level: int, d: int) -> bool:
    """Whether children along dimension `d` of a memory may have no work in the last of its blocks."""
    inside, state = task.skeleton.inside, task.state
    if inside[level + 1, d] == 1:
        return False
    for k in range(level):  # a factor stands for all that lead to as many tiles, where nothing is spread outside
        if state.tile[k, d] > state.base[k, d] and inside[inside.shape[0] - 1, d] == inside[k + 1, d]:
            return True
    return bool(task.model.bounds[d] % state.base[level, d] > 0)


@bare
def rests_at_end(task: Task, level: int, d: int, t: int, keeper: int) -> bool:
    """Whether part of tensor `t`, kept at memory `keeper`, may stay at the ragged end of loop `d` of memory `level`.

    A loop between that always moves the tensor leaves nothing: all elements are new then whenever loops outside go on.
    """
    return not always_moved(task, level, d, t, keeper) and may_stay(task, level, d)


@bare
def always_moved(task: Task, level: int, d: int, t: int, keeper: int) -> bool:
    """Whether a loop inside of loop `d` of memory `level` leaves nothing of tensor `t` in memory `keeper`."""
    loops, mine = task.state.loops, -1
    for i in range(task.state.length[0]):
        if loops[i, 0] == level and loops[i, 1] == d:
            mine = loops[i, 3]
    for i in range(task.state.length[0]):
        k, e = loops[i, 0], loops[i, 1]
        inside = k > keeper and (k < level or (k == level and loops[i, 3] < mine))
        if inside and task.model.kind[t, e] != UNRELATED and not may_stay(task, k, e):
            return True
    return False


@bare
def keeper_inside(task: Task, level: int, t: int) -> int:
    """The outermost memory inside of `level` that keeps tensor `t`, or -1."""
    for c in range(level - 1, -1, -1):
        if task.skeleton.kept[c, t]:
            return c
    return -1


@bare
def loop_inside(task: Task, level: int, d: int) -> int:
    """The memory of the last loop of dimension `d` inside of memory `level`, if that one could as well go on in its
    place: no tensor of that dimension is kept between.  -1 if there is none."""
    inner = last_loop(task, level, d)
    for k in range(inner, level if inner >= 0 else inner):
        if moves_kept(task.model, task.skeleton, k, d):
            return -1
    return -1 if inner > 0 and task.skeleton.within[inner - 1] & task.model.sliding else inner


@bare
def merges(task: Task, level: int, d: int, known: bool, later: int) -> bool:
    """Whether a loop of dimension `d` at memory `level` is as good as more iterations of the one inside of it.

    Tiles between get larger, but for no tensor that is kept there.  Tensors of other dimensions are moved as often,
    or less: they go through the loops between once, not again in each iteration.  Those of this dimension which are
    kept inside are new already whenever a loop between goes on, if the inner loop always moves them.  If it need
    not, at its ragged end, they may stay in loops between: if these are `known`, in none that moves them.  Loops of the
    set `later` may still come after at the same memory, and be put between when a mapping is priced.  Windows may find
    more in the order of before.  As one loop takes the place of two, no other rule leads back.
    """
    inner = loop_inside(task, level, d)
    if inner < 0:
        return False
    for t in range(task.model.kind.shape[0]):
        keeper = keeper_inside(task, inner, t)
        if keeper < 0 or task.model.kind[t, d] == UNRELATED or not rests_at_end(task, inner, d, t, keeper):
            continue
        if not known or loops_between(task, inner, d, t) or some_rest(task, level, later, t):
            return False
    return True


@bare
def some_rest(task: Task, level: int, dims: int, t: int) -> bool:
    """Whether a loop of `dims` that does not move tensor `t` may come at memory `level` or further out."""
    inside, tile = task.skeleton.inside, task.state.tile[level]
    for d in range(tile.shape[0]):
        outside = inside[inside.shape[0] - 1, d] // inside[level + 1, d]
        loops = (dims >> d) & 1 == 1 and tile[d] * outside < task.model.bounds[d]
        if loops and task.model.kind[t, d] == UNRELATED:
            return True
    return False


@bare
def passes_once(task: Task, level: int, t: int) -> bool:
    """Whether no loop outside of what is known of memory `level` is unrelated to tensor `t`."""
    return not some_rest(task, level, EVERY, t)


@bare
def last_loop(task: Task, level: int, d: int) -> int:
    """The memory of the last loop of dimension `d` inside of memory `level`, -1 if there is none, or if it is not all
    the same to tiles on which side of spatial loops between it runs."""
    for k in range(level - 1, -1, -1):
        if task.skeleton.loose[0] or not may_cross(task.model, task.skeleton, k + 1, d):
            return -1
        if task.state.tile[k, d] > task.state.base[k, d]:
            return k
    return -1


@bare
def takes_over(task: Task, level: int, d: int, alive: int) -> bool:
    """Whether the next loop, of dimension `d` at memory `level`, could as well have all iterations of the last one of
    its dimension further in, while the tensors `alive` rest.

    Tiles between get smaller, which is all the same to tensors that pass once, in whatever tiles.  Tensors that the
    loop does not move must all still rest, then it takes nothing from them.  Others, which are kept further in, rest
    longer than before, if they cannot stay at a ragged end of the inner loop.
    """
    inner, model, kept = last_loop(task, level, d), task.model, task.skeleton.kept
    if inner < 0 or task.skeleton.within[level - 1] & model.sliding:
        return False
    for t in range(model.kind.shape[0]):
        if keeper_inside(task, level, t) < 0:
            continue
        if model.kind[t, d] == UNRELATED:
            innermost = task.skeleton.parent[0, t]
            if not (alive >> t) & 1 or task.state.low[level, t] > innermost:
                return False
            continue
        for c in range(inner, level):
            if kept[c, t] and not passes_once(task, c, t):
                return False
        keeper = keeper_inside(task, inner, t)
        if keeper >= 0 and rests_at_end(task, inner, d, t, keeper):
            return False
    return True


@bare
def loops_between(task: Task, level: int, d: int, t: int) -> bool:
    """Whether a loop that does not move tensor `t` may come after that of dimension `d` at memory `level`."""
    loops, mine = task.state.loops, -1
    for i in range(task.state.length[0]):
        if loops[i, 0] == level and loops[i, 1] == d:
            mine = loops[i, 3]
        if mine >= 0 and task.model.kind[t, loops[i, 1]] == UNRELATED:
            return True
    for i in range(task.state.length[0]):
        before = loops[i, 0] == level and loops[i, 3] == mine
        if before and task.model.kind[t, loops[i, 1]] == UNRELATED:
            return True
    return False


@bare
def some_merge(task: Task, level: int, later: int, every: bool) -> bool:
    """Whether one of the loops of memory `level` merges with one further in; those of the set `later` may still come.

    Looks at `every` one, or at those that came last, in any order.
    """
    loops, last = task.state.loops, task.state.length[0] - 1
    for i in range(last, -1, -1):
        if loops[i, 0] != level or (not every and loops[i, 3] != loops[last, 3]):
            return False
        if merges(task, level, loops[i, 1], True, later):
            return True
    return False


@bare
def merging_left(task: Task, level: int) -> bool:
    """Whether the outermost memory `level` must have a loop that belongs further in."""
    state, still = task.state, task.skeleton.still[level]
    for d in range(task.model.bounds.shape[0]):
        if state.base[level, d] < task.model.bounds[d] and ((still >> d) & 1 or merges(task, level, d, False, 0)):
            return True
    return False
