"""Bounds of whole families of middle tiles, by what is known of the loop order there."""

from __future__ import annotations

from typing import NamedTuple

from ....costs.exact.compiled import bare, part
from ....costs.timeloop.batch_arrays import Ints, Model
from ....costs.timeloop.batch_kernel import Nest
from ....costs.timeloop.batch_links import Links
from ....costs.timeloop.batch_words import DIMS, STRIDES, fresh_words, moved_words, traffic
from .bound import Inner, Spread, contents, far_steps, free_words, level_cycles, tensor_bound
from .lattice import Lattice
from .patterns import Patterns
from .room import Room, list_loops


class Task(NamedTuple):
    """All that stays the same while the inner tiles of one spread are searched, and the mapping at hand."""

    model: Model
    lattice: Lattice
    patterns: Patterns
    spread: Spread
    inner: Inner
    links: Links
    objective: int
    base: float
    nest: Nest
    room: Room


NEAR, FAR = 0, 1
"""Memories below which `Links` place children: the innermost, and the middle one."""


FREE, FIRST, PATTERN, ORDER = range(4)
"""What is known of the order at the middle memory: nothing; which loop is the innermost; the pattern; all of it."""


@bare
def least(task: Task, rule: int, which: int, bounds: Ints) -> tuple[float, float]:
    """Least energy of the inner memories, in pJ, and least cycles, with loop `bounds` (D,) at the middle memory.

    `which` is the loop that `rule` knows to be the innermost, or the number of the pattern.  `ORDER` is that of the
    choice, with the children as they are placed.
    """
    model, room = task.model, task.room
    read, write = room.flows[0], room.flows[1]
    for level in range(read.shape[0]):
        read[level], write[level] = task.spread.beyond[0, level], task.spread.beyond[1, level]
    count, passes = 0, 1
    if rule == ORDER:
        count, passes = _look_along(task, bounds)
    elif rule == PATTERN:
        list_loops(task.patterns.order[which], task.patterns.length[which], bounds, task.inner.together, room.listed)
    energy = task.base
    for t in range(model.axis.shape[0]):
        if rule == ORDER:
            words, served, maybe, link = _ordered(task, t, count, passes, bounds)
            energy += link * model.read_word[0]
        else:
            words, served, maybe = _unordered(task, t, rule, which, bounds)
        energy += tensor_bound(model, task.spread, task.inner, t, words, served, maybe, room.flows)
    return energy, float(level_cycles(model, task.spread, read, write))


@part
def _unordered(task: Task, t: int, rule: int, which: int, bounds: Ints) -> tuple[int, int, int]:
    """Words of tensor `t` into an inner memory, those surely from the parent, and those from it or from neighbours."""
    model, patterns, inner = task.model, task.patterns, task.inner
    linked = inner.linkable[t] == 1 and task.spread.kept[0, t] == 1
    first, moved = which, 0
    if rule == PATTERN:
        first = patterns.order[which, 0]
        listed = task.room.listed[:, : patterns.length[which]]
        words, moved, alike = moved_words(model, t, inner.box[t], inner.words[t], listed, 0, inner.visits[0])
        linked = linked and moved > 0 and alike
    else:
        words = free_words(model, inner, t, bounds)
        linked = linked and (rule == FREE or model.axis[t, which] >= 0)
        if linked and rule == FIRST:
            shift = model.step[t, which] * inner.together[which]
            fresh = fresh_words(inner.box[t], inner.words[t], model.axis[t, which], shift)
            moved = fresh * (bounds[which] - 1) * (inner.visits[0] // bounds[which])
    if not linked:
        return words, contents(model, task.spread, inner, t, words), 0
    served = inner.sure[t]
    if rule != FREE:
        unhelped = moved * inner.ideal[t, first]
        served = unhelped + served if model.slides[t, first] else max(unhelped, served)
    return words, served, max(0, words * inner.groups[t] - served)


@part
def _look_along(task: Task, bounds: Ints) -> tuple[int, int]:
    """How many loops the middle memory has, and how often they pass; fills `rest` and `listed` of the room."""
    count, passes = 0, task.inner.visits[0]
    for d in range(bounds.shape[0]):
        count += 1 if bounds[d] > 1 else 0
        passes //= bounds[d]
        task.room.rest[d] = task.inner.left[d] // bounds[d]
    list_loops(task.nest.order[1], count, bounds, task.inner.together, task.room.listed)
    return count, passes


@part
def _ordered(task: Task, t: int, count: int, passes: int, bounds: Ints) -> tuple[int, int, int, int]:
    """As `_unordered`, and words surely from neighbours; orders count for tensors that surely settle here."""
    model, inner = task.model, task.inner
    order, listed = task.nest.order[1, :count], task.room.listed[:, :count]
    linked = task.links.active[FAR, t] == 1 and task.spread.kept[0, t] == 1
    settled = _settles(model, t, order)
    if linked and count > 0 and (settled or model.axis[t, order[0]] >= 0):
        return _linked_words(task, t, listed, bounds, passes, settled)
    if settled:
        words = moved_words(model, t, inner.box[t], inner.words[t], listed, 0, inner.visits[0])[0]
    else:
        words = free_words(model, inner, t, bounds)
        if linked and count == 0:
            return words, inner.sure[t], max(0, words * inner.groups[t] - inner.sure[t]), 0
    return words, contents(model, task.spread, inner, t, words), 0, 0


@part
def _linked_words(
    task: Task, t: int, listed: Ints, middle: Ints, passes: int, settled: bool
) -> tuple[int, int, int, int]:
    """As `_ordered`, of a tensor that neighbours pass on.

    What happens inside a pass of the middle memory's loops is known, but for its first step: if loops beyond go on
    along a window, that may bring less than the whole box, and the steps after it may do without neighbours.
    """
    model, inner, room = task.model, task.inner, task.room
    whole, groups, first, stride = inner.words[t], inner.groups[t], listed[DIMS, 0], listed[STRIDES, 0]
    once = traffic(model, t, inner.box[t], whole, listed, 0, task.links, FAR)
    steps, served = once.one - whole, once.read - whole * groups
    far = passes if far_steps(model, t, middle) > 1 else far_steps(model, t, room.rest)
    if settled:
        return (
            once.one * passes,
            served * passes + whole * groups * far,
            whole * groups * (passes - far),
            once.passed * passes,
        )
    words = free_words(model, inner, t, middle)
    if fresh_words(inner.box[t], whole, model.axis[t, first], model.step[t, first] * stride) < whole:
        return words, inner.sure[t], max(0, words * groups - inner.sure[t]), 0
    words = max(words, steps * passes + whole * far)
    maybe = (steps * groups - served) * passes + (words - steps * passes - whole * far) * groups
    return words, served * passes + whole * groups * far, maybe, 0


@part
def _settles(model: Model, t: int, order: Ints) -> bool:
    """Whether loops beyond these can no longer matter for tensor `t`."""
    axis = -1
    for i in range(order.shape[0]):
        a = model.axis[t, order[i]]
        if a < 0:
            continue
        if not model.slides[t, order[i]] or (axis >= 0 and a != axis):
            return True
        axis = a
    return False
