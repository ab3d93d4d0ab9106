"""Addresses in one memory: one after another, or by live ranges, where buffers that live together share no byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InfeasibleError


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
    """`size_bytes` in use from time `start` to the end of `end - 1`, in `slabs` equal slabs.

    A slab is what may not be cut: of a feature map a channel, of weights those of one output channel.
    """

    start: int
    end: int
    size_bytes: int
    slabs: int = 1

    @property
    def slab_bytes(self) -> int:
        """Bytes of one slab."""
        return self.size_bytes // self.slabs


class Part(NamedTuple):
    """Slabs from `first` on (up to the next part's) lie one after another from `address` on."""

    first: int
    address: int


Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Allocation:
    """The parts of each buffer; `top_bytes` is one past the highest byte, `need_bytes` the most in use at once.

    Where the limit is not kept, `missing_bytes` is what the buffer `worst` lacks, else 0.
    """

    parts: tuple[Parts, ...]
    top_bytes: int
    need_bytes: int
    missing_bytes: int = 0
    worst: int = -1

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where each buffer begins."""
        return tuple(parts[0].address for parts in self.parts)


ROUNDS = 24
"""Orders that are tried at most."""

WORK = 1 << 26
"""Pairs of buffers that are looked at in all; a last order is always finished."""

MOST_BYTES = 1 << 62
"""Buffers of more bytes in all fit nowhere, and get bytes of their own."""

Ints = NDArray[np.int64]


def allocate(ranges: Sequence[LiveRange], limit_bytes: int, align_bytes: int) -> Allocation:
    """Addresses for whole buffers, below `limit_bytes` where that is found, else with the lowest top found.

    Greedy: buffers are placed one by one among those placed that live with them.  First by size, each at the lowest
    address that is free; then each into the smallest gap that takes it, by size, by life times size, by start, by end;
    then what went over the limit before all others.
    """
    bump = BumpAllocator(align_bytes)
    apart = tuple((Part(0, bump.take(item.size_bytes)),) for item in ranges)
    if bump.end >= MOST_BYTES:
        return Allocation(apart, bump.end, bump.end, bump.end - limit_bytes, len(ranges) - 1)
    columns = np.array([item[:3] for item in ranges], np.int64).reshape(-1, 3)
    start, end, sizes = columns[:, 0], columns[:, 1], -(-columns[:, 2] // align_bytes) * align_bytes
    need = _most_live(start, end, sizes)
    keys = (start, -sizes), (start, -sizes * (end - start)), (-sizes, start), (-sizes, -end)
    orders = np.argsort(-columns[:, 2], kind="stable"), *(np.lexsort(key) for key in keys)
    rounds = min(ROUNDS, max(len(orders), WORK // max(1, len(ranges) ** 2)))
    best, top, order, over = np.zeros(len(ranges), np.int64), -1, orders[0], orders[0][:0]
    for number in range(1 if need > limit_bytes else rounds):
        order = orders[number] if number < len(orders) else np.concatenate([over, order[~np.isin(order, over)]])
        found = _place(order, start, end, sizes, lowest=number == 0)
        highest = int((found + sizes).max(initial=0))
        if top < 0 or highest < top:
            best, top = found, highest
        if top <= limit_bytes:
            break
        over = order[(found + sizes)[order] > limit_bytes]
    worst = int((best + sizes).argmax()) if top > max(0, limit_bytes) else -1
    return Allocation(
        tuple((Part(0, address),) for address in best.tolist()), top, need, max(0, top - limit_bytes), worst
    )


def _most_live(start: Ints, end: Ints, sizes: Ints) -> int:
    """The largest sum of sizes that live together."""
    if not len(sizes):
        return 0
    base = int(start.min())
    change = np.zeros(int(end.max()) - base + 1, np.int64)
    np.add.at(change, start - base, sizes)
    np.add.at(change, end - base, -sizes)
    return int(change.cumsum().max())


def _place(order: Ints, start: Ints, end: Ints, sizes: Ints, *, lowest: bool) -> Ints:
    """Addresses of buffers that are placed in this order."""
    order = order[sizes[order] > 0]
    start, end, size = start[order], end[order], sizes[order]
    low = np.zeros(len(order), np.int64)
    for item in range(len(order)):
        together = np.flatnonzero((start[:item] < end[item]) & (end[:item] > start[item]))
        together = together[low[together].argsort(kind="stable")]
        low[item] = _gap(low[together], low[together] + size[together], int(size[item]), lowest)
    addresses = np.zeros(len(sizes), np.int64)
    addresses[order] = low
    return addresses


def _gap(low: Ints, high: Ints, size: int, lowest: bool) -> int:
    """The beginning of the lowest or smallest gap of `size` bytes between intervals sorted by `low`, else their end."""
    if not len(low):
        return 0
    reach = np.maximum.accumulate(high)
    before = np.concatenate([np.zeros(1, np.int64), reach[:-1]])
    room = low - before
    fits = np.flatnonzero(room >= size)
    if not len(fits):
        return int(reach[-1])
    return int(before[fits[0 if lowest else room[fits].argmin()]])


GRAINS = 64, 16, 1
"""Parts begin at multiples of so many slabs where that fits, so that the lanes of arrays stay full."""


def allocate_parts(ranges: Sequence[LiveRange], limit_bytes: int, align_bytes: int) -> Allocation:
    """As `allocate`; where no order does, buffers are placed as they begin to live, cut between slabs where they must.

    A buffer is cut that fits no gap, to fill several.
    """
    whole = allocate(ranges, limit_bytes, align_bytes)
    if not whole.missing_bytes:
        return whole
    placed: list[Parts] = [()] * len(ranges)
    alive: list[tuple[int, int, int]] = []  # low, high, end of life
    top = 0
    for number in sorted(range(len(ranges)), key=lambda i: (ranges[i].start, -ranges[i].size_bytes, i)):
        item = ranges[number]
        alive = [entry for entry in alive if entry[2] > item.start]
        gaps = _gaps(sorted(alive), limit_bytes)
        tries = [_fill(item, gaps, grain) for grain in GRAINS]
        placed[number], missing = next((found for found in tries if not found[1]), tries[-1])
        if missing:
            return Allocation(tuple(placed), top, whole.need_bytes, missing, number)
        for low, high in spans_of(item, placed[number]):
            alive.append((low, align_up(high, align_bytes), item.end))
            top = max(top, high)
    return Allocation(tuple(placed), top, whole.need_bytes)


def _gaps(alive: list[tuple[int, int, int]], limit: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = 0
    for low, high, _ in alive:
        if low > at:
            found.append((at, low))
        at = max(at, high)
    return [*found, (at, limit)] if at < limit else found


def _fill(item: LiveRange, gaps: list[tuple[int, int]], grain: int) -> tuple[Parts, int]:
    """Parts of an item in the smallest gap that takes all, else in the largest gaps; bytes that find no room."""
    if not item.size_bytes:
        return (Part(0, 0),), 0
    fitting = [gap for gap in gaps if gap[1] - gap[0] >= item.size_bytes]
    if fitting:
        return (Part(0, min(fitting, key=lambda gap: (gap[1] - gap[0], gap[0]))[0]),), 0
    slab, done = item.slab_bytes, 0
    parts: list[Part] = []
    for low, high in sorted(gaps, key=lambda gap: (gap[0] - gap[1], gap[0])):
        count = (high - low) // slab
        if done + count < item.slabs:
            count = count // grain * grain
        count = min(count, item.slabs - done)
        if count:
            parts.append(Part(done, low))
            done += count
        if done == item.slabs:
            return tuple(parts), 0
    return tuple(parts) or (Part(0, 0),), (item.slabs - done) * slab


def spans_of(item: LiveRange, parts: Parts) -> list[tuple[int, int]]:
    """Bytes [from, to) of each part."""
    ends = with_ends(parts, item.slabs)
    return [(part.address, part.address + (end - part.first) * item.slab_bytes) for part, end in ends]


def with_ends(parts: Parts, slabs: int) -> Iterable[tuple[Part, int]]:
    """Each part, and the slab after its last, of so many slabs."""
    return zip(parts, [*(part.first for part in parts[1:]), slabs], strict=True)
