"""What binds a compiled network: its resources doubled, one by one, and the network compiled again for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..backends.program import Program, load_program
from ..backends.simulator import simulate
from ..errors import TilewrightError
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..machine.changes import attribute, resources_of
from .hiding import hiding
from .models import Progress
from .pipelines import CompileOptions
from .points import Point
from .trials import AS_IT_IS, Trials

LITTLE = 0.01
"""Compute nodes that are busy for less of the run are not doubled, unless asked for."""


def explain(
    folder: Path,
    resources: Sequence[str] = (),
    *,
    factor: float = 2.0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The answer of `tilewright explain`: `levers` of the whole, and `layers` with those of each.

    A lever is an attribute of the target times `factor`, and what the network takes then; `error` where no program fits
    such a machine.  `hiding` of a layer that waits tells how much more hides that (`driver.hiding`).  What the folder
    was compiled from is compiled again, so it must still be there.
    """
    program = load_program(folder)
    trials = Trials(point_of(program, folder), jobs, progress)
    used = tuple(resources) or _used(program)
    trials.compute([AS_IT_IS, *((path, factor) for path in used)])
    before, found = trials.base(), [trials.of(path, factor) for path in used]
    levers = [_lever(program.machine, before, path, factor, after) for path, after in zip(used, found, strict=True)]
    hidden = hiding(trials, used, factor)
    layers = [
        {**_layer(layer, used, factor, found), "waits": layer["waits"], "hiding": own}
        for layer, own in zip(before["layers"], hidden, strict=True)
    ]
    whole = {key: value for key, value in before.items() if key not in ("layers", "cpu_s")}
    cpu_s = sum(answer["cpu_s"] for answer in trials.answers.values())
    same = before["cycles"] == program.predicted.get("cycles")
    return {
        **whole,
        "as_compiled": same,
        "refused": list(program.refused),
        "levers": levers,
        "layers": layers,
        "cpu_s": cpu_s,
    }


def point_of(program: Program, folder: Path) -> Point:
    """What a folder was compiled from; `TilewrightError` (kind `program`) where that has no name."""
    origin = program.origin
    if "model" not in origin:
        lever = "compile a file, einsum text or a network by name"
        raise TilewrightError("program", str(folder), "a model that can be compiled again", "one without a name", lever)
    shapes = origin["shapes"]
    given = {name: tuple(shape) for name, shape in shapes["shapes"].items()}
    options = CompileOptions(**origin["options"])
    return Point(origin["model"], program.machine, InputShapes(shapes["batch"], given, shapes["dims"]), options)


def _used(program: Program) -> tuple[str, ...]:
    """The machine's resources, but for compute nodes that hardly work."""
    result = simulate(program, functional=False, checks=False)
    idle = {name for name, count in result.counts.computes.items() if count.busy_cycles < LITTLE * result.cycles}
    return tuple(path for path in resources_of(program.machine) if path.rpartition(".")[0] not in idle)


def _lever(
    machine: Machine, before: Mapping[str, Any], path: str, factor: float, after: Mapping[str, Any]
) -> dict[str, Any]:
    value = attribute(machine, path)
    told = {"attribute": path, "factor": factor, "value": value}
    if "error" in after:
        return {**told, "error": after["error"]}
    keys = ("cycles", "energy_pj", "dram_bytes", "lower_bound", "gap", "bound_by")
    return {
        **told,
        **{key: after[key] for key in keys if key in after},
        "faster": before["cycles"] / after["cycles"] - 1,
    }


def _layer(
    layer: Mapping[str, Any], paths: Sequence[str], factor: float, found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A layer with its cycles under each lever; None where its nodes run in another layer then."""
    levers: list[dict[str, Any]] = []
    for path, after in zip(paths, found, strict=True):
        if "error" not in after:
            own = [other["cycles"] for other in after["layers"] if other["nodes"] == layer["nodes"]]
            levers.append({"attribute": path, "factor": factor, "cycles": sum(own) if own else None})
    keys = ("name", "nodes", "group", "cycles", "bound_by", "busy_cycles", "utilization")
    return {**{key: layer[key] for key in keys}, "levers": levers}
