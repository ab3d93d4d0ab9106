"""The walk: one loop after the other, from the innermost memory outwards, where the bound allows it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..exact.compiled import compiled, inner
from .model import PLAIN, UNRELATED, WINDOW, Floats, Ints, Model
from .walk import Best, Beyond, Choice, Frames, Grid, Leaves, Skeleton, State
from .words import ragged_share, sent, settle, tile_size

CLOSE, FREE, GROUP_FIRST, SLIDE = 0, 1, 2, 3
"""What may come next at a level: nothing; loops in any order; loops that move some tensors; a sliding one first."""


class Task(NamedTuple):
    """All that a walk reads, and where it writes; `objective` 0 energy times delay, 1 energy, 2 delay."""

    model: Model
    skeleton: Skeleton
    grid: Grid
    beyond: Beyond
    choice: Choice
    state: State
    best: Best
    leaves: Leaves
    objective: int
    base: float
    least_cycles: float
    timed: bool


@inner
def value_of(objective: int, energy: float, cycles: float) -> float:
    """What is minimised."""
    if objective == 0:
        return energy * cycles
    return energy if objective == 1 else cycles


@inner
def fits(task: Task, level: int, tile: Ints) -> bool:
    """Whether a tile of `level` leaves room in that memory and all outer ones."""
    model, skeleton = task.model, task.skeleton
    grown = np.empty(tile.shape[0], np.int64)
    for k in range(level, skeleton.kept.shape[0] - 1):
        if model.capacity[k] == np.inf:
            continue
        for d in range(tile.shape[0]):
            grown[d] = tile[d] * (skeleton.inside[k + 1, d] // skeleton.inside[level + 1, d])
        used = 0.0
        for t in range(model.kind.shape[0]):
            if skeleton.kept[k, t]:
                used += tile_size(model, t, grown) * model.weight[k, t]
        if used > model.capacity[k] * (1 + 1e-12):
            return False
    return True


@inner
def compute_cycles(task: Task, level: int, tile: Ints) -> float:
    """Least steps of the first instance, for a tile of `level` (exact where no spatial loop is further out)."""
    model, skeleton = task.model, task.skeleton
    last = skeleton.inside.shape[0] - 1
    total = 1.0
    for d in range(tile.shape[0]):
        bound, below = model.bounds[d], skeleton.inside[level + 1, d]
        outside = skeleton.inside[last, d] // below
        own = tile[d] // below
        positions = -(-bound // (tile[d] * outside))
        rest = min(bound - (positions - 1) * tile[d] * outside, tile[d])
        total *= (positions - 1) * own + max(1, min(own, -(-rest // below)))
    return total


@inner
def port_cycles(task: Task, words: Floats) -> float:
    """Least cycles that the memories' ports need."""
    model, skeleton = task.model, task.skeleton
    most = 0.0
    for level in range(words.shape[0]):
        read, write = words[level, 0] / skeleton.used[level], words[level, 1] / skeleton.used[level]
        most = max(most, read / model.bandwidth[level, 0], write / model.bandwidth[level, 1])
        most = max(most, (read + write) / model.bandwidth[level, 2])
    return most * (1 - 1e-12)


@inner
def first_words(task: Task, t: int, known: int, level: int) -> float:
    """Elements at least of tensor `t` in the first tiles of its innermost memory under one instance of `level`.

    Tiles are known up to memory `known`.
    """
    model, skeleton, state = task.model, task.skeleton, task.state
    own = min(known, skeleton.parent[0, t])
    covered = np.empty(model.bounds.shape[0], np.int64)
    for d in range(covered.shape[0]):
        full = state.tile[own, d]
        covered[d] = full
        for k in range(own + 1, level + 1):
            if skeleton.spread[k, d] > 1:
                covered[d] = full * skeleton.spread[k, d]
                if not task.choice.perfect:
                    covered[d] -= full - 1
                full *= skeleton.spread[k, d]
    return float(tile_size(model, t, covered))


@inner
def stream_cycles(task: Task, known: int) -> float:
    """Least cycles for the first input tiles to arrive and the last output tile to leave."""
    model, skeleton = task.model, task.skeleton
    last = skeleton.kept.shape[0] - 1
    total = 0.0
    for outwards in range(2):
        innermost, slowest = last + 1, 0.0
        for level in range(last + 1):
            source, target, network = 0.0, 0.0, 0.0
            for t in range(model.kind.shape[0]):
                own = skeleton.parent[0, t]
                if model.is_output[t] != (outwards == 1) or level < own:
                    continue
                innermost = min(innermost, own)
                if not task.timed:
                    continue
                words = first_words(task, t, known, level) * model.weight[level, t]
                if level > own:
                    network += words
                    source += words if skeleton.kept[level, t] else 0.0
                target += words if skeleton.kept[level, t] and level < last else 0.0
            if outwards == 1:
                source, target = target, source
            most = max(source / model.bandwidth[level, 0], target / model.bandwidth[level, 1])
            most = max(most, (source + target) / model.bandwidth[level, 2], network / model.bandwidth[level, 3])
            slowest = max(slowest, np.ceil(most * (1 - 1e-11)))
        for level in range(innermost, last + 1):
            slowest += model.latency[level]
        total += slowest
    return total


@inner
def least_cycles(task: Task, level: int, words: Floats) -> float:
    """Least cycles of what is chosen up to `level`, with `words` through the ports."""
    steady = max(compute_cycles(task, level, task.state.tile[level]), np.ceil(port_cycles(task, words)))
    return steady + stream_cycles(task, level)


@inner
def cell_of(grid: Grid, d: int, tile: int) -> int:
    """The cell of dimension `d` with a tile."""
    low, high = 0, grid.size[d] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if grid.low[d, middle] <= tile:
            low = middle
        else:
            high = middle - 1
    return low


@inner
def outlook(task: Task, level: int, alive: int, fixed: int) -> float:
    """Least energy of all that is not settled yet."""
    model, skeleton, state = task.model, task.skeleton, task.state
    last = skeleton.kept.shape[0] - 1
    total = 0.0
    for t in range(model.kind.shape[0]):
        start = state.low[level, t] if (alive >> t) & 1 else level
        end = last - 1 if level < last else last
        for c in range(start, end):
            if skeleton.kept[c, t]:
                total += skeleton.least[c, t]
    if level < last:
        cell = 0
        for d in range(model.bounds.shape[0]):
            tile = state.tile[level, d] * (skeleton.inside[last + 1, d] // skeleton.inside[level + 1, d])
            cell += task.grid.stride[d] * cell_of(task.grid, d, min(tile, model.bounds[d]))
        which = task.beyond.which[fixed] if level == last - 1 else 0
        total += task.beyond.table[which, cell]
    return total


@inner
def promising(task: Task, level: int, alive: int, fixed: int, energy: float, depth: int) -> bool:
    """Whether a mapping below this node may be better than the best."""
    energy += outlook(task, level, alive, fixed)
    most = task.best.value[0] * (1 - 1e-9)
    if task.objective < 2 and value_of(task.objective, energy, task.least_cycles) >= most:
        return False
    return value_of(task.objective, energy, least_cycles(task, level, task.state.words[depth])) < most


@inner
def kill(task: Task, level: int, t: int, tile: Ints, first: int, bound: int, ragged: float, words: Floats) -> float:
    """Settle tensor `t`, which rests in `tile` (of `level`) and moves with the next loop; adds to `words` (L, 2)."""
    model, skeleton, state = task.model, task.skeleton, task.state
    dims = model.bounds.shape[0]
    to_parent, to_child = np.empty(dims, np.int64), np.empty(dims, np.int64)
    energy = 0.0
    own = skeleton.inside[level + 1]
    for c in range(state.low[level, t], level):
        if not skeleton.kept[c, t]:
            continue
        p = skeleton.parent[c + 1, t]
        for d in range(dims):
            to_parent[d] = max(1, tile[d] * skeleton.inside[p + 1, d] // own[d])
            to_child[d] = max(1, tile[d] * skeleton.inside[c + 1, d] // own[d])
        up = sent(model, t, to_parent, to_child, state.base[level], first, bound, ragged, task.choice.perfect)
        down = sent(model, t, to_child, to_child, state.base[level], first, bound, ragged, task.choice.perfect)
        energy += settle(model, t, c, p, up, down, skeleton.owned[p, t], skeleton.owned[c, t], words)
        words -= skeleton.least_words[c, t]
    return energy


@inner
def ragged_most(task: Task, level: int, t: int, dims: int, after: bool) -> float:
    """Largest share of tensor `t` that rests at the end of some dimension of `dims` (with its loop now known if
    `after`)."""
    model, state = task.model, task.state
    if task.choice.perfect:
        return 0.0
    most = 0.0
    low = state.low[level, t]
    below = task.skeleton.inside
    for d in range(model.bounds.shape[0]):
        if not (dims >> d) & 1 or model.kind[t, d] != PLAIN:
            continue
        block = state.base[level, d]
        tile = max(1, block * below[low + 1, d] // below[level + 1, d])
        loop = state.tile[level, d] // block
        if after:
            if loop > 1:
                most = max(most, ragged_share(model.bounds[d], block, tile, loop))
            continue
        last = -(-model.bounds[d] // block) - 1
        if last <= 0:
            continue
        rest = model.bounds[d] - last * block
        found = rest if last >= 2 else 0
        if last == 1 or last >= 3:
            found = max(found, block - tile * -(-rest // tile))
        most = max(most, found / model.bounds[d])
    return most


@inner
def moved_by(task: Task, alive: int, d: int) -> int:
    """Tensors that loop `d` would move."""
    killed = 0
    for t in range(task.model.kind.shape[0]):
        if (alive >> t) & 1 and task.model.kind[t, d] != UNRELATED:
            killed |= 1 << t
    return killed


@inner
def resting_dims(task: Task, alive: int, remaining: int) -> int:
    """Dimensions of `remaining` that move none of the tensors `alive`."""
    found = 0
    for d in range(task.model.bounds.shape[0]):
        if (remaining >> d) & 1 and moved_by(task, alive, d) == 0:
            found |= 1 << d
    return found


@inner
def slides(task: Task, killed: int, d: int) -> bool:
    """Whether dimension `d` is part of a window of some tensor in `killed`."""
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1 and task.model.kind[t, d] == WINDOW:
            return True
    return False


@inner
def next_bound(task: Task, level: int, d: int, bound: int) -> int:
    """The factor of dimension `d` after `bound` (0: the first; factor 1 comes last), 0 where there is none."""
    model, state, choice, inside = task.model, task.state, task.choice, task.skeleton.inside
    n, base = model.bounds[d], state.base[level, d]
    outside = inside[inside.shape[0] - 1, d] // inside[level + 1, d]
    last = level == task.skeleton.kept.shape[0] - 1
    if last:
        return -(-n // base) if bound == 0 else 0
    if bound == 1:
        return 0
    if choice.perfect:
        left = n // base // outside
        for i in range(choice.many[d]):
            b = choice.divisors[d, choice.many[d] - 1 - i]
            if (bound == 0 or b < bound) and left % b == 0:
                return b
        return 0
    most = -(-n // (base * outside))
    if bound == 0:
        return most
    if outside > 1:
        return bound - 1
    times = -(-n // (base * bound))
    return max(1, min(bound - 1, -(-(-(-n // base)) // (times + 1))))


@inner
def settle_group(
    task: Task, level: int, killed: int, group: int, mark: Ints, first: int, bound: int, after: bool, words: Floats
) -> float:
    """Energy of the tensors `killed` by one of the loops `group` (or by `first`), which rest in the tile `mark`."""
    energy = 0.0
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1:
            ragged = ragged_most(task, level, t, group, after)
            energy += kill(task, level, t, mark, first, bound, ragged, words)
    return energy


@inner
def options(task: Task, level: int, alive: int, remaining: int, found: Ints) -> int:
    """What may come next: rows of `found` (D + 2, 4) as (kind, loops, tensors that move, group or first loop)."""
    model = task.model
    last = task.skeleton.kept.shape[0] - 1
    looping = 0
    for d in range(model.bounds.shape[0]):
        if (remaining >> d) & 1 and next_bound(task, level, d, 0) > 1:
            looping |= 1 << d
    found[0, 0] = CLOSE
    if looping == 0:
        return 1
    if alive == 0:
        found[0] = FREE, remaining, 0, 0
        return 1
    count = 1 if level < last else 0
    for d in range(model.bounds.shape[0]):
        if not (looping >> d) & 1:
            continue
        killed = moved_by(task, alive, d)
        if killed == 0:
            continue
        if slides(task, killed, d):
            rest = resting_dims(task, alive & ~killed, remaining)
            found[count] = SLIDE, rest & ~(1 << d), killed, d
            count += 1
            continue
        group = 0
        for other in range(model.bounds.shape[0]):
            if (looping >> other) & 1 and moved_by(task, alive, other) == killed and not slides(task, killed, other):
                group |= 1 << other
        if group & ((1 << d) - 1) == 0:
            found[count] = GROUP_FIRST, resting_dims(task, alive & ~killed, remaining), killed, group
            count += 1
    return count


@inner
def finish(task: Task, alive: int, energy: float, depth: int) -> None:
    """All loops are chosen: settle the rest, and note the mapping if it may be better than the best."""
    state, best, leaves = task.state, task.best, task.leaves
    last = task.skeleton.kept.shape[0] - 1
    words = state.words[depth + 1]
    words[:] = state.words[depth]
    energy += settle_group(task, last, alive, 0, state.tile[last], -1, 1, True, words)
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
                seen |= 1 << d
                count += 1
        for d in range(task.model.bounds.shape[0]):
            if not (seen >> d) & 1:
                leaves.order[row, level, count] = d
                count += 1


@inner
def open_level(task: Task, level: int, alive: int) -> int:
    """Begin memory `level` on top of the inner one's tile; the tensors that rest there, or -1 if nothing fits."""
    skeleton, state = task.skeleton, task.state
    for d in range(task.model.bounds.shape[0]):
        inner_tile = state.tile[level - 1, d] if level > 0 else 1
        if inner_tile * (skeleton.spread[level, d] - 1) >= task.model.bounds[d]:
            return -1
        state.base[level, d] = inner_tile * skeleton.spread[level, d]
    state.tile[level] = state.base[level]
    if level == 0:
        return 0
    for t in range(task.model.kind.shape[0]):
        state.low[level, t] = state.low[level - 1, t]
        if not (alive >> t) & 1:
            state.low[level, t] = level - 1
            if skeleton.kept[level - 1, t]:
                alive |= 1 << t
    return alive if fits(task, level, state.tile[level]) else -1


@inner
def settled(task: Task, level: int, group: int) -> bool:
    """Whether one of the dimensions `group` loops."""
    for d in range(task.model.bounds.shape[0]):
        if (group >> d) & 1 and task.state.tile[level, d] > task.state.base[level, d]:
            return True
    return False


@inner
def push(state: State, level: int, d: int, bound: int) -> None:
    """Put a loop on top."""
    state.tile[level, d] = state.base[level, d] * bound
    if bound > 1:
        state.loops[state.length[0], 0] = level
        state.loops[state.length[0], 1] = d
        state.loops[state.length[0], 2] = bound
        state.length[0] += 1


@inner
def pop(state: State, level: int, d: int, bound: int) -> None:
    """Take the topmost loop away."""
    state.tile[level, d] = state.base[level, d]
    if bound > 1:
        state.length[0] -= 1


@inner
def possible(task: Task, level: int, alive: int, rest: int, energy: float, depth: int) -> bool:
    """Whether the tile just grown fits, and may lead to something better."""
    if level == task.skeleton.kept.shape[0] - 1:
        return True
    fixed = (1 << task.model.bounds.shape[0]) - 1 & ~rest
    return fits(task, level, task.state.tile[level]) and promising(task, level, alive, fixed, energy, depth)


@inner
def unavoidable(task: Task, level: int, killed: int) -> float:
    """Least energy of the tensors `killed` up to `level`."""
    total = 0.0
    for t in range(task.model.kind.shape[0]):
        if (killed >> t) & 1:
            for c in range(task.state.low[level, t], level):
                total += task.skeleton.least[c, t] if task.skeleton.kept[c, t] else 0.0
    return total


@inner
def topmost(dims: int) -> int:
    """The highest dimension of a set."""
    found = 0
    while dims >> (found + 1):
        found += 1
    return found


@inner
def first_loops(task: Task, level: int, alive: int) -> int:
    """Loops that may come first at a level because they move none of the tensors `alive`.

    Above the innermost memory they can as well run inside of it, where the order does not matter, unless a spatial loop
    of that dimension lies between.
    """
    if alive == 0:
        return 0
    found = resting_dims(task, alive, (1 << task.model.bounds.shape[0]) - 1)
    if level == 1:
        for d in range(task.model.bounds.shape[0]):
            if task.skeleton.spread[1, d] == 1:
                found &= ~(1 << d)
    return found


NEW, LOOP, BRANCH = 0, 1, 2
"""A frame is new, goes through the factors of a dimension, or through what may come next."""

LEVEL, ALIVE, REMAINING, TODO, KILLED, GROUP, FIRST, DEPTH, MODE, CURSOR, DIM = range(11)
"""Columns of a frame's integers.

ALIVE tensors rest so far; loops of TODO come next at LEVEL, then others of REMAINING.  One of them moves the tensors
KILLED: the loop FIRST, after which those of GROUP come, or, if FIRST is negative, one of GROUP.
"""


@inner
def begin(task: Task, frames: Frames, level: int, alive: int, depth: int, energy: float) -> None:
    """Put a frame for the loops of `level` on top."""
    top = frames.top[0] + 1
    frames.top[0] = top
    row = frames.ints[top]
    row[:] = 0
    row[LEVEL], row[ALIVE], row[DEPTH], row[FIRST] = level, alive, depth, -1
    row[REMAINING] = (1 << task.model.bounds.shape[0]) - 1
    row[TODO] = row[REMAINING] if level == 0 else first_loops(task, level, alive)
    frames.energy[top, 0], frames.energy[top, 1] = energy, 0.0


@inner
def child(frames: Frames) -> Ints:
    """Put a copy of the topmost frame on top."""
    top = frames.top[0]
    frames.ints[top + 1] = frames.ints[top]
    frames.energy[top + 1] = frames.energy[top]
    frames.ints[top + 1, MODE] = NEW
    frames.top[0] = top + 1
    return frames.ints[top + 1]


@inner
def enter(task: Task, frames: Frames) -> None:
    """Find out what a new frame goes through; it may vanish."""
    top = frames.top[0]
    row, state = frames.ints[top], task.state
    level, depth, first = row[LEVEL], row[DEPTH], row[FIRST]
    row[CURSOR] = 0
    if row[TODO]:
        row[MODE], row[DIM] = LOOP, topmost(row[TODO])
        return
    if row[KILLED]:
        if not settled(task, level, 1 << first if first >= 0 else row[GROUP]):
            frames.top[0] -= 1
            return
        words = state.words[depth + 1]
        words[:] = state.words[depth - 1]
        bound: int = state.tile[level, first] // state.base[level, first] if first >= 0 else 1
        frames.energy[top, 0] += settle_group(
            task, level, row[KILLED], row[GROUP], state.marks[depth], first, bound, True, words
        )
        frames.energy[top, 1] = 0.0
        row[TODO] = row[GROUP] if first >= 0 else 0
        row[KILLED], row[GROUP], row[FIRST], row[DEPTH] = 0, 0, -1, depth + 1
        if row[TODO]:
            row[MODE], row[DIM] = LOOP, topmost(row[TODO])
            return
    every = (1 << task.model.bounds.shape[0]) - 1
    if promising(task, level, row[ALIVE], every & ~row[REMAINING], frames.energy[top, 0], row[DEPTH]):
        row[MODE] = BRANCH
        row[DIM] = options(task, level, row[ALIVE], row[REMAINING], frames.options[top])
    else:
        frames.top[0] -= 1


@inner
def next_loop(task: Task, frames: Frames) -> None:
    """Try the next factor of the topmost frame's dimension."""
    top = frames.top[0]
    row, state = frames.ints[top], task.state
    level, d = row[LEVEL], row[DIM]
    if row[CURSOR] > 0:
        pop(state, level, d, row[CURSOR])
    row[CURSOR] = next_bound(task, level, d, row[CURSOR])
    if row[CURSOR] == 0:
        frames.top[0] -= 1
        return
    push(state, level, d, row[CURSOR])
    left = row[REMAINING] & ~(1 << d)
    if possible(task, level, row[ALIVE], left, frames.energy[top, 0] + frames.energy[top, 1], row[DEPTH]):
        below = child(frames)
        below[REMAINING], below[TODO] = left, row[TODO] & ~(1 << d)


@inner
def next_option(task: Task, frames: Frames) -> None:
    """Try the next thing that may come at the topmost frame."""
    top = frames.top[0]
    row, state = frames.ints[top], task.state
    level, alive, depth, energy = row[LEVEL], row[ALIVE], row[DEPTH], frames.energy[top, 0]
    if row[CURSOR] == row[DIM]:
        frames.top[0] -= 1
        return
    found = frames.options[top, row[CURSOR]]
    row[CURSOR] += 1
    kind, loops, moved, which = found[0], found[1], found[2], found[3]
    words = state.words[depth + 1]
    words[:] = state.words[depth]
    state.marks[depth + 1] = state.tile[level]
    if kind == CLOSE:
        if level == task.skeleton.kept.shape[0] - 1:
            finish(task, alive, energy, depth)
            return
        resting = open_level(task, level + 1, alive)
        if resting >= 0:
            begin(task, frames, level + 1, resting, depth, energy)
        return
    below = child(frames)
    below[TODO] = loops
    if kind == FREE:
        return
    below[ALIVE], below[KILLED], below[DEPTH] = alive & ~moved, moved, depth + 1
    if kind == GROUP_FIRST:
        below[GROUP] = which
        least = settle_group(task, level, moved, which, state.marks[depth + 1], -1, 1, False, words)
    else:
        below[TODO], below[GROUP], below[FIRST] = 1 << which, loops, which
        least = unavoidable(task, level, moved)
    frames.energy[top + 1, 1] = least


@compiled
def walk(task: Task, frames: Frames, nodes: int) -> bool:
    """Go on for `nodes` frames, or until `leaves` are full; returns whether all mappings have been searched."""
    limit = task.best.counted[0] + nodes
    room = task.leaves.bound.shape[0]
    while frames.top[0] >= 0:
        mode = frames.ints[frames.top[0], MODE]
        if mode == NEW:
            if task.best.counted[0] >= limit:
                return False
            task.best.counted[0] += 1
            enter(task, frames)
        elif mode == LOOP:
            next_loop(task, frames)
        else:
            next_option(task, frames)
            if task.leaves.number[0] == room:
                return False
    return True


@compiled
def start(task: Task, frames: Frames) -> None:
    """Begin at the innermost memory."""
    frames.top[0] = -1
    task.state.length[0] = 0
    task.state.words[0] = task.skeleton.floor
    task.state.base[0] = task.skeleton.spread[0]
    task.state.tile[0] = task.skeleton.spread[0]
    task.state.low[0] = 0
    begin(task, frames, 0, 0, 0, task.base)
