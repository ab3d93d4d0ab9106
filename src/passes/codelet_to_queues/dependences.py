"""Which instructions an instruction depends on: through bytes of memory that both touch, one of them to write."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...costs.compiled import compiled
from .timed import Arrows

Places = NDArray[np.int32]

MAX_INTERVALS = 1 << 24
"""Intervals that are told apart; where spans have more, each is taken as one from its first byte to its last."""

MEMORY_BITS = 44

MOST_UNUSED = 8
"""Bytes of memory for each end of an interval up to which ends are sorted by a table of all bytes."""


class Span(NamedTuple):
    """Bytes `low` to `high` (exclusive) of a memory, and `intervals - 1` times as many, each `stride` further.

    And `groups - 1` times as many as these, each `pitch` further.
    """

    memory: int
    low: int
    high: int
    intervals: int = 1
    stride: int = 0
    groups: int = 1
    pitch: int = 0


class Touches:
    """Collects what instructions touch, in program order."""

    def __init__(self) -> None:
        self.spans = array("q")  # fields of `Span`, whether it is written, instruction
        self.count = 0

    def add(self, reads: Sequence[Span], writes: Sequence[Span]) -> None:
        """What the next instruction reads and writes."""
        for spans, written in ((reads, 0), (writes, 1)):
            for span in spans:
                self.spans.extend((*span, written, self.count))
        self.count += 1

    def dependences(self) -> Arrows:
        """What each instruction depends on, each once; all are before it.

        What follows from others through bytes that were written in between is left out.
        """
        table = np.frombuffer(self.spans, np.int64).reshape(-1, 9)
        memory, low, high, intervals, stride, groups, pitch, written, number = table.T
        if (intervals * groups).sum() > MAX_INTERVALS:
            high = high + (intervals - 1) * stride + (groups - 1) * pitch
            intervals, groups = np.ones_like(intervals), np.ones_like(groups)
        counts = intervals * groups
        span = np.repeat(np.arange(len(table)), counts)
        place = np.arange(len(span)) - np.repeat(np.cumsum(counts) - counts, counts)
        group, place = np.divmod(place, intervals[span])
        base = (memory[span] << MEMORY_BITS) + place * stride[span] + group * pitch[span]
        ends = np.concatenate([base + low[span], base + high[span]])
        segments, where = _ranks(ends)
        first = np.searchsorted(number[span], np.arange(self.count + 1))
        found: tuple[Any, Any] = _walk(
            first, where[: len(span)], where[len(span) :], written[span].astype(np.bool_), segments
        )
        return Arrows(*found)


def _ranks(ends: NDArray[np.int64]) -> tuple[int, NDArray[np.int32]]:
    """How many different addresses there are, and the place of each in their order; by a table where few are unused."""
    memory = ends >> MEMORY_BITS
    compact, size = np.empty_like(ends), 0
    for number in np.unique(memory).tolist():
        there = memory == number
        low, high = int(ends[there].min()), int(ends[there].max()) + 1
        compact[there] = ends[there] - low + size
        size += high - low
    if size > MOST_UNUSED * len(ends):
        found, where = np.unique(ends, return_inverse=True)
        return len(found), where.astype(np.int32)
    used = np.zeros(size, np.bool_)
    used[compact] = True
    table = np.cumsum(used, dtype=np.int32)
    return int(table[-1]) if size else 0, table[compact] - 1


@compiled
def _walk(
    first: NDArray[np.int64], lows: Places, highs: Places, written: NDArray[np.bool_], segments: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Dependences of instructions whose intervals `first[i]` to `first[i + 1]` cover segments `lows` to `highs`.

    Each segment has its last writer, and the list of those that read it since; with those of the segment before it goes
    as that.  Cell c of lists is instruction `reader[c]`, then list `rest[c]`; `longer[c]` is c after one instruction.
    """
    count = len(first) - 1
    writer = np.full(segments, -1, np.int32)
    readers = np.zeros(segments, np.int32)
    reader, rest, longer = np.full(1024, -1, np.int32), np.full(1024, -1, np.int32), np.zeros(1024, np.int32)
    passed = np.full(1024, -1, np.int32)  # the last instruction that walked through a cell
    cells, found = 1, 0  # cell 0 is the empty list
    met = np.full(count, -1, np.int32)  # the last instruction that was found to depend on one
    starts = np.zeros(count + 1, np.int64)
    before = np.empty(4 * count + 16, np.int32)
    for number in range(count):
        if found + number + 1 > len(before):
            before = np.concatenate((before, np.empty(len(before) + number, np.int32)))
        last_writer, last_cell, last_written, last_made = -2, -1, False, 0
        for interval in range(first[number], first[number + 1]):
            for segment in range(lows[interval], highs[interval]):
                other, cell = writer[segment], readers[segment]
                if other == last_writer and cell == last_cell and written[interval] == last_written:
                    writer[segment], readers[segment] = number if last_written else other, last_made
                    continue
                last_writer, last_cell, last_written = other, cell, written[interval]
                last_made = 0 if last_written else cell
                if other >= 0 and other != number and met[other] != number:
                    met[other] = number
                    before[found] = other
                    found += 1
                if not last_written:
                    if reader[cell] == number:
                        continue
                    if longer[cell] == 0 or reader[longer[cell]] != number:
                        if cells == len(reader):
                            more = np.full(cells, -1, np.int32)
                            reader, rest = np.concatenate((reader, more)), np.concatenate((rest, more))
                            longer, passed = (
                                np.concatenate((longer, np.zeros_like(more))),
                                np.concatenate((passed, more)),
                            )
                        reader[cells], rest[cells], longer[cell] = number, cell, cells
                        cells += 1
                    readers[segment] = last_made = longer[cell]
                    continue
                while cell > 0 and passed[cell] != number:
                    passed[cell] = number
                    other = reader[cell]
                    if other != number and met[other] != number:
                        met[other] = number
                        before[found] = other
                        found += 1
                    cell = rest[cell]
                writer[segment], readers[segment] = number, 0
        starts[number + 1] = found
    return starts, before[:found].copy()
