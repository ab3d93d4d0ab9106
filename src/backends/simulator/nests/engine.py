"""The steps of a run, compiled: what moves where, and what is counted."""

from typing import Any

import numpy as np

from ....algebra.element import Ints
from ....costs.compiled import bare, bare_entry
from .plan import CHILD_BITS, Plan
from .state import CHILD, NEW, RETURNED, Clock, Counted, LoopRow, State, Tile


@bare
def _ask(plan: Plan, events: Ints, at: int, event: int, row: int, level: int, parent: int) -> int:
    """Child `row` of `level` asks for a word: the first level at whose instance it is no news; beyond the parent if it
    is news everywhere.  Children of one instance follow each other."""
    last = events[at]
    events[at] = event << CHILD_BITS | row - plan.first[level]
    if last >> CHILD_BITS != event:
        return parent + 1
    other = plan.first[level] + (last & CHILD)
    outer = level + 1
    while plan.ancestors[row, outer] != plan.ancestors[other, outer]:
        outer += 1
    return outer


@bare
def _mark(plan: Plan, state: State, level: int, instance: int, place: int) -> bool:
    """Whether an instance has held a word of the output before; from now on it has."""
    bit = plan.marks[level] + instance * plan.words[-1, -1] + plan.lowest[-1, -1] + place
    mask = np.uint8(1 << (bit & 7))
    before = state.marks[bit >> 3] & mask != 0
    state.marks[bit >> 3] |= mask
    return before


@bare
def _count_sum(plan: Plan, state: State, at: int, event: int, row: int, level: int, place: int, gives: bool) -> None:
    """A child asks for a sum (`gives`: a unit, which gives it back at once): where it is read, and on its way."""
    tensor = plan.parents.shape[0] - 1
    parent = plan.parents[tensor, level]
    there = state.events[at] != NEW
    news = _ask(plan, state.events, at, event, row, level, parent)
    for outer in range(level + 1, min(news, parent + 1)):
        counted = plan.counters[tensor, outer] + plan.ancestors[row, outer]
        if gives:
            state.counters[counted, Counted.OUTWARDS] += 1
        if outer < parent:
            if plan.marks[outer] >= 0 and _mark(plan, state, outer, plan.ancestors[row, outer], place):
                state.counters[counted, Counted.INWARDS] += 1
            continue
        if gives:
            state.counters[counted, Counted.UPDATES] += 1
        if there:
            state.counters[counted, Counted.READS] += 1
            state.counters[counted, Counted.INWARDS] += 1


@bare
def _fetch(plan: Plan, state: State, tensor: int, level: int, row: int, at: int, mine: int, place: int) -> None:
    """A word that a tile lacks comes from the parent."""
    parent = plan.parents[tensor, level]
    event = 2 * state.clock[Clock.STEP] + 1
    if tensor == plan.parents.shape[0] - 1:
        _count_sum(plan, state, at, event, row, level, place, False)
        state.values[mine], state.events[mine] = 0, NEW
        if _mark(plan, state, level, row - plan.first[level], place):
            state.counters[plan.counters[tensor, level] + row - plan.first[level], Counted.FILLS] += 1
            state.values[mine], state.events[mine] = state.values[at], RETURNED
            state.values[at] = 0
        return
    news = _ask(plan, state.events, at, event, row, level, parent)
    for outer in range(level + 1, min(news, parent + 1)):
        state.counters[plan.counters[tensor, outer] + plan.ancestors[row, outer], Counted.INWARDS] += 1
    if news > parent:
        state.counters[plan.counters[tensor, parent] + plan.ancestors[row, parent], Counted.READS] += 1
    state.counters[plan.counters[tensor, level] + row - plan.first[level], Counted.FILLS] += 1
    state.values[mine], state.events[mine] = state.values[at], NEW


@bare
def _give(plan: Plan, state: State, level: int, row: int, at: int, mine: int, passed: int) -> None:
    """A sum leaves a tile and is added to the parent's.

    A parent whose tile has moved on while its child had no work may have the sum no more: then it passes the parent,
    and `passed` is its place in the tensor (else -1).
    """
    tensor = plan.parents.shape[0] - 1
    parent = plan.parents[tensor, level]
    if passed < 0:
        news = _ask(plan, state.events, at, 2 * state.clock[Clock.STEP], row, level, parent)
    else:
        event = state.clock[Clock.STEP] * len(plan.first) + level
        news = _ask(plan, state.passed, passed, event, row, level, parent)
    for outer in range(level + 1, min(news, parent + 1)):
        state.counters[plan.counters[tensor, outer] + plan.ancestors[row, outer], Counted.OUTWARDS] += 1
    if news > parent:
        state.counters[plan.counters[tensor, parent] + plan.ancestors[row, parent], Counted.UPDATES] += 1
    state.counters[plan.counters[tensor, level] + row - plan.first[level], Counted.READS] += 1
    state.values[at] += state.values[mine]
    state.values[mine] = 0


@bare
def _works(plan: Plan, state: State, level: int, row: int) -> bool:
    """Whether an instance has work in this step."""
    for dim in range(len(plan.bounds)):
        if state.offsets[level, dim] + plan.offsets[row, dim] >= plan.bounds[dim]:
            return False
    return True


@bare
def _tile_of(plan: Plan, state: State, tensor: int, level: int, row: int) -> tuple[int, int, int, int]:
    """What an instance needs now: the shape of its tile, its place in the tensor, in the parent and in the memory."""
    shape, base, above, own = plan.shape_at[tensor, level], 0, 0, 0
    outermost, parent = plan.parents.shape[1] - 1, plan.parents[tensor, level]
    for dim in range(len(plan.bounds)):
        begin = state.offsets[level, dim] + plan.offsets[row, dim]
        base += begin * plan.strides[tensor, outermost, dim]
        above += begin * plan.strides[tensor, parent, dim]
        own += begin * plan.strides[tensor, level, dim]
        if plan.radix[tensor, level, dim]:
            size = min(plan.sizes[level, dim], plan.bounds[dim] - begin)
            shape += plan.radix[tensor, level, dim] * plan.size_index[plan.size_at[level, dim] + size]
    return shape, base, above, own


@bare
def _within(plan: Plan, shape: int, base: int, place: int) -> int:
    """The row of the tile's word at a place of the tensor; -1 if the tile does not have it."""
    low, end = plan.shapes[shape, 0], plan.shapes[shape, 0] + plan.shapes[shape, 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if base + plan.tiles[middle, 0] < place:
            low = middle + 1
        else:
            high = middle
    return low if low < end and base + plan.tiles[low, 0] == place else -1


@bare
def _leave(plan: Plan, state: State, level: int, row: int, shape: int, base: int) -> None:
    """The sums that the next tile, if there is one, has not: each goes to where it is kept further out."""
    tensor, outermost = plan.parents.shape[0] - 1, plan.parents.shape[1] - 1
    instance, parent = row - plan.first[level], plan.parents[tensor, level]
    box = state.boxes[plan.counters[tensor, level] + instance]
    above = plan.ancestors[row, parent]
    over = state.boxes[plan.counters[tensor, parent] + above]
    stays = parent == outermost or over[Tile.MOVED] <= box[Tile.SEEN]
    new = plan.shapes[shape, 0] if shape >= 0 else 0
    end = new + plan.shapes[shape, 1] if shape >= 0 else 0
    first = plan.shapes[box[Tile.SHAPE], 0]
    for old in range(first, first + plan.shapes[box[Tile.SHAPE], 1]):
        place = box[Tile.BASE] + plan.tiles[old, 0]
        while new < end and base + plan.tiles[new, 0] < place:
            new += 1
        if new < end and base + plan.tiles[new, 0] == place:
            continue
        mine = plan.starts[tensor, level] + instance * plan.words[tensor, level] + plan.tiles[old, 1]
        at = plan.starts[tensor, parent] + above * plan.words[tensor, parent]
        found = old if stays else _within(plan, over[Tile.SHAPE], over[Tile.BASE], place)
        if stays:
            _give(plan, state, level, row, at + plan.tiles[old, 2] + box[Tile.ABOVE] - over[Tile.OWN], mine, -1)
        elif found >= 0:
            _give(plan, state, level, row, at + plan.tiles[found, 1], mine, -1)
        else:
            at = plan.starts[tensor, outermost] + place
            _give(plan, state, level, row, at, mine, plan.lowest[tensor, outermost] + place)


@bare
def _enter(plan: Plan, state: State, tensor: int, level: int, row: int) -> None:
    """The tile that an instance needs: words that it has move within it, others are fetched."""
    shape, base, above, own = _tile_of(plan, state, tensor, level, row)
    instance, parent = row - plan.first[level], plan.parents[tensor, level]
    box = state.boxes[plan.counters[tensor, level] + instance]
    box[Tile.SEEN] = state.clock[Clock.STEP]
    box[Tile.ABOVE] = above
    if shape == box[Tile.SHAPE] and base == box[Tile.BASE]:
        return
    begin, words = plan.starts[tensor, level] + instance * plan.words[tensor, level], plan.words[tensor, level]
    old = end = 0
    if box[Tile.SHAPE] >= 0:
        old, end = plan.shapes[box[Tile.SHAPE], 0], plan.shapes[box[Tile.SHAPE], 0] + plan.shapes[box[Tile.SHAPE], 1]
        low = begin - plan.lowest[tensor, level]
        for word in range(words):
            state.held_values[word], state.held_events[word] = state.values[low + word], state.events[low + word]
    over = plan.counters[tensor, parent] + plan.ancestors[row, parent]
    source = plan.starts[tensor, parent] + plan.ancestors[row, parent] * plan.words[tensor, parent]
    source += above - state.boxes[over, Tile.OWN]
    first = plan.shapes[shape, 0]
    for new in range(first, first + plan.shapes[shape, 1]):
        place = base + plan.tiles[new, 0]
        while old < end and box[Tile.BASE] + plan.tiles[old, 0] < place:
            old += 1
        mine = begin + plan.tiles[new, 1]
        if old < end and box[Tile.BASE] + plan.tiles[old, 0] == place:
            kept = plan.tiles[old, 1] + plan.lowest[tensor, level]
            state.values[mine], state.events[mine] = state.held_values[kept], state.held_events[kept]
        else:
            _fetch(plan, state, tensor, level, row, source + plan.tiles[new, 2], mine, place)
    box[Tile.SHAPE], box[Tile.BASE], box[Tile.OWN], box[Tile.MOVED] = shape, base, own, state.clock[Clock.STEP]


@bare
def _shift(plan: Plan, state: State) -> None:
    """How far the loops in time have moved each operand in its memory, and the output off chip."""
    tensors, outermost = plan.parents.shape[0], plan.parents.shape[1] - 1
    for tensor in range(tensors + 1):
        state.shifts[tensor] = 0
    for dim in range(len(plan.bounds)):
        for tensor in range(tensors):
            near = plan.parents[tensor, 0]
            moved = state.offsets[0, dim] - state.offsets[near, dim]
            state.shifts[tensor] += moved * plan.strides[tensor, near, dim]
        state.shifts[tensors] += state.offsets[0, dim] * plan.strides[tensors - 1, outermost, dim]


@bare
def _product(plan: Plan, state: State, unit: int) -> Any:
    value = state.values[plan.factors[0, unit] + state.shifts[0]]
    for tensor in range(plan.factors.shape[0] - 1):
        factor = state.values[plan.factors[tensor, unit] + state.shifts[tensor]]
        for _ in range(plan.powers[tensor] - (tensor == 0)):
            value *= factor
    return value


@bare
def _compute_all(plan: Plan, state: State) -> None:
    """One step of all units.  Which of them ask for a word together is the same each time: `count_whole_steps`."""
    tensors, units = plan.factors.shape
    near, shift = plan.parents[tensors - 1, 0], state.shifts[tensors - 1]
    for unit in range(units):
        at = plan.factors[tensors - 1, unit] + shift
        for outer in range(1, min(plan.news[tensors - 1, unit], near + 1)):
            counted = plan.counters[tensors - 1, outer] + plan.ancestors[unit, outer]
            if outer == near:
                if state.events[at] != NEW:
                    state.counters[counted, Counted.READS] += 1
                    state.counters[counted, Counted.INWARDS] += 1
                state.events[at] = RETURNED
            elif plan.marks[outer] >= 0:
                place = plan.sums[unit] + state.shifts[tensors]
                state.counters[counted, Counted.INWARDS] += _mark(
                    plan, state, outer, plan.ancestors[unit, outer], place
                )
        state.values[at] += _product(plan, state, unit)
    state.clock[Clock.POINTS] += units
    state.clock[Clock.WHOLE] += 1


@bare
def _compute_some(plan: Plan, state: State) -> None:
    """One step of the units that have work."""
    tensors, units = plan.factors.shape
    event = 2 * state.clock[Clock.STEP] + 1
    for unit in range(units):
        if not _works(plan, state, 0, unit):
            continue
        state.clock[Clock.POINTS] += 1
        for tensor in range(tensors - 1):
            at, near = plan.factors[tensor, unit] + state.shifts[tensor], plan.parents[tensor, 0]
            news = _ask(plan, state.events, at, event, unit, 0, near)
            for outer in range(1, min(news, near + 1)):
                state.counters[plan.counters[tensor, outer] + plan.ancestors[unit, outer], Counted.INWARDS] += 1
            if news > near:
                state.counters[plan.counters[tensor, near] + plan.ancestors[unit, near], Counted.READS] += 1
        at = plan.factors[tensors - 1, unit] + state.shifts[tensors - 1]
        _count_sum(plan, state, at, event, unit, 0, plan.sums[unit] + state.shifts[tensors], True)
        state.values[at] += _product(plan, state, unit)


@bare
def _step(plan: Plan, state: State) -> None:
    """All tiles that the loops have moved, sums that leave first, from inside; then the units."""
    tensors, widest = plan.parents.shape[0], state.clock[Clock.WIDEST]
    state.clock[Clock.STEP] += 1
    for level in range(1, widest):
        if plan.parents[tensors - 1, level] < 0:
            continue
        for row in range(plan.first[level], plan.first[level + 1]):
            box = state.boxes[plan.counters[tensors - 1, level] + row - plan.first[level]]
            if box[Tile.SHAPE] >= 0 and _works(plan, state, level, row):
                shape, base, _, _ = _tile_of(plan, state, tensors - 1, level, row)
                if shape != box[Tile.SHAPE] or base != box[Tile.BASE]:
                    _leave(plan, state, level, row, shape, base)
    for level in range(widest - 1, 0, -1):
        for row in range(plan.first[level], plan.first[level + 1]):
            if _works(plan, state, level, row):
                for tensor in range(tensors):
                    if plan.parents[tensor, level] >= 0:
                        _enter(plan, state, tensor, level, row)
    _shift(plan, state)
    if _works(plan, state, 0, plan.first[1] - 1):
        _compute_all(plan, state)
    else:
        _compute_some(plan, state)
    state.clock[Clock.WIDEST] = 0


@bare
def _advance(plan: Plan, state: State) -> bool:
    """The next iteration of the loops in time, which may be empty; False after the last."""
    for loop in range(len(plan.loops)):
        level, dim = plan.loops[loop, LoopRow.LEVEL], plan.loops[loop, LoopRow.DIM]
        more = state.digits[loop] + 1 < plan.loops[loop, LoopRow.BOUND]
        move = 1 if more else -state.digits[loop]
        state.digits[loop] += move
        for inside in range(level):
            state.offsets[inside, dim] += move * plan.loops[loop, LoopRow.PITCH]
        if more:
            state.clock[Clock.WIDEST] = max(state.clock[Clock.WIDEST], level)
            return True
    return False


@bare
def _finish(plan: Plan, state: State) -> None:
    """All sums that are still in a tile leave it."""
    tensor, outermost = plan.parents.shape[0] - 1, plan.parents.shape[1] - 1
    state.clock[Clock.STEP] += 1
    for level in range(1, outermost):
        if plan.parents[tensor, level] >= 0:
            for row in range(plan.first[level], plan.first[level + 1]):
                if state.boxes[plan.counters[tensor, level] + row - plan.first[level], Tile.SHAPE] >= 0:
                    _leave(plan, state, level, row, -1, 0)
    state.clock[Clock.STEP] -= 1
    state.clock[Clock.DONE] = 1


@bare_entry
def run_steps(plan: Plan, state: State, points: int) -> None:
    """Goes on for at least so many points, or to the end."""
    most = state.clock[Clock.POINTS] + points
    while state.clock[Clock.POINTS] < most:
        if _works(plan, state, 0, 0):
            _step(plan, state)
        if not _advance(plan, state):
            _finish(plan, state)
            return
