"""Control models: how a machine's programs are stored, read, simulated, and run elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..algebra.element import Array
from ..errors import TilewrightError
from ..machine import Machine
from ..machine.dram import DramTiming
from ..machine.encoding import instruction_offsets

if TYPE_CHECKING:
    from .program import Program
    from .simulator import SimulationResult

Progress = Callable[[str, int, int], None]
Inputs = Mapping[str, Array]


@dataclass(frozen=True)
class SimulationOptions:
    """What a caller may choose about a simulation; see `simulate`."""

    functional: bool = True
    timing: bool = True
    checks: bool = True
    trace: Path | None = None
    progress: Progress | None = None
    dram: DramTiming | Literal["flat"] | None = None


@dataclass(frozen=True)
class Execution:
    """A program on tools that are independent of the simulator: outputs and counts, or the tools that are missing."""

    missing: tuple[str, ...] = ()
    outputs: Mapping[str, Array] | None = None
    packets: int = 0
    instructions: int = 0


class ControlModel:
    """Control models `queues` and `loops`, whose code is instruction words."""

    code_file = "program.bin"
    traced = True

    def decode(self, program: Program) -> Any:
        """What the code says, once it has been checked: here, where each word begins, and its mnemonic."""
        return instruction_offsets(program.machine, program.code)

    def instruction_count(self, program: Program) -> int:
        """Instructions in the code."""
        return len(program.decoded[0])

    def sizes(self, program: Program) -> dict[str, Any]:
        """How large the program is, as `tilewright compile` tells it."""
        return {"mnemonics": self.instruction_count(program), "binary_bytes": len(program.code)}

    def layouts(self, program: Program) -> list[dict[str, str]]:
        """Inputs, outputs and weights that lie in another way than row-major, with how."""
        return [{"name": t.name, "role": t.role, "layout": t.layout.text} for t in program.tensors if t.layout]

    def exports(self, program: Program) -> dict[str, bytes]:
        """Files for other tools."""
        return {}

    def simulate(self, program: Program, inputs: Inputs, options: SimulationOptions) -> SimulationResult:
        """A run by the meaning that the machine gives to instructions."""
        from .simulator.simulate import simulate_queues

        return simulate_queues(program, inputs, options)

    def predicted(self, program: Program) -> Mapping[str, float]:
        """Figures of the instructions: here, those that their pass gave."""
        return program.predicted

    def execute(self, program: Program, inputs: Inputs) -> Execution | None:
        """A run on tools independent of the simulator; None for machines that name none."""
        return None


class LoopsControl(ControlModel):
    """Control model `loops`."""

    def simulate(self, program: Program, inputs: Inputs, options: SimulationOptions) -> SimulationResult:
        from .simulator.loops import simulate_loops

        return simulate_loops(program, inputs, options)

    def predicted(self, program: Program) -> Mapping[str, float]:
        """What the instructions count, beside the figures of the model by which tiles were chosen."""
        return _counted(self, program)


def _counted(control: ControlModel, program: Program) -> Mapping[str, float]:
    if not program.predicted:
        return program.predicted
    counted = control.simulate(program, {}, SimulationOptions(functional=False, checks=False))
    cycles, moved = float(counted.cycles), float(counted.dram_bytes)
    return {**program.predicted, "cycles": cycles, "energy_pj": counted.energy_pj, "dram_bytes": moved}


class StagesControl(ControlModel):
    """Control model `stages`."""

    def simulate(self, program: Program, inputs: Inputs, options: SimulationOptions) -> SimulationResult:
        from .simulator.stages.run import simulate_stages

        return simulate_stages(program, inputs, options)

    def predicted(self, program: Program) -> Mapping[str, float]:
        """What the instructions count, beside the figures by which tiles were chosen."""
        return _counted(self, program)


_HOMES = {
    "queues": ("control_models", "ControlModel"),
    "loops": ("control_models", "LoopsControl"),
    "stages": ("control_models", "StagesControl"),
    "packets": ("packets.control", "PacketsControl"),
}


def control_model(machine: Machine) -> ControlModel:
    """The control model of a machine."""
    return _named(machine.control)


@cache
def _named(name: str) -> ControlModel:
    if name not in _HOMES:
        raise TilewrightError("unsupported", "control", f"one of {', '.join(_HOMES)}", f"`{name}`")
    module, kind = _HOMES[name]
    found: ControlModel = getattr(import_module(f".{module}", __package__), kind)()
    return found
