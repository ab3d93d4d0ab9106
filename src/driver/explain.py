"""What binds a compiled network: its resources doubled, one by one, and the network compiled again for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..backends.program import Program, load_program
from ..backends.simulator import simulate
from ..errors import TilewrightError
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..machine.changes import attribute, resources_of, scaled
from ..search.processes import in_processes
from .models import Progress
from .pipelines import CompileOptions
from .points import Point, evaluate

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
    such a machine.  What the folder was compiled from is compiled again, so it must still be there.
    """
    program = load_program(folder)
    point = point_of(program, folder)
    used = tuple(resources) or _used(program)
    machines = [scaled(program.machine, path, factor) for path in used]
    points = [point, *(replace(point, machine=machine) for machine in machines)]
    found: dict[int, dict[str, Any]] = {}

    def note(place: int, answer: dict[str, Any]) -> None:
        found[place] = answer
        if progress is not None:
            progress(
                f"compile with {used[place - 1]} x {factor:g}" if place else "compile again", len(found), len(points)
            )

    if jobs > 1:
        in_processes(evaluate, points, jobs, note)
    else:
        for place, one in enumerate(points):
            note(place, evaluate(one))
    before = found[0]
    if "error" in before:
        raise TilewrightError(**before["error"])
    told = partial(_lever, program.machine, before)
    levers = [told(path, factor, found[place]) for place, path in enumerate(used, 1)]
    layers = [
        _layer(layer, used, factor, [found[place] for place in range(1, len(points))]) for layer in before["layers"]
    ]
    whole = {key: value for key, value in before.items() if key not in ("layers", "cpu_s")}
    cpu_s = sum(answer["cpu_s"] for answer in found.values())
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
