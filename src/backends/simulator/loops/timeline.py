"""When things happen on a machine of loops: one DRAM channel, the array and the vector engine work at the same time.

DRAM serves transfers in bursts: each takes the channel's idle cycles from when one of the copies of its memory
(`buffering`) is free, that is, when the tile that used it `buffering` loads before has ended; transfers that come first
in the program take theirs first.  The array starts a tile when what the tile reads has come and a copy of its sums is
free; it takes a cycle an issue and its latency to fill and drain.  The vector engine starts when the sums are there and
what it wrote before has been stored.  Loads wait for the stores of groups before them to the same bytes.  Each
instruction takes the engine that it configures a cycle, before the group starts.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

from ..trace import Slice


@dataclass
class Buffer:
    """Copies of a memory: when the newest content is there, and the last use of each content so far."""

    copies: int
    ready: int = 0
    uses: list[int] = field(default_factory=lambda: [0])

    def use(self, cycle: int) -> None:
        """The newest content is in use up to a cycle."""
        self.uses[-1] = max(self.uses[-1], cycle)


@dataclass
class Channel:
    """The idle cycles of DRAM: gaps (start, end), increasing, and the cycle from which on all are idle."""

    gaps: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    tail: int = 0

    def take(self, ready: int, cycles: int) -> tuple[int, int]:
        """The first so many idle cycles from `ready` on; where they begin and end."""
        at = bisect_right(self.gaps, (ready, 1 << 62))
        if at and self.gaps[at - 1][1] > ready:
            at -= 1
        begun = -1
        while cycles and at < len(self.gaps):
            start, end = self.gaps[at]
            first = max(start, ready)
            used = min(end - first, cycles)
            rest = [(start, first)] if start < first else []
            rest += [(first + used, end)] if first + used < end else []
            self.gaps[at : at + 1] = rest
            begun = first if begun < 0 else begun
            cycles -= used
            at += len(rest)
            last = first + used
            if not cycles:
                return begun, last
        first = max(self.tail, ready)
        if first > self.tail:
            self.gaps.append((self.tail, first))
        self.tail = first + cycles
        return (first if begun < 0 else begun), self.tail


class Timeline:
    """The clocks of a run."""

    def __init__(self, copies: dict[str, int], channel: str) -> None:
        self.buffers = {name: Buffer(count) for name, count in copies.items()}
        self.channel = channel
        self.dram = Channel()
        self.engines: dict[str, int] = {}
        self.slices: list[Slice] = []
        self.end = 0

    def configure(self, unit: str, instructions: int) -> None:
        """Instructions that an engine takes before it starts."""
        self.engines[unit] = self.engines.get(unit, 0) + instructions

    def begin(self, memory: str) -> int:
        """Begins a new content of a memory; the cycle from which a copy is free for it."""
        buffer = self.buffers[memory]
        oldest = len(buffer.uses) - buffer.copies
        buffer.uses.append(0)
        return buffer.uses[oldest] if oldest >= 0 else 0

    def load(self, memory: str, cycles: int, name: str, index: int, after: int = 0) -> None:
        """A transfer that is a new content of a memory, of bytes that are there after a cycle."""
        self.buffers[memory].ready = self._use_dram(max(self.begin(memory), after), cycles, name, index)

    def store(self, memory: str, ready: int, cycles: int, name: str, index: int) -> int:
        """A transfer out of a memory, whose content is in use until it ends; when it ends."""
        end = self._use_dram(ready, cycles, name, index)
        self.buffers[memory].use(end)
        return end

    def fetch(self, cycles: int, index: int) -> None:
        """A transfer of instructions, between what all engines do before and what they do then."""
        end = self._use_dram(max(self.engines.values(), default=0), cycles, "instructions", index)
        for name in self.engines:
            self.engines[name] = end

    def _use_dram(self, ready: int, cycles: int, name: str, index: int) -> int:
        start, end = self.dram.take(ready, cycles)
        return self.note(self.channel, name, index, start, end)

    def run(self, unit: str, ready: int, cycles: int, name: str, index: int) -> tuple[int, int]:
        """An engine at work from when it is free and everything is ready; start and end."""
        start = max(ready, self.engines.get(unit, 0))
        self.engines[unit] = start + cycles
        return start, self.note(unit, name, index, start, start + cycles)

    def note(self, row: str, name: str, index: int, start: int, end: int) -> int:
        """Remembers something for the trace."""
        if end > start:
            self.slices.append(Slice(row, name, index, start, end))
        self.end = max(self.end, end)
        return end
