"""What a simulated run gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...algebra.element import Array
from ...errors import TilewrightError
from .dram_links import DramFigures
from .energy import Counts, utilization
from .layers import LayerFigures
from .memory import Storage
from .schedule import Issue
from .stream import Stream

if TYPE_CHECKING:
    from ...machine.tensor_placement import TensorPlacement
    from ..program import Program, Region


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


@dataclass(frozen=True)
class SimulationResult:
    """Outputs by name and the numbers of a run.

    `peak_bytes` is one past the highest address used, per memory; `utilization` the share of its peak that a compute
    node or link did, and of the time that a unit was busy; `counts` holds everything else per memory, node, link, unit
    and mnemonic; `issues` are the instructions in the order in which they start; `regions` says how much of each region
    of fused groups was used; `layers` is what each layer took, of a program that knows its layers; `stream` has the
    decoded instructions, on machines of control model `queues`; `dram` what devices off chip did that have a timing.
    """

    outputs: dict[str, Array]
    cycles: int
    energy_pj: float
    dram_bytes: int
    peak_bytes: Mapping[str, int]
    utilization: Mapping[str, float]
    counts: Counts
    instructions: int
    issues: Sequence[Issue] = field(repr=False)
    placements: Mapping[str, TensorPlacement] = field(repr=False)
    storages: Mapping[str, Storage] = field(repr=False)
    regions: tuple[RegionUse, ...] = ()
    layers: tuple[LayerFigures, ...] = ()
    stream: Stream | None = field(default=None, repr=False)
    dram: tuple[DramFigures, ...] = ()

    def __repr__(self) -> str:
        outputs = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in self.outputs.items())
        figures = f"{self.cycles} cycles, {self.energy_pj:.6g} pJ, {self.dram_bytes} DRAM bytes"
        return f"<SimulationResult: {figures}, {self.instructions} instructions; {outputs or 'no outputs'}>"

    def tensor(self, name: str) -> Array:
        """The final value of any placed tensor; needs a functional run, means something if nothing overwrote it."""
        placement = self.placements.get(name)
        if placement is None:
            raise TilewrightError("program", name, f"one of {', '.join(self.placements)}", "no such tensor")
        return read_placement(self.storages, placement)

    def tensors(self) -> dict[str, Array]:
        """All placed tensors by name."""
        return {name: self.tensor(name) for name in self.placements}

    def as_dict(self) -> dict[str, Any]:
        """The numbers, for JSON."""
        return {
            "cycles": self.cycles,
            "energy_pj": self.energy_pj,
            "dram_bytes": self.dram_bytes,
            "peak_bytes": dict(self.peak_bytes),
            "utilization": dict(self.utilization),
            "instructions": self.instructions,
            "counts": self.counts.as_dict(),
            "regions": [asdict(region) for region in self.regions],
            "layers": [layer.as_dict() for layer in self.layers],
        }


def read_placement(storages: Mapping[str, Storage], placement: TensorPlacement) -> Array:
    """A copy of a placed tensor's value."""
    storage, dtype, shape = storages[placement.memory], np.dtype(placement.dtype), tuple(placement.shape)
    if placement.layout is not None:
        return placement.layout.unpack(
            placement.layout.view(storage.data, placement.address, shape, dtype), shape, dtype
        )
    return storage.read(placement.address, dtype, shape)


def make_result(
    program: Program,
    counts: Counts,
    cycles: int,
    instructions: int,
    issues: Sequence[Issue],
    storages: Sequence[Storage],
    layers: tuple[LayerFigures, ...],
    functional: bool,
) -> SimulationResult:
    """The result of a run that was counted; outputs are what memories hold after a functional one."""
    by_name = {storage.name: storage for storage in storages}
    outputs = [t for t in program.tensors if t.role == "output"] if functional else []
    return SimulationResult(
        {t.name: read_placement(by_name, t) for t in outputs},
        cycles,
        counts.energy_pj,
        counts.dram_bytes(program.machine),
        {name: count.peak_bytes for name, count in counts.memories.items()},
        utilization(counts, cycles),
        counts,
        instructions,
        issues,
        {t.name: t for t in program.tensors},
        by_name,
        layers=layers,
    )
