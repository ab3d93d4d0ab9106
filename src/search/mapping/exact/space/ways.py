"""What a spread costs at least, before it is known what each memory keeps: operands, copies, ports, steps.

Statement 8 of docs/exact-mapper.md.
"""

from typing import NamedTuple

import numpy as np

from .....costs.compiled import bare
from ...objective import value_of
from ..traffic.words import settle
from .model import Floats, Ints, Model


class Ways(NamedTuple):
    """What a spread may be combined with: ways `chains` (T, K, L) to keep tensors, `many` (T,) of them.

    `beyond` (M,) is the least energy beyond the last memory, by the set of tensors that it keeps, inf where there is
    none, and `busy` (M,) the least cycles of ports there.  `least_energy` and `least_cycles` hold for all mappings.
    """

    chains: Ints
    many: Ints
    beyond: Floats
    busy: Floats
    objective: int
    least_energy: float
    least_cycles: float


@bare
def tensor_costs(model: Model, ways: Ways, t: int, flows: Floats, used: Floats, costs: Floats, words: Floats) -> None:
    """Fill `costs` (2, 2) with least energy and cycles of ports for tensor `t` where it is not kept in the last memory
    and where it is.

    `flows` (3, L) are words, copies and elements owned, by a memory's instances `used` (L,); `words` (L, 2) is room.
    """
    levels, ways_to_keep = used.shape[0], ways.chains[t]
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
                crossing, owned = (flows[1, c], flows[1, below]), (flows[2, c], flows[2, below])
                energy += settle(model, t, below, c, crossing, owned, words)
            below = c
        energy += settle(model, t, -1, inmost, (flows[0, inmost], 0.0), (flows[2, inmost], 0.0), words)
        which = ways_to_keep[i, levels - 2]
        cost[which] = min(cost[which], energy)
        port = min(model.bandwidth[inmost, 1 if model.is_output[t] else 0], model.bandwidth[inmost, 2])
        busy = flows[0, inmost] * model.weight[inmost, t] / port / used[inmost] * (1 - 1e-11)
        cycles[which] = min(cycles[which], busy)


@bare
def least_at(model: Model, ways: Ways, mask: int, steps: float, room: Floats) -> float:
    """The least objective where the last memory keeps the tensors of `mask`."""
    energy, busy = model.base + ways.beyond[mask], max(steps, ways.least_cycles, ways.busy[mask])
    for t in range(room.shape[1]):
        which = (mask >> t) & 1
        energy += room[0, t, which]
        busy = max(busy, room[1, t, which])
    return value_of(ways.objective, energy, busy)
