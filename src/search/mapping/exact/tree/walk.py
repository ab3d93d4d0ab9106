"""The walk: one loop after the other, from the innermost memory outwards, where the bound allows it."""

import numpy as np

from .....costs.compiled import bare, bare_entry
from ..bounds.nodes import Task, affordable, fits, hopeless, may_close, outlook, promising, unavoidable
from ..dominance.factors import below_cell, better_outside, first_limit, next_bound, some_better_outside
from ..dominance.merging import merging_left, some_merge, takes_over
from ..space.model import Ints
from ..traffic.busy import full_children
from ..traffic.settle import finish, kept_from_neighbours, loops_at, settle_group
from .state import Frames, State, copy_row, copy_words

CLOSE, GROUP_FIRST, SLIDE = 0, 1, 2
"""What may come next at a level: nothing; loops that move some tensors; a sliding one first."""


LEVEL, ALIVE, REMAINING, TODO, KILLED, GROUP, FIRST, DEPTH, MODE, CURSOR, DIM = range(11)
"""Columns of a frame's integers.

ALIVE tensors rest so far; loops of TODO come next at LEVEL, then others of REMAINING.  One of them moves the tensors
KILLED: the loop FIRST, after which those of GROUP come, or, if FIRST is negative, one of GROUP.
"""


@bare
def resting_dims(task: Task, alive: int, remaining: int) -> int:
    """Dimensions of `remaining` that move none of the tensors `alive`."""
    found = 0
    for d in range(task.model.bounds.shape[0]):
        if (remaining >> d) & 1 and alive & task.model.moved[d] == 0:
            found |= 1 << d
    return found


@bare
def note(row: Ints, kind: int, loops: int, killed: int, which: int) -> None:
    """Fill a row of what may come next."""
    row[0], row[1], row[2], row[3] = kind, loops, killed, which


@bare
def options(task: Task, row: Ints, found: Ints) -> int:
    """What may come next in a frame: rows of `found` (D + 1, 4) as (kind, loops, tensors that move, group or first
    loop)."""
    model = task.model
    level, alive, remaining = row[LEVEL], row[ALIVE], row[REMAINING]
    last = task.skeleton.kept.shape[0] - 1
    looping, count = 0, 0
    for d in range(model.bounds.shape[0]):
        if (remaining >> d) & 1 and next_bound(task, level, d, 0) > 1:
            looping |= 1 << d
    if looping == 0 or (alive != 0 and level < last):
        note(found[0], CLOSE, 0, 0, 0)
        count = 1
    for d in range(model.bounds.shape[0]):
        killed = alive & model.moved[d]
        if not (looping >> d) & 1 or killed == 0:
            continue
        rest = resting_dims(task, alive & ~killed, remaining)
        if killed & model.slid[d]:
            note(found[count], SLIDE, rest & ~(1 << d), killed, d)
            count += 1
            continue
        group = 0
        for other in range(model.bounds.shape[0]):
            if (looping >> other) & 1 and alive & model.moved[other] == killed and not killed & model.slid[other]:
                group |= 1 << other
        if group & ((1 << d) - 1) == 0:
            note(found[count], GROUP_FIRST, rest, killed, group)
            count += 1
    return count


@bare
def open_level(task: Task, level: int, alive: int) -> int:
    """Begin memory `level` on top of the inner one's tile; the tensors that rest there, or -1 if nothing fits."""
    skeleton, state = task.skeleton, task.state
    for d in range(task.model.bounds.shape[0]):
        inner_tile = state.tile[level - 1, d] if level > 0 else 1
        spread = skeleton.spread[level, d]
        if spread > 1 and inner_tile * full_children(spread, task.model.halves[level]) >= task.model.bounds[d]:
            return -1
        state.base[level, d] = inner_tile * spread
    copy_row(state.tile[level], state.base[level])
    if level == 0:
        return 0
    for t in range(task.model.kind.shape[0]):
        state.low[level, t] = state.low[level - 1, t]
        if not (alive >> t) & 1:
            state.low[level, t] = level - 1
    alive |= skeleton.held[level - 1]
    return alive if fits(task, level, state.tile[level]) else -1


@bare
def push(state: State, level: int, d: int, bound: int, row: Ints) -> None:
    """Put a loop of the block of a frame's `row` on top."""
    state.tile[level, d] = state.base[level, d] * bound
    if bound > 1:
        state.loops[state.length[0], 0] = level
        state.loops[state.length[0], 1] = d
        state.loops[state.length[0], 2] = bound
        state.loops[state.length[0], 3] = row[DEPTH]
        state.length[0] += 1


@bare
def pop(state: State, level: int, d: int, bound: int) -> None:
    """Take the topmost loop away."""
    state.tile[level, d] = state.base[level, d]
    if bound > 1:
        state.length[0] -= 1


NEW, LOOP, BRANCH = 0, 1, 2
"""A frame is new, goes through the factors of a dimension, or through what may come next."""


@bare
def begin(task: Task, frames: Frames, level: int, alive: int, depth: int, energy: float) -> None:
    """Put a frame for the loops of `level` on top."""
    top = frames.top[0] + 1
    frames.top[0] = top
    row = frames.ints[top]
    row[:] = 0
    row[LEVEL], row[ALIVE], row[DEPTH], row[FIRST] = level, alive, depth, -1
    row[REMAINING] = (1 << task.model.bounds.shape[0]) - 1 & ~task.skeleton.still[level]
    row[TODO] = resting_dims(task, alive, row[REMAINING])
    frames.energy[top, 0], frames.energy[top, 1], frames.energy[top, 2] = energy, 0.0, energy


@bare
def child(frames: Frames) -> int:
    """Put a copy of the topmost frame on top; its number."""
    top = frames.top[0]
    copy_row(frames.ints[top + 1], frames.ints[top])
    copy_row(frames.energy[top + 1], frames.energy[top])
    frames.ints[top + 1, MODE] = NEW
    frames.top[0] = top + 1
    return top + 1


@bare
def enter(task: Task, frames: Frames) -> None:
    """Find out what a new frame goes through; it may vanish."""
    top = frames.top[0]
    row, state = frames.ints[top], task.state
    level, depth, first = row[LEVEL], row[DEPTH], row[FIRST]
    row[CURSOR] = 0
    if row[TODO]:
        row[MODE], row[DIM] = LOOP, int(np.log2(row[TODO]))
        return
    if some_merge(task, level, row[REMAINING], False):
        frames.top[0] -= 1
        return
    if row[KILLED]:
        if not loops_at(task, level, 1 << first if first >= 0 else row[GROUP]):
            frames.top[0] -= 1
            return
        words = state.words[depth + 1]
        copy_words(words, state.words[depth - 1])
        bound = int(state.tile[level, first] // state.base[level, first]) if first >= 0 else 1
        group, mark = row[GROUP], state.marks[depth]
        frames.energy[top, 0] += settle_group(task, level, row[KILLED], group, mark, (first, bound), True, words)
        frames.energy[top, 1] = 0.0
        row[TODO] = row[GROUP] if first >= 0 else 0
        row[KILLED], row[GROUP], row[FIRST], row[DEPTH] = 0, 0, -1, depth + 1
        if row[TODO]:
            row[MODE], row[DIM] = LOOP, int(np.log2(row[TODO]))
            return
    every = (1 << task.model.bounds.shape[0]) - 1
    if promising(task, level, row[ALIVE], every & ~row[REMAINING], frames.energy[top, 0], row[DEPTH]):
        row[MODE] = BRANCH
        row[DIM] = options(task, row, frames.options[top])
    else:
        frames.top[0] -= 1


@bare
def next_loop(task: Task, frames: Frames) -> None:
    """Go on to the next factor of the topmost frame's dimension that may lead to something better."""
    top = frames.top[0]
    row, state = frames.ints[top], task.state
    level, d, bound = row[LEVEL], row[DIM], row[CURSOR]
    if bound > 0:
        pop(state, level, d, bound)
    last = level == task.skeleton.kept.shape[0] - 1
    limit = bound
    if bound == 0 and not (last and state.base[level, d] >= task.model.bounds[d]):
        limit = 2 if takes_over(task, level, d, row[ALIVE]) else first_limit(task, level, d)
    left = row[REMAINING] & ~(1 << d)
    fixed = (1 << task.model.bounds.shape[0]) - 1 & ~left
    while True:
        bound = next_bound(task, level, d, limit)
        if bound == 0:
            frames.top[0] -= 1
            return
        push(state, level, d, bound, row)
        if bound > 1 and row[ALIVE] == 0 and better_outside(task, level, d, 0):
            pop(state, level, d, bound)
            limit = 2 if task.model.perfect else bound
            continue
        energy = frames.energy[top, 0] + frames.energy[top, 1] + outlook(task, level, row[ALIVE], fixed)
        limit = below_cell(task, level, d, bound) if not last and hopeless(task, energy) else 0
        if limit == 0 and (last or affordable(task, level, energy, row[DEPTH])):
            break
        pop(state, level, d, bound)
        limit = limit if limit > 0 else bound
    row[CURSOR] = bound
    below = frames.ints[child(frames)]
    below[REMAINING], below[TODO] = left, row[TODO] & ~(1 << d)


@bare
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
    copy_words(words, state.words[depth])
    copy_row(state.marks[depth + 1], state.tile[level])
    if kind == CLOSE:
        if not task.model.perfect and some_merge(task, level, 0, True):  # nothing may come between any more
            return
        begun, last = frames.energy[top, 2], level == task.skeleton.kept.shape[0] - 1
        if not last and (some_better_outside(task, level, alive) or not may_close(task, level, alive, energy)):
            return
        energy = begun + kept_from_neighbours(task, level, alive, energy - begun)
        if last:
            finish(task, alive, energy, depth)
        if last or not may_close(task, level, alive, energy):
            return
        rests = open_level(task, level + 1, alive)
        if rests >= 0 and not (level + 2 == task.skeleton.kept.shape[0] and merging_left(task, level + 1)):
            begin(task, frames, level + 1, rests, depth, energy)
        return
    below = frames.ints[child(frames)]
    below[TODO] = loops
    below[ALIVE], below[KILLED], below[DEPTH] = alive & ~moved, moved, depth + 1
    if kind == GROUP_FIRST:
        below[GROUP] = which
        least = settle_group(task, level, moved, which, state.marks[depth + 1], (-1, 1), False, words)
    else:
        below[TODO], below[GROUP], below[FIRST] = 1 << which, loops, which
        if task.model.perfect:
            least = settle_group(task, level, moved, 0, state.marks[depth + 1], (which, 0), False, words)
        else:
            least = unavoidable(task, level, moved)
    frames.energy[top + 1, 1] = least


@bare_entry
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


@bare_entry
def start(task: Task, frames: Frames) -> None:
    """Begin at the innermost memory."""
    frames.top[0] = -1
    task.state.length[0] = 0
    copy_words(task.state.words[0], task.skeleton.floor)
    copy_row(task.state.base[0], task.skeleton.spread[0])
    copy_row(task.state.tile[0], task.skeleton.spread[0])
    task.state.low[0] = 0
    begin(task, frames, 0, 0, 0, task.base)
