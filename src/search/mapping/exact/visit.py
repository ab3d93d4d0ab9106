"""Bounds of whole families of middle tiles, and the exact price of single ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....costs.compiled import inner
from ..objective import value_of
from .bound import Inner, Spread, contents, far_steps, free_words, level_cycles, tensor_bound
from .lattice import Lattice, outer_energy, outer_words
from .links import Links
from .model import Floats, Ints, Model
from .patterns import Patterns
from .price import Choice, price
from .words import extents, fresh_words, prefix_words, traffic


class Task(NamedTuple):
    """All that stays the same while the inner tiles of one spread are searched."""

    model: Model
    lattice: Lattice
    patterns: Patterns
    spread: Spread
    inner: Inner
    near: Links
    far: Links
    objective: int
    base: float


class Best(NamedTuple):
    """The best mapping so far: `value` = (objective, energy, cycles), mappings priced in `counts`; the mapping as
    `tiles`, `order`, `kept` of a `Choice`, `layout` (2, 4, D)."""

    value: Floats
    counts: Ints
    tiles: Ints
    order: Ints
    kept: Ints
    layout: Ints


@inner
def pattern_bound(task: Task, p: int, bounds: Ints, read: Floats, write: Floats) -> float:
    """Least energy of the inner memories under pattern `p` with `bounds` (D,) of its loops; fills `read`, `write`."""
    model, patterns, inner = task.model, task.patterns, task.inner
    read[:] = task.spread.beyond[0]
    write[:] = task.spread.beyond[1]
    energy = task.base
    for t in range(model.axis.shape[0]):
        words, moved, alike = prefix_words(
            model, t, inner.box[t], inner.words[t], patterns.order[p], patterns.length[p], bounds, inner.together,
            inner.visits[0],
        )  # fmt: skip
        if inner.linkable[t] and moved > 0 and alike and task.spread.kept[0, t]:
            first: int = patterns.order[p, 0]
            served = moved * inner.ideal[t, first]
            served = served + inner.sure[t] if model.slides[t, first] else max(served, inner.sure[t])
            maybe = max(0, words * inner.groups[t] - served)
        else:
            served, maybe = contents(model, task.spread, inner, t, words), 0
        energy += tensor_bound(model, task.spread, inner, t, words, served, maybe, read, write)
    return energy


@inner
def free_bound(task: Task, middle: Ints, read: Floats, write: Floats) -> float:
    """Least energy of the inner memories whatever the orders, with `middle` (D,) loop bounds at the middle memory."""
    model, inner = task.model, task.inner
    read[:] = task.spread.beyond[0]
    write[:] = task.spread.beyond[1]
    energy = task.base
    for t in range(model.axis.shape[0]):
        words = free_words(model, inner, t, middle)
        if inner.linkable[t] and task.spread.kept[0, t]:
            served = inner.sure[t]
            maybe = max(0, words * inner.groups[t] - served)
        else:
            served, maybe = contents(model, task.spread, inner, t, words), 0
        energy += tensor_bound(model, task.spread, inner, t, words, served, maybe, read, write)
    return energy


@inner
def first_bound(task: Task, middle: Ints, first: int, read: Floats, write: Floats) -> float:
    """As `free_bound`, where loop `first` is the innermost at the middle memory."""
    model, inner = task.model, task.inner
    read[:] = task.spread.beyond[0]
    write[:] = task.spread.beyond[1]
    energy = task.base
    for t in range(model.axis.shape[0]):
        words = free_words(model, inner, t, middle)
        if inner.linkable[t] and task.spread.kept[0, t] and model.axis[t, first] >= 0:
            shift = model.step[t, first] * inner.together[first]
            fresh = fresh_words(inner.box[t], inner.words[t], model.axis[t, first], shift)
            served = fresh * (middle[first] - 1) * (inner.visits[0] // middle[first]) * inner.ideal[t, first]
            served = served + inner.sure[t] if model.slides[t, first] else max(served, inner.sure[t])
            maybe = max(0, words * inner.groups[t] - served)
        else:
            served, maybe = contents(model, task.spread, inner, t, words), 0
        energy += tensor_bound(model, task.spread, inner, t, words, served, maybe, read, write)
    return energy


@inner
def objective_of(task: Task, energy: float, read: Floats, write: Floats) -> float:
    """The objective's bound from an energy and words per memory (which it scales in place)."""
    return value_of(task.objective, energy, float(level_cycles(task.model, task.spread, read, write)))


@inner
def settle(best: Best, task: Task, choice: Choice, layout: Ints) -> None:
    """Price a mapping and keep it if it is better."""
    energy, cycles = price(task.model, choice, task.near, task.far)
    best.counts[0] += 1
    value = value_of(task.objective, energy, float(cycles))
    if value < best.value[0]:
        best.value[0], best.value[1], best.value[2] = value, energy, cycles
        best.tiles[:] = choice.tiles
        best.order[:] = choice.order
        best.kept[:] = choice.kept
        best.layout[:] = layout


@inner
def next_order(order: Ints, length: int) -> bool:
    """Step `order[:length]` to the next permutation in lexicographic order."""
    i = length - 2
    while i >= 0 and order[i] >= order[i + 1]:
        i -= 1
    if i < 0:
        return False
    j = length - 1
    while order[j] <= order[i]:
        j -= 1
    order[i], order[j] = order[j], order[i]
    low, high = i + 1, length - 1
    while low < high:
        order[low], order[high] = order[high], order[low]
        low, high = low + 1, high - 1
    return True


@inner
def first_order(bounds: Ints, order: Ints) -> int:
    """Dimensions that loop, ascending, then the rest; returns how many loop."""
    count = 0
    for d in range(bounds.shape[0]):
        if bounds[d] > 1:
            order[count] = d
            count += 1
    last = count
    for d in range(bounds.shape[0]):
        if bounds[d] == 1:
            order[last] = d
            last += 1
    return count


@inner
def choice_for(task: Task, tile: int) -> Choice:
    """A choice with the current inner tile and middle tile number `tile`; orders ascending."""
    dims = task.model.bounds.shape[0]
    tiles, order = np.ones((5, dims), np.int64), np.empty((3, dims), np.int64)
    tiles[0] = task.spread.near
    tiles[1] = task.inner.tile
    tiles[2] = task.inner.together
    tiles[3] = task.lattice.tile[tile]
    tiles[4] = task.model.bounds
    for level in range(3):
        order[level] = np.arange(dims)
    return Choice(tiles, order, task.spread.kept)


@inner
def outer_sum(task: Task, words: Ints) -> float:
    """Energy beyond the middle memory for words per tensor."""
    energy = 0.0
    for t in range(words.shape[0]):
        if task.spread.kept[1, t]:
            energy += outer_energy(task.model, t, words[t])
    return energy


@inner
def visit_known(best: Best, task: Task, tile: int, p: int, inner_energy: float, cycles: float, layout: Ints) -> None:
    """Price middle tile `tile` under pattern `p` with every order beyond it that may be better than the best."""
    choice = choice_for(task, tile)
    choice.order[1] = task.patterns.order[p]
    words = np.empty(task.model.axis.shape[0], np.int64)
    for q in range(task.patterns.length.shape[0]):
        if not outer_words(task.model, task.lattice, task.patterns, tile, q, words):
            continue
        if value_of(task.objective, inner_energy + outer_sum(task, words), cycles) >= best.value[0]:
            continue
        choice.order[2] = task.patterns.order[q]
        settle(best, task, choice, layout)


@inner
def visit_all(best: Best, task: Task, tile: int, beyond: float, layout: Ints, every: bool) -> None:
    """Price middle tile `tile` under every order that may be better than the best; with `every`, the orders beyond the
    middle memory and of the innermost one are permuted in full too.  `beyond` is the least energy of the former."""
    choice = choice_for(task, tile)
    middle = choice.tiles[3] // choice.tiles[2]
    count = first_order(middle, choice.order[1])
    inner = choice.tiles[1] // choice.tiles[0]
    count0 = first_order(inner, choice.order[0]) if every and task.near.shape[0] > 1 else 0
    read, write = np.zeros(3), np.zeros(3)
    while True:
        energy = order_bound(task, choice, read, write)
        cycles = float(level_cycles(task.model, task.spread, read, write))
        if value_of(task.objective, energy + beyond, cycles) < best.value[0]:
            while True:
                _outer_orders(best, task, tile, choice, energy, cycles, layout, every)
                if count0 == 0 or not next_order(choice.order[0], count0):
                    break
            if count0 > 0:
                first_order(inner, choice.order[0])
        if not next_order(choice.order[1], count):
            break


@inner
def order_bound(task: Task, choice: Choice, read: Floats, write: Floats) -> float:
    """As `free_bound`, knowing the order at the middle memory for tensors that surely settle there, and the layout."""
    model, inner = task.model, task.inner
    middle = choice.tiles[3] // choice.tiles[2]
    read[:] = task.spread.beyond[0]
    write[:] = task.spread.beyond[1]
    energy = task.base
    count, passes = 0, inner.visits[0]
    for d in range(middle.shape[0]):
        count += 1 if middle[d] > 1 else 0
        passes //= middle[d]
    order = choice.order[1, :count]
    for t in range(model.axis.shape[0]):
        linked = task.far.active[t] == 1 and task.spread.kept[0, t] == 1
        settled = _settles(model, t, order, count)
        if linked and count > 0 and (settled or model.axis[t, order[0]] >= 0):
            words, served, maybe, link = _linked_words(task, t, order, middle, passes, settled)
            energy += link * model.energy[0]
        elif not settled:
            words = free_words(model, inner, t, middle)
            if linked and count == 0:
                served = inner.sure[t]
                maybe = max(0, words * inner.groups[t] - served)
            else:
                served, maybe = contents(model, task.spread, inner, t, words), 0
        else:
            words = prefix_words(
                model, t, inner.box[t], inner.words[t], order, count, middle, inner.together, inner.visits[0]
            )[0]
            served, maybe = contents(model, task.spread, inner, t, words), 0
        energy += tensor_bound(model, task.spread, inner, t, words, served, maybe, read, write)
    return energy


@inner
def _linked_words(
    task: Task, t: int, order: Ints, middle: Ints, passes: int, settled: bool
) -> tuple[int, int, int, int]:
    """Of a tensor that neighbours pass on: words into an inner memory, those surely from the parent, those from it or
    from neighbours, and those surely from neighbours.

    What happens inside a pass of the middle memory's loops is known, but for its first step: if loops beyond go on
    along a window, that may bring less than the whole box, and the steps after it may do without neighbours.
    """
    model, inner = task.model, task.inner
    whole, groups = inner.words[t], inner.groups[t]
    once = traffic(model, t, inner.box[t], whole, order, middle[order], inner.together[order], 0, task.far)
    steps, served = once[3] - whole, once[0] - whole * groups
    far = passes if far_steps(model, t, middle) > 1 else far_steps(model, t, inner.left // middle)
    if settled:
        return (
            once[3] * passes,
            served * passes + whole * groups * far,
            whole * groups * (passes - far),
            once[2] * passes,
        )
    words = free_words(model, inner, t, middle)
    axis: int = model.axis[t, order[0]]
    if fresh_words(inner.box[t], whole, axis, model.step[t, order[0]] * inner.together[order[0]]) < whole:
        return words, inner.sure[t], max(0, words * groups - inner.sure[t]), 0
    words = max(words, steps * passes + whole * far)
    maybe = (steps * groups - served) * passes + (words - steps * passes - whole * far) * groups
    return words, served * passes + whole * groups * far, maybe, 0


@inner
def _settles(model: Model, t: int, order: Ints, count: int) -> bool:
    """Whether loops beyond these can no longer matter for tensor `t`."""
    axis = -1
    for i in range(count):
        a = model.axis[t, order[i]]
        if a < 0:
            continue
        if not model.slides[t, order[i]] or (axis >= 0 and a != axis):
            return True
        axis = a
    return False


@inner
def _outer_orders(
    best: Best, task: Task, tile: int, choice: Choice, energy: float, cycles: float, layout: Ints, every: bool
) -> None:
    words = np.empty(task.model.axis.shape[0], np.int64)
    if not every:
        for q in range(task.patterns.length.shape[0]):
            if outer_words(task.model, task.lattice, task.patterns, tile, q, words) and (
                value_of(task.objective, energy + outer_sum(task, words), cycles) < best.value[0]
            ):
                choice.order[2] = task.patterns.order[q]
                settle(best, task, choice, layout)
        return
    bounds = choice.tiles[4] // choice.tiles[3]
    count = first_order(bounds, choice.order[2])
    while True:
        _outer_order_words(task, choice, bounds, count, words)
        if value_of(task.objective, energy + outer_sum(task, words), cycles) < best.value[0]:
            settle(best, task, choice, layout)
        if not next_order(choice.order[2], count):
            return


@inner
def _outer_order_words(task: Task, choice: Choice, bounds: Ints, count: int, words: Ints) -> None:
    """Words of each tensor into the middle tile under the choice's order beyond it."""
    model, tile = task.model, choice.tiles[3]
    visits = 1
    for d in range(bounds.shape[0]):
        visits *= bounds[d]
    box = np.empty(model.axes, np.int64)
    for t in range(words.shape[0]):
        whole = extents(model, t, tile, box)
        words[t] = prefix_words(model, t, box, whole, choice.order[2], count, bounds, tile, visits)[0]
