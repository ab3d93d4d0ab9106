"""Compiled: buffers with given lives, placed one after another."""

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
