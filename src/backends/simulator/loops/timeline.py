"""When things happen on a machine of loops: one DRAM channel, the array and the vector engine work at the same time.

A transfer starts when DRAM is free and one of the copies of its memory (`buffering`) is: the tile that used it
`buffering` loads before has ended.  The array starts a tile when what the tile reads has come and a copy of its sums is
free; it takes a cycle an issue, and the sums are there a latency later.  The vector engine starts when the sums are
there and what it wrote before has been stored.  Stores go to DRAM as they become ready, loads before them where those
are ready earlier.  Each instruction takes the engine that it configures a cycle, before the group starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Slice:
    """Something that a unit or link did, for traces."""

    row: str
    name: str
    index: int
    start_cycle: int
    end_cycle: int


@dataclass
class Buffer:
    """Copies of a memory: when the newest content is there, and the last use of each content so far."""

    copies: int
    ready: int = 0
    uses: list[int] = field(default_factory=lambda: [0])

    def use(self, cycle: int) -> None:
        """The newest content is in use up to a cycle."""
        self.uses[-1] = max(self.uses[-1], cycle)


@dataclass(frozen=True)
class _Store:
    ready: int
    cycles: int
    name: str
    index: int
    memory: str
    content: int  # number of the content of the memory that it reads


class Timeline:
    """The clocks of a run."""

    def __init__(self, copies: dict[str, int], channel: str) -> None:
        self.buffers = {name: Buffer(count) for name, count in copies.items()}
        self.channel = channel
        self.dram = 0
        self.engines: dict[str, int] = {}
        self.stores: list[_Store] = []
        self.slices: list[Slice] = []
        self.end = 0

    def configure(self, unit: str, instructions: int) -> None:
        """Instructions that an engine takes before it starts."""
        self.engines[unit] = self.engines.get(unit, 0) + instructions

    def begin(self, memory: str) -> int:
        """Begins a new content of a memory; the cycle from which a copy is free for it."""
        buffer = self.buffers[memory]
        oldest = len(buffer.uses) - buffer.copies
        while any(store.memory == memory and store.content <= oldest for store in self.stores):
            self._store_next()
        buffer.uses.append(0)
        return buffer.uses[oldest] if oldest >= 0 else 0

    def load(self, memory: str, cycles: int, name: str, index: int) -> None:
        """A transfer that is a new content of a memory."""
        free = self.begin(memory)
        while self.stores and max(self.stores[0].ready, self.dram) <= max(free, self.dram):
            self._store_next()
        self.buffers[memory].ready = self._use_dram(free, cycles, name, index)

    def store(self, memory: str, ready: int, cycles: int, name: str, index: int) -> None:
        """A transfer out of a memory, whose content is in use until it ends."""
        content = len(self.buffers[memory].uses) - 1
        self.stores.append(_Store(ready, cycles, name, index, memory, content))

    def _store_next(self) -> None:
        store = self.stores.pop(0)
        end = self._use_dram(store.ready, store.cycles, store.name, store.index)
        uses = self.buffers[store.memory].uses
        uses[store.content] = max(uses[store.content], end)

    def _use_dram(self, ready: int, cycles: int, name: str, index: int) -> int:
        start = max(ready, self.dram)
        self.dram = start + cycles
        return self.note(self.channel, name, index, start, self.dram)

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

    def finish(self) -> int:
        """Stores that are left; the cycle in which everything has ended."""
        while self.stores:
            self._store_next()
        return self.end
