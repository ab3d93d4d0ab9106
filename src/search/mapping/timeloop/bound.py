"""Lower bounds of prices while tiles and orders are partly chosen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....costs.exact.compiled import bare, part
from ....costs.timeloop.batch_arrays import Floats, Ints, Model
from ....costs.timeloop.batch_kernel import cycles_of
from ....costs.timeloop.batch_links import clear, place_of
from ....costs.timeloop.batch_words import extents, fresh_words
from .room import Room


class Spread(NamedTuple):
    """Spatial factors below the inner memories (`near`, (D,)) and between them and the middle one (`far`), and which
    tensors (`kept` (3, T)) all three hold.  `operands` (T,) bounds the words that one inner memory hands out;
    `copies` (T,) inner memories at least hold the same tile; `scale` = (inner memories, iterations of one); `beyond`
    (2, 3) are words that each memory reads and writes at least for tensors that move between the outer two."""

    near: Ints
    far: Ints
    kept: Ints
    operands: Ints
    copies: Ints
    scale: Ints
    beyond: Floats


class Inner(NamedTuple):
    """One inner tile under a `Spread`: `tile` (D,), that of all inner memories together, the loops left above it, and
    per tensor its box, words, partition, multicast groups, whether neighbours may help; `ideal` (T, D) groups that are
    left to serve if neighbours help wherever they can, when loop d moves innermost; `sure` (T,) words come from the
    parent however much neighbours help."""

    tile: Ints
    together: Ints
    left: Ints
    box: Ints
    words: Ints
    part: Ints
    groups: Ints
    linkable: Ints
    ideal: Ints
    sure: Ints
    visits: Ints


def new_inner(tensors: int, dims: int, axes: int) -> Inner:
    """Room for one inner tile."""
    by_dim = [np.zeros(dims, np.int64) for _ in range(3)]
    words, part, groups, linkable, sure = (np.zeros(tensors, np.int64) for _ in range(5))
    box, ideal = np.zeros((tensors, axes), np.int64), np.zeros((tensors, dims), np.int64)
    visits = np.ones(1, np.int64)
    return Inner(by_dim[0], by_dim[1], by_dim[2], box, words, part, groups, linkable, ideal, sure, visits)


@bare
def set_inner(inner: Inner, model: Model, spread: Spread, tile: Ints, room: Room) -> None:
    """Fill `inner` for an inner tile."""
    visits = 1
    for d in range(tile.shape[0]):
        inner.tile[d] = tile[d]
        inner.together[d] = tile[d] * spread.far[d]
        inner.left[d] = model.bounds[d] // inner.together[d]
        visits *= inner.left[d]
    inner.visits[0] = visits
    for t in range(model.axis.shape[0]):
        inner.words[t] = extents(model, t, tile, inner.box[t])
        together = extents(model, t, inner.together, room.box)
        inner.part[t] = model.full[t] * inner.words[t] // together if spread.scale[0] > 1 else model.full[t]
        inner.groups[t], inner.linkable[t] = groups_of(model, t, tile, spread.far, room)
        inner.sure[t] = inner.words[t] * inner.groups[t] * far_steps(model, t, inner.left)
        if inner.linkable[t]:
            for d in range(tile.shape[0]):
                inner.ideal[t, d] = ideal_groups(model, t, d, inner, spread.far, room)


@bare
def far_steps(model: Model, t: int, bounds: Ints) -> int:
    """Visits, at least, for which loops of `bounds` (D,) move tensor `t` to where no neighbour has been.

    A dimension that is alone on its axis moves all children further than they lie apart, as does the return of such a
    loop when another one steps; so do the first visit, and each of the loops' visits if they are the outermost.
    """
    steps = 1
    for d in range(bounds.shape[0]):
        if model.axis[t, d] >= 0 and not model.slides[t, d]:
            steps *= bounds[d]
    return steps


@part
def groups_of(model: Model, t: int, child: Ints, spatial: Ints, room: Room) -> tuple[int, int]:
    """Distinct boxes among the children, and whether any lie closer than a loop may move."""
    groups, linkable = 1, 0
    for a in range(model.axes):
        count, sliding = axis_offsets(model, t, a, child, spatial, 0, room)
        groups *= count
        linkable = max(linkable, sliding)
    return groups, linkable


@bare
def axis_offsets(model: Model, t: int, axis: int, child: Ints, spatial: Ints, move: int, room: Room) -> tuple[int, int]:
    """Distinct offsets along one axis less those that lie `move` before another one; 1 if a sliding dimension is
    spread."""
    span, many, sliding, last = 0, 0, 0, 1
    for d in range(child.shape[0]):
        if model.axis[t, d] == axis and spatial[d] > 1:
            last = model.step[t, d] * child[d]
            span += (spatial[d] - 1) * last
            many += 1
            if model.slides[t, d]:
                sliding = 1
    if many == 0:
        return 1, 0
    if many == 1:
        fed = 0 if move == 0 or move % last else max(0, span // last + 1 - move // last)
        return span // last + 1 - fed, sliding
    places, count = _list_offsets(model, t, axis, child, spatial, room)
    fed = 0
    for i in range(count if move > 0 else 0):
        key = room.keys[1, i] + move
        fed += 1 if room.keys[0, place_of(room.keys[0], places, key)] == key else 0
    return count - fed, sliding


@bare
def _list_offsets(model: Model, t: int, axis: int, child: Ints, spatial: Ints, room: Room) -> tuple[int, int]:
    """List the distinct offsets along an axis in `room.keys[1]`, and hash them in `room.keys[0]`; returns the places of
    that table and how many offsets there are."""
    children, table, listed = 1, room.keys[0], room.keys[1]
    for d in range(child.shape[0]):
        if model.axis[t, d] == axis:
            children *= spatial[d]
    places = clear(table, children)
    table[0], listed[0], count = 0, 0, 1
    for d in range(child.shape[0]):
        if model.axis[t, d] != axis:
            continue
        before = count
        for i in range(1, spatial[d]):
            for p in range(before):
                key = listed[p] + i * model.step[t, d] * child[d]
                place = place_of(table, places, key)
                if table[place] < 0:
                    table[place], listed[count] = key, key
                    count += 1
    return places, count


@part
def ideal_groups(model: Model, t: int, d: int, inner: Inner, spatial: Ints, room: Room) -> int:
    """Groups that the parent must serve when loop `d` moves the tensor by one step."""
    groups = 1
    for a in range(model.axes):
        move = model.step[t, d] * inner.together[d] if model.axis[t, d] == a else 0
        groups *= axis_offsets(model, t, a, inner.tile, spatial, move, room)[0]
    return groups


@bare
def tensor_bound(
    model: Model, spread: Spread, inner: Inner, t: int, words: int, served: int, maybe: int, flows: Floats
) -> float:
    """Least energy of tensor `t` up to the reads that feed the inner memories.

    `words` arrive in each of them, `served` are surely read from the parent, `maybe` more unless neighbours pass them
    on.  Adds the words per memory (of one instance) to those read and written, `flows` (2, 3).
    """
    read, write = flows[0], flows[1]
    instances = spread.scale[0]
    output = model.is_output[t]
    energy = 0.0
    level = 1 if spread.kept[1, t] else 2
    operands = spread.operands[t]
    if spread.kept[0, t]:
        reads, fills = operands, words
        if output:
            reads, fills = max(0, operands - inner.part[t]), max(0, words - inner.part[t])
            write[0] += operands
            energy += operands * model.write_word[0] * instances
        energy += (reads * model.read_word[0] + fills * model.write_word[0]) * instances
        read[0] += reads
        write[0] += fills
    block = model.block[level]
    reads = served
    if output:
        reads = max(0, served - model.full[t])
        write[level] += served
    read[level] += reads
    if maybe == 0:
        energy -= (-reads // block) * model.read_pj[level]
        if output:
            energy -= (-served // block) * model.write_pj[level]
        return energy
    each = model.read_word[level]
    energy += reads * each - instances * (model.read_word[0] + model.write_word[0])
    if output:
        energy += served * model.write_word[level]
        each = each + model.write_word[level] if served >= model.full[t] else 0.0
    return energy + maybe * min(each, spread.copies[t] * model.read_word[0])


@bare
def level_cycles(model: Model, spread: Spread, read: Floats, write: Floats) -> int:
    """Least cycles for words per memory (divided by the iterations here)."""
    compute = spread.scale[1]
    for level in range(3):
        read[level] /= compute
        write[level] /= compute
    return cycles_of(model, compute, read, write)


@bare
def contents(model: Model, spread: Spread, inner: Inner, t: int, words: int) -> int:
    """Words that the parent hands out for tensor `t` without neighbours' help."""
    if spread.kept[0, t]:
        return words * inner.groups[t]
    if inner.linkable[t]:
        most = spread.copies[t]
        for a in range(model.axes):
            factor, largest = 1, 1
            for d in range(spread.far.shape[0]):
                if model.axis[t, d] == a:
                    factor *= spread.far[d]
                    largest = max(largest, spread.far[d])
            most *= factor // largest
        return max(0, spread.operands[t] * spread.scale[0] // most - 1)
    return spread.operands[t] * inner.groups[t]


@bare
def free_words(model: Model, inner: Inner, t: int, middle: Ints) -> int:
    """Least words into one inner tile under a middle tile, whatever the orders (`middle` are loop bounds there)."""
    moved = False
    for d in range(middle.shape[0]):
        moved = moved or (middle[d] > 1 and model.axis[t, d] >= 0)
    visits = inner.visits[0]
    for d in range(middle.shape[0]):
        if model.axis[t, d] < 0:
            visits //= middle[d] if moved else inner.left[d]
    least = -1.0
    for d in range(middle.shape[0]):
        bound = middle[d] if moved else inner.left[d]
        if model.axis[t, d] < 0 or bound == 1:
            continue
        words = float(inner.words[t])
        if model.slides[t, d]:
            words = _sliding_words(model, inner, t, d, bound)
        least = words if least < 0 else min(least, words)
    return inner.words[t] if least < 0 else max(inner.words[t], int(np.ceil(least * visits - 1e-6)))


@part
def _sliding_words(model: Model, inner: Inner, t: int, d: int, bound: int) -> float:
    """Words per visit, at least, when loop `d` of `bound` iterations is the innermost that moves the tensor."""
    whole = inner.words[t]
    fresh = fresh_words(inner.box[t], whole, model.axis[t, d], model.step[t, d] * inner.together[d])
    for other in range(inner.left.shape[0]):
        if other != d and model.axis[t, other] == model.axis[t, d] and inner.left[other] > 1:
            return fresh * (bound - 1) / bound
    if bound == 2:
        return float(fresh)
    return (whole + fresh * (bound - 1)) / bound
