"""Which instructions an instruction must wait for: dependences through bytes of memory, as counts per unit.

Sound on blocks of bytes: two accesses of one block, one of them a write, are ordered.  An access is a number of
intervals of bytes, a stride apart: some rows of every channel of a map, for one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

BLOCK_BYTES = 64

Counts = tuple[int, ...]  # per unit: how many of its instructions, from its first on


class Span(NamedTuple):
    """Bytes `low` to `high` (exclusive) of a memory, and `intervals - 1` times as many, each `stride` further."""

    memory: int
    low: int
    high: int
    intervals: int = 1
    stride: int = 0


class _Memory:
    """A partition of a memory's bytes into segments, each with the last writers and readers since, per unit."""

    def __init__(self, units: int) -> None:
        none: Counts = (0,) * units
        self.none = none
        self.starts = [0]
        self.writers: list[Counts] = [none]
        self.readers: list[Counts] = [none]

    def segments(self, low: int, high: int) -> tuple[int, int]:
        """Indices of the segments that make up `low .. high - 1`, after splitting at its ends."""
        return self._split(low), self._split(high)

    def _split(self, at: int) -> int:
        index = bisect_left(self.starts, at)
        if index == len(self.starts) or self.starts[index] != at:
            self.starts.insert(index, at)
            self.writers.insert(index, self.writers[index - 1])
            self.readers.insert(index, self.readers[index - 1])
        return index

    def merge(self, first: int, last: int, writers: Counts) -> None:
        """One segment written by `writers` and not read since in place of several."""
        self.starts[first:last] = [self.starts[first]]
        self.writers[first:last] = [writers]
        self.readers[first:last] = [self.none]


class Order:
    """Hands out, instruction by instruction in program order, the waits that make concurrent units safe."""

    def __init__(self, units: int, memories: int, blocks: Sequence[int] = ()) -> None:
        """`blocks`: the bytes of a block in each memory (64 if not said)."""
        self.units = units
        self.memories = [_Memory(units) for _ in range(memories)]
        self.blocks = blocks or (BLOCK_BYTES,) * memories
        self.issued = [0] * units
        self.known: list[Counts] = [(0,) * units for _ in range(units)]
        self.clocks: list[list[Counts]] = [[(0,) * units] for _ in range(units)]

    def issue(self, unit: int, reads: list[Span], writes: list[Span]) -> list[tuple[int, int]]:
        """(unit, count) pairs: the instruction may start when that many of the unit's instructions are done.

        Waits that follow from earlier ones are left out.
        """
        needs = [0] * self.units
        count = self.issued[unit] + 1
        for span in reads:
            self._read(span, unit, count, needs)
        for span in writes:
            self._write(span, unit, count, needs)
        return self._wait(unit, count, needs)

    def _segments(self, span: Span) -> Iterator[tuple[_Memory, int, int]]:
        """The segments of each interval of a span."""
        memory, block = self.memories[span.memory], self.blocks[span.memory]
        for number in range(span.intervals):
            low, high = span.low + number * span.stride, span.high + number * span.stride
            yield (memory, *memory.segments(low // block * block, -(-high // block) * block))

    def _read(self, span: Span, unit: int, count: int, needs: list[int]) -> None:
        for memory, first, last in self._segments(span):
            readers = memory.readers
            for i in range(first, last):
                _raise_to(needs, memory.writers[i])
                old = readers[i]
                readers[i] = (*old[:unit], count, *old[unit + 1 :])

    def _write(self, span: Span, unit: int, count: int, needs: list[int]) -> None:
        for memory, first, last in self._segments(span):
            for i in range(first, last):
                _raise_to(needs, memory.writers[i])
                _raise_to(needs, memory.readers[i])
            none = memory.none
            memory.merge(first, last, (*none[:unit], count, *none[unit + 1 :]))

    def _wait(self, unit: int, count: int, needs: list[int]) -> list[tuple[int, int]]:
        known = self.known[unit]
        waits = [(v, n) for v, n in enumerate(needs) if v != unit and n > known[v]]
        if len(waits) > 1:
            clocks = self.clocks
            waits = [(v, n) for v, n in waits if not any(clocks[w][m][v] >= n for w, m in waits if w != v)]
        for v, n in waits:
            known = tuple(map(max, known, self.clocks[v][n]))
        self.known[unit] = known
        self.issued[unit] = count
        self.clocks[unit].append((*known[:unit], count, *known[unit + 1 :]))
        return waits


def _raise_to(needs: list[int], counts: Counts) -> None:
    for unit, count in enumerate(counts):
        if count > needs[unit]:
            needs[unit] = count
