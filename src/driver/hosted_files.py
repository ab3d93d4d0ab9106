"""A folder of a network that the machine and the host run in turn: a folder or file for each step, and their order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ..backends.program import load_program
from ..dialects.graph import WeightOp
from ..errors import TilewrightError
from ..files import file_error, make_folder, write_file
from ..resources import attach, resources_of, save_module_resources
from .hosted import HostedProgram, Step
from .models import load_model
from .watch import dump_module

STEPS = "steps.json"


def is_hosted(folder: Path) -> bool:
    """Whether `save_hosted` wrote the folder."""
    return (folder / STEPS).is_file()


def save_hosted(program: HostedProgram, folder: str | Path) -> list[dict[str, Any]]:
    """Writes `step_1`, `step_2.mlir`, ... and `steps.json` into `folder`, which is made.  The answer has a row a step.

    The machine's steps are folders as `Program.save` writes them, the host's the graph of their layers with its weights
    beside it.  `steps.json` says which values each reads and makes, which are the network's inputs and outputs, and why
    the host runs its layers.
    """
    folder = make_folder(folder)
    rows = [_save_step(step, folder, f"step_{number}") for number, step in enumerate(program.steps, 1)]
    inputs = {name: {"shape": list(shape), "dtype": dtype.name} for name, (shape, dtype) in program.inputs.items()}
    table = {"steps": rows, "inputs": inputs, "outputs": dict(program.outputs)}
    write_file(folder / STEPS, json.dumps(table, indent=1) + "\n")
    return rows


def _save_step(step: Step, folder: Path, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"on": "machine", "layers": list(step.layers), "cycles": 0, "file": name}
    if step.program is not None:
        step.program.save(folder / name)
        row["cycles"] = int(step.program.predicted["cycles"])
    else:
        assert step.module is not None
        row |= {"on": "host", "file": f"{name}.mlir", "reasons": list(step.reasons)}
        _save_graph(step.module, folder / f"{name}.mlir")
    return row | {"inputs": list(step.values("input")), "outputs": list(step.values("output"))}


def load_hosted(folder: Path) -> HostedProgram:
    """Reads what `save_hosted` wrote; `TilewrightError` (kind `file`) where it is something else."""
    path = folder / STEPS
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        steps = tuple(_load_step(folder, row) for row in table["steps"])
        inputs = {
            str(name): (tuple(int(n) for n in one["shape"]), np.dtype(str(one["dtype"])))
            for name, one in table["inputs"].items()
        }
        return HostedProgram(steps, {str(k): str(v) for k, v in table["outputs"].items()}, inputs)
    except OSError as error:
        raise file_error(error, path) from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        expected = "steps, inputs and outputs as compile --host writes them"
        raise TilewrightError("file", str(path), expected, str(error)[:200], "compile it again") from error


def _load_step(folder: Path, row: dict[str, Any]) -> Step:
    name, layers = str(row["file"]), tuple(str(layer) for layer in row["layers"])
    if Path(name).name != name:
        raise ValueError(f"a step outside of the folder: {name}")
    if row["on"] == "machine":
        return Step(None, layers, load_program(folder / name))
    return Step(load_model(folder / name), layers, None, tuple(str(reason) for reason in row["reasons"]))


def _save_graph(module: ModuleOp, path: Path) -> None:
    """The text, and beside it the weights that it names."""
    known, copy = resources_of(module), module.clone()
    used = {op.resource for op in module.walk() if isinstance(op, WeightOp)}
    attach(copy, known.only(name for name in known if name in used))
    if used:
        save_module_resources(copy, path.with_suffix(".npz"))
    dump_module(copy, path)
