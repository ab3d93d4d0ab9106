"""List scheduling: straight code into packets, the instruction with the longest way to the end first."""

from __future__ import annotations

from collections.abc import Sequence

from ...machine.packet_isa import Isa
from ...machine.packet_program import Instruction, Packet
from .dependences import Edge, dependences


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
