"""What must follow what: dependences of instructions in straight code, and of a loop's body on its next iteration."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ...machine.packet_isa import Isa
from ...machine.packet_program import Instruction


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
