"""Tensors that begin to move: their traffic is settled."""

import numpy as np

from .....costs.compiled import bare
from ..bounds.nodes import Task, least_cycles, value_of
from ..space.model import EVERY, PLAIN, UNRELATED, Floats, Ints
from ..space.skeleton import beside, passes_spread, price_of_help
from ..tree.state import add_words, copy_row, copy_words
from .boxes import between, sent_boxes, share_sent, surely_sent
from .ragged import ragged_share
from .windows import Transfer
from .words import sent, settle


@bare
def kill(
    task: Task, level: int, t: int, tile: Ints, sliding: tuple[int, int], ragged: float, inside: float, words: Floats
) -> float:
    """Settle tensor `t`, which rests in `tile` (of `level`) and moves with the next loop; adds to `words` (L, 2).

    `sliding` is the loop of a window that moves it, with its bound; `inside` as in `share_sent`.
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
    """As `kill` between two memories, in Timeloop's model."""
    model, skeleton, (c, p) = task.model, task.skeleton, ends
    loose = passes_spread(model, skeleton, t, c, p)
    least = model.least[t] if loose else model.named[t]
    up = max(least, sent_boxes(model, t, box, loose))
    down = sent_boxes(model, t, between(box, box.child, box.child), False)
    owned, maybe, each = (skeleton.owned[p, t], skeleton.owned[c, t]), 0.0, 0.0
    share, between_them = share_sent(model, t, box, skeleton.spread[c + 1], np.inf), False
    for k in range(c + 1, level):
        between_them = between_them or loops_at(task, k, EVERY)
    if share < 1.0 and not between_them:
        sure = min(up, surely_sent(model, t, box.tile, box.child, loose))
        sure += 0.0 if loose else (up - sure) * share
        if inside < np.inf and not loose:
            sure = max(sure, up * share_sent(model, t, box, skeleton.spread[c + 1], inside))
        sure = min(up, max(least, sure))
        if skeleton.used[c + 1] > 1:
            down *= sure / up
        maybe, up, down = up - sure, sure, max(0.0, down - skeleton.used[c])
        each = price_of_help(model, skeleton, t, c, p)
    found = settle(model, t, c, p, (up, down), owned, words) + maybe * each
    found += beside(model, skeleton, t, c, p, up, down) if maybe == 0.0 else 0.0
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
    loops are known: neighbours have no words from a loop of a dimension in no sum on."""
    model, state, found = task.model, task.state, 0.0
    mark, words = state.room[0], state.words[state.words.shape[0] - 1]
    for t in range(model.kind.shape[0] if model.timeloop else 0):
        if model.windows[t] == 0 or (alive >> t) & 1 or state.low[level, t] >= level:
            continue
        first, bound, inside, ends = -1, 1, 1.0, False
        copy_row(mark, state.base[level])
        for i in range(state.length[0]):
            d, times = state.loops[i, 1], state.loops[i, 2]
            if state.loops[i, 0] != level:
                continue
            if model.kind[t, d] == UNRELATED and first < 0:
                mark[d] *= times
            elif model.kind[t, d] == PLAIN:
                ends = True
                if first < 0:
                    break
            else:
                inside *= times
                if first < 0:
                    first, bound = d, times
        if first >= 0 and ends:
            more = kill(task, level, t, mark, (first, bound), 0.0, inside, words)
            found += max(0.0, more - kill(task, level, t, mark, (first, bound), 0.0, np.inf, words))
    return found


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
