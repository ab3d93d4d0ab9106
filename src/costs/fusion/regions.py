"""Where regions lie in the global buffer: a table of bounded depth (Cocco, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

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
class RegionManager:
    """Gives out regions one after another; at most `depth` are held at a time, sizes are multiples of `align_bytes`."""

    depth: int
    capacity_bytes: int
    align_bytes: int = 1
    held: list[Region] = field(default_factory=list[Region])
    peak_bytes: int = 0

    @property
    def top(self) -> int:
        """Where the next region begins."""
        return self.held[-1].end if self.held else 0

    def take(self, name: str, size: int) -> Region:
        """A region of at least `size` bytes; `InfeasibleError` where the table or the buffer is full."""
        end = self.top + -(-size // self.align_bytes) * self.align_bytes
        if len(self.held) == self.depth:
            lever = f"use a region manager of at least {self.depth + 1} regions, or smaller groups"
            raise InfeasibleError("region manager", self.depth + 1, self.depth, "regions", lever, name)
        if end > self.capacity_bytes:
            lever = f"use a global buffer of at least {end} bytes, or smaller groups"
            raise InfeasibleError("global buffer", end, self.capacity_bytes, "bytes", lever, name)
        region = Region(name, self.top, end)
        self.held.append(region)
        self.peak_bytes = max(self.peak_bytes, end)
        return region

    def release_to(self, count: int) -> None:
        """Give back all regions but the first `count`."""
        del self.held[count:]
