"""DRAM schedules as people ask for them: a network, a target and a method in, the answer of the command out."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from math import inf, prod
from pathlib import Path
from typing import Any

from ..costs.clock import processor_seconds
from ..costs.dram import Timetable
from ..costs.dram.bound import Bound, lower_bound
from ..costs.dram.platform import model_of
from ..errors import TilewrightError
from ..frontends.acg import load_target
from ..frontends.input_shapes import InputShapes
from ..machine import Machine
from ..search.dram import METHODS, Effort, Found, Objective
from ..zoo.schedule_networks import Network
from .networks import function_of, named_table, network_module

MODELS = ("exact", "soma")
MAX_BATCH = 1 << 10


@dataclass(frozen=True)
class ScheduleOptions:
    """How to search: `model` prices, `method` searches.

    `shapes` has the batch (1, or as a file has it, where nothing is said), and as dim `tokens` the sequence length of a
    transformer block.
    """

    model: str = "exact"
    method: str = "ours"
    shapes: InputShapes = field(default_factory=InputShapes)
    objective: Objective = field(default_factory=Objective)
    effort: Effort = field(default_factory=Effort)


MOST_LAYERS, MOST_EXTENT, MOST_BYTES = 1 << 12, 1 << 16, 1 << 34
"""Layers that a network may have, rows or columns of a map, and bytes of a map or of weights: sums stay below 2^63."""


def find_network(name: str, shapes: InputShapes | None = None) -> tuple[Network, int]:
    """The network called `name`, the zoo's table or the graph of a file or of a network with its precision; its batch.

    A file whose inputs hold several samples has that batch; of a file for one, any number is scheduled.  Raises
    TilewrightError: kind `network` for an unknown name or a network beyond the limits above, `batch` where a file says
    another, `unsupported` for what no layer does.
    """
    shapes = shapes or InputShapes()
    table, batch = named_table(name, shapes), shapes.samples
    if table is None:
        table, batch = _from_graph(name, shapes)
    _check_size(table)
    return table, batch


def _from_graph(name: str, shapes: InputShapes) -> tuple[Network, int]:
    """The network of a graph, and how many samples of it: what it is given, or those of `shapes` one by one."""
    from ..passes.graph.schedule_layers import schedule_layers

    try:
        return schedule_layers(function_of(network_module(name, shapes), name))
    except TilewrightError as error:
        if error.kind != "batch":
            raise
    found, given = schedule_layers(function_of(network_module(name, replace(shapes, batch=None)), name))
    if given != 1:
        expected = f"the file's batch of {given}"
        raise TilewrightError("batch", name, expected, str(shapes.batch), "export the model anew")
    return found, shapes.samples


def _check_size(network: Network) -> None:
    if len(network.layers) > MOST_LAYERS:
        raise TilewrightError("network", network.name, f"at most {MOST_LAYERS} layers", str(len(network.layers)))
    shapes = [shape for _, shape in network.inputs] + [layer.shape for layer in network.layers]
    weights = [network.weight_bytes(number) for number in range(len(network.layers))]
    if max(max(shape[1:]) for shape in shapes) > MOST_EXTENT or max(*map(prod, shapes), *weights) > MOST_BYTES:
        limits = f"maps of at most {MOST_EXTENT} rows and columns, maps and weights of at most {MOST_BYTES} bytes"
        raise TilewrightError("network", network.name, limits, "larger ones")


def schedule_network_for(
    name: str,
    target: str | Path | Machine,
    options: ScheduleOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Any], Found]:
    """The answer of `tilewright schedule`, and the schedule."""
    options = options or ScheduleOptions()
    machine = load_target(target)
    model = model_of(machine, exact=options.model == "exact")
    network, batch = find_network(name, options.shapes)
    if batch > MAX_BATCH:
        raise TilewrightError("schedule", "batch", f"1 to {MAX_BATCH}", str(batch))
    start = processor_seconds()
    found = METHODS[options.method](network, model, batch, options.objective, options.effort, progress)
    answer = describe(found, lower_bound(network, model, batch), options.objective)
    answer |= {"buffer_bytes": model.buffer_bytes, "frequency_hz": machine.frequency_hz}
    answer["cpu_s"] = processor_seconds() - start
    return {"network": name, "batch": batch, "model": options.model, "method": options.method} | answer, found


def describe(found: Found, bound: Bound, objective: Objective) -> dict[str, Any]:
    """Numbers of a schedule, those of its fusion without prefetch, and the bound over all schedules."""
    table = found.timetable
    latency_gap = _above(table.latency_cycles, bound.latency_cycles)
    energy_gap = _above(table.energy_pj, bound.energy_pj)
    return numbers(table) | {
        "lower_bound": asdict(bound),
        "gap": latency_gap,
        "energy_gap": energy_gap,
        "objective_gap": (1 + energy_gap) ** objective.energy_power * (1 + latency_gap) ** objective.latency_power - 1,
        "evaluations": found.evaluations,
        "stage1": {} if found.double_buffered is None else numbers(found.double_buffered),
    }


def _above(value: float, bound: float) -> float:
    """How far a value is above its bound, as a part of that; infinite above a bound of nothing."""
    return value / bound - 1 if bound else inf if value else 0.0


def numbers(table: Timetable) -> dict[str, Any]:
    """What a schedule costs."""
    return {
        "latency_cycles": table.latency_cycles,
        "energy_pj": table.energy_pj,
        "dram_bytes": table.dram_bytes,
        "max_buffer_bytes": table.max_buffer_bytes,
        "layer_groups": table.fusion.layer_group_count,
        "fused_groups": len(table.fusion.fused_groups),
        "tiles": len(table.tile_layer),
        "dram_tensors": len(table.transfers),
        "compute_cycles": table.compute_cycles,
        "dram_cycles": table.dram_cycles,
    }


__all__ = ["METHODS", "MODELS", "ScheduleOptions", "describe", "find_network", "schedule_network_for"]
