"""What is there already of a sliding window, on the average over any loops further out.

After loops of window dimensions that make `a` steps along one and `c` along another, the next loop along the first
moves the window by its step, less the way back of the other: `step_a - (c - 1) * step_c`, whatever `a` is.  So what
all steps find is a walk through the lattice of such pairs, and the best walk a small dynamic program.

At any pair loops of other dimensions may come that only let the window fall back.  Those of a plain dimension leave
nothing, and are best the outermost.  Those that do not index the tensor leave what the way back allows, those of other
windows a share of that.  Loops of one of these kinds are best all at one pair: with `u` and `v` iterations at two, what
is found is between that for `u v` at the one and for `u v` at the other.

Statement 15 of docs/exact-mapper.md.
"""

from typing import NamedTuple

from .....costs.compiled import bare
from ..space.model import UNRELATED, Floats, Model
from .windows import Transfer, extent, overlap, present, tiles_in


class Others(NamedTuple):
    """Loops of dimensions that are not of a window: iterations of those that do not index the tensor, of those of its
    other windows, and the most that an advance of the latter leaves of these, as a share."""

    unrelated: float
    beside: float
    shared: float


@bare
def others_of(model: Model, t: int, w: int, box: Transfer) -> Others:
    """The loops beside window `w` where tensor `t` rests in a tile."""
    unrelated, beside, shared = 1.0, 1.0, 0.0
    for d in range(box.tile.shape[0]):
        if (box.near >> d) & 1 == 0:
            continue
        if model.kind[t, d] == UNRELATED:
            unrelated *= -(-model.bounds[d] // box.tile[d])
        elif model.window[t, d] >= 0 and model.window[t, d] != w:
            beside *= -(-model.bounds[d] // box.step[d])
    for other in range(model.windows[t]):
        if other != w:
            uncut = tiles_in(model, t, other, box.tile, False) / tiles_in(model, t, other, box.tile, True)
            size = uncut * extent(model, t, other, box.tile)
            shared = max(shared, min(1.0, left(model, t, other, box, size) / size))
    return Others(unrelated, beside, shared)


@bare
def partner(model: Model, t: int, w: int, box: Transfer, first: int) -> int:
    """The dimension of window `w` but `first` that loops further out, -1 if none does, -2 if nothing is known."""
    found = -1
    for d in range(box.step.shape[0]):
        if model.window[t, d] == w and box.step[d] < model.bounds[d]:
            if model.opposed[t] or (box.free >> d) & 1 == 0 or (d != first and found >= 0):
                return -2
            if d != first:
                found = d
    return found


@bare
def stays(model: Model, t: int, w: int, box: Transfer, size: float, shift: int) -> float:
    """Elements at most that a window of `size` elements shares with itself moved by `shift`, for all its children."""
    shift = abs(shift)
    most = min(overlap(model, t, w, box.tile, shift, True), present(model, t, w, box.tile, box.child, shift, True))
    return min(size, float(most))


@bare
def left(model: Model, t: int, w: int, box: Transfer, size: float) -> float:
    """Most of the `size` elements of window `w` that are there already when a loop of its own advances."""
    step, first = box.step, -1
    for d in range(step.shape[0]):
        if model.window[t, d] == w and step[d] < model.bounds[d]:
            first = d
    if first < 0:
        return 0.0
    other = partner(model, t, w, box, first)
    if other == -2 or not model.perfect:
        return size
    if other < 0:
        return stays(model, t, w, box, size, step[first] * model.coefficient[t, first])
    found = 0.0
    for mine, theirs in ((first, other), (other, first)):
        pace, slow = step[mine] * model.coefficient[t, mine], step[theirs] * model.coefficient[t, theirs]
        alone = model.bounds[theirs] // step[theirs]
        for j in range(model.many[theirs]):
            done = model.divisors[theirs, j]
            if alone % done == 0 and not (box.once and 1 < done < alone):
                found = max(found, stays(model, t, w, box, size, pace - (done - 1) * slow))
    return found


@bare
def kept_on_average(model: Model, t: int, w: int, box: Transfer, size: float, others: Others) -> float:
    """Elements at most that a step finds there on the average, of the `size` elements of window `w`, where its loop
    comes first; `others` are loops of other dimensions.

    For perfect factors.  Where loops further out are not understood, all is there when the first loop begins again.
    """
    step, first, bound, once = box.step, box.first, box.bound, box.once
    other = partner(model, t, w, box, first)
    many = model.bounds[first] // step[first]
    pace = step[first] * model.coefficient[t, first]
    if other == -2 or max(model.many[first], model.many[max(other, 0)]) > model.room.shape[1]:
        near = stays(model, t, w, box, size, pace)
        return near + (size - near) / max(bound, 2)
    alone, slow, most = 1, 0, 1
    if other >= 0 and (box.near >> other) & 1 == 0:
        other = -1
    if other >= 0:
        alone, slow = model.bounds[other] // step[other], step[other] * model.coefficient[t, other]
        most = model.many[other]
    best = model.room
    every = (1 if others.unrelated > 1 else 0) + (2 if others.beside > 1 and others.shared > 0 else 0)
    for i in range(model.many[first] - 1, -1, -1):
        a = model.divisors[first, i]
        if many % a:
            continue
        along = stays(model, t, w, box, size, slow - (a - 1) * pace) if other >= 0 else 0.0
        for j in range(most - 1, -1, -1):
            c = model.divisors[other, j] if other >= 0 else 1
            if alone % c:
                continue
            away = stays(model, t, w, box, size, (a - 1) * pace + (c - 1) * slow)
            ahead = stays(model, t, w, box, size, pace - (c - 1) * slow)
            for waiting in range(every + 1):
                if waiting & ~every:
                    continue
                found = falling_back(best, i, j, waiting, away, others)
                found = max(found, advancing(model, first, best[waiting, :, j], i, many, ahead, 0, once))
                if other >= 0:
                    found = max(found, advancing(model, other, best[waiting, i], j, alone, along, 0, once))
                best[waiting, i, j] = found
    once_more = stays(model, t, w, box, size, pace)
    return advancing(model, first, best[every, :, 0], 0, many, once_more, bound, once)


@bare
def advancing(model: Model, d: int, further: Floats, at: int, most: int, near: float, bound: int, once: bool) -> float:
    """What steps find there on the average where a loop of dimension `d` comes next, which leaves `near` elements.

    Its loops so far have the divisor number `at` of iterations, in the end `most`; after any divisor, loops further out
    find what `further` has.  The loop may have to have `bound` iterations.
    """
    found, done = 0.0, model.divisors[d, at]
    for k in range(at + 1, model.many[d]):
        more = model.divisors[d, k]
        if more % done or most % more or (once and (done > 1 or more < most)) or (bound > 1 and more != bound):
            continue
        found = max(found, near + (further[k] - near) * done / more)
    return found


@bare
def falling_back(best: Floats, i: int, j: int, waiting: int, away: float, others: Others) -> float:
    """What steps find there on the average where loops of other dimensions come next, if those are `waiting`."""
    found = 0.0
    if waiting & 1:
        found = max(found, away + (best[waiting - 1, i, j] - away) / others.unrelated)
    if waiting & 2:
        shared = away * others.shared
        found = max(found, shared + (best[waiting - 2, i, j] - shared) / others.beside)
    return found
