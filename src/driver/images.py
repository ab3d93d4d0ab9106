"""A compiled program for other simulators and hardware: memory, instructions, micro-ops, and where all lies.

`image.bin` is the memory off chip with weights in place and inputs of 0, `instructions.bin` the words one after
another, `micro_ops.bin` the lists of micro-ops of machines that have them; `addresses.json` says where tensors lie.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..backends.program import Program
from ..backends.simulator.memory import Storage
from ..backends.simulator.simulate import place_tensors
from ..files import make_folder, write_file
from .binaries import check_words, offchip, write_image

MICRO_OPS = ".micro_ops"
"""How the names of weights that are micro-ops end."""


def write_program_image(program: Program, folder: Path, inputs: dict[str, Array] | None = None) -> dict[str, Any]:
    """Writes the four files into `folder`, which is made; `addresses.json`'s content.

    `inputs` are put in their places; those that are not given are 0.
    """
    check_words(program.machine)
    memory = offchip(program.machine)
    given = {t.name: np.zeros(t.shape, t.dtype) for t in program.tensors if t.role == "input"} | (inputs or {})
    reach = max((tensor.address + tensor.size_bytes for tensor in program.tensors), default=0)
    storage = Storage(memory, reach, True)
    place_tensors(program, given, [storage])
    make_folder(folder)
    write_image(folder / "image.bin", storage.data[:reach])
    (folder / "instructions.bin").write_bytes(program.code)
    lists = [tensor for tensor in program.tensors if tensor.role == "weight" and tensor.name.endswith(MICRO_OPS)]
    (folder / "micro_ops.bin").write_bytes(b"".join(program.constants[tensor.name].tobytes() for tensor in lists))
    table = {
        "machine": program.machine.name,
        "memory": memory.name,
        "image_bytes": reach,
        "instructions": program.instruction_count,
        "instruction_bytes": len(program.code) // max(program.instruction_count, 1),
        "micro_ops": [{"name": t.name, "address": t.address, "bytes": t.size_bytes} for t in lists],
        "tensors": [{**asdict(tensor), "size_bytes": tensor.size_bytes} for tensor in program.tensors],
    }
    write_file(folder / "addresses.json", json.dumps(table, indent=1))
    return table
