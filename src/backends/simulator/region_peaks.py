"""How much of each region of a fused group a run used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .stream import Stream

if TYPE_CHECKING:
    from ..program import Region


@dataclass(frozen=True)
class RegionUse:
    """A region of `bytes` from `start` on; `peak_bytes` up to the end of the highest access that began in it."""

    name: str
    memory: str
    start: int
    bytes: int
    peak_bytes: int


def region_uses(stream: Stream, regions: Sequence[Region]) -> tuple[RegionUse, ...]:
    """The use of each region by the instructions of its group."""
    numbers = {memory.name: number for number, memory in enumerate(stream.machine.memories)}
    touched: dict[tuple[int, int, int], dict[int, int]] = {}
    uses: list[RegionUse] = []
    for region in regions:
        key = region.first, region.last, numbers[region.memory]
        if key not in touched:
            touched[key] = _ends(stream, *key)
        inside = [end for low, end in touched[key].items() if region.start <= low < region.start + region.bytes]
        peak = max(inside, default=region.start) - region.start
        uses.append(RegionUse(region.name, region.memory, region.start, region.bytes, peak))
    return tuple(uses)


def _ends(stream: Stream, first: int, last: int, memory: int) -> dict[int, int]:
    """First byte of an access -> the highest end of accesses that begin there."""
    found: dict[int, int] = {}
    for plan, addresses in zip(stream.plans[first:last], stream.addresses[first:last], strict=True):
        for touch, address in zip(plan.touches, addresses, strict=False):
            if touch.memory == memory:
                low, high = address + touch.low, address + touch.high
                found[low] = max(found.get(low, high), high)
    return found
