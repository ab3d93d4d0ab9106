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
    up, down = (
        max(least, sent_boxes(model, t, box, loose)),
        sent_boxes(model, t, between(box, box.child, box.child), False),
    )
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
def kept_from_neighbours(task: Task, level: int, alive: int) -> float:
    """What tensors but those `alive`, moved by loops of memory `level`, cost more than `kill` said, now that all its
    loops are known: in the best of the orders for which the walk's stands.

    These have the same first moving loops.  Neighbours help from the first loop on, if it is of a sum, until one of a
    dimension in no sum comes.
    """
    model, state, skeleton = task.model, task.state, task.skeleton
    begin, many, begun = int(state.length[0]), int(state.length[0]), alive
    while begin > 0 and state.loops[begin - 1, 0] == level:
        begin -= 1
    many -= begin
    if not model.timeloop or not skeleton.gaps[level, 0].any() or many == 0 or many > MOST_LOOPS:
        return 0.0
    for t in range(model.kind.shape[0]):
        for c in range(state.low[level, t], level):
            begun |= 1 << t if skeleton.kept[c, t] else 0
    said = 0.0
    for i in range(many):
        said += moved_by(task, level, (begin, (1 << i) - 1), still_there(task, begin, (1 << i) - 1, begun), i, np.inf)
    return max(0.0, least_order(task, level, (begin, many), begun) - said)


@bare
def still_there(task: Task, begin: int, done: int, begun: int) -> int:
    """Which of the tensors `begun` rest in loops `done` (a set) from number `begin` on."""
    for i in range(MOST_LOOPS):
        if (done >> i) & 1:
            begun &= ~task.model.moved[task.state.loops[begin + i, 1]]
    return begun


@bare
def moved_by(task: Task, level: int, loops: tuple[int, int], some: int, i: int, inside: float) -> float:
    """Energy of those of the tensors `some` which loop `i` moves, of those from some number on, as in `loops` after a
    set of others."""
    model, state, found = task.model, task.state, 0.0
    mark, words = state.room[0], state.words[state.words.shape[0] - 1]
    copy_row(mark, state.base[level])
    for j in range(MOST_LOOPS):
        if (loops[1] >> j) & 1:
            mark[state.loops[loops[0] + j, 1]] *= state.loops[loops[0] + j, 2]
    d, times = state.loops[loops[0] + i, 1], state.loops[loops[0] + i, 2]
    for t in range(model.kind.shape[0]):
        if ((some & model.moved[d]) >> t) & 1:
            found += kill(task, level, t, mark, (d, times) if model.window[t, d] >= 0 else (-1, 1), 0.0, inside, words)
    return found


@bare
def least_order(task: Task, level: int, loops: tuple[int, int], begun: int) -> float:
    """Least energy of the tensors `begun` that some `loops` of memory `level` (first, number) move, over orders with
    first moving loops as in theirs."""
    model, state, (begin, many) = task.model, task.state, loops
    value, known, best = state.orders[many], state.orders, np.inf
    for i in range(many):
        known[i, : 1 << many] = -1.0
    for first in range(many):
        if not as_in_walk(task, loops, 0, first, begun):
            continue
        d, helped = state.loops[begin + first, 1], 0
        for t in range(model.kind.shape[0]):
            helped |= 1 << t if (begun >> t) & 1 and model.window[t, d] >= 0 else 0
        value[: 1 << many] = np.inf
        value[1 << first] = moved_by(task, level, (begin, 0), begun & ~helped, first, -1.0)
        for done in range(1 << first, 1 << many):
            if value[done] == np.inf:
                continue
            there, waiting, inside = still_there(task, begin, done, begun), helped, 1.0
            for i in range(many):
                if (done >> i) & 1:
                    inside *= state.loops[begin + i, 2]
                    waiting &= ~ending(task, state.loops[begin + i, 1])
            if done == (1 << many) - 1:
                best = min(best, value[done] + moved_by(task, level, (begin, 0), waiting, first, np.inf))
            for i in range(many):
                if (done >> i) & 1 or not as_in_walk(task, loops, done, i, begun):
                    continue
                if known[i, done] < 0:
                    known[i, done] = moved_by(task, level, (begin, done), there, i, -1.0)
                more = waiting & ending(task, state.loops[begin + i, 1])
                each = value[done] + known[i, done] + moved_by(task, level, (begin, 0), more, first, inside)
                value[done | 1 << i] = min(value[done | 1 << i], each)
    return best


@bare
def ending(task: Task, d: int) -> int:
    """The tensors with sums of which neighbours have nothing from a loop of dimension `d` on."""
    return int(task.model.moved[d] & ~task.model.slid[d])


@bare
def as_in_walk(task: Task, loops: tuple[int, int], done: int, i: int, begun: int) -> bool:
    """Whether loop `i`, after those of the set `done`, moves nothing, or what moves next in the walk's order."""
    model, state, (begin, many) = task.model, task.state, loops
    there, before = still_there(task, begin, done, begun), begun
    d = state.loops[begin + i, 1]
    moved = there & model.moved[d]
    for j in range(many if moved else 0):
        other = state.loops[begin + j, 1]
        if before == there and before & model.moved[other]:
            alike = d == other or not moved & (model.slid[d] | model.slid[other])
            return bool(moved == before & model.moved[other] and alike)
        before &= ~model.moved[other]
    return moved == 0


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
