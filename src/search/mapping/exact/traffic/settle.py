"""Tensors that begin to move: their traffic is settled."""

import numpy as np

from .....costs.compiled import bare
from ..bounds.nodes import Task, least_cycles, value_of
from ..space.model import EVERY, PLAIN, UNRELATED, Floats, Ints
from ..space.skeleton import beside, passes_spread, price_of_help
from ..tree.state import MOST_LOOPS, add_words, copy_row, copy_words
from .boxes import between, sent_boxes, share_sent, surely_sent
from .ragged import ragged_share
from .windows import Transfer
from .words import sent, settle


@bare
def kill(
    task: Task, level: int, t: int, tile: Ints, sliding: tuple[int, int], ragged: float, inside: float, words: Floats
) -> float:
    """Settle tensor `t`, which rests in `tile` (of `level`) and moves with the next loop; adds to `words` (L, 2).

    `sliding` is the loop of a window that moves it, with its bound; `inside` as in `share_sent`, -1 if no neighbour
    helps.
    """
    model, skeleton, state = task.model, task.skeleton, task.state
    dims = model.bounds.shape[0]
    to_parent, to_child = state.room[2], state.room[3]
    energy = 0.0
    own = skeleton.inside[level + 1]
    last, free, step = skeleton.kept.shape[0] - 1, 0, state.room[4]
    for d in range(dims):
        others = skeleton.inside[last + 1, d] // own[d]
        free |= 1 << d if others == 1 else 0
        step[d] = state.base[level, d]
        if not model.perfect and step[d] * others >= model.bounds[d]:
            step[d] *= others  # as if all instances were those of the next memory, see `Terms`
    for c in range(state.low[level, t], level):
        if not skeleton.kept[c, t]:
            continue
        p = skeleton.parent[c + 1, t]
        for d in range(dims):
            to_parent[d] = max(1, tile[d] * skeleton.inside[p + 1, d] // own[d])
            to_child[d] = max(1, tile[d] * skeleton.inside[c + 1, d] // own[d])
        limits = to_child, sliding[0], sliding[1], free, EVERY, level == last
        if model.timeloop:
            box = Transfer(to_parent, to_child, step, *limits)
            energy += kill_boxes(task, level, t, (c, p), box, inside, words)
            add_words(words, skeleton.least_words[c, t], -1.0)
            continue
        up = sent(model, t, Transfer(to_parent, to_child, step, *limits), ragged) * fewest(task, level, t, p, tile)
        down = sent(model, t, Transfer(to_child, to_child, step, *limits), ragged) * fewest(task, level, t, c, tile)
        found = settle(model, t, c, p, (up, down), (skeleton.owned[p, t], skeleton.owned[c, t]), words)
        energy += max(found, skeleton.least[c, t])
        add_words(words, skeleton.least_words[c, t], -1.0)
    return energy


@bare
def kill_boxes(
    task: Task, level: int, t: int, ends: tuple[int, int], box: Transfer, inside: float, words: Floats
) -> float:
    """As `kill` between two memories, in Timeloop's model.

    Neighbours help only where no loop in which the tensor rests comes first: so it rests, or they help.  `box` may be
    changed.
    """
    model, skeleton, state, (c, p) = task.model, task.skeleton, task.state, ends
    loose = passes_spread(model, skeleton, t, c, p)
    least = model.least[t] if loose else model.named[t]
    alone, shared = state.words[state.words.shape[0] - 2], state.words[state.words.shape[0] - 3]
    alone[:] = 0
    up = max(least, sent_boxes(model, t, box, loose))
    down = sent_boxes(model, t, between(box, box.child, box.child), False)
    owned = skeleton.owned[p, t], skeleton.owned[c, t]
    found = settle(model, t, c, p, (up, down), owned, alone) + beside(model, skeleton, t, c, p, up, down)
    share = share_sent(model, t, box, skeleton.spread[c + 1], skeleton.gaps[c + 1], np.inf)
    for k in range(c + 1, level):
        share = 1.0 if share < 1.0 and loops_at(task, k, EVERY) else share
    if share < 1.0 and inside >= 0:
        for d in range(box.tile.shape[0]):
            if model.kind[t, d] == UNRELATED:
                first, own = state.base[level, d], skeleton.inside[level + 1, d]
                box.tile[d] = max(1, first * skeleton.inside[p + 1, d] // own)
                box.child[d] = max(1, first * skeleton.inside[c + 1, d] // own)
        up = max(least, sent_boxes(model, t, box, loose))
        down = sent_boxes(model, t, between(box, box.child, box.child), False)
        sure = min(up, surely_sent(model, t, box.tile, box.child, loose))
        sure += 0.0 if loose else (up - sure) * share
        if inside < np.inf and not loose:
            sure = max(sure, up * share_sent(model, t, box, skeleton.spread[c + 1], skeleton.gaps[c + 1], inside))
        sure = min(up, max(least, sure))
        if skeleton.used[c + 1] > 1:
            down *= sure / up
        shared[:] = 0
        less = settle(model, t, c, p, (sure, max(0.0, down - skeleton.used[c])), owned, shared)
        less += (up - sure) * price_of_help(model, skeleton, t, c, p)
        found = min(found, less)
        for k in range(alone.shape[0]):
            for i in range(2):
                alone[k, i] = min(alone[k, i], shared[k, i])
    add_words(words, alone, 1.0)
    return max(found, skeleton.least[c, t])


@bare
def loops_at(task: Task, level: int, dims: int) -> bool:
    """Whether one of the dimensions of a set loops at a memory."""
    for d in range(task.model.bounds.shape[0]):
        if (dims >> d) & 1 and task.state.tile[level, d] > task.state.base[level, d]:
            return True
    return False


@bare
def fewest(task: Task, level: int, t: int, memory: int, tile: Ints) -> float:
    """Words that reach instances of `memory` at least, as a part of those with `tile` of `level`.

    A factor stands for all that lead to as many tiles: larger ones leave more children without work in the last tile.
    """
    model, inside = task.model, task.skeleton.inside
    share, last = 1.0, inside.shape[0] - 1
    for d in range(model.bounds.shape[0]):
        blocks = -(-model.bounds[d] // tile[d])
        if model.perfect or model.kind[t, d] != UNRELATED or inside[last, d] != inside[level + 1, d] or blocks == 1:
            continue
        children = inside[level + 1, d] // inside[memory + 1, d]
        largest = max(1, (model.bounds[d] - 1) // (blocks - 1) // children)
        share *= -(-model.bounds[d] // largest) / -(-model.bounds[d] // max(1, tile[d] // children))
    return share


@bare
def ragged_most(task: Task, level: int, t: int, dims: int, after: bool) -> float:
    """Largest share of tensor `t` that may rest at the end of some dimension of `dims` (with its loop now known if
    `after`).

    A factor stands for all that lead to as many tiles, so only the number of blocks counts, not their size.
    """
    model, state = task.model, task.state
    if model.perfect:
        return 0.0
    most = 0.0
    low, inside = state.low[level, t], task.skeleton.inside
    for d in range(model.bounds.shape[0]):
        if not (dims >> d) & 1 or model.kind[t, d] != PLAIN:
            continue
        blocks = -(-model.bounds[d] // state.base[level, d])
        loop = state.tile[level, d] // state.base[level, d]
        if blocks == 1 or (after and loop == 1):
            continue
        first, final = 2, blocks
        if after:
            outer = -(-blocks // loop)
            first, final = loop, loop
            if inside[inside.shape[0] - 1, d] == inside[level + 1, d]:
                final = -(-blocks // (outer - 1)) - 1 if outer > 1 else blocks
        children = inside[level + 1, d] // inside[low + 1, d]
        most = max(most, ragged_share(model.bounds[d], state.base[level, d], children, first, final))
    return most


@bare
def settle_group(
    task: Task, level: int, killed: int, group: int, mark: Ints, sliding: tuple[int, int], after: bool, words: Floats
) -> float:
    """Energy of the tensors `killed` by one of the loops `group` which rest in the tile `mark`.

    Or by a `sliding` one, with its bound (0: any), where that is not -1; `after` tells that these loops are known.

    A loop that moves one tensor along a window may move another whose ragged end rests.
    """
    energy = 0.0
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1:
            ragged = ragged_most(task, level, t, group if sliding[0] < 0 else 1 << sliding[0], after)
            energy += kill(task, level, t, mark, sliding, ragged, np.inf, words)
    return energy


@bare
def kept_from_neighbours(task: Task, level: int, alive: int, said: float) -> float:
    """Least energy of tensors but those `alive`, moved by loops of memory `level`, now that all its loops are known: in
    the best of all their orders; what `kill` `said` at least, and if these are too many or neighbours do not help.

    Neighbours help from the first loop on, if it is of a sum, until one of a dimension in no sum comes.
    """
    model, state, skeleton = task.model, task.state, task.skeleton
    many, begun = 0, alive
    while many < state.length[0] and state.loops[state.length[0] - 1 - many, 0] == level:
        many += 1
    if not skeleton.gaps[level, 0].any() or many == 0 or many > MOST_LOOPS:
        return said
    for t in range(model.kind.shape[0]):
        for c in range(state.low[level, t], level):
            begun |= 1 << t if skeleton.kept[c, t] else 0
    return max(said, least_order(task, level, state.loops[state.length[0] - many : state.length[0]], begun, said))


@bare
def still_there(task: Task, loops: Ints, done: int, begun: int) -> int:
    """Which of the tensors `begun` rest in those of the `loops` that are in the set `done`."""
    for i in range(loops.shape[0]):
        if (done >> i) & 1:
            begun = int(begun & ~task.model.moved[loops[i, 1]])
    return begun


@bare
def moved_by(task: Task, level: int, loops: Ints, done: int, i: int, some: int, inside: float) -> float:
    """Energy of those of the tensors `some` that number `i` of the `loops` moves after the set `done` of them."""
    model, state, found = task.model, task.state, 0.0
    mark, words, some = state.room[0], state.words[state.words.shape[0] - 1], int(some & model.moved[loops[i, 1]])
    if some == 0:
        return 0.0
    copy_row(mark, state.base[level])
    for j in range(loops.shape[0]):
        mark[loops[j, 1]] *= loops[j, 2] if (done >> j) & 1 else 1
    d, times = loops[i, 1], loops[i, 2]
    for t in range(model.kind.shape[0]):
        if (some >> t) & 1:
            found += kill(task, level, t, mark, (d, times) if model.window[t, d] >= 0 else (-1, 1), 0.0, inside, words)
    return found


@bare
def least_order(task: Task, level: int, loops: Ints, begun: int, enough: float) -> float:
    """Least energy of the tensors `begun` that some `loops` of memory `level` move, over all their orders; or more, if
    it is not above `enough`.

    First come orders in which no neighbour helps, then those that begin with each loop of a sum.
    """
    model, known, best, many = task.model, task.state.orders, np.inf, loops.shape[0]
    value = known[many]
    for i in range(many):
        known[i, : 1 << many] = -1.0
    for first in range(-1, many):
        helped = 0
        for t in range(model.kind.shape[0] if first >= 0 else 0):
            helped |= 1 << t if (begun >> t) & 1 and model.window[t, loops[first, 1]] >= 0 else 0
        if best <= enough or (first >= 0 and helped == 0):
            continue
        value[: 1 << many] = np.inf
        begin = 1 << first if first >= 0 else 0
        value[begin] = moved_by(task, level, loops, 0, first, begun & ~helped, -1.0) if first >= 0 else 0.0
        for done in range(begin, 1 << many):
            if value[done] >= best:
                continue
            there, waiting, inside = still_there(task, loops, done, begun), helped, 1.0
            for i in range(many):
                if (done >> i) & 1:
                    inside *= loops[i, 2]
                    waiting = int(waiting & (~model.moved[loops[i, 1]] | model.slid[loops[i, 1]]))
            if done == (1 << many) - 1:
                best = min(best, value[done] + moved_by(task, level, loops, 0, first, waiting, np.inf))
            for i in range(many):
                if (done >> i) & 1:
                    continue
                if known[i, done] < 0:
                    known[i, done] = moved_by(task, level, loops, done, i, there, -1.0)
                ends = int(waiting & model.moved[loops[i, 1]] & ~model.slid[loops[i, 1]])
                more = moved_by(task, level, loops, 0, first, ends, inside)
                value[done | 1 << i] = min(value[done | 1 << i], value[done] + known[i, done] + more)
    return best


@bare
def finish(task: Task, alive: int, energy: float, depth: int) -> None:
    """All loops are chosen: settle the rest, and note the mapping if it may be better than the best."""
    state, best, leaves = task.state, task.best, task.leaves
    last = task.skeleton.kept.shape[0] - 1
    words = state.words[depth + 1]
    copy_words(words, state.words[depth])
    energy += settle_group(task, last, alive, 0, state.tile[last], (-1, 1), True, words)
    cycles = least_cycles(task, last, words)
    bound = value_of(task.objective, energy, cycles)
    if bound >= best.value[0] * (1 - 1e-9):
        return
    row = leaves.number[0]
    leaves.number[0] = row + 1
    leaves.bound[row, 0], leaves.bound[row, 1] = bound, energy
    leaves.temporal[row] = 1
    for level in range(leaves.temporal.shape[1]):
        seen, count = 0, 0
        for i in range(state.length[0]):
            if state.loops[i, 0] == level:
                d = state.loops[i, 1]
                leaves.temporal[row, level, d] = state.loops[i, 2]
                leaves.order[row, level, count] = d
                leaves.block[row, level, count] = state.loops[i, 3]
                seen |= 1 << d
                count += 1
        for d in range(task.model.bounds.shape[0]):
            if not (seen >> d) & 1:
                leaves.order[row, level, count] = d
                leaves.block[row, level, count] = -1
                count += 1
