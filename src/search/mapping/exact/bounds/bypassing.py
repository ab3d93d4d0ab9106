"""What the outermost memory sends past the last one, by tile of that one; perfect factors only.

A tensor that only memories further in keep rests in loops of the outermost memory where all its elements in a tile of
the last memory have room further in, and no loop further in moves it.  Then its first or last tile is as large, and
takes as long to arrive or to get back.  If a loop further in moves it, all loops of the outermost memory do.
"""

from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare, bare_entry
from .....remembered import remembered
from ..dominance.symmetries import Kept
from ..space.model import EVERY, UNRELATED, Bools, Floats, Ints, Model, one_way
from ..tree.state import Skeleton
from .nodes import far_words, latencies_of, steady_cycles
from .outcomes import MOVED, Case
from .outer import Outer, ports_of
from .sections import Section

MAX_CELLS = 1 << 22
"""Cells of the words in all plans that are kept."""


@bare
def moving_cycles(model: Model, children: int, far: float, near: float, back: bool) -> float:
    """Cycles for so many words of the outermost memory, and of each of its children, in or `back`."""
    last = model.capacity.shape[0] - 1
    into = model.bandwidth[last - 1]
    outside = far / one_way(model.bandwidth[last], back)
    slowest: float = max(outside, near / children / min(into[0 if back else 1], into[2]))
    return float(np.ceil(slowest * (1 - 1e-11)))


@bare
def fill_rooms(model: Model, skeleton: Skeleton, rooms: Floats) -> None:
    """Fill `rooms` (T,): how many different elements of a tensor that passes the last memory have room further in."""
    last = skeleton.kept.shape[0] - 1
    for t in range(len(rooms)):
        own = -1
        for memory in range(last):
            own = memory if skeleton.kept[memory, t] else own
        rooms[t] = model.capacity[own] / model.weight[own, t] * (1 + 1e-9)
        for d in range(model.kind.shape[1]):
            if own >= 0 and model.kind[t, d] != UNRELATED:
                rooms[t] *= skeleton.inside[last + 1, d] // skeleton.inside[own + 1, d]


class Plan(NamedTuple):
    """K cases of what loops mean for T tensors, over N tiles.

    Case by case `rows` (K, T) tell where `words` (R, N) of a tensor are, -1 if only the outermost memory keeps it; the
    first rows are of tensors that the last memory keeps, and have `energies`.  A tensor moved further in has its
    words in row `moved` (T,), and if `counts` (T,) tells so, there are cases for that.  `sizes` (T, N) are elements in
    a tile, `lightest` (N,) the least energy of any case, inf where a tile does not fit.
    """

    rows: Ints
    energies: Floats
    words: Floats
    moved: Ints
    sizes: Floats
    lightest: Floats
    counts: Bools


class Inside(NamedTuple):
    """What is known of all tiles of the last memory, of which there are `children`: the least `energy` further in, the
    least cycles of any mapping (`fewest`), and `most` energy times delay, which is as good as more."""

    children: int
    energy: float
    fewest: float
    most: float


@bare_entry
def least_product(
    model: Model, skeleton: Skeleton, plan: Plan, cells: Ints, known: Inside, far: Floats, rooms: Floats, words: Floats
) -> float:
    """The least energy times delay over `cells` (C,) of a plan, the smallest tile first; large ones are tried first.

    `far` (2,), `rooms` and `words` (T,) are room.
    """
    children, energy, fewest, found = known
    last, kept = model.capacity.shape[0] - 1, int(skeleton.held[-2])
    far_words(model, skeleton, last - 1, far)
    steady = steady_cycles(model, skeleton)
    latency, waits = latencies_of(model, skeleton), not model.timeloop
    least = max(steady + latency, fewest)
    fill_rooms(model, skeleton, rooms)
    for cell in cells[::-1]:
        for case in range(0 if (energy + plan.lightest[cell]) * least >= found else plan.rows.shape[0]):
            total, into, back, near_in, near_back = energy, far[0], far[1], 0.0, 0.0
            for t in range(words.shape[0]):
                row, tile, near = plan.rows[case, t], 0.0, 0.0
                words[t] = model.least[t]
                if row >= 0 and (kept >> t) & 1:
                    words[t] = plan.words[row, cell]
                    total += plan.energies[row, cell]
                    tile = plan.sizes[t, cell] if waits and skeleton.parent[0, t] == last - 1 else 0.0
                    near = tile * model.weight[last - 1, t]
                elif row >= 0:
                    row = row if plan.sizes[t, cell] <= rooms[t] else plan.moved[t]
                    words[t] = plan.words[row, cell]
                    price = model.read[last, t] + (model.write[last, t] if model.is_output[t] else 0.0)
                    total += max(words[t] - model.full[t], 0.0) * price
                    if waits and plan.counts[t] and row != plan.moved[t]:
                        tile = plan.sizes[t, cell] - plan.sizes[t, cells[0]]
                if total * least >= found:
                    break
                if model.is_output[t]:
                    back, near_back = back + tile * model.weight[last, t], near_back + near
                else:
                    into, near_in = into + tile * model.weight[last, t], near_in + near
            if total * least < found:
                cycles = moving_cycles(model, children, into, near_in, False)
                cycles += moving_cycles(model, children, back, near_back, True) + latency
                cycles += max(ports_of(model, words, kept, children), steady)
                found = min(found, float(total * max(cycles, fewest)))
    return found


class Past:
    """Bounds by tile of skeletons in which tensors pass the last memory."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._plans: dict[tuple[Outer, int, tuple[int, ...], tuple[int, ...]], Plan] = {}
        self._rooms, self._words, self._far = np.zeros(len(model.full)), np.zeros(len(model.full)), np.zeros(2)

    def any(self, kept: Kept) -> bool:
        """Whether tensors do."""
        return self._model.perfect and len(self.sets_of(kept)[1]) > 0

    def product(self, section: Section, skeleton: Skeleton, kept: Kept, known: tuple[float, float, float]) -> float:
        """The least energy times delay of a skeleton; `known` are energy further in, the fewest cycles of any, and a
        product that is as good as more."""
        plan = self._plan_of(section.outer, *self.sets_of(kept))
        energy, fewest, most = known
        inside = Inside(section.outer.children, energy, fewest, most * (1 + 1e-9))
        rooms, words = self._rooms, self._words
        return (1 - 1e-9) * least_product(self._model, skeleton, plan, section.cells, inside, self._far, rooms, words)

    @remembered
    def sets_of(self, kept: Kept) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """The set of tensors that the last memory keeps; those without windows that pass it; of them, those that a
        single memory keeps."""
        chains = list(enumerate(kept))
        passing = tuple(t for t, own in chains if any(own) and not own[-1] and self._model.windows[t] == 0)
        return sum(1 << t for t, own in chains if own[-1]), passing, tuple(t for t in passing if sum(kept[t]) == 1)

    def _plan_of(self, outer: Outer, kept: int, passing: tuple[int, ...], alone: tuple[int, ...]) -> Plan:
        """The plan for all tiles; tensors that are `alone` in one memory further in may be moved there or not."""
        key = outer, kept, passing, alone
        if key not in self._plans:
            if sum(plan.words.size for plan in self._plans.values()) > MAX_CELLS:
                self._plans.clear()
            self._plans[key] = _planned(self._model, *key)
        return self._plans[key]


def _planned(model: Model, outer: Outer, kept: int, passing: tuple[int, ...], alone: tuple[int, ...]) -> Plan:
    cases, tensors = _cases(outer, kept, passing, alone), range(len(model.full))
    mine = [(t, way) for case in cases for t, way in enumerate(case) if kept >> t & 1]
    others = [(t, way) for t in passing for way in (MOVED, *(case[t] for case in cases))]
    places = {one: n for n, one in enumerate(dict.fromkeys([*mine, *others]))}
    rows = np.array([[places.get((t, way), -1) for t, way in enumerate(case)] for case in cases], np.int64)
    words = _flat(outer, [outer.words_sent(t, *way) for t, way in places])
    energy = _flat(outer, [outer.term(t, *way) for t, way in places if kept >> t & 1])
    sizes = _flat(outer, [outer.tables.size(t, outer.tiles) for t in tensors])
    moved = np.array([places.get((t, MOVED), -1) for t in tensors], np.int64)
    lightest, counts = outer.energies(kept).reshape(-1) * (1 - 1e-9), np.array([t in alone for t in tensors])
    return Plan(rows, energy, words, moved, sizes, lightest, counts)


def _flat(outer: Outer, tables: list[Floats]) -> Floats:
    """Tables cell by cell, (N, C)."""
    found = np.empty((len(tables), *outer.shape))
    for row, table in zip(found, tables, strict=True):
        row[...] = table
    return found.reshape(len(tables), prod(outer.shape))


def _cases(outer: Outer, kept: int, passing: tuple[int, ...], alone: tuple[int, ...]) -> list[Case]:
    """What loops may mean where only the tensors `kept` are in the last memory, and some of those `alone` in one inside
    are moved there, so that they rest in no loop."""
    found: dict[Case, None] = {}
    outcomes = outer.outcomes(kept | sum(1 << t for t in passing))
    for moved in product(*((False, True) for _ in alone)):
        still = {t for t, moves in zip(alone, moved, strict=True) if moves}
        for outcome in outcomes:
            ways = enumerate(outcome)
            found[tuple(way if kept >> t & 1 else (0 if t in still else way[0], -1, EVERY) for t, way in ways)] = None
    return list(found)
