"""Networks by name or file, and their partitions: what `tilewright partition` and `explore` answer with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..costs.fusion import LayerGraph, layer_graph
from ..costs.fusion.pricer import SubgraphPricer
from ..costs.fusion.values import Metric, Platform, SubgraphCost
from ..errors import InfeasibleError, TilewrightError
from ..frontends.input_shapes import InputShapes
from ..interruption import requested, stop_unless
from ..search.fusion import SEEDED, ExploreOptions, ExploreResult, PartitionOptions, PartitionResult, explore, partition
from ..search.fusion.floors import scene_of
from ..search.fusion.result import Report, best_of
from ..search.processes import in_processes
from .networks import function_of, named_table, network_module

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

    from ..costs.fusion.pricer import ProgramPricer
    from ..passes.graph.fusion_layers import FusionLayers
    from ..passes.graph.row_groups import RowGroups

Options = TypeVar("Options", PartitionOptions, ExploreOptions)
Result = TypeVar("Result", PartitionResult, ExploreResult)


@dataclass(frozen=True)
class Work:
    """A network and how many samples of it run at once."""

    graph: LayerGraph
    batch: int = 1


def find_work(name: str, shapes: InputShapes | None = None) -> Work:
    """The network called `name`: the zoo's table, or the graph of a file, or of a network with its precision.

    `shapes` has the batch of a network of the zoo, and what a file leaves open.
    """
    shapes = shapes or InputShapes()
    if (table := named_table(name, shapes)) is not None:
        return Work(layer_graph(table), shapes.samples)
    layers = _layers_of(network_module(name, shapes), name)
    return Work(layers.graph(), layers.batch)


def _layers_of(module: ModuleOp, name: str) -> FusionLayers:
    from ..passes.graph.fusion_layers import fusion_layers

    return fusion_layers(function_of(module, name))


@dataclass(frozen=True)
class ProgramWork:
    """A module whose groups `run --partition` lowers: its layers, and their prices with `share` of the buffer for maps.

    `copied_bytes` to and from DRAM belong to no layer: results that are joined, or given more than once.
    """

    context: Context
    module: ModuleOp
    rows: RowGroups
    pricer: ProgramPricer
    copied_bytes: int

    @property
    def work(self) -> Work:
        """The network."""
        return Work(self.pricer.graph, self.rows.layers.batch)

    def lower(self, result: PartitionResult) -> dict[str, float]:
        """Lower the groups of `result` in the module; `InfeasibleError` where they leave too little room.

        Returns bounds of all programs of the layers (`costs.bounds.program`); none where there are several functions.
        """
        from ..dialects.acg import machine_of
        from ..passes.graph.graph_partition import outline
        from ..passes.nest.program_bound import bound_of
        from .pipelines import parse_passes

        layers = self.rows.layers
        outline(
            function_of(self.module, layers.name), layers, self.pricer, result, partial(self.rows.tile, self.pricer)
        )
        parse_passes("graph-fuse,convert-graph-to-nest").apply(self.context, self.module)
        bound = bound_of(self.module, machine_of(self.module))
        steps = "nest-tile,nest-map,convert-nest-to-codelet,codelet-allocate"
        parse_passes(steps).apply(self.context, self.module)
        return {} if bound is None else bound.figures


def program_work(
    name: str,
    target: str,
    tile: tuple[int, int],
    metric: Metric = "ema",
    share: float | None = None,
    shapes: InputShapes | None = None,
) -> ProgramWork:
    """The network of a file, and the prices of its groups as `run --partition` lowers them for `target`.

    `tile` is the most rows of a tile, and the most columns of those that are not full rows.
    """
    from ..passes.graph.fusion_layers import platform_in
    from ..passes.graph.row_groups import RowGroups
    from .groups import GROUP_SHARES
    from .models import load_model, make_context
    from .pipelines import parse_passes

    context, module = make_context(), load_model(name, shapes)
    parse_passes(f'load-target{{target="{target}"}},graph-normalize,graph-quantize').apply(context, module)
    whole = platform_in(module).buffers.global_bytes
    platform = platform_in(module, int(whole * (GROUP_SHARES[0] if share is None else share)))
    rows = RowGroups(_layers_of(module, name), platform, tile[0], metric, tile[1])
    return ProgramWork(context, module, rows, rows.pricer(context, module), rows.copied(context, module))


def program_partition(
    name: str,
    target: str,
    tile: tuple[int, int],
    options: PartitionOptions,
    report: Report | None = None,
    shapes: InputShapes | None = None,
) -> dict[str, Any]:
    """The answer of `tilewright partition --json` for the groups that `run --partition` runs.

    As there, groups that leave too little room beside their maps are searched anew with a smaller share of the buffer.

    `lower_bound` is of partitions: what one group makes and another reads goes through DRAM, and layers that run on
    their own load and store all that they read and make.  Programs that keep maps on chip from one group to the next
    (`run` without options) may move less; no program goes below `program_lower_bound`.
    """
    from .groups import GROUP_SHARES

    errors: list[InfeasibleError] = []
    for share in GROUP_SHARES:
        program = program_work(name, target, tile, options.metric, share, shapes)
        pricer, layers = program.pricer, program.pricer.graph
        result = partition(layers, pricer, options, report, scene_of(pricer))
        answer = _answer(program.work, pricer, options, result)
        if requested():
            return _with_copies(answer, program.copied_bytes)
        try:
            least = program.lower(result)
        except InfeasibleError as error:
            errors.append(error)
            options = replace(options, state=None)  # which is of the larger share
            continue
        return _with_copies(answer, program.copied_bytes) | {"program_lower_bound": least}
    raise errors[0]


def _with_copies(answer: dict[str, Any], copied_bytes: int) -> dict[str, Any]:
    """The answer with bytes that move whatever the groups."""
    found = answer | {"copied_bytes": copied_bytes, "ema_bytes": answer["ema_bytes"] + copied_bytes}
    if answer["metric"] == "ema":
        found |= {key: answer[key] + copied_bytes for key in ("cost", "lower_bound")}
        found["gap"] = found["cost"] / found["lower_bound"] - 1
    return found


def partition_work(
    work: Work, pricer: SubgraphPricer, options: PartitionOptions, report: Report | None = None, jobs: int = 1
) -> dict[str, Any]:
    """The answer of `tilewright partition --json`; `jobs` processes search from that many seeds, the best answers."""
    if jobs == 1:
        result = partition(work.graph, pricer, options, report, scene_of(pricer))
    else:
        result = _best(pricer, options, jobs, report)
    return _answer(work, pricer, options, result)


def _answer(work: Work, pricer: SubgraphPricer, options: PartitionOptions, result: PartitionResult) -> dict[str, Any]:
    costs = group_costs(pricer, result.groups)
    named = {"network": work.graph.name, "method": options.method, "metric": options.metric}
    return named | totals(work.graph, result.groups, costs) | result.as_dict()


Machine = tuple[LayerGraph, Platform, int, int]
"""A network, and what it runs on: platform, samples, cores."""


def _best(pricer: SubgraphPricer, options: PartitionOptions, jobs: int, report: Report | None) -> PartitionResult:
    """The cheapest partition of `jobs` searches with seeds from that of `options` on, with the best of their bounds."""
    if options.state is not None:
        raise TilewrightError("usage", "--state", "one process", f"{jobs} of them", "leave out --jobs or --state")
    results = _in_processes(_search, pricer, options, jobs if options.method in SEEDED else 1, report)
    best = best_of(results)
    bound = min(max(result.lower_bound for result in results), best.cost)
    proven = any(result.proven for result in results) or bound >= best.cost * (1 - 1e-9)
    return replace(best, lower_bound=bound, proven=proven)


def _in_processes(
    search: Callable[[Machine, Options], Result],
    pricer: SubgraphPricer,
    options: Options,
    jobs: int,
    report: Report | None,
) -> list[Result]:
    """What `search` finds with each of `jobs` seeds, in the order of these."""
    machine = (pricer.graph, pricer.platform, pricer.batch, pricer.cores)
    seeded = [replace(options, seed=options.seed + place) for place in range(jobs)]
    found: dict[int, Result] = {}

    def note(place: int, result: Result) -> None:
        found[place] = result
        if report is not None:
            report(sum(each.samples for each in found.values()), min(each.cost for each in found.values()), 0.0)

    in_processes(partial(search, machine), seeded, jobs, note, together=True)
    stop_unless(found)
    return [found[place] for place in sorted(found)]


def _pricer(machine: Machine, metric: Metric) -> SubgraphPricer:
    graph, platform, batch, cores = machine
    return SubgraphPricer(graph, platform, batch=batch, cores=cores, metric=metric)


def _search(machine: Machine, options: PartitionOptions) -> PartitionResult:
    pricer = _pricer(machine, options.metric)
    return partition(pricer.graph, pricer, options, None, scene_of(pricer))


def _explore(machine: Machine, options: ExploreOptions) -> ExploreResult:
    pricer = _pricer(machine, options.metric)
    return explore(scene_of(pricer), pricer, options)


def group_costs(pricer: SubgraphPricer, groups: Sequence[Sequence[int]]) -> list[SubgraphCost]:
    """The price of each group of a partition; the error that says why, where one does not fit."""
    costs: list[SubgraphCost] = []
    for group in groups:
        cost = pricer.cost(group)
        if cost is None:
            raise pricer.why(group) or AssertionError("a group without a price that fits")
        costs.append(cost)
    return costs


def explore_work(
    work: Work, pricer: SubgraphPricer, options: ExploreOptions, jobs: int = 1, report: Report | None = None
) -> dict[str, Any]:
    """The answer of `tilewright explore --json`; `jobs` processes search from that many seeds, the best answers."""
    if jobs == 1:
        result = explore(scene_of(pricer), pricer, options, report=report)
    else:
        result = best_of(_in_processes(_explore, pricer, options, jobs, report))
    return {
        "network": work.graph.name,
        "method": options.method,
        "metric": options.metric,
        "alpha": options.alpha,
        "buffers": asdict(result.buffers) | {"total_bytes": result.buffers.total_bytes},
        **totals(work.graph, result.groups, result.costs),
        **result.as_dict(),
        "front": [asdict(point.buffers) | {"metric": point.metric} for point in result.front],
    }


GROUP_FIGURES = (
    *("weight_bytes", "input_bytes", "output_bytes", "energy_pj", "latency_cycles"),
    *("global_demand_bytes", "weight_demand_bytes", "regions", "passes"),
)
"""What is told of each group, see `SubgraphCost`."""


def totals(graph: LayerGraph, members: Sequence[Sequence[int]], costs: Sequence[SubgraphCost]) -> dict[str, Any]:
    """Groups, each with what it costs, and their sums."""
    groups = [
        {
            "layers": [graph.layers[number].name for number in group],
            "tile": list(cost.tile),
            **{name: getattr(cost, name) for name in GROUP_FIGURES},
        }
        for group, cost in zip(members, costs, strict=True)
    ]
    return {
        "groups": groups,
        "ema_bytes": sum(cost.ema_bytes for cost in costs),
        "energy_pj": sum(cost.energy_pj for cost in costs),
        "latency_cycles": sum(cost.latency_cycles for cost in costs),
        "bandwidth": bandwidth(costs),
    }


def bandwidth(costs: Sequence[SubgraphCost]) -> dict[str, float]:
    """What DRAM must deliver for computing never to wait, in bytes per cycle: on average, and in the worst group.

    While a group computes, its inputs and outputs pass, and the weights of the next (Cocco, figure 3); those of the
    first group come before.
    """
    following = [cost.weight_bytes for cost in costs[1:]] + [0]
    need = [
        (cost.input_bytes + cost.output_bytes + weights) / cost.compute_cycles
        for cost, weights in zip(costs, following, strict=True)
    ]
    total = (sum(cost.ema_bytes for cost in costs) - costs[0].weight_bytes) / sum(cost.compute_cycles for cost in costs)
    return {"average_bytes_per_cycle": total, "peak_bytes_per_cycle": max(need)}
