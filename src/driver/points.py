"""A network on a machine, compiled or planned and told in numbers: a point of a study, in any process."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..backends.program import Program
from ..errors import TilewrightError
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..option_fields import check_fields
from .cost_terms import cost_of
from .models import compile
from .pipelines import CompileOptions

if TYPE_CHECKING:
    from ..costs.fusion.values import Metric


COMMANDS = {"partition": ("dram", "energy", "latency"), "schedule": ("edp", "energy", "latency")}
"""Commands that answer with a plan, and the objectives of each, its default first."""


@dataclass(frozen=True)
class PlanOptions:
    """How `command` of `COMMANDS` searches: as its options of these names (`time_limit_s`: `--time-limit`) say."""

    command: str
    method: str = "ours"
    objective: str = ""
    seed: int = 0
    time_limit_s: float | None = None
    gap: float = 0.0
    rounds: int | None = None

    def __post_init__(self) -> None:
        check_fields(self, seed=0, time_limit_s=0, gap=0, rounds=1)
        objectives, methods = COMMANDS[self.command], _methods(self.command)
        if self.method not in methods:
            raise TilewrightError("usage", "method", f"one of {', '.join(methods)}", repr(self.method))
        if self.objective and self.objective not in objectives:
            raise TilewrightError("usage", "objective", f"one of {', '.join(objectives)}", repr(self.objective))

    @property
    def aim(self) -> str:
        """The objective that holds."""
        return self.objective or COMMANDS[self.command][0]


def _methods(command: str) -> tuple[str, ...]:
    if command == "schedule":
        from ..search.dram import METHODS as SCHEDULERS

        return tuple(SCHEDULERS)
    from ..search.fusion import METHODS

    return tuple(METHODS)


def plan_figures(name: str, machine: Machine, shapes: InputShapes, options: PlanOptions) -> dict[str, Any]:
    """`cycles`, `energy_pj` and `dram_bytes` of the plan that is found, and its `gap` above a bound of all plans."""
    return (_scheduled if options.command == "schedule" else _partitioned)(name, machine, shapes, options)


def _scheduled(name: str, machine: Machine, shapes: InputShapes, options: PlanOptions) -> dict[str, Any]:
    from ..search.dram import POWERS, Effort, Objective
    from .schedules import ScheduleOptions, schedule_network_for

    effort = Effort(seed=options.seed, rounds=options.rounds, time_limit_s=options.time_limit_s, gap=options.gap)
    asked = ScheduleOptions("exact", options.method, shapes, objective=Objective(*POWERS[options.aim]), effort=effort)
    answer, _ = schedule_network_for(name, machine, asked)
    bound = {"cycles" if key == "latency_cycles" else key: value for key, value in answer["lower_bound"].items()}
    figures = {"cycles": answer["latency_cycles"], "energy_pj": answer["energy_pj"], "dram_bytes": answer["dram_bytes"]}
    return {**figures, "bound_by": bound.pop("binding"), "lower_bound": bound, "gap": answer["gap"]}


def _partitioned(name: str, machine: Machine, shapes: InputShapes, options: PlanOptions) -> dict[str, Any]:
    from ..costs.fusion.of_machine import platform_of
    from ..costs.fusion.pricer import SubgraphPricer
    from ..search.fusion import PartitionOptions
    from .partitions import find_work, partition_work

    metrics: dict[str, Metric] = {"dram": "ema", "energy": "energy", "latency": "latency"}
    metric = metrics[options.aim]
    work = find_work(name, shapes)
    pricer = SubgraphPricer(work.graph, platform_of(machine), batch=work.batch, metric=metric)
    asked = PartitionOptions(options.method, metric, options.seed, options.time_limit_s, gap=options.gap)
    answer = partition_work(work, pricer, asked)
    figures = {"cycles": answer["latency_cycles"], "energy_pj": answer["energy_pj"], "dram_bytes": answer["ema_bytes"]}
    return {**figures, "gap": answer["gap"]}


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
    figures: dict[str, Any] = {key: program.predicted.get(key) for key in ("cycles", "energy_pj", "dram_bytes")}
    return {**figures, **costs, **program.bounds(figures["cycles"]), "layers": layers_of(program)}
