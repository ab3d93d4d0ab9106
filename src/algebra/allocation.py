"""Addresses in one memory: one after another, or by live ranges, where buffers that live together share no byte."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit  # pyright: ignore[reportUnknownVariableType]

from ..errors import InfeasibleError
from .element import Ints


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


def align_up(value: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return -(-value // alignment) * alignment


def require_bytes(resource: str, demand: int, capacity: int, subject: str, lever: str = "") -> None:
    """Raise `InfeasibleError` about `subject` where a memory's `capacity` is less than the `demand`, both in bytes."""
    if demand > capacity:
        lever = lever or f"use a {resource} of at least {demand} bytes"
        raise InfeasibleError(resource, demand, capacity, "bytes", lever, subject)


@dataclass
class BumpAllocator:
    """Addresses one after another, multiples of `align_bytes`; the last taken may be given back by lowering `end`."""

    align_bytes: int
    end: int = 0

    def take(self, size_bytes: int) -> int:
        """The address of so many bytes."""
        address = self.end
        self.end = align_up(address + size_bytes, self.align_bytes)
        return address


class LiveRange(NamedTuple):
    """`size_bytes` in use from time `start` to the end of `end - 1`."""

    start: int
    end: int
    size_bytes: int


@dataclass(frozen=True)
class Allocation:
    """Where each buffer begins; `top_bytes` is one past the highest byte, `need_bytes` the most in use at once.

    Where the limit is not kept, `missing_bytes` is what the buffer `worst` lacks, else 0.
    """

    addresses: tuple[int, ...]
    top_bytes: int
    need_bytes: int
    missing_bytes: int = 0
    worst: int = -1


def lasting(ranges: Sequence[LiveRange], limit_bytes: int, align_bytes: int) -> list[LiveRange]:
    """The same lives, each until a new one needs its bytes: where more than `limit_bytes` would be in use.

    Of lives that are over those that were over first end first.
    """
    moments = max((item.end for item in ranges), default=0)
    sizes = [align_up(item.size_bytes, align_bytes) for item in ranges]
    ends = [moments] * len(ranges)
    born = sorted(range(len(ranges)), key=lambda place: ranges[place].start)
    gone = deque(sorted(range(len(ranges)), key=lambda place: ranges[place].end))
    used = 0
    for place in born:
        now = ranges[place].start
        used += sizes[place]
        while used > limit_bytes and gone and ranges[gone[0]].end <= now:
            first = gone.popleft()
            ends[first] = now
            used -= sizes[first]
    return [item._replace(end=max(item.end, end)) for item, end in zip(ranges, ends, strict=True)]


ROUNDS = 24
"""Orders that are tried at most."""

WORK = 1 << 26
"""Pairs of buffers that are looked at in all; a last order is always finished."""

MOST_BYTES = 1 << 62
"""Buffers of more bytes in all fit nowhere, and get bytes of their own."""


def allocate(ranges: Sequence[LiveRange], limit_bytes: int, align_bytes: int, last: Sequence[int] = ()) -> Allocation:
    """Addresses for whole buffers, below `limit_bytes` where that is found, else with the lowest top found.

    Greedy: buffers are placed one by one among those placed that live with them.  First by size, each at the lowest
    address that is free; then each into the smallest gap that takes it, by size, by life times size, by start, by end;
    then what went over the limit before all others.  Where some are `last`, others are placed before them, all by size
    at the lowest addresses that are free, then what went over the limit first.
    """
    bump = BumpAllocator(align_bytes)
    apart = tuple(bump.take(item.size_bytes) for item in ranges)
    if bump.end >= MOST_BYTES:
        return Allocation(apart, bump.end, bump.end, bump.end - limit_bytes, len(ranges) - 1)

    start, end, given = np.array(ranges, np.int64).reshape(-1, 3).T.copy()
    sizes = -(-given // align_bytes) * align_bytes
    need = _most_live(start, end, sizes)
    keys = (start, -sizes), (start, -sizes * (end - start)), (-sizes, start), (-sizes, -end)
    orders = np.argsort(-given, kind="stable"), *(np.lexsort(key) for key in keys)
    if last:
        orders = (np.lexsort((-sizes, np.isin(np.arange(len(ranges)), last))),)
    rounds = min(ROUNDS, max(len(orders), WORK // max(1, len(ranges) ** 2)))
    best, top, order, over = np.zeros(len(ranges), np.int64), -1, orders[0], orders[0][:0]
    for number in range(1 if need > limit_bytes else rounds):
        order = orders[number] if number < len(orders) else np.concatenate([over, order[~np.isin(order, over)]])
        found = place(order, start, end, sizes, number == 0 or bool(last))
        highest = int((found + sizes).max(initial=0))
        if top < 0 or highest < top:
            best, top = found, highest
        if top <= limit_bytes:
            break
        over = order[(found + sizes)[order] > limit_bytes]
    worst = int((best + sizes).argmax()) if top > max(0, limit_bytes) else -1
    return Allocation(tuple(best.tolist()), top, need, max(0, top - limit_bytes), worst)


REACH, SWEEPS = 6, 16
"""Moments after a life within which it matters that its bytes are taken again, and rounds of moves at most."""


def reused_late(
    ranges: Sequence[LiveRange], addresses: Sequence[int], limit_bytes: int, align_bytes: int
) -> tuple[int, ...]:
    """Addresses of the same buffers, as valid, whose bytes stay unused for longer after each life, where that is found.

    Who takes bytes at once waits for those that had them.  Large buffers move first (`lengthen_reuse`).
    """
    start, end, sizes = np.array(ranges, np.int64).reshape(-1, 3).T.copy()
    sizes = -(-sizes // align_bytes) * align_bytes
    order = np.argsort(-sizes, kind="stable")
    given = np.array(addresses, np.int64)
    return tuple(lengthen_reuse(order, start, end, sizes, given, limit_bytes, REACH, SWEEPS).tolist())


def _most_live(start: Ints, end: Ints, sizes: Ints) -> int:
    """The largest sum of sizes that live together."""
    if not len(sizes):
        return 0
    base = int(start.min())
    change = np.zeros(int(end.max()) - base + 1, np.int64)
    np.add.at(change, start - base, sizes)
    np.add.at(change, end - base, -sizes)
    return int(change.cumsum().max())
