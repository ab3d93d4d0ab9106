"""The bytes that a strided operand touches, as 64-byte blocks with one mask bit per byte."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from .element import Array

BLOCK = 64
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_CACHED_BLOCKS = 1 << 16

MAX_MEETING_BYTES = 1 << 28
"""The largest span of an operand whose rows meet that can be kept track of."""


@dataclass(frozen=True)
class Blocks:
    """Blocks relative to the region's first one: `index` selects them, `masks` holds their bytes (None: all)."""

    index: slice | Array
    masks: Array | None

    def numbers(self) -> Array:
        """The relative block numbers as an array."""
        return np.arange(self.index.start, self.index.stop) if isinstance(self.index, slice) else self.index

    def all_masks(self) -> Array:
        """One mask per block."""
        return np.full(len(self.numbers()), _ALL, np.uint64) if self.masks is None else self.masks

    def shifted(self, first: int) -> slice | Array:
        """The index with the region's first block at block `first` of a memory."""
        if isinstance(self.index, slice):
            return slice(self.index.start + first, self.index.stop + first)
        return self.index + first


@dataclass(frozen=True)
class Region:
    """Bytes relative to an operand's address: rows of `run` bytes from `low` on, at every sum of `outer` strides.

    `outer` is a list of (count, stride) with increasing strides larger than `run`; rows may still meet one another.
    """

    low: int
    run: int
    outer: tuple[tuple[int, int], ...]
    _cache: dict[int, Blocks] = field(default_factory=dict[int, "Blocks"], compare=False, repr=False)

    @property
    def high(self) -> int:
        """One past the last byte."""
        return self.low + self.run + sum((count - 1) * stride for count, stride in self.outer)

    @property
    def disjoint(self) -> bool:
        """Whether no two rows meet."""
        span = self.run
        for count, stride in self.outer:
            if stride < span:
                return False
            span = stride * (count - 1) + span
        return True

    def byte_count(self) -> int:
        """Different bytes touched."""
        if self.disjoint:
            return self.run * prod(count for count, _ in self.outer)
        return int(np.bitwise_count(self.blocks(0).all_masks()).sum())

    def rows(self) -> Array:
        """Starts of the rows relative to `low`, increasing."""
        if not self.disjoint:
            return np.flatnonzero(self._row_map())
        starts = np.zeros(1, np.int64)
        for count, stride in self.outer:
            starts = (np.arange(count, dtype=np.int64)[:, None] * stride + starts).reshape(-1)
        return starts

    def _row_map(self) -> Array:
        """For each byte of the span whether a row starts there."""
        found = np.zeros(self.high - self.low - self.run + 1, np.bool_)
        found[0] = True
        reach = 1
        for count, stride in self.outer:
            done = 1
            while done < count:
                shift = min(done, count - done) * stride
                found[shift : shift + reach] |= found[:reach].copy()
                done, reach = min(2 * done, count), shift + reach
        return found

    def blocks(self, address: int) -> Blocks:
        """The blocks of the region when its first byte lies at `address` (only its place within a block counts)."""
        phase = address % BLOCK
        found = self._cache.get(phase)
        if found is None:
            found = _find_blocks(self.rows() + phase, self.run)
            if isinstance(found.index, slice) or len(found.index) <= _CACHED_BLOCKS:
                self._cache[phase] = found
        return found


def make_region(itemsize: int, dims: Sequence[tuple[int, int]]) -> Region:
    """The region of elements of `itemsize` bytes at every sum of `(count, stride)` steps; strides may have any sign."""
    moving = [(count, stride) for count, stride in dims if count > 1 and stride != 0]
    low = sum((count - 1) * stride for count, stride in moving if stride < 0)
    run = itemsize
    outer: list[tuple[int, int]] = []
    for stride, count in sorted((abs(stride), count) for count, stride in moving):
        if stride <= run and not outer:
            run += stride * (count - 1)
        elif outer and stride % outer[-1][1] == 0 and stride // outer[-1][1] <= outer[-1][0]:
            inner = outer[-1]
            outer[-1] = (inner[0] + stride // inner[1] * (count - 1), inner[1])
        else:
            outer.append((count, stride))
    return Region(low, run, tuple(outer))


def _find_blocks(starts: Array, run: int) -> Blocks:
    """Blocks and masks of the intervals `[start, start + run)`; starts increase, intervals may overlap."""
    if len(starts) == 1 and int(starts[0]) % BLOCK == run % BLOCK == 0:
        return Blocks(slice(int(starts[0]) // BLOCK, (int(starts[0]) + run) // BLOCK), None)
    first, last = starts >> 6, (starts + run - 1) >> 6
    counts = last - first + 1
    begins = np.cumsum(counts) - counts
    numbers = np.arange(int(counts.sum())) - np.repeat(begins - first, counts)
    masks = np.full(len(numbers), _ALL, np.uint64)
    masks[begins] = _ALL << (starts & 63).astype(np.uint64)
    masks[begins + counts - 1] &= _ALL >> (63 - ((starts + run - 1) & 63)).astype(np.uint64)
    numbers, masks = _merge(numbers, masks)
    whole = None if bool((masks == _ALL).all()) else masks
    if int(numbers[-1] - numbers[0]) + 1 == len(numbers):
        return Blocks(slice(int(numbers[0]), int(numbers[-1]) + 1), whole)
    return Blocks(numbers, whole)


def _merge(numbers: Array, masks: Array) -> tuple[Array, Array]:
    """Each block once, masks of the same block united."""
    if len(numbers) == 1:
        return numbers, masks
    steps = np.diff(numbers)
    if bool((steps > 0).all()):
        return numbers, masks
    if bool((steps < 0).any()):
        order = np.argsort(numbers, kind="stable")
        numbers, masks = numbers[order], masks[order]
    begins = np.flatnonzero(np.concatenate(([True], np.diff(numbers) > 0)))
    return numbers[begins], np.bitwise_or.reduceat(masks, begins)


def regions_meet(a: Region, at_a: int, b: Region, at_b: int) -> int | None:
    """The first byte that both regions touch with their operands at `at_a` and `at_b`; None if there is none."""
    low, high = max(at_a + a.low, at_b + b.low), min(at_a + a.high, at_b + b.high)
    if low >= high:
        return None
    if not a.outer and not b.outer:
        return low
    (numbers_a, masks_a), (numbers_b, masks_b) = _absolute(a, at_a), _absolute(b, at_b)
    common, in_a, in_b = np.intersect1d(numbers_a, numbers_b, assume_unique=True, return_indices=True)
    both = masks_a[in_a] & masks_b[in_b]
    hits = np.flatnonzero(both)
    if len(hits) == 0:
        return None
    return int(common[hits[0]]) * BLOCK + lowest_bit(int(both[hits[0]]))


def _absolute(region: Region, address: int) -> tuple[Array, Array]:
    start = address + region.low
    blocks = region.blocks(start)
    return blocks.numbers() + start // BLOCK, blocks.all_masks()


def lowest_bit(mask: int) -> int:
    """The number of the lowest bit that is set."""
    return (mask & -mask).bit_length() - 1
