"""The regions on chip of fused groups, as a program tells them to the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import TilewrightError
from ..machine import Machine


@dataclass(frozen=True)
class Region:
    """`bytes` bytes of a memory from `start` on, for a map of the fused group of instructions `first` to `last`."""

    name: str
    memory: str
    start: int
    bytes: int
    first: int
    last: int


def region_of(entry: Mapping[str, Any]) -> Region:
    """A region from the table of a saved program; `TilewrightError` (kind `program`) where something is missing."""
    missing = [key for key in ("name", "memory", "start", "bytes", "first", "last") if key not in entry]
    if missing:
        raise TilewrightError("program", "regions", f"{missing[0]} of each region", "none")
    start, size, first, last = (int(entry[key]) for key in ("start", "bytes", "first", "last"))
    return Region(str(entry["name"]), str(entry["memory"]), start, size, first, last)


def check_regions(machine: Machine, regions: Iterable[Region]) -> None:
    """Raises `TilewrightError` (kind `program`) for a region outside of its memory, or of no instructions."""
    capacities = {memory.name: memory.capacity_bytes for memory in machine.memories}
    for region in regions:
        end = region.start + region.bytes
        if region.start < 0 or region.bytes < 0 or end > capacities.get(region.memory, -1):
            expected = f"bytes within {', '.join(f'{size} of {name}' for name, size in capacities.items())}"
            raise TilewrightError("program", region.name, expected, f"{region.start} to {end} of {region.memory}")
        if not 0 <= region.first <= region.last:
            raise TilewrightError("program", region.name, "instructions in order", f"{region.first} to {region.last}")
