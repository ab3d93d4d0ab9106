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
    """A region of `bytes` from `start` on; `peak_bytes` up to the end of the highest access that lies in it."""

    name: str
    memory: str
    start: int
    bytes: int
    peak_bytes: int


def region_uses(stream: Stream, regions: Sequence[Region]) -> tuple[RegionUse, ...]:
    """The use of each region from the first instruction of its group to the last."""
    numbers = {memory.name: number for number, memory in enumerate(stream.machine.memories)}
    touched: dict[tuple[int, int, int], set[tuple[int, int]]] = {}
    uses: list[RegionUse] = []
    for region in regions:
        key = region.first, region.last, numbers[region.memory]
        if key not in touched:
            touched[key] = _ends(stream, *key)
        stop = region.start + region.bytes
        inside = [end for low, end in touched[key] if region.start <= low and end <= stop]
        peak = max(inside, default=region.start) - region.start
        uses.append(RegionUse(region.name, region.memory, region.start, region.bytes, peak))
    return tuple(uses)


def _ends(stream: Stream, first: int, last: int, memory: int) -> set[tuple[int, int]]:
    """First byte and end of each access."""
    return {
        (address + touch.low, address + touch.high)
        for plan, addresses in zip(stream.plans[first:last], stream.addresses[first:last], strict=True)
        for touch, address in zip(plan.touches, addresses, strict=False)
        if touch.memory == memory
    }
