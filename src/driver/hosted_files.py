"""A folder of a network that the machine and the host run in turn: a folder or file for each step, and their order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ..dialects.graph import WeightOp
from ..files import make_folder, write_file
from ..passes.names import value_names
from ..resources import attach, resources_of, save_module_resources
from .hosted import HostedProgram, Step
from .watch import dump_module

STEPS = "steps.json"


def save_hosted(program: HostedProgram, folder: str | Path) -> list[dict[str, Any]]:
    """Writes `step_1`, `step_2.mlir`, ... and `steps.json` into `folder`, which is made.  The answer has a row a step.

    The machine's steps are folders as `Program.save` writes them, the host's the graph of their layers with its weights
    beside it.  `steps.json` says which values each reads and makes, and which are the network's outputs.
    """
    folder = make_folder(folder)
    rows = [_save_step(step, folder, f"step_{number}") for number, step in enumerate(program.steps, 1)]
    write_file(folder / STEPS, json.dumps({"steps": rows, "outputs": dict(program.outputs)}, indent=1) + "\n")
    return rows


def _save_step(step: Step, folder: Path, name: str) -> dict[str, Any]:
    function = next(op for op in step.module.body.block.ops if isinstance(op, FuncOp))
    reads, makes = (list(value_names(function, f"graph.{which}")) for which in ("inputs", "outputs"))
    if step.program is not None:
        step.program.save(folder / name)
        on, file, cycles = "machine", name, int(step.program.predicted["cycles"])
    else:
        _save_graph(step.module, folder / f"{name}.mlir")
        on, file, cycles = "host", f"{name}.mlir", 0
    return {"on": on, "layers": list(step.layers), "cycles": cycles, "file": file, "inputs": reads, "outputs": makes}


def _save_graph(module: ModuleOp, path: Path) -> None:
    """The text, and beside it the weights that it names."""
    known, copy = resources_of(module), module.clone()
    used = {op.resource for op in module.walk() if isinstance(op, WeightOp)}
    attach(copy, known.only(name for name in known if name in used))
    if used:
        save_module_resources(copy, path.with_suffix(".npz"))
    dump_module(copy, path)
