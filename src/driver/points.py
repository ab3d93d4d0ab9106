"""A network on a machine given as text, compiled and told in numbers: a point of a study, in any process."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import TilewrightError
from ..frontends.input_shapes import InputShapes
from .models import compile
from .pipelines import CompileOptions


@dataclass(frozen=True)
class Point:
    """What is compiled: a model by name, for the machine that `target` (text of an `.acg` file) describes."""

    model: str
    target: str
    shapes: InputShapes = field(default_factory=InputShapes)
    options: CompileOptions = field(default_factory=CompileOptions)


def evaluate(point: Point) -> dict[str, Any]:
    """Predicted figures, bounds and layers of a point; where there is no program, `error` as `--json` tells it."""
    start = time.process_time()
    with TemporaryDirectory(prefix="tilewright-") as folder:
        target = Path(folder) / "target.acg"
        target.write_text(point.target, encoding="utf-8")
        try:
            program = compile(point.model, target, shapes=point.shapes, options=point.options)
        except TilewrightError as error:
            told = {name: str(text).replace(f"{folder}/", "") for name, text in TilewrightError.as_dict(error).items()}
            return {"error": told, "cpu_s": time.process_time() - start}
    figures = {key: program.predicted[key] for key in ("cycles", "energy_pj", "dram_bytes")}
    layers = [layer.as_dict() for layer in program.layers]
    spent = time.process_time() - start
    return {**figures, **program.bounds(figures["cycles"]), "layers": layers, "cpu_s": spent}
