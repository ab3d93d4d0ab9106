"""What the outermost memory sends past the last one, by tile of that one; perfect factors only.

A tensor that only memories further in keep rests in loops of the outermost memory where all its elements in a tile of
the last memory have room further in, and no loop further in moves it.  Then its first or last tile is as large, and
takes as long to arrive or to get back.  If a loop further in moves it, all loops of the outermost memory do.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from ....costs.compiled import bare, bare_entry
from .model import UNRELATED, Bools, Floats, Ints, Model
from .outcomes import Case, Way
from .outer import ports_of
from .sections import Plan, Section
from .tables import EVERY
from .walk import Skeleton

MAX_CASES = 1 << 18
"""Tiles times cases of a skeleton, beyond which tensors that might rest are not told from those that do."""

MAX_CELLS = 1 << 22
"""Cells of the words in all plans that are kept."""

MOVED: Way = (0, -1, EVERY)
"""What loops of the outermost memory mean for a tensor that those further in move."""


class Passing(NamedTuple):
    """A tensor that passes by the last memory: memories further in have room for so many different elements together,
    and `alone` tells whether one memory keeps it."""

    tensor: int
    room: float
    alone: bool


class Sent(NamedTuple):
    """What is the same for all tiles of a skeleton: sets of tensors that the last memory keeps (`kept`), and it alone
    (`inmost`), among `children` instances; by tensor the `rooms` further in, and whether first and last tiles count
    (`counted`); words of the outermost memory `into` and `back` from memories further in, for the smallest tiles.
    """

    kept: int
    inmost: int
    children: int
    rooms: Floats
    counted: Bools
    into: float
    back: float


@bare
def moving_cycles(model: Model, children: int, far: float, near: float, back: int) -> float:
    """Cycles for so many words of the outermost memory, and of each of its children, in or `back`."""
    last = model.capacity.shape[0] - 1
    limits, into = model.bandwidth[last], model.bandwidth[last - 1]
    outside = far / min(limits[back], limits[2], limits[3])
    slowest: float = max(outside, near / children / min(into[1 - back], into[2]))
    return float(np.ceil(slowest * (1 - 1e-11)))


@bare_entry
def least_product(
    model: Model, plan: Plan, cells: Ints, sent: Sent, energy: float, latency: float, limits: Floats, words: Floats
) -> float:
    """The least energy times delay over `cells` (C,) of a plan, the smallest tile first, with that much energy and
    latency further in.

    `limits` (2,) are the least cycles but for filling and draining, and those of any mapping; `words` (T,) is room.
    """
    last, found = model.capacity.shape[0] - 1, float(np.inf)
    fewest = max(limits[0] + latency, limits[1])
    for cell in cells:
        for case in range(plan.rows.shape[0] if plan.fits[cell] else 0):
            total, into, back, near_in, near_back = energy, sent.into, sent.back, 0.0, 0.0
            for t in range(words.shape[0]):
                row, tile, near = plan.rows[case, t], 0.0, 0.0
                words[t] = model.full[t]
                if row >= 0 and (sent.kept >> t) & 1:
                    words[t] = plan.words[row, cell]
                    total += plan.energies[row, cell]
                    tile = plan.sizes[t, cell] if (sent.inmost >> t) & 1 else 0.0
                    near = tile * model.weight[last - 1, t]
                elif row >= 0:
                    row = row if plan.sizes[t, cell] <= sent.rooms[t] else plan.moved[t]
                    words[t] = plan.words[row, cell]
                    price = model.read[last, t] + (model.write[last, t] if model.is_output[t] else 0.0)
                    total += (words[t] - model.full[t]) * price
                    if sent.counted[t] and row != plan.moved[t]:
                        tile = plan.sizes[t, cell] - plan.sizes[t, cells[0]]
                if model.is_output[t]:
                    back, near_back = back + tile * model.weight[last, t], near_back + near
                else:
                    into, near_in = into + tile * model.weight[last, t], near_in + near
            if total * fewest < found:
                cycles = moving_cycles(model, sent.children, into, near_in, 0)
                cycles += moving_cycles(model, sent.children, back, near_back, 1) + latency
                cycles += max(ports_of(model, words, sent.kept, sent.children), limits[0])
                found = min(found, float(total * max(cycles, limits[1])))
    return found


def product_with(
    model: Model,
    section: Section,
    sets: tuple[int, int],
    tensors: tuple[Passing, ...],
    energy: float,
    limits: tuple[float, float],
    far: tuple[float, float],
    latency: float,
) -> float:
    """The least energy times delay, with so much `energy` further in and `far` words for the smallest tiles there.

    The last memory keeps the first of two `sets` of tensors, it alone the second.
    """
    kept, inmost = sets
    alone = tuple(t for t, room, alone in tensors if alone and room > 0)
    passing = tuple(t for t, _, _ in tensors)
    plan = _plan_of(model, section.whole, kept, passing, alone)
    if len(plan.rows) * len(section.cells) > MAX_CASES:
        alone = ()
        plan = _plan_of(model, section.whole, kept, passing, alone)
    rooms, counted = np.zeros(len(model.full)), np.zeros(len(model.full), np.bool_)
    for t, room, _ in tensors:
        rooms[t], counted[t] = room, t in alone
    sent = Sent(kept, inmost, section.children, rooms, counted, *far)
    words = np.empty(len(model.full))
    return least_product(model, plan, section.cells, sent, energy, latency, np.array(limits), words) * (1 - 1e-9)


def _plan_of(model: Model, whole: Section, kept: int, passing: tuple[int, ...], alone: tuple[int, ...]) -> Plan:
    """The plan for all tiles; tensors that are `alone` in one memory further in may be moved there or not."""
    key = kept, passing
    if key not in whole.plans:
        if sum(plan.words.size for plans in whole.plans.values() for plan in plans.values()) > MAX_CELLS:
            whole.plans.clear()
        whole.plans[key] = {(): _planned(model, whole, kept, passing)}
    plans = whole.plans[key]
    if alone not in plans:
        plans[alone] = plans[()]._replace(rows=_rows(model, whole, kept, passing, alone))
    return plans[alone]


def _rows(model: Model, whole: Section, kept: int, passing: tuple[int, ...], alone: tuple[int, ...]) -> Ints:
    """The `rows` of a plan."""
    places, cases = _places(whole, kept, passing), _cases(whole, kept, passing, alone)
    return np.array([[places.get((t, way), -1) for t, way in enumerate(case)] for case in cases], np.int64)


def _planned(model: Model, whole: Section, kept: int, passing: tuple[int, ...]) -> Plan:
    places = _places(whole, kept, passing)
    words = np.stack([whole.flat(whole.sent(t, *way)) for t, way in places])
    energies = [whole.flat(whole.term(t, *way)) for t, way in places if kept >> t & 1]
    sizes = np.stack([whole.flat(whole.size(t)) for t in range(len(model.full))])
    moved = np.array([places.get((t, MOVED), -1) for t in range(len(model.full))], np.int64)
    energy = np.stack(energies) if energies else np.zeros((0, words.shape[1]))
    return Plan(_rows(model, whole, kept, passing, ()), energy, words, moved, sizes, whole.flat(whole.fits(kept)))


def _places(whole: Section, kept: int, passing: tuple[int, ...]) -> dict[tuple[int, Way], int]:
    """The rows of tensors and what loops may mean for them, those of `kept` ones first."""
    cases = _cases(whole, kept, passing, ())
    mine = [(t, way) for case in cases for t, way in enumerate(case) if kept >> t & 1]
    others = [(t, way) for t in passing for way in (MOVED, *(case[t] for case in cases))]
    return {one: n for n, one in enumerate(dict.fromkeys([*mine, *others]))}


def _cases(whole: Section, kept: int, passing: tuple[int, ...], alone: tuple[int, ...]) -> list[Case]:
    """What loops may mean where only the tensors `kept` are in the last memory, and some of those `alone` in one inside
    are moved there, so that they rest in no loop."""
    found: dict[Case, None] = {}
    outcomes = whole.outcomes(kept | sum(1 << t for t in passing))
    for moved in product(*((False, True) for _ in alone)):
        still = {t for t, moves in zip(alone, moved, strict=True) if moves}
        for outcome in outcomes:
            ways = enumerate(outcome)
            found[tuple(way if kept >> t & 1 else (0 if t in still else way[0], -1, EVERY) for t, way in ways)] = None
    return list(found)


def passing_by(model: Model, skeleton: Skeleton) -> tuple[Passing, ...]:
    """Tensors without windows that pass by the last memory, with the different elements of each that the memories
    further in have room for together; perfect factors only."""
    found: list[Passing] = []
    passing = (model.windows == 0) & (skeleton.kept[-2] == 0) & skeleton.kept[:-1].any(axis=0)
    for t in np.flatnonzero(passing).tolist() if model.perfect else []:
        own = int(np.flatnonzero(skeleton.kept[:-1, t])[-1])
        children = skeleton.inside[-1] // skeleton.inside[own + 1]
        room = model.capacity[own] / model.weight[own, t] * float(children[model.kind[t] != UNRELATED].prod())
        found.append(Passing(t, room * (1 + 1e-9), int(skeleton.kept[:own, t].sum()) == 0))
    return tuple(found)
