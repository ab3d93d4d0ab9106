"""Transfers over links to a memory off chip whose device has a timing: when their last burst has moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from ...errors import TilewrightError
from ...machine import Link, Machine
from ...machine.dram import DramTiming, dram_timing
from .energy import Counts
from .plan import Plan
from .schedule import Issue
from .stream import Stream

if TYPE_CHECKING:
    from ...costs.dram_timing import Dram, DramCounts


FLAT: Literal["flat"] = "flat"
"""The bandwidths of links alone, also where the machine names a device."""

Device = DramTiming | Literal["flat"]


def device_of(dram: str | DramTiming | None, machine: Machine) -> Device | None:
    """The device that a caller names; `TilewrightError` (kind `dram`) on machines whose links know of none."""
    if dram is None or dram == FLAT:
        return None if dram is None else FLAT
    if machine.control != "queues":
        raise TilewrightError("dram", machine.name, "a machine of control queues", machine.control, "leave it out")
    return dram_timing(dram) if isinstance(dram, str) else dram


@dataclass(frozen=True)
class DramFigures:
    """What a device did in a run, by its name."""

    device: str
    counts: DramCounts

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"device": self.device, **vars(self.counts), "hit_share": self.counts.hit_share}


class DramLinks:
    """The devices behind the links of a machine, by the number of their memory.

    A transfer takes what its link takes, and is over no earlier than its bytes have moved in the device, which serves
    transfers in the order in which they start; the latency of the link comes to either.
    """

    def __init__(self, machine: Machine, timing: Device | None) -> None:
        named = {
            number: None if timing == FLAT else timing or memory.timing
            for number, memory in enumerate(machine.memories)
            if memory.offchip
        }
        self.devices = {number: _make(device) for number, device in named.items() if device is not None}
        self.ratios = {
            number: Fraction(device.timing.clock_hz) / Fraction(machine.frequency_hz)
            for number, device in self.devices.items()
        }
        self.names = {number: machine.memories[number].name for number in self.devices}

    def check(self, peaks: dict[str, int]) -> None:
        """Raise `TilewrightError` (kind `dram`) where a program reaches past a device."""
        for number, device in self.devices.items():
            reach, room = peaks.get(self.names[number], 0), device.timing.capacity_bytes
            if reach > room:
                expected = f"a program within its {room} bytes"
                lever = "take a larger device: more channels, such as :channels=8"
                raise TilewrightError("dram", device.timing.name, expected, f"addresses up to {reach}", lever)

    def end_cycle(self, plan: Plan, addresses: Sequence[int], start: int) -> int:
        """When an instruction that starts at a cycle is done."""
        end = start + plan.cycles
        bound = plan.bound
        if bound is None or not self.devices or not isinstance(bound.node, Link):
            return end
        for touch, address in zip(plan.touches, addresses, strict=False):
            device = self.devices.get(touch.memory)
            if device is None:
                continue
            ratio = self.ratios[touch.memory]
            starts = touch.rows.rows() + (address + touch.rows.low)
            tick = device.serve(starts, touch.rows.run, touch.writes, ceil(start * ratio))
            end = max(end, ceil(tick / ratio) + bound.node.latency_cycles)
        return end

    def figures(self) -> tuple[DramFigures, ...]:
        """What each device did."""
        return tuple(DramFigures(device.timing.name, device.counts) for device in self.devices.values())


def _make(timing: DramTiming) -> Dram:
    from ...costs.dram_timing import Dram

    return Dram(timing)


def add_waits(counts: Counts, stream: Stream, issues: Sequence[Issue]) -> None:
    """Counts the cycles that transfers took beyond those of their plans."""
    for issue in issues:
        plan = stream.plans[issue.index]
        more = issue.end_cycle - issue.start_cycle - plan.cycles
        if more > 0 and plan.bound is not None:
            counts.units[plan.bound.mnemonic.unit].busy_cycles += more
            counts.links[plan.bound.node.name].busy_cycles += more
