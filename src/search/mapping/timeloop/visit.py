"""The exact price of middle tiles, with every order that may be better than the best."""

from __future__ import annotations

from typing import NamedTuple

from ....costs.exact.compiled import bare, part
from ....costs.timeloop.batch_arrays import Floats, Ints
from ....costs.timeloop.batch_kernel import price
from ..objective import value_of
from .lattice import outer_energy, outer_words
from .least import NEAR, ORDER, Task, least


class Best(NamedTuple):
    """The best mapping so far: `value` = (objective, energy, cycles), mappings priced in `counts`; the mapping as
    `tiles`, `order`, `kept` of a `Nest`, `layout` (2, 4, D)."""

    value: Floats
    counts: Ints
    tiles: Ints
    order: Ints
    kept: Ints
    layout: Ints


@bare
def settle(best: Best, task: Task, layout: Ints) -> None:
    """Price the mapping at hand and keep it if it is better."""
    nest = task.nest
    energy, cycles = price(task.model, nest, task.links)
    best.counts[0] += 1
    value = value_of(task.objective, energy, float(cycles))
    if value < best.value[0]:
        best.value[0], best.value[1], best.value[2] = value, energy, cycles
        for i in range(nest.tiles.shape[0]):
            _copy_row(best.tiles[i], nest.tiles[i])
        for level in range(nest.order.shape[0]):
            _copy_row(best.order[level], nest.order[level])
            _copy_row(best.kept[level], nest.kept[level])
        for level in range(layout.shape[0]):
            for kind in range(layout.shape[1]):
                _copy_row(best.layout[level, kind], layout[level, kind])


@bare
def _copy_row(target: Ints, source: Ints) -> None:
    for i in range(target.shape[0]):
        target[i] = source[i]


@bare
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


@bare
def first_order(inner: Ints, outer: Ints, order: Ints, bounds: Ints) -> int:
    """Fill the loop `bounds` (D,) between two tiles and their `order`: dimensions that loop, ascending, then the rest;
    returns how many loop."""
    count = 0
    for d in range(bounds.shape[0]):
        bounds[d] = outer[d] // inner[d]
        if bounds[d] > 1:
            order[count] = d
            count += 1
    last = count
    for d in range(bounds.shape[0]):
        if bounds[d] == 1:
            order[last] = d
            last += 1
    return count


@bare
def choose(task: Task, tile: int) -> None:
    """Choose the current inner tile and middle tile number `tile`; orders ascending."""
    tiles, order = task.nest.tiles, task.nest.order
    _copy_row(tiles[0], task.spread.near)
    _copy_row(tiles[1], task.inner.tile)
    _copy_row(tiles[2], task.inner.together)
    _copy_row(tiles[3], task.lattice.tile[tile])
    _copy_row(tiles[4], task.lattice.tile[tile])
    _copy_row(tiles[5], task.model.bounds)
    for level in range(order.shape[0]):
        for d in range(order.shape[1]):
            order[level, d] = d


@bare
def outer_sum(task: Task, words: Ints) -> float:
    """Energy beyond the middle memory for words per tensor."""
    energy = 0.0
    for t in range(words.shape[0]):
        if task.spread.kept[1, t]:
            energy += outer_energy(task.model, t, words[t])
    return energy


@part
def visit_known(best: Best, task: Task, tile: int, p: int, inner_energy: float, cycles: float, layout: Ints) -> None:
    """Price middle tile `tile` under pattern `p` with every order beyond it that may be better than the best."""
    choose(task, tile)
    _copy_row(task.nest.order[1], task.patterns.order[p])
    _outer_patterns(best, task, tile, inner_energy, cycles, layout)


@part
def visit_all(best: Best, task: Task, tile: int, beyond: float, layout: Ints, every: bool) -> None:
    """Price middle tile `tile` under every order that may be better than the best; with `every`, the orders beyond the
    middle memory and of the innermost one are permuted in full too.  `beyond` is the least energy of the former."""
    choose(task, tile)
    tiles, order, middle = task.nest.tiles, task.nest.order, task.room.middle
    count0 = 0
    if every and task.links.shape[NEAR, 0] > 1:
        count0 = first_order(tiles[0], tiles[1], order[0], middle)
    count = first_order(tiles[2], tiles[3], order[1], middle)
    while True:
        energy, cycles = least(task, ORDER, 0, middle)
        if value_of(task.objective, energy + beyond, cycles) < best.value[0]:
            while True:
                if every:
                    _outer_orders(best, task, tile, energy, cycles, layout)
                else:
                    _outer_patterns(best, task, tile, energy, cycles, layout)
                if count0 == 0 or not next_order(order[0], count0):
                    break
            if count0 > 0:
                first_order(tiles[0], tiles[1], order[0], task.room.outer)
        if not next_order(order[1], count):
            break


@bare
def _outer_patterns(best: Best, task: Task, tile: int, energy: float, cycles: float, layout: Ints) -> None:
    """Price the choice with every pattern beyond the middle memory that may be better; `energy` is that inside."""
    patterns = task.patterns
    for q in range(patterns.length.shape[0]):
        if not outer_words(task.model, task.lattice, tile, patterns.order[q], patterns.length[q], task.room):
            continue
        if value_of(task.objective, energy + outer_sum(task, task.room.words), cycles) < best.value[0]:
            _copy_row(task.nest.order[2], patterns.order[q])
            settle(best, task, layout)


@part
def _outer_orders(best: Best, task: Task, tile: int, energy: float, cycles: float, layout: Ints) -> None:
    """As `_outer_patterns`, with every order there."""
    order, room = task.nest.order[2], task.room
    count = first_order(task.nest.tiles[4], task.nest.tiles[5], order, room.outer)
    while True:
        outer_words(task.model, task.lattice, tile, order, count, room)
        if value_of(task.objective, energy + outer_sum(task, room.words), cycles) < best.value[0]:
            settle(best, task, layout)
        if not next_order(order, count):
            return
