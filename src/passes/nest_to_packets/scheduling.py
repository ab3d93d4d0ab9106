"""Scheduling of packets: dependences, list scheduling of straight code, and modulo scheduling of loops.

Modulo scheduling, where a loop's iterations start every few packets, before those ahead of them end: Rau, "Iterative
modulo scheduling" (1994).  Intervals are tried upward from the bound that resources give; instructions go, the longest
way to the end first, to the first packet of their window where they fit, and throw out others where nothing is left.
Registers are those of the body as it is given: that a value is read before the next iteration writes its register is a
dependence like any other, so no copies of the body are needed.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ...machine.packet_program import Instruction, Isa, Packet


@dataclass(frozen=True)
class Edge:
    """`target`, `distance` iterations on, issues at least `latency` packets after `source`."""

    source: int
    target: int
    latency: int
    distance: int


def dependences(isa: Isa, body: Sequence[Instruction], loop: bool = False) -> list[Edge]:
    """The edges of a body in program order; with `loop` also those to its next iteration.

    A result is read `latency` packets later, a register may be written in the packet that reads it last (reads come
    first), and is written once in a packet.
    """
    scan = _Scan()
    effects = [isa.effects(instruction) for instruction in body]
    for repetition in range(1 + loop):
        for i, instruction in enumerate(body):
            at = i + repetition * len(body)
            memory = [("memory", part) for part in instruction.writes]
            for granule in (*effects[i].reads, *(("memory", part) for part in instruction.reads)):
                scan.read(at, granule)
            for granule, latency in effects[i].writes:
                scan.write(at, granule, latency)
            for part in memory:
                scan.store(at, part)
    count = len(body)
    kept: dict[tuple[int, int, int], int] = {}
    for source, target, latency in scan.edges:
        if source < count and source != target:
            key = (source, target % count, target // count)
            kept[key] = max(kept.get(key, 0), latency)
    return [Edge(s, t, latency, d) for (s, t, d), latency in kept.items() if d or s != t]


class _Scan:
    """Walks instructions in order; for each thing its last writers and who read it since."""

    def __init__(self) -> None:
        self.edges: list[tuple[int, int, int]] = []
        self.writers: dict[Hashable, list[tuple[int, int]]] = {}
        self.readers: dict[Hashable, list[int]] = {}

    def read(self, at: int, thing: Hashable) -> None:
        self.edges += [(writer, at, latency) for writer, latency in self.writers.get(thing, ())]
        self.readers.setdefault(thing, []).append(at)

    def write(self, at: int, thing: Hashable, latency: int) -> None:
        self.edges += [(reader, at, 0) for reader in self.readers.get(thing, ())]
        self.edges += [(writer, at, 1) for writer, _ in self.writers.get(thing, ())]
        self.writers[thing] = [(at, latency)]
        self.readers[thing] = []

    def store(self, at: int, part: Hashable) -> None:
        """Stores of one part are apart from each other; only reads come between."""
        readers = self.readers.get(part, [])
        self.edges += [(reader, at, 0) for reader in readers]
        if readers:
            self.writers[part] = []
            self.readers[part] = []
        self.writers.setdefault(part, []).append((at, 1))


def schedule_straight(isa: Isa, body: Sequence[Instruction]) -> list[Packet]:
    """`body`, given in an order that is right one by one, as packets that do the same.

    Nothing is said of waiting: where no instruction is ready a packet would be empty, and is left out.
    """
    edges = dependences(isa, body)
    heights = heights_of(len(body), edges)
    waiting = [0] * len(body)
    earliest = [0] * len(body)
    successors: list[list[Edge]] = [[] for _ in body]
    for edge in edges:
        waiting[edge.target] += 1
        successors[edge.source].append(edge)
    ready = sorted((i for i in range(len(body)) if not waiting[i]), key=lambda i: (-heights[i], i))
    packets: list[Packet] = []
    time = 0
    while ready:
        chosen: list[int] = []
        progress = True
        while progress:
            progress = False
            for i in ready:
                if earliest[i] <= time and isa.fits(body[j].mnemonic for j in (*chosen, i)):
                    chosen.append(i)
                    ready = _released(i, time, ready, successors, waiting, earliest, heights)
                    progress = True
                    break
        if chosen:
            packets.append(tuple(body[i] for i in sorted(chosen)))
        time += 1
    return packets


def _released(
    i: int,
    time: int,
    ready: list[int],
    successors: Sequence[Sequence[Edge]],
    waiting: list[int],
    earliest: list[int],
    heights: Sequence[int],
) -> list[int]:
    """The ready instructions after `i` was issued."""
    left = [j for j in ready if j != i]
    for edge in successors[i]:
        earliest[edge.target] = max(earliest[edge.target], time + edge.latency)
        waiting[edge.target] -= 1
        if not waiting[edge.target]:
            left.append(edge.target)
    return sorted(left, key=lambda j: (-heights[j], j))


def heights_of(count: int, edges: Sequence[Edge]) -> list[int]:
    """The longest way from each instruction to the end, over edges within an iteration; each counts one itself."""
    heights = [1] * count
    inner = sorted((e for e in edges if not e.distance), key=lambda e: -e.source)
    for edge in inner:
        heights[edge.source] = max(heights[edge.source], heights[edge.target] + edge.latency)
    return heights


TRIES_PER_INSTRUCTION = 12
SLACK_PACKETS = 8


@dataclass(frozen=True)
class Pipeline:
    """Iteration k issues `body[i]` at packet `times[i] + k * interval`."""

    body: tuple[Instruction, ...]
    times: tuple[int, ...]
    interval: int

    @property
    def stages(self) -> int:
        """How many iterations are under way at once."""
        return max(self.times) // self.interval + 1

    def kernel(self) -> list[Packet]:
        """The packets of the steady state, older iterations' instructions first."""
        order = sorted(range(len(self.body)), key=lambda i: (-self.times[i], i))
        return [
            tuple(self.body[i] for i in order if self.times[i] % self.interval == row) for row in range(self.interval)
        ]

    def ends(self, trips: int) -> tuple[list[Instruction], list[Instruction]]:
        """What of `trips` iterations (at least `stages`) issues before and after the steady state, in a right order."""
        start, stop = (self.stages - 1) * self.interval, trips * self.interval
        events = sorted(
            (self.times[i] + k * self.interval, k, i)
            for k in {*range(self.stages - 1), *range(max(trips - self.stages + 1, 0), trips)}
            for i in range(len(self.body))
        )
        before = [self.body[i] for time, _, i in events if time < start]
        return before, [self.body[i] for time, _, i in events if time >= stop]


def lowest_of(isa: Isa, names: Sequence[str]) -> int:
    """The packets that resources and words alone make instructions of these mnemonics take."""
    items = [isa.mnemonics[name] for name in names]
    lowest = -(-sum(item.words for item in items) // isa.packets.words)
    needs = [need for item in items for need in item.needs]
    for choice in set(needs):
        union = {resource for together in choice for resource in together}
        inside = [need for need in needs if all(union.issuperset(together) for together in need)]
        used = sum(min(len(together) for together in need) for need in inside)
        lowest = max(lowest, -(-used // len(union)))
    return max(lowest, 1)


def schedule_loop(isa: Isa, body: Sequence[Instruction]) -> Pipeline | None:
    """The body's pipeline of the shortest interval found, None where none within `SLACK_PACKETS` of the bound is."""
    key = tuple(body)
    if key not in isa.pipelines:
        isa.pipelines[key] = _times(isa, key)
    found = isa.pipelines[key]
    return Pipeline(key, *found) if found is not None else None


def _times(isa: Isa, body: Sequence[Instruction]) -> tuple[tuple[int, ...], int] | None:
    """When each instruction issues, and the interval."""
    edges = dependences(isa, body, loop=True)
    lowest = lowest_of(isa, [instruction.mnemonic for instruction in body])
    for interval in range(lowest, lowest + SLACK_PACKETS):
        times = _Attempt(isa, body, edges, interval).run()
        if times is not None:
            first = min(times) // interval * interval
            return tuple(time - first for time in times), interval
    return None


class _Attempt:
    """One try at an interval."""

    def __init__(self, isa: Isa, body: Sequence[Instruction], edges: Sequence[Edge], interval: int) -> None:
        self.isa, self.body, self.interval = isa, body, interval
        self.into: list[list[Edge]] = [[] for _ in body]
        self.out: list[list[Edge]] = [[] for _ in body]
        for edge in edges:
            self.into[edge.target].append(edge)
            self.out[edge.source].append(edge)
        self.edges = edges
        self.times: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.rows: list[list[int]] = [[] for _ in range(interval)]

    def run(self) -> list[int] | None:
        """Issue times, None where the budget ends before all are placed."""
        heights = self.heights()
        if heights is None:
            return None
        order = sorted(range(len(self.body)), key=lambda i: (-heights[i], i))
        budget = TRIES_PER_INSTRUCTION * len(self.body)
        while len(self.times) < len(self.body):
            if not budget:
                return None
            budget -= 1
            self.place(next(i for i in order if i not in self.times))
        return [self.times[i] for i in range(len(self.body))]

    def heights(self) -> list[float] | None:
        """Longest ways to the end at this interval; None if a cycle is longer than the interval allows."""
        heights = [0.0] * len(self.body)
        for _ in range(len(self.body) + 1):
            changed = False
            for edge in self.edges:
                reached = heights[edge.target] + edge.latency - self.interval * edge.distance
                if reached > heights[edge.source]:
                    heights[edge.source] = reached
                    changed = True
            if not changed:
                return heights
        return None

    def place(self, i: int) -> None:
        placed = [e for e in self.into[i] if e.source in self.times]
        starts = [self.times[e.source] + e.latency - self.interval * e.distance for e in placed]
        earliest = max([0, *starts])
        time = next((t for t in range(earliest, earliest + self.interval) if self.free(i, t)), None)
        if time is None:
            time = max(earliest, self.last.get(i, -1) + 1)
        self.last[i] = time
        self.evict(i, time)
        self.times[i] = time
        self.rows[time % self.interval].append(i)

    def free(self, i: int, time: int) -> bool:
        row = self.rows[time % self.interval]
        return self.isa.fits(self.body[j].mnemonic for j in (*row, i))

    def evict(self, i: int, time: int) -> None:
        """Takes back what does not fit beside `i` at `time`, and what `i` would issue too late for."""
        row = self.rows[time % self.interval]
        while row and not self.free(i, time):
            self.remove(row[0])
        for edge in self.out[i]:
            if edge.target in self.times and edge.target != i:
                if self.times[edge.target] < time + edge.latency - self.interval * edge.distance:
                    self.remove(edge.target)
        for edge in self.into[i]:
            if edge.source in self.times and edge.source != i:
                if time < self.times[edge.source] + edge.latency - self.interval * edge.distance:
                    self.remove(edge.source)

    def remove(self, i: int) -> None:
        self.rows[self.times.pop(i) % self.interval].remove(i)
