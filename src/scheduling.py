"""DRAM schedules as people ask for them: a network, a target and a method in, the answer of the command out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from .costs.dram import Model, Timetable
from .costs.dram.bound import Bound, lower_bound
from .costs.dram.platform import model_of
from .errors import TilewrightError
from .frontends.acg import load_target
from .search.dram import Effort, Found, Objective, framework, schedule
from .zoo.paper_networks import network as paper_network
from .zoo.schedule_networks import NAMES, Layer, Network, Shape, schedule_network

Method = Literal["ours", "soma", "cocco"]
METHODS: tuple[Method, ...] = ("ours", "soma", "cocco")
MODELS = ("exact", "soma")
MAX_BATCH = 1 << 10


@dataclass(frozen=True)
class ScheduleOptions:
    """How to search: `model` prices, `method` searches; `tokens` is the sequence length of a transformer block."""

    model: str = "exact"
    method: Method = "ours"
    batch: int = 1
    tokens: int | None = None
    objective: Objective = field(default_factory=Objective)
    effort: Effort = field(default_factory=Effort)


def find_network(name: str, tokens: int | None = None) -> Network:
    """The network called `name`; TilewrightError (kind `network`) for an unknown one."""
    if name in NAMES:
        return schedule_network(name, tokens)
    return paper_network(name)


def schedule_network_for(
    name: str,
    target: str | Path,
    options: ScheduleOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Any], Found]:
    """The answer of `tilewright schedule`, and the schedule."""
    options = options or ScheduleOptions()
    if not 1 <= options.batch <= MAX_BATCH:
        raise TilewrightError("schedule", "batch", f"1 to {MAX_BATCH}", str(options.batch))
    model = model_of(load_target(target), exact=options.model == "exact")
    network = find_network(name, options.tokens)
    warm_up(model, options)
    start = time.process_time()
    found = _search(options)(network, model, options.batch, options.objective, options.effort, progress)
    answer = describe(found, lower_bound(network, model, options.batch))
    answer["cpu_s"] = time.process_time() - start
    return {"network": name, "batch": options.batch, "model": options.model, "method": options.method} | answer, found


def _search(options: ScheduleOptions) -> Callable[..., Found]:
    if options.method == "ours":
        return schedule
    return partial(framework, cocco=options.method == "cocco")


def warm_up(model: Model, options: ScheduleOptions) -> None:
    """Compile or load what a search calls, so that its time is that of the work."""
    shape = Shape(1, 1, 1)
    toy = Network("toy", (("x", shape),), (Layer("a", "conv", shape, external=(0,)), Layer("b", "conv", shape, (0,))))
    _search(options)(toy, model, 1, Objective(), Effort(rounds=1, chains=1))


def describe(found: Found, bound: Bound) -> dict[str, Any]:
    """Numbers of a schedule, those of its fusion without prefetch, and the bound over all schedules."""
    table = found.timetable
    return numbers(table) | {
        "lower_bound": {
            "latency_cycles": bound.latency_cycles,
            "energy_pj": bound.energy_pj,
            "dram_bytes": bound.dram_bytes,
            "compute_cycles": bound.compute_cycles,
            "binding": bound.binding,
        },
        "gap": table.latency_cycles / bound.latency_cycles - 1,
        "energy_gap": table.energy_pj / bound.energy_pj - 1,
        "evaluations": found.evaluations,
        "stage1": {} if found.double_buffered is None else numbers(found.double_buffered),
    }


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


__all__ = ["METHODS", "MODELS", "ScheduleOptions", "describe", "find_network", "schedule_network_for", "warm_up"]
