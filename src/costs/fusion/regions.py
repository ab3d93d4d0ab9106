"""Where regions lie in the global buffer: a table of bounded depth (Cocco, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...algebra.allocation import BumpAllocator, require_bytes
from ...errors import InfeasibleError


@dataclass(frozen=True)
class Region:
    """Bytes `start` up to `end` (exclusive) of the buffer."""

    name: str
    start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start


@dataclass
class RegionManager(BumpAllocator):
    """Regions one after another; at most `depth` are held at a time, in `capacity_bytes`."""

    depth: int = field(kw_only=True)
    capacity_bytes: int = field(kw_only=True)
    held: list[Region] = field(default_factory=list[Region])
    peak_bytes: int = 0

    def region(self, name: str, size_bytes: int) -> Region:
        """A region of at least `size_bytes`; `InfeasibleError` where the table or the buffer is full."""
        if len(self.held) == self.depth:
            lever = f"use a region manager of at least {self.depth + 1} regions, or smaller groups"
            raise InfeasibleError("region manager", self.depth + 1, self.depth, "regions", lever, name)
        region = Region(name, self.take(size_bytes), self.end)
        require_group_bytes("global buffer", self.end, self.capacity_bytes, name)
        self.held.append(region)
        self.peak_bytes = max(self.peak_bytes, self.end)
        return region

    def release_to(self, count: int) -> None:
        """Give back all regions but the first `count`."""
        del self.held[count:]
        self.end = self.held[-1].end if self.held else 0


def require_group_bytes(memory: str, demand: int, capacity: int, subject: str) -> None:
    """`InfeasibleError` about a part of a group, or a whole group, that does not fit."""
    lever = f"use a {memory} of at least {demand} bytes, or smaller groups"
    require_bytes(memory, demand, capacity, subject, lever)
