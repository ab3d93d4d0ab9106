"""Spreads in classes of their bounds: one dimension after the other, where what is chosen may lead below a limit.

What a free dimension may still add is bounded by the room that is left: a word that leaves a memory serves at most so
many more children as have columns and rows and divide the iterations of dimensions that do not ask for another word.
Perfect factors only; imperfect ones are too many, see `imperfect_spreads`.

Statement 8 of docs/exact-mapper.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare, bare_entry
from ..bounds.nodes import value_of
from ..traffic.boxes import boxes_along
from ..traffic.rows import copy_table
from ..traffic.windows import together
from ..traffic.words import union_size
from .meshes import Fitting, Mesh, most_more, number_of
from .model import PLAIN, Floats, Ints, Model, one_way

PREFIXES = 50_000
"""Prefixes that are looked at between two looks at the clock."""


class Ways(NamedTuple):
    """What a spread may be combined with: ways `chains` (T, K, L) to keep tensors, `many` (T,) of them.

    `front` (M, F, 3) has what the last memory's tile may cost, by the set of tensors that it keeps: energy, cycles of
    ports, cycles to fill and drain; `points` (M,) of them.  `prices` (T, L, 4) are energy of reads and writes,
    cycles of the busiest port, and energy of the reads of a result that leaves, for an element.  `least_energy` and
    `least_cycles` hold for all mappings.
    """

    chains: Ints
    many: Ints
    front: Floats
    points: Ints
    prices: Floats
    objective: int
    least_energy: float
    least_cycles: float


def prices_of(model: Model) -> Floats:
    """`prices` of `Ways`."""
    port = np.where(model.is_output[None], model.bandwidth[:, 1:2], model.bandwidth[:, :1])
    cycles = model.weight / np.minimum(port, model.bandwidth[:, 2:3]) * (1 - 1e-11)
    leaving = np.zeros_like(model.read) if model.timeloop else model.read
    return np.ascontiguousarray(np.stack([model.read, model.write, cycles, leaving], axis=2).transpose(1, 0, 2))


class Trail(NamedTuple):
    """Where an enumeration stands: `spread` (L, D), `inside` (L + 1, D) children in a memory, `cursor` (P,) into the
    factors and room `before` (P,) by place, `left` (L,) now, the place `at` (1,), -1 at the end; `beyond` (1,) is the
    least bound that was too high.  `more` (T + 1, L) is how often as many children there may be at most, along free
    dimensions that let a tensor share words and along all.

    By number of dimensions that are spread, `flows` (D + 1, T, 3, L) are words of a tensor that leave a memory for the
    arithmetic, elements at least in the instances of a memory, and those they own at most; `sliding` (D + 1, T, W, L)
    the factors of windows in the words; `used` (D + 1, L) instances; `least` (D + 1,) bounds, none below that before.
    `room` (3, T, 2) is for what tensors cost.
    """

    spread: Ints
    inside: Ints
    cursor: Ints
    before: Ints
    left: Ints
    at: Ints
    beyond: Floats
    more: Ints
    flows: Floats
    sliding: Floats
    used: Floats
    least: Floats
    room: Floats


def new_trail(model: Model, mesh: Mesh) -> Trail:
    """An enumeration that is over."""
    levels, tensors, dims = len(mesh.room), len(model.full), len(model.bounds)
    places = dims * len(mesh.levels)
    trail = Trail(
        np.ones((levels, dims), np.int64),
        np.ones((levels + 1, dims), np.int64),
        np.zeros(places, np.int64),
        np.zeros(places, np.int64),
        mesh.room.copy(),
        np.full(1, -1, np.int64),
        np.full(1, np.inf),
        np.ones((tensors + 1, levels), np.int64),
        np.ones((dims + 1, tensors, 3, levels)),
        np.ones((dims + 1, tensors, max(1, int(model.windows.max())), levels)),
        np.ones((dims + 1, levels)),
        np.zeros(dims + 1),
        np.zeros((3, tensors, 2)),
    )
    for t in range(tensors):
        trail.flows[0, t] = np.array([model.points, model.least[t], model.full[t]])[:, None]
        if model.timeloop and int(mesh.room[0]) > 1:
            trail.flows[0, t, 0] = model.least[t]
        if model.timeloop and model.windows[t] and int((mesh.room > 1).sum()) > 1:
            trail.flows[0, t, 1] = model.bounds[model.kind[t] == PLAIN].prod()  # see `skeleton.price_of_help`
        for w in range(int(model.windows[t])):
            trail.sliding[0, t, w] = model.bounds[model.window[t] == w].prod()
    return trail


@bare
def extend(model: Model, trail: Trail, order: Ints, i: int) -> None:
    """Note what the factors of the next dimension, number `i` in `order`, change."""
    levels, spread, inside = trail.left.shape[0], trail.spread, trail.inside
    d = order[i]
    full = 1
    for level in range(levels):
        full *= spread[level, d]
        inside[level + 1, d] = full
        for e in order[i + 1 :]:
            inside[level + 1, e] = 1
    for level in range(levels):
        trail.used[i + 1, level] = trail.used[i, level] * (full // inside[level + 1, d])
    for t in range(model.kind.shape[0]):
        copy_table(trail.flows[i + 1, t], trail.flows[i, t])
        copy_table(trail.sliding[i + 1, t], trail.sliding[i, t])
        if model.kind[t, d] == PLAIN or full == 1:
            continue
        w = model.window[t, d]
        for level in range(levels):
            mine = inside[level + 1, d]
            trail.flows[i + 1, t, 2, level] *= full // mine
            if w < 0:
                trail.flows[i + 1, t, 0, level] *= 1.0 / mine
                trail.flows[i + 1, t, 1, level] *= full // mine
            elif mine > 1:
                if model.timeloop:
                    share = float(boxes_along(model, t, w, inside[level + 1], inside[0], True))
                else:
                    share = float(together(model, t, w, inside[level + 1], inside[0]))
                for e in range(model.bounds.shape[0]):
                    if model.window[t, e] == w:
                        share *= model.bounds[e] / min(inside[level + 1, e], model.bounds[e])
                trail.sliding[i + 1, t, w, level] = max(share, 1.0)
                trail.flows[i + 1, t, 0, level] *= max(share, 1.0) / trail.sliding[i, t, w, level]


@bare
def passed(
    back: bool,
    up: float,
    down: float,
    owned_up: float,
    owned: float,
    outer: tuple[float, float],
    into: tuple[float, float],
) -> float:
    """Least energy of a tensor between two memories, the `outer` one and the one further in, with energies of reads and
    writes, those of words that leave `into`: `up` words leave the outer one, `down` arrive; or the other way round if
    it comes `back`."""
    if not back:
        return up * outer[0] + down * into[1]
    again, fills = max(0.0, up - owned_up), max(0.0, down - owned)
    return again * outer[0] + up * outer[1] + down * into[0] + fills * into[1]


class More(NamedTuple):
    """How many more children there may be: `every` (L,) times as many as are `used` (L,), of which `shared` (L,) times
    as many share words of a tensor, at most as often as `free` iterations do."""

    shared: Ints
    free: float
    every: Ints
    used: Floats


@bare
def tensor_costs(ways: Ways, t: int, back: bool, flows: Floats, children: More, size: float, costs: Floats) -> None:
    """Fill `costs` (3, 2) with least energy, cycles of ports, and words of the first tiles (`size` or none at all) for
    tensor `t` where it is not kept and where it is kept in the last memory.

    `flows` (3, L) are words, copies and elements owned.
    """
    more, free = children.shared, children.free
    levels, ways_to_keep, prices = more.shape[0], ways.chains[t], ways.prices[t]
    cost, cycles, first = costs[0], costs[1], costs[2]
    cost[:], cycles[:], first[:] = np.inf, np.inf, np.inf
    for i in range(ways.many[t]):
        energy, inmost, below = 0.0, -1, -1
        for c in range(levels):
            if not ways_to_keep[i, c]:
                continue
            if below < 0:
                inmost = c
            elif below < levels - 2:
                own, into = flows[2, c] * at_most(more, c + 1, free), flows[2, below] * at_most(more, below + 1, free)
                outer, inner_ones = (prices[c, 0], prices[c, 1]), (prices[below, 3], prices[below, 1])
                energy += passed(back, flows[1, c], flows[1, below], own, into, outer, inner_ones)
            below = c
        room, outside = 1.0, 1.0
        for k in range(levels):
            room *= more[k] if k <= inmost else 1
            outside *= children.every[k] if k > inmost else 1
        words = flows[0, inmost] / min(room, free)
        outer = prices[inmost, 0], prices[inmost, 1]
        own = flows[2, inmost] * at_most(more, inmost + 1, free)
        energy += passed(back, words, 0.0, own, 0.0, outer, (0.0, 0.0))
        which = ways_to_keep[i, levels - 2]
        cost[which] = min(cost[which], energy)
        cycles[which] = min(cycles[which], words * prices[inmost, 2] / (children.used[inmost] * outside))
        first[which] = min(first[which], size if inmost < levels - 1 else 0.0)


@bare
def at_most(more: Ints, level: int, free: float) -> float:
    """How often as many children there may be from memory `level` outwards."""
    found = 1.0
    for k in range(level, more.shape[0]):
        found *= more[k]
    return min(found, free)


@bare
def may_lie(model: Model, fitting: Fitting, spread: Ints, level: int, d: int) -> bool:
    """Whether the factors of dimension `d` divide its bound, and there are columns and rows for a memory's children."""
    full, at = 1, number_of(fitting, spread[level])
    for factor in spread[:, d]:
        full *= factor
    return bool(model.bounds[d] % full == 0 and fitting.fits[level, at])


@bare_entry
def find_room(model: Model, order: Ints, fitting: Fitting, trail: Trail, done: int) -> None:
    """Fill `more` of a trail."""
    for level in range(trail.left.shape[0]):
        at = number_of(fitting, trail.spread[level])
        for t in range(trail.more.shape[0]):
            trail.more[t, level] = most_more(model, order, fitting, t, done, level, at)


@bare
def steps_of(bounds: Ints, inside: Ints, every: Ints, order: Ints, done: int) -> float:
    """Least steps where the first `done` dimensions are spread as chosen, others over `every` (L,) times as many."""
    steps, others, children = 1.0, 1.0, 1.0
    for i, d in enumerate(order):
        steps *= bounds[d] // inside[every.shape[0], d] if i < done else 1
        others *= 1 if i < done else bounds[d]
    for more in every:
        children *= more
    return float(steps * max(1.0, others / children) * (1 - 1e-11))


@bare
def bound_of(model: Model, order: Ints, ways: Ways, fitting: Fitting, trail: Trail, done: int, high: float) -> float:
    """The least objective where the first `done` dimensions are spread as chosen, or one above `high`."""
    tensors, last, room = model.full.shape[0], trail.left.shape[0], trail.room
    find_room(model, order, fitting, trail, done)
    steps = steps_of(model.bounds, trail.inside, trail.more[tensors], order, done)
    least = max(trail.least[done - 1], value_of(ways.objective, ways.least_energy, max(steps, ways.least_cycles)))
    if least > high:
        return least
    for t in range(tensors):
        free = 1.0
        for d in order[done:]:
            free *= 1.0 if model.kind[t, d] == PLAIN else float(model.bounds[d])
        size = float(union_size(model, t, trail.inside[last], trail.inside[0])) * model.weight[-1, t]
        size *= 0.0 if model.timeloop else 1.0
        children = More(trail.more[t], free, trail.more[tensors], trail.used[done])
        tensor_costs(ways, t, model.is_output[t], trail.flows[done, t], children, size, room[:, t])
    best = np.inf
    for mask in range(ways.points.shape[0]):
        best = min(best, least_at(model, ways, mask, steps, room))
    trail.least[done] = max(least, best)
    return float(trail.least[done])


@bare
def least_at(model: Model, ways: Ways, mask: int, steps: float, room: Floats) -> float:
    """The least objective where the last memory keeps the tensors of `mask`."""
    energy, busy, best = model.base, steps, np.inf
    there, back = 0.0, 0.0
    for t in range(room.shape[1]):
        which = (mask >> t) & 1
        energy += room[0, t, which]
        busy = max(busy, room[1, t, which])
        there += 0.0 if model.is_output[t] else room[2, t, which]
        back += room[2, t, which] if model.is_output[t] else 0.0
    limits = model.bandwidth[-1]
    waiting = there / one_way(limits, False) + back / one_way(limits, True)
    waiting *= 1 - 1e-11
    for i in range(ways.points[mask]):
        more, ports, moving = ways.front[mask, i]
        if value_of(ways.objective, energy + more, busy) < best:
            cycles = max(ways.least_cycles, max(busy, ports) + max(moving, waiting))
            best = min(best, value_of(ways.objective, energy + more, cycles))
    return best


@bare_entry
def hunt(
    model: Model,
    mesh: Mesh,
    fitting: Fitting,
    ways: Ways,
    trail: Trail,
    within: tuple[float, float],
    out: Ints,
    values: Floats,
) -> int:
    """Fill `out` (N, L, D) and `values` (N,) with the next spreads of bounds `within` (above the first, at most the
    second); answers their number.

    Ends after `PREFIXES` prefixes, too.
    """
    (low, high), nodes = within, PREFIXES
    dims, depth, count = model.bounds.shape[0], mesh.levels.shape[0], 0
    spread, cursor, left = trail.spread, trail.cursor, trail.left
    while trail.at[0] >= 0 and nodes > 0 and count < out.shape[0]:
        at = trail.at[0]
        place, level = at // depth, int(mesh.levels[at % depth])
        d = int(mesh.order[place])
        if cursor[at] == 0:
            trail.before[at] = left[level]
        left[level], spread[level, d] = trail.before[at], 1
        factor = mesh.factors[d, cursor[at]]
        if factor == 0 or factor > left[level]:
            cursor[at] = 0
            trail.at[0] -= 1
            continue
        cursor[at] += 1
        left[level], spread[level, d] = left[level] // factor, factor
        if not may_lie(model, fitting, spread, level, d):
            continue
        if (at + 1) % depth == 0:
            nodes -= 1
            extend(model, trail, mesh.order, place)
            value = bound_of(model, mesh.order, ways, fitting, trail, place + 1, high)
            if value > high or value == np.inf:
                trail.beyond[0] = min(trail.beyond[0], value)
                continue
            if place + 1 == dims:
                if value > low:
                    copy_table(out[count], spread)
                    values[count] = value
                    count += 1
                continue
        trail.at[0] += 1
    return count
