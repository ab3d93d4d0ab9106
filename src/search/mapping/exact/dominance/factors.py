"""The factors that a walk gives a dimension at a memory, one after the other.

Statement 13 of docs/exact-mapper.md.
"""

from .....costs.compiled import bare
from ..bounds.nodes import Task, cell_of, fits
from ..space.model import UNRELATED
from ..traffic.busy import most_steps
from .merging import always_moved, keeper_inside, merges, passes_once, rests_at_end


@bare
def idle(task: Task, level: int, d: int) -> bool:
    """Whether loops of dimension `d` of a memory can as well be those of the next one: it keeps nothing.

    One loop of both factors rests no tensor less, but for windows that slide; and where spatial loops lie between, it
    is all the same to tiles whether loops are inside or outside of these, but for windows.  If nothing is kept further
    in, the order of loops does not matter, and spatial loops count only if they are of a window of that dimension.
    """
    model, skeleton, inside = task.model, task.skeleton, task.skeleton.within[level]
    if not model.perfect or skeleton.loose[0] or skeleton.held[level] or inside & model.sliding:
        return False
    for other in range(model.bounds.shape[0]):
        if skeleton.spread[level + 1, other] == 1:
            continue
        if inside and model.slid[other]:
            return False
        for t in range(model.kind.shape[0]):
            if model.window[t, d] >= 0 and model.window[t, other] == model.window[t, d]:
                return False
    return True


@bare
def begins_with_fewer(task: Task, level: int, d: int) -> bool:
    """Whether fewer children may have work in the first tiles for a loop `d` at memory `level`, chosen or not, than for
    one further out.  Then less is on its way before all can begin."""
    inside, state = task.skeleton.inside, task.state
    outside = inside[inside.shape[0] - 1, d] // inside[level + 1, d]
    tile = state.tile[level, d]
    if tile == state.base[level, d]:
        tile *= most_steps(task.model.bounds[d], task.model.halves, task.skeleton.spread, level, d, tile)
    return bool(tile * outside > task.model.bounds[d])


@bare
def better_outside(task: Task, level: int, d: int, alive: int) -> bool:
    """Whether loop `d`, of the outermost at memory `level`, is as good inside of the loops of the next one.

    There it makes one loop with that of the same dimension.  Loops that move nothing kept inside are as good further
    in (`set_still`, `merges`).  Tiles of `level` get smaller, which is all the same to tensors that pass once, in
    whatever tiles.  Other tensors move as before, or rest longer: those that the loop does not move must rest so far
    (`alive`), or else be all new each time, not in part where a loop inside has a ragged end.  Where more children have
    work in the last tile then, this must not concern tensors that rest.
    """
    model, skeleton, inside = task.model, task.skeleton, task.skeleton.within[level]
    settled = inside and inside & model.moved[d] == 0  # something is kept inside, and the loop moves nothing of it
    if level >= skeleton.kept.shape[0] - 1 or settled or model.slid[d] or skeleton.loose[0]:
        return False
    if model.timeloop and skeleton.within[level] & model.sliding:  # of which neighbours may have words
        return False
    shared = not model.perfect and skeleton.spread[level + 1, d] > 1
    if shared and task.timed and begins_with_fewer(task, level, d):
        return False
    for t in range(model.kind.shape[0]):
        here, keeper = skeleton.kept[level, t] > 0, keeper_inside(task, level, t)
        within = keeper >= 0
        if model.kind[t, d] == UNRELATED:
            rests = (alive >> t) & 1 > 0
            if shared and (here or (within and rests)):
                return False
            if within and not (model.perfect or rests or always_moved(task, level, d, t, keeper)):
                return False
        elif here or within:
            stays = within and rests_at_end(task, level, d, t, keeper)
            if model.windows[t] > 0 or stays or (here and not passes_once(task, level, t)):
                return False
    return True


@bare
def some_better_outside(task: Task, level: int, alive: int) -> bool:
    """Whether one of the outermost loops of memory `level`, which are all chosen, belongs to the next one."""
    loops, last = task.state.loops, task.state.length[0] - 1
    for i in range(last, -1, -1):
        if loops[i, 0] != level or loops[i, 3] != loops[last, 3]:
            break
        if better_outside(task, level, loops[i, 1], alive):
            return True
    return False


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
    if bound == 0 and (
        idle(task, level, d) or (level == 0 and better_outside(task, 0, d, 0)) or merges(task, level, d, False, 0)
    ):
        return 1
    if model.perfect:
        left = n // base // outside
        for i in range(model.many[d]):
            b = model.divisors[d, model.many[d] - 1 - i]
            if (bound == 0 or b < bound) and left % b == 0:
                return b
        return 0
    if bound == 0:
        return most_steps(n, model.halves, task.skeleton.spread, level, d, base)
    if outside > 1:
        return bound - 1
    blocks = -(-n // base)
    return -(-blocks // -(-blocks // (bound - 1)))  # the smallest that leads to as many tiles as the next smaller one


@bare
def first_limit(task: Task, level: int, d: int) -> int:
    """What `next_bound` begins at: more than the factors of dimension `d` that fit, 0 if all do, 1 if none does."""
    state, high = task.state, next_bound(task, level, d, 0)
    low, tile, base = 0, state.tile[level], state.base[level, d]
    tile[d] = base * high
    if level == task.skeleton.kept.shape[0] - 1 or fits(task, level, tile):
        low = -1
    while 0 <= low < high - 1:
        middle = (low + high) // 2
        tile[d] = base * middle
        if fits(task, level, tile):
            low = middle
        else:
            high = middle
    tile[d] = base
    return low + 1


@bare
def below_cell(task: Task, level: int, d: int, bound: int) -> int:
    """The smallest factor of dimension `d` that leads to the same cell as `bound`; at least 1."""
    beyond, base = task.beyond, task.state.base[level, d]
    tile = min(base * bound * beyond.scale[level, d], task.model.bounds[d])
    low = beyond.low[level, d, cell_of(beyond, level, d, tile)]
    return max(1, -(-low // (base * beyond.scale[level, d])))
