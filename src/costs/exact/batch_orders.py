"""The order of each level's loops that takes least energy, for given factors, without pricing the others.

What a step finds of a tile when a loop advances depends on which loops run inside of that one, not on their order, and
loops of inner levels all do.  So each level is for itself, and the energy saved by an order is a sum over its loops, of
a number for each loop and set of loops inside: the best order is a longest path through the sets.
"""

from typing import NamedTuple

import numpy as np

from ..hierarchy.batch import Batch
from .batch_kernel import Machine, links
from .batch_nest import count_below, set_loops
from .batch_windows import HELD, window_words
from .batch_words import resting, words_moved, words_owned
from .compiled import PLAIN, SLIDING, UNRELATED, Asked, Floats, Ints, Loops, Place, Scratch, Shape, bare, bare_entry

INSIDE, NOW, OUTSIDE = range(3)
"""Where the loop of a dimension is in its level when another advances; `NOW` it does itself."""

MAX_DIMS, MAX_TERMS = 10, 4
"""Dimensions, and terms of a window, of problems that are looked at."""


class Sets(NamedTuple):
    """Working arrays: energy `saved` (2 ** D, D) where a loop comes next, by the set of those inside; the `best` sum
    for a set (2 ** D,) and the loop that is the `last` of it; `counts` (3, D) of iterations or elements of each
    dimension where its loop is `INSIDE`, `NOW`, `OUTSIDE`; `held` (W, 3 ** terms) elements of windows likewise, -1
    where not known yet; `own` (D,) places of a level's loops, -1 where there is none."""

    saved: Floats
    best: Floats
    last: Ints
    counts: Ints
    held: Ints
    own: Ints


def sets_for(shape: Shape) -> Sets | None:
    """Room for a problem, None beyond the limits."""
    dims = len(shape.bounds)
    terms = int(shape.sizes.max(initial=0))
    if dims > MAX_DIMS or terms > MAX_TERMS:
        return None
    return Sets(
        np.zeros((1 << dims, dims)),
        np.zeros(1 << dims),
        np.zeros(1 << dims, np.int64),
        np.zeros((3, dims), np.int64),
        np.zeros((len(shape.sizes), 3**terms), np.int64),
        np.zeros(dims, np.int64),
    )


@bare_entry
def best_orders(
    shape: Shape, machine: Machine, batch: Batch, loops: Loops, work: Scratch, sets: Sets, energy: Floats
) -> bool:
    """Put the mappings of `batch` in the orders that take least `energy` (N,); False if one is beyond the limits."""
    for n in range(len(batch.temporal)):
        factors = (batch.spatial_x, batch.spatial_y, batch.temporal)
        set_loops(shape, loops, n, factors, (batch.order_x, batch.order_y, batch.order))
        energy[n] = _all_moved(n, shape, machine, batch, loops, work)
        for level in range(1, len(machine.bits)):
            saved = _best_of_level(n, level, shape, machine, batch, loops, work, sets)
            if energy[n] < 0 or saved < 0:
                return False
            energy[n] -= saved
    return True


@bare
def _all_moved(n: int, shape: Shape, machine: Machine, batch: Batch, loops: Loops, work: Scratch) -> float:
    """Energy where no step finds anything; -1 beyond the limits.  See `batch_kernel`."""
    levels, tensors = machine.bits.shape
    asked, energy = work.asked, machine.mac_energy
    loops.counts[len(shape.bounds)] = 0
    for dim in range(len(shape.bounds)):
        energy *= loops.limits[dim]
    for t in range(tensors):
        child = -1
        for level in range(levels):
            kept = batch.kept[n, level, t] or level == levels - 1
            asked[Asked.CHILD], asked[Asked.FAN] = child, level
            sent, arriving, owned = words_moved(loops, shape, t, work), 0, 0
            asked[Asked.CHILD] = level
            if kept and level < levels - 1:
                arriving = words_moved(loops, shape, t, work)
            if machine.is_output[t]:
                owned = words_owned(loops, shape, t, work)
            if min(sent, arriving, owned) < 0:
                return -1.0
            energy += sent * _per_word(n, level, t, True, shape, machine, batch)
            energy += arriving * _per_word(n, level, t, False, shape, machine, batch)
            energy -= owned * _per_owned(n, level, t, kept, shape, machine, batch)
            child = level if kept else child
    return energy


@bare
def _per_word(n: int, level: int, t: int, sent: bool, shape: Shape, machine: Machine, batch: Batch) -> float:
    """Energy of a word of tensor `t` that `level` sends inwards, or that arrives there."""
    read, write = machine.energies[level, 0], machine.energies[level, 1]
    scale = machine.bits[level, t] / machine.word_bits[level]
    if not sent:
        return scale * (write + (read if machine.is_output[t] else 0.0))
    spent, ways = 0.0, 2 if machine.is_output[t] else 1
    if batch.kept[n, level, t] or level == machine.bits.shape[0] - 1:
        spent = read + (write if machine.is_output[t] else 0.0)
    if machine.hop_energies[level] > 0:
        spent += ways * links(n, shape, batch, level, t) * machine.hop_energies[level]
    return spent * scale


@bare
def _per_owned(n: int, level: int, t: int, kept: bool, shape: Shape, machine: Machine, batch: Batch) -> float:
    """Energy saved by a word of a result at its first visit to an instance of `level`: there are no partial sums."""
    last = level == machine.bits.shape[0] - 1
    spent = machine.energies[level, 0] + (0.0 if last else machine.energies[level, 1]) if kept else 0.0
    if machine.hop_energies[level] > 0:
        spent += links(n, shape, batch, level, t) * machine.hop_energies[level]
    return spent * machine.bits[level, t] / machine.word_bits[level]


@bare
def _best_of_level(
    n: int, level: int, shape: Shape, machine: Machine, batch: Batch, loops: Loops, work: Scratch, sets: Sets
) -> float:
    """Put the loops of `level` in the best order; the energy that it saves, -1 beyond the limits."""
    looping = 0
    for d in range(len(shape.bounds)):
        sets.own[d] = -1
        for i in range(loops.counts[d]):
            place = loops.places[d, i]
            if place[Place.ORDER] >= 0:
                place[Place.ORDER] = INSIDE if place[Place.LEVEL] < level else OUTSIDE
                if place[Place.LEVEL] == level:
                    sets.own[d] = i
                    looping |= 1 << d
    if looping == 0:
        return 0.0
    _clear(sets, looping)
    for t in range(machine.bits.shape[1]):
        child = -1
        for to in range(machine.bits.shape[0]):
            kept = batch.kept[n, to, t] or to == machine.bits.shape[0] - 1
            if 0 <= child < level:
                each = _per_word(n, to, t, True, shape, machine, batch)
                if each > 0 and not _save(t, child, to, looping, each, shape, loops, work, sets):
                    return -1.0
            if kept and to < level:
                child = to
                each = _per_word(n, to, t, False, shape, machine, batch)
                if each > 0 and not _save(t, child, to, looping, each, shape, loops, work, sets):
                    return -1.0
            elif kept:
                child = to
    return _longest(n, level, looping, batch, sets)


@bare
def _clear(sets: Sets, looping: int) -> None:
    """Begin with nothing saved, for all sets of loops `looping`."""
    some = 0
    while True:
        sets.best[some] = 0.0
        for d in range(len(sets.own)):
            sets.saved[some, d] = 0.0
        if some == looping:
            return
        some = (some - looping) & looping


@bare
def _save(
    t: int, child: int, fan: int, looping: int, each: float, shape: Shape, loops: Loops, work: Scratch, sets: Sets
) -> bool:
    """Add what steps find of tiles of `child` that are sent from `fan`, times the energy of `each` word."""
    asked = work.asked
    asked[Asked.CHILD], asked[Asked.FAN], asked[Asked.EVENT], asked[Asked.MODE] = child, fan, NOW, HELD
    for d in range(len(shape.bounds)):
        if shape.kinds[t, d] != SLIDING:
            _count(t, d, shape, loops, work, sets)
    for w in range(shape.first[t], shape.first[t + 1]):
        for i in range(sets.held.shape[1]):
            sets.held[w, i] = -1
    some = 0
    while some != looping:
        for d in range(len(shape.bounds)):
            if (looping & ~some) >> d & 1 and shape.kinds[t, d] != PLAIN:
                found = _found(t, d, some, shape, loops, work, sets)
                if found < 0:
                    return False
                sets.saved[some, d] += each * found
        some = (some - looping) & looping
    return True


@bare
def _count(t: int, d: int, shape: Shape, loops: Loops, work: Scratch, sets: Sets) -> None:
    """Elements of a plain dimension that rest, or steps of an unrelated one, wherever its loop is."""
    asked, own = work.asked, sets.own[d]
    for where in range(3):
        if own >= 0:
            loops.places[d, own, Place.ORDER] = where
        elif where != OUTSIDE:
            continue
        if shape.kinds[t, d] == PLAIN:
            sets.counts[where, d] = resting(loops, d, work)
            continue
        asked[Asked.SKIPPED] = -2
        sets.counts[where, d] = count_below(loops, d, loops.limits[d], asked)
        if where == NOW:
            asked[Asked.SKIPPED] = NOW
            sets.counts[where, d] -= count_below(loops, d, loops.limits[d], asked)


@bare
def _found(t: int, moving: int, some: int, shape: Shape, loops: Loops, work: Scratch, sets: Sets) -> float:
    """Words that are there already when the loop of dimension `moving` advances, with loops `some` inside."""
    found = 1.0
    for d in range(len(shape.bounds)):
        if shape.kinds[t, d] == PLAIN:
            found *= sets.counts[INSIDE if some >> d & 1 else OUTSIDE, d]
        elif shape.kinds[t, d] == UNRELATED:
            found *= sets.counts[NOW if d == moving else INSIDE if some >> d & 1 else OUTSIDE, d]
        if found == 0:
            return 0.0
    for w in range(shape.first[t], shape.first[t + 1]):
        key = 0
        for k in range(shape.sizes[w]):
            d = shape.windows[w, k, 0]
            key = 3 * key + (NOW if d == moving else INSIDE if some >> d & 1 else OUTSIDE)
        if sets.held[w, key] < 0:
            sets.held[w, key] = _window(w, moving, some, shape, loops, work, sets)
        if sets.held[w, key] <= 0:
            return float(sets.held[w, key])
        found *= sets.held[w, key]
    return found


@bare
def _window(w: int, moving: int, some: int, shape: Shape, loops: Loops, work: Scratch, sets: Sets) -> int:
    """Elements of window `w` that are there; -1 beyond the limits."""
    for k in range(shape.sizes[w]):
        d = shape.windows[w, k, 0]
        own = sets.own[d]
        if own >= 0:
            loops.places[d, own, Place.ORDER] = NOW if d == moving else INSIDE if some >> d & 1 else OUTSIDE
    loops.events[NOW, 0], loops.events[NOW, 1] = moving, sets.own[moving]
    return window_words(loops, shape, w, work)


@bare
def _longest(n: int, level: int, looping: int, batch: Batch, sets: Sets) -> float:
    """The path that saves most, which becomes the order of a level; loops of one iteration are the outermost."""
    some, dims = 0, len(sets.own)
    while some != looping:
        for d in range(dims):
            if (looping & ~some) >> d & 1:
                more, found = some | 1 << d, sets.best[some] + sets.saved[some, d]
                if found >= sets.best[more]:
                    sets.best[more], sets.last[more] = found, d
        some = (some - looping) & looping
    at = dims - 1
    for d in range(dims):
        if not looping >> d & 1:
            batch.order[n, level, at] = d
            at -= 1
    while some:
        batch.order[n, level, at] = sets.last[some]
        some &= ~(1 << sets.last[some])
        at -= 1
    return float(sets.best[looping])
