"""Control model `packets`: programs as packets and stored tensors, simulated, and run where tools are installed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ...algebra.element import Array
from ...errors import TilewrightError
from ...machine.packet_code import decode_packets
from ...machine.packet_figures import accessed_bytes, executed, figures, own_energy_pj, words_of
from ...machine.packet_program import Isa, PacketProgram, count_instructions, packets_of
from ..control_models import ControlModel, Execution, Inputs, SimulationOptions
from ..hexagon import linked_bytes, missing_tools, run_program
from ..program import Program
from ..simulator.energy import Counts, counts_of, price_memories
from ..simulator.placing import given_inputs
from ..simulator.result import SimulationResult
from .simulator import simulate_packets
from .text import assembly

EXECUTORS = {"hexagon": (missing_tools, run_program, linked_bytes)}
"""What `executor` in a target's file may name: its missing tools, a run, and a linked program's bytes."""


@dataclass(frozen=True)
class PacketResult(SimulationResult):
    """A run whose time is in packets; `energy_pj` is 0 where the target's file gives no energies."""

    code_packets: int = 0
    layouts: tuple[dict[str, str], ...] = ()

    def tensor(self, name: str) -> Array:
        """An output; other tensors are not kept."""
        if name not in self.outputs:
            raise TilewrightError("program", name, f"one of {', '.join(self.outputs)}", "no such output")
        return self.outputs[name]

    def as_dict(self) -> dict[str, Any]:
        """The numbers, for JSON."""
        own = {"packets": self.cycles, "code_packets": self.code_packets, "layouts": list(self.layouts)}
        return {**super().as_dict(), "energy_pj": self.energy_pj or None, **own}


class PacketsControl(ControlModel):
    """Packets of instructions that issue together."""

    code_file = "packets.json"
    traced = False

    def decode(self, program: Program) -> PacketProgram:
        """The packets, with the constants, for tensors that are those of the program."""
        isa, weights = Isa(program.machine), [tensor for tensor in program.tensors if tensor.role == "weight"]
        found = decode_packets(isa, program.code)
        _check_signature(program, found)
        for tensor in weights:
            array = program.constants.get(tensor.name)
            if array is None or array.dtype != np.uint8 or tensor.address + array.size > found.memory_bytes:
                raise TilewrightError("program", tensor.name, f"bytes in {found.memory_bytes}", "others or none")
        images = tuple((tensor.address, program.constants[tensor.name].tobytes()) for tensor in weights)
        return replace(found, images=images)

    def instruction_count(self, program: Program) -> int:
        return count_instructions(program.decoded.code)

    def sizes(self, program: Program) -> dict[str, Any]:
        """`binary_bytes` is None where the tools that link are not installed."""
        linked = program.exports.get("program")
        return {
            "mnemonics": self.instruction_count(program),
            "code_packets": _count_packets(program.decoded),
            "binary_bytes": len(linked) if linked is not None else None,
            "energy_pj": None,
        }

    def layouts(self, program: Program) -> list[dict[str, str]]:
        found = [item for item in program.decoded.stored if item.role != "scratch" and item.layout != "row-major"]
        return [{"name": item.name, "role": item.role, "layout": item.layout} for item in found]

    def exports(self, program: Program) -> dict[str, bytes]:
        """`program.s`, the assembly text, and where tools link it `program`.

        That reads memory up to the last input or constant, and writes the outputs' part of it.
        """
        isa = Isa(program.machine)
        text, linker = assembly(isa, program.decoded.code), EXECUTORS.get(isa.packets.executor)
        linked = {"program": linker[2](text, program.decoded)} if linker is not None and not linker[0]() else {}
        return {"program.s": text.encode(), **linked}

    def simulate(self, program: Program, inputs: Inputs, options: SimulationOptions) -> PacketResult:
        """Counts are by the code, which takes the same packets on all inputs; no trace is written."""
        isa, found = Isa(program.machine), program.decoded
        given = given_inputs(program, inputs) if options.functional else {}
        ran = simulate_packets(isa, found, given) if options.functional else None
        known, counted = figures(isa, found.code), executed(found.code)
        packets = ran.packets if ran is not None else int(known["packets"])
        return PacketResult(
            outputs=_shaped(program, ran.outputs) if ran is not None else {},
            cycles=packets if options.timing else 0,
            energy_pj=known.get("energy_pj", 0.0),
            dram_bytes=int(known["dram_bytes"]),
            peak_bytes={isa.memory: found.memory_bytes},
            utilization={"words": words_of(isa, counted) / max(packets * isa.packets.words, 1)},
            counts=_counts(isa, counted, found.memory_bytes),
            instructions=sum(counted.values()),
            issues=(),
            placements={},
            storages={},
            code_packets=_count_packets(found),
            layouts=tuple(self.layouts(program)),
        )

    def execute(self, program: Program, inputs: Inputs) -> Execution:
        isa = Isa(program.machine)
        if isa.packets.executor not in EXECUTORS:
            return Execution(("an executor",))
        absent, run, _ = EXECUTORS[isa.packets.executor]
        if missing := absent():
            return Execution(tuple(missing))
        ran = run(assembly(isa, program.decoded.code), program.decoded, inputs)
        return Execution((), _shaped(program, ran.outputs), ran.packets, ran.instructions)


def _count_packets(program: PacketProgram) -> int:
    return sum(1 for _ in packets_of(program.code))


def _check_signature(program: Program, found: PacketProgram) -> None:
    """Inputs and outputs lie in memory with the types and as many elements as the program says."""
    tensors = {(t.name, t.role): (np.dtype(t.dtype), t.elements) for t in program.tensors}
    stored = {(item.name, item.role): item for item in found.stored if item.role in ("input", "output")}
    for key, item in stored.items():
        if tensors.get(key) != (np.dtype(item.dtype), item.elements):
            expected = f"{item.role} of {item.elements} elements of {item.dtype}, as stored"
            raise TilewrightError("program", item.name, expected, "another tensor", "compile again")
    for name, role in tensors:
        if role == "output" and (name, role) not in stored:
            raise TilewrightError("program", name, "an output that is stored", "none", "compile again")


def _shaped(program: Program, outputs: Mapping[str, Array]) -> dict[str, Array]:
    return {t.name: outputs[t.name].reshape(t.shape) for t in program.tensors if t.role == "output"}


def _counts(isa: Isa, counted: Mapping[str, int], memory_bytes: int) -> Counts:
    """What each memory, node and mnemonic did; what registers hold is not told."""
    counts = counts_of(isa.machine)
    counts.memories[isa.memory].peak_bytes = memory_bytes
    for name, accessed in accessed_bytes(isa, counted).items():
        counts.memories[name].read_bytes, counts.memories[name].write_bytes = accessed.read, accessed.written
    price_memories(isa.machine, counts)
    for name, count in counted.items():
        counts.mnemonics[name] = count
        item = isa.mnemonics[name]
        if (node := (counts.computes | counts.links).get(item.node)) is not None:
            node.issues += count
            node.ops += count * prod(int(extent) for _, extent in item.extents)
            node.energy_pj += count * own_energy_pj(isa, item)
    return counts
