"""Spreads in the order of their bounds: boxes of factors by memory and dimension are narrowed.

All spreads of a box have at least the bound that its largest factors lead to where words and steps count, and its
smallest where instances own copies of a word; together they have no more children than a memory has.

Statement 8 of docs/exact-mapper.md.
"""

from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare, compiled, inner
from ...objective import value_of
from ..traffic.boxes import boxes_along, plain_words
from ..traffic.busy import busy_along
from ..traffic.windows import together
from ..traffic.words import extent
from .model import PLAIN, UNRELATED, Floats, Ints, Model
from .spreads import Mesh
from .ways import Ways, least_at, tensor_costs

MAX_BOXES = 1 << 20
"""Boxes that wait at most."""

TOGETHER, LOOKS = 64, 64
"""Boxes that are halved together, and how often between two looks at the clock."""

Box = tuple[float, int, bool, Ints]
"""A bound, the box's number, whether it is a single spread, and the numbers (2, K, D) of its smallest and its largest
factors, by memory with a mesh and dimension."""


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


def new_desk(model: Model) -> Desk:
    """Room for one box."""
    levels, tensors, dims = len(model.capacity), len(model.full), len(model.bounds)
    rows, flows = np.ones((levels, dims), np.int64), np.ones((3, tensors, levels))
    inside = np.ones((2, levels + 1, dims), np.int64)
    return Desk(rows, rows.copy(), inside, flows, np.ones(levels), np.ones((2, tensors, 2)), np.zeros((levels, 2)))


@bare
def at_most(factors: Ints, low: int, high: int, most: int) -> int:
    """The number of the largest of the factors `low` to `high` that is at most `most`; below `low` if none is."""
    return low + int(np.searchsorted(factors[low : high + 1], most, side="right")) - 1


@bare
def tighten(model: Model, mesh: Mesh, low: Ints, high: Ints, desk: Desk) -> bool:
    """Leave out factors of a box that no spread of it has; whether there are any.

    Children are at most as many as a memory has and fill whole columns and rows, none without work; perfect factors
    divide the bound.
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
    for k in range(low.shape[0]):
        settled = 1
        for d in range(low.shape[1]):
            settled *= mesh.factors[d, low[k, d]] if low[k, d] == high[k, d] else 1
        if not mesh.fits[mesh.levels[k], settled]:
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
            copies *= busy_along(model.perfect, model.halves, desk.low, level, d, levels - 1)
        shared *= mesh.room[level] / others
        words = max(words, 1.0 / shared) * model.points * (1 - 1e-11)
        for w in range(model.windows[t]):
            words *= window_share(model, t, w, desk.inside[1, level + 1], desk.inside[1, 0], single)
        desk.flows[0, t, level], desk.flows[1, t, level], desk.flows[2, t, level] = words, copies, owned


@inner
def timeloop_flow(model: Model, mesh: Mesh, desk: Desk, t: int) -> None:
    """What is different in Timeloop's model: units of one memory share words, and neighbours may help (see
    `skeleton.price_of_help`)."""
    several = (mesh.room > 1).sum()
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
def widest(mesh: Mesh, low: Ints, high: Ints) -> tuple[int, int, int]:
    """Where to cut a box of several spreads: memory, dimension, and the largest factor of the lower half."""
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
def halve(model: Model, mesh: Mesh, ways: Ways, desk: Desk, boxes: Ints, bounds: Floats, most: float) -> None:
    """Cut boxes, which are there twice in `boxes` (2, N, 2, K, D), in halves; `bounds` (2, N) become theirs, inf if
    none of their spreads may be below `most`."""
    for n in range(bounds.shape[1]):
        k, d, middle = widest(mesh, boxes[0, n, 0], boxes[0, n, 1])
        boxes[0, n, 1, k, d], boxes[1, n, 0, k, d] = middle, middle + 1
        for half in range(2):
            low, high, found = boxes[half, n, 0], boxes[half, n, 1], np.inf
            if tighten(model, mesh, low, high, desk):
                found = max(bounds[half, n], bound_of_box(model, mesh, ways, desk, bool((low == high).all()), most))
            bounds[half, n] = found if found < most else np.inf


class Narrowing:
    """The spreads of a problem on a mesh, those of the least bounds first."""

    def __init__(self, model: Model, mesh: Mesh) -> None:
        self._model, self._mesh, self._desk = model, mesh, new_desk(model)
        high = np.broadcast_to((mesh.factors > 0).sum(axis=1) - 1, (len(mesh.levels), len(model.bounds)))
        self._boxes: list[Box] = [(0.0, 0, not high.any(), np.array([np.zeros_like(high), high]))]
        self._numbers = count(1)

    def look(self, ways: Ways, most: float, beyond: float) -> tuple[Ints, Floats]:
        """Some spreads (N, L, D) of the next bounds (N,), up to `beyond`; there may be none yet.

        Bounds from `most` on are of no interest, now and later.
        """
        spreads: list[Box] = []
        for _ in range(LOOKS):
            chosen: list[Box] = []
            while self._boxes and len(chosen) < TOGETHER and self._boxes[0][0] < most:
                box = heappop(self._boxes)
                (spreads if box[2] else chosen).append(box)
            if chosen:
                self._halve(ways, chosen, most)
            if not chosen or len(spreads) >= TOGETHER or self.reached > beyond:
                break
        found = np.ones((len(spreads), *self._desk.low.shape), np.int64)
        for n, (*_, (factors, _)) in enumerate(spreads):
            found[n, self._mesh.levels] = np.take_along_axis(self._mesh.factors, factors.T, axis=1).T
        return found, np.array([bound for bound, *_ in spreads])

    def _halve(self, ways: Ways, boxes: list[Box], most: float) -> None:
        """Cut boxes in halves, which wait for their turn."""
        factors, bounds = np.array([[box[3] for box in boxes]] * 2), np.array([[box[0] for box in boxes]] * 2)
        halve(self._model, self._mesh, ways, self._desk, factors, bounds, most)
        kept = bounds < most
        factors, single = factors[kept], (factors[kept][:, 0] == factors[kept][:, 1]).all(axis=(1, 2)).tolist()
        for box in zip(bounds[kept].tolist(), self._numbers, single, factors, strict=False):
            heappush(self._boxes, box)

    @property
    def stuck(self) -> bool:
        """Whether too many boxes wait to go on."""
        return len(self._boxes) > MAX_BOXES

    @property
    def reached(self) -> float:
        """A lower bound of all spreads that are still to come; inf if there are none."""
        return self._boxes[0][0] if self._boxes else inf
