"""Compiled: buffers with given lives, placed one after another, and moved to where bytes were unused for longer."""

from __future__ import annotations

import numpy as np
from numba import njit  # pyright: ignore[reportUnknownVariableType]
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@njit(cache=True)
def place(order: Ints, start: Ints, end: Ints, sizes: Ints, lowest: bool) -> Ints:
    """Addresses of buffers that are placed in this order, each in a gap between those placed that live with it.

    It is the lowest gap or the smallest that takes the buffer, or the first byte past all of them.
    """
    addresses = np.zeros(len(sizes), np.int64)
    placed = np.zeros(len(order), np.int64)  # by address
    count = 0
    for item in order:
        size = sizes[item]
        if size == 0:
            continue
        reach, best, room = 0, -1, 0
        for position in range(count):
            other = placed[position]
            if start[other] >= end[item] or end[other] <= start[item]:
                continue
            gap = addresses[other] - reach
            if gap >= size and (best < 0 or (not lowest and gap < room)):
                best, room = reach, gap
            reach = max(reach, addresses[other] + sizes[other])
        addresses[item] = best if best >= 0 else reach
        position = count
        while position > 0 and addresses[placed[position - 1]] > addresses[item]:
            placed[position] = placed[position - 1]
            position -= 1
        placed[position] = item
        count += 1
    return addresses


@njit(cache=True)
def lengthen_reuse(
    order: Ints, start: Ints, end: Ints, sizes: Ints, addresses: Ints, limit: int, reach: int, sweeps: int
) -> Ints:
    """Addresses below `limit` of the same buffers, of which fewer take bytes soon after others, by local search.

    Two buffers that share bytes, d < `reach` moments between their lives, cost (1 - d / `reach`)^2.  One by one, in
    this order, buffers move to the address of least cost at the beginning or next to one that lives near them in time,
    until none does in a sweep.
    """
    found = addresses.copy()
    near, candidates = np.empty(len(sizes), np.int64), np.empty(2 * len(sizes) + 2, np.int64)
    settled = sizes == 0  # no buffer near it in time has moved since its address was chosen
    for _ in range(sweeps):
        moved = False
        for item in order:
            if settled[item]:
                continue
            settled[item] = True
            size, others = sizes[item], 0
            for other in range(len(sizes)):
                soon = start[other] < end[item] + reach and end[other] + reach > start[item]
                if soon and other != item and sizes[other] > 0:
                    near[others] = other
                    others += 1
            candidates[0], candidates[1] = found[item], 0
            for place in range(others):
                other = near[place]
                candidates[2 + 2 * place] = found[other] + sizes[other]
                candidates[3 + 2 * place] = found[other] - size
            least, best = np.inf, found[item]
            for at in candidates[: 2 + 2 * others]:
                if at < 0 or at + size > limit:
                    continue
                cost = 0.0
                for place in range(others):
                    other = near[place]
                    if found[other] < at + size and found[other] + sizes[other] > at:
                        apart = max(start[other] - end[item], start[item] - end[other])
                        cost = np.inf if apart < 0 else cost + (1 - apart / reach) ** 2
                        if cost >= least:
                            break
                if cost < least:
                    least, best = cost, at
                if least == 0.0:
                    break
            if best != found[item]:
                moved, found[item] = True, best
                for place in range(others):
                    settled[near[place]] = False
        if not moved:
            break
    return found
