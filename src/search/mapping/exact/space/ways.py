"""What a spread costs at least, before it is known what each memory keeps: operands, copies, ports, steps.

Statement 8 of docs/exact-mapper.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare
from ..bounds.nodes import value_of
from .model import Floats, Ints, Model


class Ways(NamedTuple):
    """What a spread may be combined with: ways `chains` (T, K, L) to keep tensors, `many` (T,) of them.

    `beyond` (M,) is the least energy beyond the last memory, by the set of tensors that it keeps, inf where there is
    none.  `prices` (T, L, 4) are energy of reads and writes, cycles of the busiest port, and energy of the reads of a
    result that leaves, for an element.  `least_energy` and `least_cycles` hold for all mappings.
    """

    chains: Ints
    many: Ints
    beyond: Floats
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


@bare
def tensor_costs(ways: Ways, t: int, back: bool, flows: Floats, used: Floats, costs: Floats) -> None:
    """Fill `costs` (2, 2) with least energy and cycles of ports for tensor `t` where it is not kept in the last memory
    and where it is.

    `flows` (3, L) are words, copies and elements owned, by a memory's instances `used` (L,).
    """
    levels, ways_to_keep, prices = used.shape[0], ways.chains[t], ways.prices[t]
    cost, cycles = costs[0], costs[1]
    cost[:], cycles[:] = np.inf, np.inf
    for i in range(ways.many[t]):
        energy, inmost, below = 0.0, -1, -1
        for c in range(levels):
            if not ways_to_keep[i, c]:
                continue
            if below < 0:
                inmost = c
            elif below < levels - 2:
                outer, inner_ones = (prices[c, 0], prices[c, 1]), (prices[below, 3], prices[below, 1])
                energy += passed(back, flows[1, c], flows[1, below], flows[2, c], flows[2, below], outer, inner_ones)
            below = c
        words, outer = flows[0, inmost], (prices[inmost, 0], prices[inmost, 1])
        energy += passed(back, words, 0.0, flows[2, inmost], 0.0, outer, (0.0, 0.0))
        which = ways_to_keep[i, levels - 2]
        cost[which] = min(cost[which], energy)
        cycles[which] = min(cycles[which], words * prices[inmost, 2] / used[inmost])


@bare
def least_at(model: Model, ways: Ways, mask: int, steps: float, room: Floats) -> float:
    """The least objective where the last memory keeps the tensors of `mask`."""
    energy, busy = model.base + ways.beyond[mask], max(steps, ways.least_cycles)
    for t in range(room.shape[1]):
        which = (mask >> t) & 1
        energy += room[0, t, which]
        busy = max(busy, room[1, t, which])
    return value_of(ways.objective, energy, busy)
