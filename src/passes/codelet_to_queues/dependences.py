"""Which instructions an instruction depends on: through bytes of memory that both touch, one of them to write."""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...algebra.element import Bools, Ints
from ...costs.compiled import bare, compiled
from .timed import Arrows

Spans = Ints
"""Rows of the fields of `Span`, whether it is written, and the number of the instruction."""

LOW, HIGH, INTERVALS, STRIDE, GROUPS, PITCH, WRITTEN = range(1, 8)

MAX_INTERVALS = 1 << 28
"""Intervals that are told apart; where spans have more, each is taken as one from its first byte to its last."""

MOST_UNUSED = 8
"""Bytes of memory for each end of an interval up to which ends are looked up in a table of all bytes."""


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

    def table(self) -> Spans:
        """All of it."""
        return np.frombuffer(self.spans, np.int64).reshape(-1, 9).copy()

    def dependences(self) -> Arrows:
        """What each instruction depends on."""
        return dependences(self.table(), self.count)


def dependences(spans: Spans, count: int) -> Arrows:
    """What each of some instructions depends on, each once; all are before it.  Moves `spans`, which are in order.

    What follows from others through bytes that were written in between is left out.
    """
    _, _, high, intervals, stride, groups, pitch, _, number = spans.T
    if (intervals * groups).sum() > MAX_INTERVALS:
        high += (intervals - 1) * stride + (groups - 1) * pitch
        intervals[:] = groups[:] = 1
    first = np.searchsorted(number, np.arange(count + 1))
    found: tuple[Any, Any] = _walk(first, spans, _ranks(spans))
    starts, others = found
    return Arrows(starts, others[: starts[-1]].copy())


class _Ranks(NamedTuple):
    """Where addresses at which intervals begin or end stand in the order of all of these, of which there are `total`.

    In a `table` of bytes by their address; of `others` in the order of intervals.
    """

    table: NDArray[np.int32]
    others: NDArray[np.int32]
    total: int


def _ranks(spans: Spans) -> _Ranks:
    """Moves spans: memories one after another.  Those whose bytes are few for their intervals come first, with a table
    of all bytes.
    """
    memory, low, high, intervals, stride, groups, pitch = spans.T[:7]
    last = high + (intervals - 1) * stride + (groups - 1) * pitch
    ends = {each: (int(low[memory == each].min()), int(last[memory == each].max()) + 1) for each in np.unique(memory)}
    counts = {each: 2 * int((intervals * groups)[memory == each].sum()) for each in ends}
    is_dense = {each: stop - start <= MOST_UNUSED * counts[each] for each, (start, stop) in ends.items()}
    size, total = 0, 0
    for each in sorted(ends, key=lambda each: not is_dense[each]):
        start, stop = ends[each]
        low[memory == each] += total - start
        high[memory == each] += total - start
        total += stop - start
        size = total if is_dense[each] else size
    used, far = np.zeros(size, np.bool_), np.empty(sum(counts[each] for each in ends if not is_dense[each]), np.int64)
    _mark(spans, used, far)
    table = np.cumsum(used, dtype=np.int32) - 1
    dense = int(table[-1]) + 1 if size else 0
    addresses, ranks = np.unique(far, return_inverse=True)
    return _Ranks(table, (dense + ranks).astype(np.int32), dense + len(addresses))


@compiled
def _mark(spans: Spans, used: Bools, far: Ints) -> None:
    """Notes where intervals begin and end, in the table of bytes or one after another."""
    count = 0
    for row in range(len(spans)):
        for place in range(spans[row, INTERVALS] * spans[row, GROUPS]):
            low, high = _interval(spans[row], place)
            if low < len(used):
                used[low] = used[high] = True
            else:
                far[count], far[count + 1] = low, high
                count += 2


@bare
def _interval(span: Ints, place: int) -> tuple[int, int]:
    """Where an interval of a span begins and ends."""
    base = place // span[INTERVALS] * span[PITCH] + place % span[INTERVALS] * span[STRIDE]
    return span[LOW] + base, span[HIGH] + base


@compiled
def _walk(first: Ints, spans: Spans, ranks: _Ranks) -> tuple[Ints, NDArray[np.int32]]:
    """Dependences of instructions that touch spans `first[i]` to `first[i + 1]`, and room for more.

    Bytes from one rank to the next are a segment.  Each has its last writer, and the list of those that read it since;
    with those of the segment before it goes as that.  Cell c of lists is instruction `reader[c]`, then list `rest[c]`;
    `longer[c]` is c after one instruction, `passed[c]` the last one that walked through.
    """
    count, dense = len(first) - 1, len(ranks.table)
    writer, readers = np.full(ranks.total, -1, np.int32), np.full(ranks.total, 0, np.int32)
    reader, rest = np.full(1024, -1, np.int32), np.full(1024, -1, np.int32)
    longer, passed = np.full(1024, 0, np.int32), np.full(1024, -1, np.int32)
    cells, found, given = 1, 0, 0  # cell 0 is the empty list
    met = np.full(count, -1, np.int32)  # the last instruction that was found to depend on one
    starts, before = np.zeros(count + 1, np.int64), np.full(4 * count + 16, 0, np.int32)
    for number in range(count):
        if found + number + 1 > len(before):
            before = np.concatenate((before, before))
        last_writer, last_cell, last_written, last_made = -2, -1, False, 0
        for row in range(first[number], first[number + 1]):
            written = spans[row, WRITTEN] != 0
            for place in range(spans[row, INTERVALS] * spans[row, GROUPS]):
                low, high = _interval(spans[row], place)
                if low < dense:
                    low, high = ranks.table[low], ranks.table[high]
                else:
                    low, high = ranks.others[given], ranks.others[given + 1]
                    given += 2
                for segment in range(low, high):
                    other, cell = writer[segment], readers[segment]
                    if other == last_writer and cell == last_cell and written == last_written:
                        writer[segment], readers[segment] = number if last_written else other, last_made
                        continue
                    last_writer, last_cell, last_written = other, cell, written
                    last_made = 0 if last_written else cell
                    if other >= 0 and other != number and met[other] != number:
                        met[other], before[found] = number, other
                        found += 1
                    if not last_written:
                        if reader[cell] == number:
                            continue
                        if longer[cell] == 0 or reader[longer[cell]] != number:
                            if cells == len(reader):
                                reader, rest = np.concatenate((reader, reader)), np.concatenate((rest, rest))
                                longer, passed = np.concatenate((longer, longer)), np.concatenate((passed, passed))
                            reader[cells], rest[cells], longer[cell] = number, cell, cells
                            longer[cells], passed[cells] = 0, -1
                            cells += 1
                        readers[segment] = last_made = longer[cell]
                        continue
                    while cell > 0 and passed[cell] != number:
                        passed[cell] = number
                        other = reader[cell]
                        if other != number and met[other] != number:
                            met[other], before[found] = number, other
                            found += 1
                        cell = rest[cell]
                    writer[segment], readers[segment] = number, 0
        starts[number + 1] = found
    return starts, before
