"""One model at several points of its open extents: a program for each, with the weights that they share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..errors import TilewrightError
from ..files import file_error, make_folder, write_file
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..resources import Resources, identical
from .models import Progress, compile
from .pipelines import CompileOptions
from .side_by_side import outcomes, told_here

if TYPE_CHECKING:
    from onnx import ModelProto

    from ..backends.program import Program

POINTS = "points.json"
"""The table of a folder of points: what each of its folders is for."""


def compile_points(
    model: str | Path | bytes | ModelProto | ModuleOp,
    target: str | Path | Machine,
    points: Mapping[str, InputShapes],
    *,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
) -> dict[str, Program]:
    """A program for each of `points`, by name; weights that are the same are one array.

    Errors are those of `compile`, with the point in their subject.
    """
    options = options or CompileOptions()
    held = Resources()
    programs: dict[str, Program] = {}
    tell = told_here(progress)

    def compiled(name: str) -> Program:
        def report(what: str, done: int, total: int) -> None:
            if tell is not None:
                tell(f"{name}: {what}", done, total)

        dump = options.dump / folder_name(name) if options.dump is not None else None
        own = replace(options, dump=dump, jobs=options.jobs if len(points) == 1 else 1)
        return compile(model, target, shapes=points[name], options=own, progress=report)

    for name, program in outcomes(compiled, list(points), options.jobs):
        if isinstance(program, TilewrightError):
            program.subject = f"{name}: {program.subject}"
            raise program
        programs[name] = replace(program, constants=_interned(program.constants, held))
    return programs


def _interned(constants: Resources, held: Resources) -> Resources:
    """The constants, each as the equal one of its name in `held`, to which new names are added."""
    kept = Resources()
    for name, array in constants.items():
        if name not in held:
            held[name] = array
        kept[name] = held[name] if identical(held[name], array) else array
    return kept


def save_points(programs: Mapping[str, Program], folder: str | Path) -> dict[str, Path]:
    """Writes each program to a folder of its own in `folder`, and a table of them; their folders by name.

    Each can be moved and run by itself.  What all have is one file with several names (`shared.npz`), where the file
    system has that.
    """
    folder = make_folder(folder)
    first, *others = programs.values()
    common = [
        name
        for name, array in first.constants.items()
        if all(name in other.constants and identical(other.constants[name], array) for other in others)
    ]
    folders = {name: folder / folder_name(name) for name in programs}
    try:
        with TemporaryDirectory(dir=folder, prefix=".tilewright-") as place:
            shared = Path(place) / "shared"
            Resources({name: first.constants[name] for name in common}).save(shared)
            for name, program in programs.items():
                program.save(folders[name], shared, common)
    except OSError as error:
        raise file_error(error, folder) from error
    write_file(folder / POINTS, json.dumps({name: path.name for name, path in folders.items()}, indent=1) + "\n")
    return folders


def folder_name(point: str) -> str:
    """A point's name as that of a folder: `tokens=128`."""
    return re.sub(r"[^\w=,.-]", "_", point) or "point"
