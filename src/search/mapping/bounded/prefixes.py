"""Spreads in classes of their bounds: one dimension after the other, where what is chosen may lead below a limit.

What a free dimension may still add is bounded by the room that is left: a word that leaves a memory serves at most so
many more children as have room, and no more than iterations that do not ask for another word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....costs.compiled import compiled, inner
from .model import PLAIN, Bools, Floats, Ints, Model
from .promise import value_of
from .windows import together
from .words import union_size


class Ways(NamedTuple):
    """What a spread may be combined with: ways `chains` (T, K, L) to keep tensors, `many` (T,) of them.

    `front` (M, F, 3) has what the last memory's tile may cost, by the set of tensors that it keeps: energy, cycles of
    ports, cycles to fill and drain; `points` (M,) of them.  `prices` (T, L, 3) are energy of reads and writes and
    cycles of the busiest port for an element.  `least_energy` and `least_cycles` hold for all mappings.
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
    return np.ascontiguousarray(np.stack([model.read, model.write, cycles], axis=2).transpose(1, 0, 2))


class Mesh(NamedTuple):
    """Children of each memory: `room` (L,) at most; `levels` (N,) that have some; `factors` (D, M) of a dimension, then
    0; `halves` as in the model; dimensions are spread in some `order` (D,)."""

    room: Ints
    levels: Ints
    factors: Ints
    halves: Bools
    order: Ints


class Trail(NamedTuple):
    """Where an enumeration stands: `spread` (L, D), `inside` (L + 1, D) children in a memory, `cursor` (P,) into the
    factors and room `before` (P,) by place, `left` (L,) now, the place `at` (1,), -1 at the end; `beyond` (1,) is the
    least bound that was too high.

    By number of dimensions that are spread, `flows` (D + 1, T, 3, L) are words of a tensor that leave a memory for the
    arithmetic, elements at least in the instances of a memory, and those they own at most; `sliding` (D + 1, T, W, L)
    the factors of windows in the words; `used` (D + 1, L) instances; `least` (D + 1,) bounds, none below that before.
    """

    spread: Ints
    inside: Ints
    cursor: Ints
    before: Ints
    left: Ints
    at: Ints
    beyond: Floats
    flows: Floats
    sliding: Floats
    used: Floats
    least: Floats


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
        np.ones((dims + 1, tensors, 3, levels)),
        np.ones((dims + 1, tensors, max(1, int(model.windows.max())), levels)),
        np.ones((dims + 1, levels)),
        np.zeros(dims + 1),
    )
    for t in range(tensors):
        trail.flows[0, t, 0], trail.flows[0, t, 1:] = model.points, model.full[t]
        for w in range(int(model.windows[t])):
            trail.sliding[0, t, w] = model.bounds[model.window[t] == w].prod()
    return trail


@inner
def may_follow(model: Model, mesh: Mesh, spread: Ints, d: int) -> bool:
    """Whether the factors of dimension `d` leave no row of children without work, and divide where they must."""
    full = 1
    for level in range(spread.shape[0]):
        factor = spread[level, d]
        idle = factor // 2 if mesh.halves[level] else factor - 1
        if factor > 1 and full * idle >= model.bounds[d]:
            return False
        full *= factor
    return not model.perfect or model.bounds[d] % full == 0


@inner
def extend(model: Model, trail: Trail, order: Ints, i: int) -> None:
    """Note what the factors of the next dimension, number `i` in `order`, change."""
    levels, spread, inside = trail.left.shape[0], trail.spread, trail.inside
    d = order[i]
    n, full = model.bounds[d], 1
    for level in range(levels):
        full *= spread[level, d]
        inside[level + 1, d] = full
        for e in order[i + 1 :]:
            inside[level + 1, e] = 1
    for level in range(levels):
        trail.used[i + 1, level] = trail.used[i, level] * (full // inside[level + 1, d])
    for t in range(model.kind.shape[0]):
        trail.flows[i + 1, t] = trail.flows[i, t]
        trail.sliding[i + 1, t] = trail.sliding[i, t]
        if model.kind[t, d] == PLAIN or full == 1:
            continue
        w = model.window[t, d]
        for level in range(levels):
            mine = inside[level + 1, d]
            trail.flows[i + 1, t, 2, level] *= full // mine
            if w < 0:
                trail.flows[i + 1, t, 0, level] *= -(-n // mine) / n
            elif mine > 1:
                share = float(together(model, t, w, inside[level + 1], inside[0]))
                for e in range(model.bounds.shape[0]):
                    if model.window[t, e] == w:
                        share *= model.bounds[e] / min(inside[level + 1, e], model.bounds[e])
                trail.sliding[i + 1, t, w, level] = max(share, 1.0)
                trail.flows[i + 1, t, 0, level] *= max(share, 1.0) / trail.sliding[i, t, w, level]
        if w < 0:
            for level in range(levels):
                trail.flows[i + 1, t, 1, level] *= busy_along(model.perfect, model.halves, spread, level, d)


@inner
def busy_along(perfect: bool, halves: Bools, spread: Ints, level: int, d: int) -> int:
    """Instances of memory `level` along dimension `d` that have work, at least."""
    busy, full = 1, 1
    for k in range(level + 1, spread.shape[0]):
        if spread[k, d] > 1:
            busy = full * spread[k, d]
            if not perfect:
                busy = full * (spread[k, d] // 2 if halves[k] else spread[k, d] - 1) + 1
            full *= spread[k, d]
    return busy


@inner
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
    writes: `up` words leave the outer one, `down` arrive; or the other way round if it comes `back`."""
    if not back:
        return up * outer[0] + down * into[1]
    again, fills = max(0.0, up - owned_up), max(0.0, down - owned)
    return again * outer[0] + up * outer[1] + down * into[0] + fills * into[1]


@inner
def tensor_costs(
    ways_to_keep: Ints,
    many: int,
    back: bool,
    prices: Floats,
    flows: Floats,
    left: Ints,
    free: float,
    spare: bool,
    used: Floats,
    size: float,
    cost: Floats,
    cycles: Floats,
    first: Floats,
) -> None:
    """Least energy, cycles of ports, and words of the first tiles (`size` or none at all) for a tensor that is not kept
    and that is kept in the last memory, (2,) each.

    `prices` (L, 3) of reads, writes and cycles for a word, `flows` (3, L) words, copies and elements owned; children
    for whom there is room `left` (L,) share words at most as often as `free` iterations do.  With `spare`, dimensions
    may still be spread.
    """
    levels = left.shape[0]
    cost[:], cycles[:], first[:] = np.inf, np.inf, np.inf
    for i in range(many):
        energy, inmost, below = 0.0, -1, -1
        for c in range(levels):
            if not ways_to_keep[i, c]:
                continue
            if below < 0:
                inmost = c
            elif below < levels - 2:
                own, into = flows[2, c] * free, flows[2, below] * free
                outer, inner_ones = (prices[c, 0], prices[c, 1]), (prices[below, 0], prices[below, 1])
                energy += passed(back, flows[1, c], flows[1, below], own, into, outer, inner_ones)
            below = c
        room, outside = 1.0, 1.0
        for k in range(levels):
            room *= left[k] if k <= inmost else 1
            outside *= left[k] if k > inmost else 1
        words = flows[0, inmost] / min(room, free)
        outer = prices[inmost, 0], prices[inmost, 1]
        energy += passed(back, words, 0.0, flows[2, inmost] * min(outside, free), 0.0, outer, (0.0, 0.0))
        which = ways_to_keep[i, levels - 2]
        cost[which] = min(cost[which], energy)
        busy = words * prices[inmost, 2] / (used[inmost] * (outside if spare else 1.0))
        cycles[which] = min(cycles[which], busy)
        first[which] = min(first[which], size if inmost < levels - 1 else 0.0)


@inner
def steps_of(bounds: Ints, inside: Ints, left: Ints, order: Ints, done: int) -> float:
    """Least steps where the first `done` dimensions are spread as chosen."""
    steps = 1.0
    if done < bounds.shape[0]:
        for level in range(left.shape[0]):
            steps /= left[level]
    for i, d in enumerate(order):
        steps *= -(-bounds[d] // inside[left.shape[0], d]) if i < done else bounds[d]
    return float(steps) * (1 - 1e-11)


@inner
def bound_of(model: Model, order: Ints, ways: Ways, trail: Trail, done: int, high: float, room: Floats) -> float:
    """The least objective where the first `done` dimensions are spread as chosen, or one above `high`; `room` (3, T, 2)
    is for what tensors cost."""
    steps = steps_of(model.bounds, trail.inside, trail.left, order, done)
    least = max(trail.least[done - 1], value_of(ways.objective, ways.least_energy, max(steps, ways.least_cycles)))
    if least > high:
        return least
    for t in range(model.full.shape[0]):
        free = 1.0
        for d in order[done:]:
            free *= 1.0 if model.kind[t, d] == PLAIN else float(model.bounds[d])
        flows = trail.flows[done, t]
        size = float(union_size(model, t, trail.inside[trail.left.shape[0]], trail.inside[0])) if model.perfect else 1.0
        tensor_costs(
            ways.chains[t], ways.many[t], model.is_output[t], ways.prices[t], flows, trail.left, free,
            done < order.shape[0], trail.used[done], size * model.weight[-1, t], room[0, t], room[1, t], room[2, t],
        )  # fmt: skip
    best = np.inf
    for mask in range(ways.points.shape[0]):
        best = min(best, least_at(model, ways, mask, steps, room))
    trail.least[done] = max(least, best)
    return float(trail.least[done])


@inner
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
    waiting = there / min(limits[0], limits[2], limits[3]) + back / min(limits[1], limits[2], limits[3])
    waiting *= 1 - 1e-11
    for i in range(ways.points[mask]):
        more, ports, moving = ways.front[mask, i]
        if value_of(ways.objective, energy + more, busy) < best:
            cycles = max(ways.least_cycles, max(busy, ports) + max(moving, waiting))
            best = min(best, value_of(ways.objective, energy + more, cycles))
    return best


@compiled
def hunt(
    model: Model, mesh: Mesh, ways: Ways, trail: Trail, low: float, high: float, nodes: int, out: Ints, values: Floats
) -> int:
    """Fill `out` (N, L, D) and `values` (N,) with the next spreads whose bound is above `low` and at most `high`.

    Answers their number, after `nodes` prefixes at most.
    """
    dims, depth, count = model.bounds.shape[0], mesh.levels.shape[0], 0
    spread, cursor, left = trail.spread, trail.cursor, trail.left
    room = np.empty((3, model.full.shape[0], 2))
    while trail.at[0] >= 0 and nodes > 0 and count < out.shape[0]:
        at = trail.at[0]
        place, level = at // depth, mesh.levels[at % depth]
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
        if not may_follow(model, mesh, spread, d):
            continue
        if (at + 1) % depth == 0:
            nodes -= 1
            extend(model, trail, mesh.order, place)
            value = bound_of(model, mesh.order, ways, trail, place + 1, high, room)
            if value > high or value == np.inf:
                trail.beyond[0] = min(trail.beyond[0], value)
                continue
            if place + 1 == dims:
                if value > low:
                    out[count], values[count] = spread, value
                    count += 1
                continue
        trail.at[0] += 1
    return count
