"""A network on a machine, compiled or planned and told in numbers: a point of a study, in any process."""

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
from .plans import PlanOptions, plan_figures


@dataclass(frozen=True)
class Point:
    """A model by name, for a machine, and what of it: a program, or a plan.

    `costs` of other packages are figures of its program, too.
    """

    model: str
    machine: Machine
    shapes: InputShapes = field(default_factory=InputShapes)
    options: CompileOptions | PlanOptions = field(default_factory=CompileOptions)
    costs: tuple[str, ...] = ()


def predicted_layers(program: Program) -> list[dict[str, Any]]:
    """The predicted figures of each layer."""
    return [layer.as_dict() for layer in program.layers]


def no_layers(_: Program) -> list[dict[str, Any]]:
    """For those who ask for the whole alone."""
    return []


def evaluate(point: Point, layers_of: Callable[[Program], list[dict[str, Any]]] = predicted_layers) -> dict[str, Any]:
    """Predicted figures and bounds of a point, and layers of a program; where there is none, `error` as in `--json`."""
    start = time.process_time()
    try:
        if isinstance(point.options, PlanOptions):
            answer = plan_figures(point.model, point.machine, point.shapes, point.options)
        else:
            answer = _compiled(point, point.options, layers_of)
    except TilewrightError as error:
        answer = {"error": TilewrightError.as_dict(error)}
    return {**answer, "cpu_s": time.process_time() - start}


def _compiled(
    point: Point, options: CompileOptions, layers_of: Callable[[Program], list[dict[str, Any]]]
) -> dict[str, Any]:
    program = compile(point.model, point.machine, shapes=point.shapes, options=options)
    costs = {name: cost_of(name, program) for name in point.costs}
    figures = {key: program.predicted[key] for key in ("cycles", "energy_pj", "dram_bytes")}
    return {**figures, **costs, **program.bounds(figures["cycles"]), "layers": layers_of(program)}
