"""Programs of packets as files: assembly text, what memory holds at the start, and where tensors lie."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, write_arrays
from ..backends.hexagon import linked_bytes, missing_tools
from ..backends.packets.text import assembly
from ..files import replacing_all, sealed_table
from ..frontends.acg import print_target
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..machine.packet_isa import Isa
from ..machine.packet_program import PacketProgram, Stored, packets_of
from ..machine.packet_storage import initial_memory
from .packets import compile_packets, figures_of, host_layouts, packet_module

LINKERS = {"hexagon": (missing_tools, linked_bytes)}
"""What `executor` in a target's file may name: its missing tools, and a linked program's bytes."""

FILES = ("program.s", "target.acg", "constants.npz")
TABLE = "program.json"


def compile_to_folder(
    model: str | Path, machine: Machine, folder: Path, shapes: InputShapes | None = None
) -> dict[str, Any]:
    """The answer of `tilewright compile`: writes `program.s`, `target.acg`, `program.json` and `constants.npz`.

    Where the tools of the target's executor are installed, also `program`, a whole one, that reads memory up to the
    last input or constant and writes the outputs' part of it; `binary_bytes` is then its size, else None.
    """
    start = time.process_time()
    _, lowered = packet_module(model, shapes)
    compiled, isa = compile_packets(machine, lowered), Isa(machine)
    program, figures = compiled.program, figures_of(isa, compiled.program)
    text, linked = assembly(isa, program.code), _linked(isa, program)
    tensors = [_entry(item) for item in program.stored]
    table = {"memory_bytes": program.memory_bytes, "tensors": tensors, "predicted": asdict(figures)}
    files = [*FILES, "program"] if linked is not None else list(FILES)
    with replacing_all(folder, (*files, TABLE)) as places:
        places["program.s"].write_text(text)
        places["target.acg"].write_text(print_target(machine), encoding="utf-8")
        write_arrays(places["constants.npz"], {"memory": _constants(program)})
        if linked is not None:
            places["program"].write_bytes(linked)
            places["program"].chmod(0o755)
        places[TABLE].write_text(sealed_table(table, {name: places[name] for name in files}), encoding="utf-8")
    return {
        "dir": str(folder),
        "mnemonics": sum(len(packet) for packet in packets_of(program.code)),
        "code_packets": sum(1 for _ in packets_of(program.code)),
        "binary_bytes": len(linked) if linked is not None else None,
        "ops_max": sum(1 for _ in lowered.walk()),
        "cycles": figures.packets,
        "packets": figures.packets,
        "layouts": host_layouts(program),
        "energy_pj": figures.energy_pj,
        "dram_bytes": figures.moved_bytes,
        "cpu_s": time.process_time() - start,
    }


def _entry(tensor: Stored) -> dict[str, Any]:
    """A tensor in the table; how one is packed, but for weights, which are."""
    packing = None if tensor.role == "weight" or tensor.packing is None else asdict(tensor.packing)
    return asdict(replace(tensor, packing=None)) | {"layout": tensor.layout, "packing": packing}


def _linked(isa: Isa, program: PacketProgram) -> bytes | None:
    """The whole program's bytes, where the tools of the target's executor are installed."""
    if isa.packets.executor not in LINKERS:
        return None
    absent, linked = LINKERS[isa.packets.executor]
    return None if absent() else linked(assembly(isa, program.code), program)


def _constants(program: PacketProgram) -> Array:
    """The memory up to the last constant, without inputs."""
    inputs = {item.name: np.zeros(item.shape, item.dtype) for item in program.stored if item.role == "input"}
    end = max((address + len(data) for address, data in program.images), default=0)
    return initial_memory(program, inputs)[:end]
