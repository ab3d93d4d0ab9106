"""Where the weights of fused groups lie, so that those of the next group can be loaded while one still computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...machine import Memory


@dataclass
class WeightRoom:
    """Places in memories that hold weights only: each group goes on where the one before ended, round and round.

    So what is free is filled first, then the places of layers that are done first.  `used` are the first and last
    places (exclusive) of the weights of the group before, by memory.
    """

    used: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

    def place(self, memory: Memory, sizes: Sequence[int]) -> list[int] | None:
        """Addresses for the tensors of the next group, of so many bytes; None where they do not fit."""
        sizes = [-(-size // memory.align_bytes) * memory.align_bytes for size in sizes]
        begin = max((end for _, end in self.used.get(memory.name, ())[-1:]), default=0)
        for start in (begin, 0):
            found = _round(sizes, start, memory.capacity_bytes)
            if found is not None:
                return found
        return None

    def is_free(self, memory: str, address: int, size: int) -> bool:
        """Whether nothing of the group before lies there."""
        return all(end <= address or address + size <= start for start, end in self.used.get(memory, ()))


def _round(sizes: Sequence[int], start: int, capacity: int) -> list[int] | None:
    """One after another from `start` on, once over the end of the memory, and no further than `start` then."""
    found: list[int] = []
    at, end, wrapped = start, capacity, False
    for size in sizes:
        if at + size > end and not wrapped:
            at, end, wrapped = 0, start, True
        if at + size > end:
            return None
        found.append(at)
        at += size
    return found
