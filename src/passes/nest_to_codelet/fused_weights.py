"""Where the weights of fused groups lie, so that those of the next group can be loaded while one still computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...algebra.allocation import allocate_ring
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
        begin = max((end for _, end in self.used.get(memory.name, ())[-1:]), default=0)
        return allocate_ring(sizes, begin, memory.capacity_bytes, memory.align_bytes)

    def is_free(self, memory: str, address: int, size: int) -> bool:
        """Whether nothing of the group before lies there."""
        return all(end <= address or address + size <= start for start, end in self.used.get(memory, ()))
