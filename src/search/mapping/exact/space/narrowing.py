"""Spreads in the order of their bounds: boxes of factors by memory and dimension are narrowed.

All spreads of a box have at least the bound that its largest factors lead to where words and steps count, and its
smallest where instances own copies of a word; together they have no more children than a memory has.

Statement 8 of docs/exact-mapper.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare, compiled, inner
from ...objective import value_of
from ..traffic.boxes import boxes_along, plain_words
from ..traffic.busy import busy_along
from ..traffic.windows import together
from ..traffic.words import extent
from .meshes import Mesh
from .model import PLAIN, UNRELATED, Floats, Ints, Model
from .ways import Ways, least_at, tensor_costs

FIRST_ROOM = 1 << 12
"""Boxes that there is room for at first; there is more when it is needed."""

MAX_BOXES = 1 << 21
"""Boxes that there is room for at most."""

AT_ONCE, NODES, FEWEST = 64, 4096, 256
"""Spreads that are found, and boxes that are looked at, between two looks at the clock; boxes at least."""


class Boxes(NamedTuple):
    """Boxes that wait: numbers of their smallest and largest factors, `low` and `high` (N, K, D), by memory with a mesh
    and dimension, `bound` (N,); the `heap` (N,) has them in order; `number` (2,) of these, and of all boxes so far."""

    low: Ints
    high: Ints
    bound: Floats
    heap: Ints
    number: Ints


class Desk(NamedTuple):
    """The box that is looked at: factors `low` and `high` (L, D), `inside` (2, L + 1, D) children in a memory by those;
    `flows` (3, T, L) as in `tensor_costs`, `used` (L,) instances, `room` (2, T, 2) and `words` (L, 2) for tensors."""

    low: Ints
    high: Ints
    inside: Ints
    flows: Floats
    used: Floats
    room: Floats
    words: Floats


def new_boxes(room: int, places: int, dims: int) -> Boxes:
    """Room for boxes."""
    sizes = np.zeros((2, room, places, dims), np.int64)
    return Boxes(sizes[0], sizes[1], np.zeros(room), np.zeros(room, np.int64), np.ones(2, np.int64))


def new_desk(model: Model) -> Desk:
    """Room for one box."""
    levels, tensors, dims = len(model.capacity), len(model.full), len(model.bounds)
    rows, flows = np.ones((levels, dims), np.int64), np.ones((3, tensors, levels))
    inside = np.ones((2, levels + 1, dims), np.int64)
    return Desk(rows, rows.copy(), inside, flows, np.ones(levels), np.ones((2, tensors, 2)), np.zeros((levels, 2)))


@bare
def sink(boxes: Boxes, at: int) -> None:
    """Move the heap's entry at a place down to where it belongs."""
    heap, bound, size = boxes.heap, boxes.bound, boxes.number[0]
    slot = heap[at]
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and bound[heap[below + 1]] < bound[heap[below]]:
            below += 1
        if bound[heap[below]] >= bound[slot]:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = slot


@bare
def rise(boxes: Boxes, slot: int) -> None:
    """Add a box to the heap."""
    heap, bound, at = boxes.heap, boxes.bound, boxes.number[0]
    boxes.number[0] += 1
    while at > 0 and bound[heap[(at - 1) // 2]] > bound[slot]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = slot


@bare
def at_most(factors: Ints, low: int, high: int, most: int) -> int:
    """The number of the largest of the factors `low` to `high` that is at most `most`; below `low` if none is."""
    return low + int(np.searchsorted(factors[low : high + 1], most, side="right")) - 1


@bare
def tighten(model: Model, mesh: Mesh, low: Ints, high: Ints, desk: Desk) -> bool:
    """Leave out factors of a box that no spread of it has; whether there are any.

    Children are at most as many as a memory has, and no row of them is without work; perfect factors divide the bound.
    """
    for d in range(low.shape[1]):
        full, single = 1, True
        for k in range(low.shape[0]):
            level, others = mesh.levels[k], 1
            for e in range(low.shape[1]):
                others *= mesh.factors[e, low[k, e]] if e != d else 1
            left = (model.bounds[d] - 1) // full
            working = 2 * left + 1 if model.halves[level] else left + 1
            most = int(min(mesh.room[level] // others, max(1, working)))
            high[k, d] = at_most(mesh.factors[d], low[k, d], high[k, d], most)
            if high[k, d] < low[k, d]:
                return False
            single = single and low[k, d] == high[k, d]
            full *= mesh.factors[d, low[k, d]]
            desk.low[level, d], desk.high[level, d] = mesh.factors[d, low[k, d]], mesh.factors[d, high[k, d]]
        if model.perfect and single and model.bounds[d] % full:
            return False
    return True


@inner
def window_share(model: Model, t: int, w: int, tile: Ints, block: Ints, single: bool) -> float:
    """Least share of words of a window that children ask for which share them."""
    size, span = 1.0, 1
    for d in range(tile.shape[0]):
        if model.window[t, d] == w:
            size *= min(tile[d], model.bounds[d])
            span += min(tile[d], model.bounds[d]) - 1
    if model.timeloop:
        return float(boxes_along(model, t, w, tile, block, True)) / size
    words = together(model, t, w, tile, block) if single else min(extent(model, t, w, tile), span)
    return max(1.0, float(words)) / size


@inner
def lay_out(model: Model, mesh: Mesh, desk: Desk, single: bool) -> float:
    """Fill the desk from its factors; least steps."""
    levels, dims = desk.low.shape
    steps, children = 1.0, 1.0
    for d in range(dims):
        for level in range(levels):
            desk.inside[0, level + 1, d] = desk.inside[0, level, d] * desk.low[level, d]
            desk.inside[1, level + 1, d] = desk.inside[1, level, d] * desk.high[level, d]
        steps *= -(-model.bounds[d] // desk.inside[1, levels, d])
    for level in range(levels - 1, -1, -1):
        desk.used[level] = children
        most = 1.0
        for d in range(dims):
            most *= desk.high[level, d]
        children *= min(most, float(mesh.room[level]))
    for t in range(model.kind.shape[0]):
        flow_of(model, mesh, desk, t, single)
        if model.timeloop:
            timeloop_flow(model, mesh, desk, t)
    return max(steps, model.points / children) * (1 - 1e-11)


@inner
def flow_of(model: Model, mesh: Mesh, desk: Desk, t: int, single: bool) -> None:
    """The flows of tensor `t`."""
    levels, dims = desk.low.shape
    shared = 1.0
    for level in range(levels):
        others, words, copies, owned = 1.0, 1.0, model.least[t], model.full[t]
        for d in range(dims):
            if model.kind[t, d] != PLAIN:
                owned *= desk.inside[1, levels, d] / desk.inside[1, level + 1, d]
            if model.kind[t, d] != UNRELATED:
                others *= desk.low[level, d]
                continue
            words *= -(-model.bounds[d] // desk.inside[1, level + 1, d]) / model.bounds[d]
            copies *= busy_along(model, desk.low, level, d, levels - 1)
        shared *= mesh.room[level] / others
        words = max(words, 1.0 / shared) * model.points * (1 - 1e-11)
        for w in range(model.windows[t]):
            words *= window_share(model, t, w, desk.inside[1, level + 1], desk.inside[1, 0], single)
        desk.flows[0, t, level], desk.flows[1, t, level], desk.flows[2, t, level] = words, copies, owned


@inner
def timeloop_flow(model: Model, mesh: Mesh, desk: Desk, t: int) -> None:
    """What is different in Timeloop's model: units of one memory share words, and neighbours may help (see
    `skeleton.price_of_help`)."""
    several = 0
    for room in mesh.room:
        several += 1 if room > 1 else 0
    for level in range(mesh.room.shape[0]):
        if mesh.room[0] > 1:
            desk.flows[0, t, level] = min(desk.flows[0, t, level], model.least[t])
        if model.windows[t] > 0 and several > 1:
            desk.flows[1, t, level] *= plain_words(model, t, model.bounds) / model.least[t]


@inner
def bound_of_box(model: Model, mesh: Mesh, ways: Ways, desk: Desk, single: bool, most: float) -> float:
    """The least objective of the box on the desk, or something above `most`."""
    steps = lay_out(model, mesh, desk, single)
    best = value_of(ways.objective, ways.least_energy, max(steps, ways.least_cycles))
    if best > most:
        return best
    for t in range(model.full.shape[0]):
        tensor_costs(model, ways, t, desk.flows[:, t], desk.used, desk.room[:, t], desk.words)
    best = np.inf
    for mask in range(ways.beyond.shape[0]):
        best = min(best, least_at(model, ways, mask, steps, desk.room))
    return best


@inner
def place(model: Model, mesh: Mesh, ways: Ways, boxes: Boxes, desk: Desk, slot: int, low: float, most: float) -> bool:
    """Put the box in a slot into the heap, whose bound is at least `low`; whether one below `most` may be in it."""
    if not tighten(model, mesh, boxes.low[slot], boxes.high[slot], desk):
        return False
    single = bool((boxes.low[slot] == boxes.high[slot]).all())
    boxes.bound[slot] = max(low, bound_of_box(model, mesh, ways, desk, single, most))
    if not boxes.bound[slot] < most:
        return False
    rise(boxes, slot)
    return True


@inner
def widest(mesh: Mesh, low: Ints, high: Ints) -> tuple[int, int, int]:
    """Where to split a box: memory, dimension, and the largest factor of the lower part; (-1, ...) for one spread."""
    best, found = 1.0, (-1, -1, -1)
    for k in range(low.shape[0]):
        for d in range(low.shape[1]):
            small, large = mesh.factors[d, low[k, d]], mesh.factors[d, high[k, d]]
            if large / small > best:
                best = large / small
                middle = at_most(mesh.factors[d], low[k, d], high[k, d] - 1, int(np.sqrt(float(small * large))))
                found = (k, d, middle)
    return found


@compiled
def narrow(
    model: Model,
    mesh: Mesh,
    ways: Ways,
    boxes: Boxes,
    desk: Desk,
    limits: tuple[float, float],
    out: Ints,
    values: Floats,
) -> int:
    """Fill `out` (N, L, D) and `values` (N,) with the next spreads in order of bounds, up to the first of `limits`; how
    many.

    Ends after `NODES` boxes, too, and where there is no room for more; boxes of bounds from the second on are left out.
    """
    beyond, most = limits
    count, nodes, heap, number, room = 0, NODES, boxes.heap, boxes.number, boxes.bound.shape[0]
    while number[0] > 0 and number[1] < room and nodes > 0 and count < out.shape[0]:
        slot = int(heap[0])
        bound = float(boxes.bound[slot])
        if (bound > beyond and nodes < NODES - FEWEST) or bound >= most:
            break
        nodes -= 1
        number[0] -= 1
        heap[0] = heap[number[0]]
        sink(boxes, 0)
        k, d, middle = widest(mesh, boxes.low[slot], boxes.high[slot])
        if k < 0:
            out[count], values[count] = 1, bound
            for i in range(mesh.levels.shape[0]):
                for e in range(mesh.factors.shape[0]):
                    out[count, mesh.levels[i], e] = mesh.factors[e, boxes.low[slot, i, e]]
            count += 1
        else:
            other = int(number[1])
            boxes.low[other], boxes.high[other] = boxes.low[slot], boxes.high[slot]
            boxes.low[other, k, d], boxes.high[slot, k, d] = middle + 1, middle
            number[1] += 1 if place(model, mesh, ways, boxes, desk, other, bound, most) else 0
            place(model, mesh, ways, boxes, desk, slot, bound, most)
    return count


class Narrowing:
    """The spreads of a problem on a mesh, those of the least bounds first."""

    def __init__(self, model: Model, mesh: Mesh) -> None:
        self._model, self._mesh, self._desk = model, mesh, new_desk(model)
        self._boxes = new_boxes(FIRST_ROOM, len(mesh.levels), len(model.bounds))
        self._boxes.high[0] = (mesh.factors > 0).sum(axis=1) - 1

    def look(self, ways: Ways, most: float, beyond: float) -> tuple[Ints, Floats]:
        """Some spreads (N, L, D) of the next bounds (N,), up to `beyond`; there may be none yet.

        Bounds from `most` on are of no interest, now and later.
        """
        if not self._room and len(self._boxes.bound) < MAX_BOXES:
            self._grow()
        out, values = np.empty((AT_ONCE, *self._desk.low.shape), np.int64), np.empty(AT_ONCE)
        found = int(narrow(self._model, self._mesh, ways, self._boxes, self._desk, (beyond, most), out, values))
        return out[:found], values[:found]

    def _grow(self) -> None:
        """Make room for twice as many boxes."""
        old = self._boxes
        self._boxes = new_boxes(2 * len(old.bound), *old.low.shape[1:])
        for mine, others in zip(self._boxes, old, strict=True):
            mine[: len(others)] = others

    @property
    def _room(self) -> bool:
        """Whether there is room for one more box."""
        return bool(self._boxes.number[1] < len(self._boxes.bound))

    @property
    def stuck(self) -> bool:
        """Whether too many boxes wait to go on."""
        return not self._room and len(self._boxes.bound) >= MAX_BOXES

    @property
    def reached(self) -> float:
        """A lower bound of all spreads that are still to come; inf if there are none."""
        return float(self._boxes.bound[self._boxes.heap[0]]) if self._boxes.number[0] else np.inf
