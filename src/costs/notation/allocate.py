"""Addresses for tensors with known lives: no two that live at the same time share a byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROUNDS = 24
"""Orders that are tried at most."""

WORK = 1 << 26
"""Pairs of tensors that are looked at in all; a last order is always finished."""


class Item(NamedTuple):
    """`size_bytes` in the buffer from position `start` to the end of `end - 1`, in `slabs` equal slabs.

    A slab is a channel of a feature map, or the weights of one output channel; slabs may lie apart.
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
class Packing:
    """`parts` by key; `top_bytes` is one past the highest byte used and `need_bytes` the most in use at once.

    Where no packing was found `missing_bytes` is what the item `worst` lacks, else 0.
    """

    parts: dict[int, Parts]
    top_bytes: int
    need_bytes: int
    missing_bytes: int = 0
    worst: int = -1


def pack_items(items: Mapping[int, Item], limit_bytes: int, align_bytes: int) -> Packing:
    """Addresses below `limit_bytes` for all items, whole where that can be.

    Whole items are placed one by one, each into the smallest gap between those placed that live with it: by size, then
    by life times size, then by start; what does not fit goes to the front of the next order.  Where no order does, they
    are placed as they begin to live, and one that fits no gap is cut between slabs to fill several.
    """
    whole = _pack_whole(items, limit_bytes, align_bytes)
    return whole if not whole.missing_bytes else _pack_parts(items, whole.need_bytes, limit_bytes, align_bytes)


def _pack_whole(items: Mapping[int, Item], limit_bytes: int, align_bytes: int) -> Packing:
    keys = [key for key, item in items.items() if item.size_bytes]
    columns = np.array([items[key][:3] for key in keys], np.int64).reshape(-1, 3)
    sizes = -(-columns[:, 2] // align_bytes) * align_bytes
    start, end = columns[:, 0], columns[:, 1]
    need = _need(start, end, sizes)
    orders = (
        np.lexsort((start, -sizes)),
        np.lexsort((start, -sizes * (end - start))),
        np.lexsort((-sizes, start)),
        np.lexsort((-sizes, -end)),
    )
    best, best_top, order = np.zeros(len(keys), np.int64), -1, orders[0]
    hopeless = need > limit_bytes
    for number in range(1 if hopeless else min(ROUNDS, max(4, WORK // max(1, len(keys) ** 2)))):
        if number < len(orders):
            order = orders[number]
        found, top, last = _place(order, start, end, sizes, limit_bytes)
        if best_top < 0 or top < best_top:
            best, best_top = found, top
        if best_top <= limit_bytes:
            break
        order = np.concatenate([last, np.setdiff1d(order, last, assume_unique=True)])
    addresses = {key: 0 for key in items} | dict(zip(keys, best.tolist(), strict=True))
    parts = {key: (Part(0, address),) for key, address in addresses.items()}
    worst = keys[int((best + sizes).argmax())] if keys else -1
    return Packing(parts, max(best_top, 0), need, max(0, best_top - limit_bytes), worst)


Ints = NDArray[np.int64]


def _need(start: Ints, end: Ints, sizes: Ints) -> int:
    """The largest sum of sizes that live together."""
    if not len(sizes):
        return 0
    base = int(start.min())
    change = np.zeros(int(end.max()) - base + 1, np.int64)
    np.add.at(change, start - base, sizes)
    np.add.at(change, end - base, -sizes)
    return int(change.cumsum().max())


def _place(order: Ints, start: Ints, end: Ints, sizes: Ints, limit: int) -> tuple[Ints, int, Ints]:
    """Addresses, the top, and the items that went over the limit."""
    count = len(order)
    address = np.zeros(count, np.int64)
    low, high = np.empty(count, np.int64), np.empty(count, np.int64)  # of those placed, in order of placing
    begins, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    over: list[int] = []
    for placed, item in enumerate(order.tolist()):
        together = np.flatnonzero((begins[:placed] < end[item]) & (ends[:placed] > start[item]))
        together = together[low[together].argsort(kind="stable")]
        address[item] = _gap(low[together], high[together], int(sizes[item]))
        low[placed], high[placed] = address[item], address[item] + sizes[item]
        begins[placed], ends[placed] = start[item], end[item]
        if high[placed] > limit:
            over.append(item)
    return address, int(high.max()) if count else 0, np.array(over, np.int64)


def _gap(low: Ints, high: Ints, size: int) -> int:
    """The beginning of the smallest gap of `size` bytes between intervals sorted by `low`, else the end of all."""
    if not len(low):
        return 0
    reach = np.maximum.accumulate(high)
    before = np.concatenate([np.zeros(1, np.int64), reach[:-1]])
    room = low - before
    fits = np.flatnonzero(room >= size)
    if not len(fits):
        return int(reach[-1])
    return int(before[fits[room[fits].argmin()]])


GRAINS = 64, 16, 1
"""Parts begin at multiples of so many slabs where that fits, so that the lanes of arrays stay full."""


def _pack_parts(items: Mapping[int, Item], need: int, limit: int, align: int) -> Packing:
    """Items as they begin to live, in parts where they must."""
    placed: dict[int, Parts] = {}
    alive: list[tuple[int, int, int]] = []  # low, high, end of life
    top = 0
    for key in sorted(items, key=lambda key: (items[key].start, -items[key].size_bytes, key)):
        item = items[key]
        alive = [entry for entry in alive if entry[2] > item.start]
        gaps = _gaps(sorted(alive), limit)
        tries = [_fill(item, gaps, grain) for grain in GRAINS]
        parts, missing = next((found for found in tries if not found[1]), tries[-1])
        placed[key] = parts
        if missing:
            return Packing(placed, top, need, missing, key)
        for low, high in spans_of(item, parts):
            alive.append((low, -(-high // align) * align, item.end))
            top = max(top, high)
    return Packing(placed, top, need)


def _gaps(alive: list[tuple[int, int, int]], limit: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = 0
    for low, high, _ in alive:
        if low > at:
            found.append((at, low))
        at = max(at, high)
    return [*found, (at, limit)] if at < limit else found


def _fill(item: Item, gaps: list[tuple[int, int]], grain: int) -> tuple[Parts, int]:
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


def spans_of(item: Item, parts: Parts) -> list[tuple[int, int]]:
    """Bytes [from, to) of each part."""
    firsts = [part.first for part in parts] + [item.slabs]
    return [
        (part.address, part.address + (after - part.first) * item.slab_bytes)
        for part, after in zip(parts, firsts[1:], strict=True)
    ]
