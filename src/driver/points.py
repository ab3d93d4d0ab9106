"""A network on a machine, compiled and told in numbers: a point of a study, in any process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..backends.program import Program
from ..errors import TilewrightError
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from .cost_terms import cost_of
from .models import compile
from .pipelines import CompileOptions


@dataclass(frozen=True)
class Point:
    """What is compiled: a model by name, for a machine; `costs` of other packages are figures of it, too."""

    model: str
    machine: Machine
    shapes: InputShapes = field(default_factory=InputShapes)
    options: CompileOptions = field(default_factory=CompileOptions)
    costs: tuple[str, ...] = ()


def predicted_layers(program: Program) -> list[dict[str, Any]]:
    """The predicted figures of each layer."""
    return [layer.as_dict() for layer in program.layers]


def no_layers(_: Program) -> list[dict[str, Any]]:
    """For those who ask for the whole alone."""
    return []


def evaluate(point: Point, layers_of: Callable[[Program], list[dict[str, Any]]] = predicted_layers) -> dict[str, Any]:
    """Predicted figures, bounds and layers of a point; where there is no program, `error` as `--json` tells it."""
    start = time.process_time()
    try:
        program = compile(point.model, point.machine, shapes=point.shapes, options=point.options)
        costs = {name: cost_of(name, program) for name in point.costs}
    except TilewrightError as error:
        return {"error": TilewrightError.as_dict(error), "cpu_s": time.process_time() - start}
    figures = {key: program.predicted[key] for key in ("cycles", "energy_pj", "dram_bytes")}
    layers = layers_of(program)
    spent = time.process_time() - start
    return {**figures, **costs, **program.bounds(figures["cycles"]), "layers": layers, "cpu_s": spent}
