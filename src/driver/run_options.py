"""What a caller may choose about a run, and how a run with a DRAM device compares to one without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..option_fields import check_fields

if TYPE_CHECKING:
    from ..backends.simulator import SimulationResult


@dataclass(frozen=True)
class RunOptions:
    """What a caller may choose about a run.

    `inputs` and `expect` are files of arrays; inputs that no file gives are made from `seed`.  `check` compares the
    outputs of a model with NumPy where nothing is expected by file.  They agree within the relative error `tolerance`,
    or that of their element type (`arrays.TOLERANCES`).  `report` is a page to write about the run.  `dram` is the
    device off chip (see `simulate`); with `platform` "noc" mappings
    also run on the mesh of their machine (`costs.noc`).
    """

    inputs: Path | None = None
    expect: Path | None = None
    seed: int = 0
    check: bool = True
    trace: bool = True
    tolerance: float | None = None
    report: Path | None = None
    dram: str | None = None
    platform: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, seed=0, tolerance=0)


def against_flat(result: SimulationResult, flat: SimulationResult) -> dict[str, Any]:
    """What answers say of a run with a DRAM device: what it did, and cycles of all and of each layer without it."""
    layers = [
        {"name": timed.name, "cycles": timed.cycles, "flat_cycles": plain.cycles, "dram_bytes": timed.dram_bytes}
        for timed, plain in zip(result.layers, flat.layers, strict=True)
    ]
    return {"dram": [used.as_dict() for used in result.dram], "flat_cycles": flat.cycles, "dram_layers": layers}
