"""Bounds of whole families of middle tiles, by what is known of the loop order there."""

from __future__ import annotations

from typing import NamedTuple

from ....costs.exact.compiled import bare, part
from .bound import Inner, Spread, contents, far_steps, free_words, level_cycles, tensor_bound
from .lattice import Lattice
from .links import Links
from .model import Ints, Model
from .patterns import Patterns
from .price import Choice
from .room import Room
from .words import fresh_words, prefix_words, traffic


class Task(NamedTuple):
    """All that stays the same while the inner tiles of one spread are searched, and the mapping at hand."""

    model: Model
    lattice: Lattice
    patterns: Patterns
    spread: Spread
    inner: Inner
    near: Links
    far: Links
    objective: int
    base: float
    choice: Choice
    room: Room


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
    energy = task.base
    for t in range(model.axis.shape[0]):
        if rule == ORDER:
            words, served, maybe, link = _ordered(task, t, count, passes, bounds)
            energy += link * model.read_word[0]
        else:
            words, served, maybe = _unordered(task, t, rule, which, bounds)
        energy += tensor_bound(model, task.spread, task.inner, t, words, served, maybe, read, write)
    return energy, float(level_cycles(model, task.spread, read, write))


@part
def _unordered(task: Task, t: int, rule: int, which: int, bounds: Ints) -> tuple[int, int, int]:
    """Words of tensor `t` into an inner memory, those surely from the parent, and those from it or from neighbours."""
    model, patterns, inner = task.model, task.patterns, task.inner
    linked = inner.linkable[t] == 1 and task.spread.kept[0, t] == 1
    first, moved = which, 0
    if rule == PATTERN:
        first = patterns.order[which, 0]
        words, moved, alike = prefix_words(
            model, t, inner.box[t], inner.words[t], patterns.order[which], patterns.length[which], bounds,
            inner.together, inner.visits[0],
        )  # fmt: skip
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
    """How many loops the middle memory has, and how often they pass; fills `rest` and `ordered` of the room."""
    count, passes = 0, task.inner.visits[0]
    for d in range(bounds.shape[0]):
        count += 1 if bounds[d] > 1 else 0
        passes //= bounds[d]
        task.room.rest[d] = task.inner.left[d] // bounds[d]
    for i in range(count):
        d = task.choice.order[1, i]
        task.room.ordered[0, i], task.room.ordered[1, i] = bounds[d], task.inner.together[d]
    return count, passes


@part
def _ordered(task: Task, t: int, count: int, passes: int, bounds: Ints) -> tuple[int, int, int, int]:
    """As `_unordered`, and words surely from neighbours; orders count for tensors that surely settle here."""
    model, inner = task.model, task.inner
    order = task.choice.order[1, :count]
    linked = task.far.active[t] == 1 and task.spread.kept[0, t] == 1
    settled = _settles(model, t, order)
    if linked and count > 0 and (settled or model.axis[t, order[0]] >= 0):
        return _linked_words(task, t, order, bounds, passes, settled)
    if settled:
        words = prefix_words(
            model, t, inner.box[t], inner.words[t], order, count, bounds, inner.together, inner.visits[0]
        )[0]
    else:
        words = free_words(model, inner, t, bounds)
        if linked and count == 0:
            return words, inner.sure[t], max(0, words * inner.groups[t] - inner.sure[t]), 0
    return words, contents(model, task.spread, inner, t, words), 0, 0


@part
def _linked_words(
    task: Task, t: int, order: Ints, middle: Ints, passes: int, settled: bool
) -> tuple[int, int, int, int]:
    """As `_ordered`, of a tensor that neighbours pass on.

    What happens inside a pass of the middle memory's loops is known, but for its first step: if loops beyond go on
    along a window, that may bring less than the whole box, and the steps after it may do without neighbours.
    """
    model, inner, room = task.model, task.inner, task.room
    whole, groups = inner.words[t], inner.groups[t]
    bounds, stride = room.ordered[0, : order.shape[0]], room.ordered[1, : order.shape[0]]
    once = traffic(model, t, inner.box[t], whole, order, bounds, stride, 0, task.far)
    steps, served = once[3] - whole, once[0] - whole * groups
    far = passes if far_steps(model, t, middle) > 1 else far_steps(model, t, room.rest)
    if settled:
        return (
            once[3] * passes,
            served * passes + whole * groups * far,
            whole * groups * (passes - far),
            once[2] * passes,
        )
    words = free_words(model, inner, t, middle)
    if fresh_words(inner.box[t], whole, model.axis[t, order[0]], model.step[t, order[0]] * stride[0]) < whole:
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
