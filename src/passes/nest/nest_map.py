"""The pass `nest-map`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ...costs.mapping.binding import Pricer, pricer_of
from ...costs.mapping.check import check_tree
from ...costs.mapping.problem import Group, Kernel
from ...costs.mapping.total import Cost, cost_of
from ...costs.mapping.tree import Leaf, Loop, Node, Spatial, full_tiles, leaves
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.properties import figures_attr, figures_of
from ...errors import TilewrightError
from ...search.group_tiles.leaves import bind_kernel
from ..functions import functions_of
from ..nest_to_codelet.fused_marks import marked_groups
from .trees import group_of, in_group, region_tree, set_mapping

if TYPE_CHECKING:
    from ..nest_to_codelet.fused_layers import FusedGroup


@dataclass(frozen=True)
class NestMapPass(ModulePass):
    """Choose for every compute of a mapping the capability that runs it, and how.

    Before: mappings with unbound `nest.compute`.  After: each names a capability of the target's `acg.graph` whose
    statement has the kernel's meaning; its dims are bound to the kernel's, what it cannot carry is looped over one by
    one, and dims are spread over the instances of its node: the choice of fewest cycles by the capability's formula.

        nest.compute @mac

    becomes

        nest.for b step 1 {
          nest.spatial k = 4 on @MXU x {
            nest.compute @mac on @MXU::@fmac dims {k = k, p = p, q = q, c = c} tensors {O = Y, X = X, W = W}
          }
        }

    A compute that is bound already stays as it is.  A tree that does not fit the machine (memories, capacity,
    instances, capabilities) is an error that names the group.  What the mappings of a function cost together, one group
    after another, is noted in its attribute `predicted`: `cycles`, `energy_pj`, `dram_bytes` (`costs.mapping.total`;
    `costs.fusion` for fused groups); after `graph-partition`, also the `ema_bytes` of the partition.

    With `mapper` (exact, refine, cosa, sunstone, random, hybrid) the machine is a hierarchy of memories over
    multiply-accumulators that take one point at a time, and the whole mapping is searched for: loops, holds in every
    memory (or none: bypass), spreads over the instances of every level, for the least `objective` (edp, energy,
    latency, or dram: words off chip) by cost model `model` (exact or timeloop) with imperfect or perfect `factors`.
    `bypass=false` keeps every tensor wherever it may be kept.  A kernel's search ends after `time_limit` CPU
    seconds, or as soon as it is within `gap` (0.01 for 1 %) of the best.

        nest.for n step 4 {
          nest.spatial m = 4 step 3 on @L1 x {
            nest.hold @L1 [A, B, mac] {
              ...
                nest.compute @mac

    Groups of several kernels are cut into groups of one, which meet off chip.  Groups that have a mapping keep it and
    are priced by the same model.  Each group's attribute `predicted` has `cycles`, `energy_pj` and `edp`, and the
    `bound` that no mapping of the searched space goes below, if it was searched; the function's has the sums.
    """

    name = "nest-map"
    mapper: str = ""
    objective: str = "edp"
    factors: str = ""
    model: str = "exact"
    bypass: bool = True
    seed: int = 0
    time_limit: int | float | None = None
    gap: int | float = 0.0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        groups = [group for group in op.walk() if isinstance(group, nest.GroupOp)]
        if not groups:
            return
        if self.mapper:
            from .hierarchy import map_groups, request_of  # loads kernels and solvers

            options = self.objective, self.model, self.factors, self.bypass, self.seed, self.time_limit, self.gap
            map_groups(op, groups, self.mapper, request_of(*options))
            return
        pricer = pricer_of(machine_of(op))
        for function in functions_of(op):
            inside = [group for group in function.walk() if isinstance(group, nest.GroupOp)]
            alone = [group for group in inside if "fused" not in group.attributes]
            costs = [_map(group, pricer) for group in alone]
            fused = marked_groups(function.body.block, pricer.machine, pricer)
            busy = {op: bind_in_place(op, pricer) for op in fused}
            groups = list(dict.fromkeys(fused.values()))
            if not any(group.whole for group in groups):
                _predict(function, costs, groups, busy)


def _predict(
    function: FuncOp, costs: list[Cost], fused: list[FusedGroup], busy: Mapping[nest.GroupOp, Mapping[str, float]]
) -> None:
    cycles = [group.program_cycles([busy[layer.op] for layer in group.layers]) for group in fused]
    figures = {
        "cycles": sum(cost.latency_cycles for cost in costs) + sum(cycles),
        "energy_pj": sum(cost.energy_pj for cost in costs) + sum(group.cost.energy_pj for group in fused),
        "dram_bytes": float(sum(cost.dram_bytes for cost in costs) + sum(group.cost.ema_bytes for group in fused)),
    }
    partition = figures_of(function.attributes.get("partition"))
    moved = {name: figure for name, figure in partition.items() if name == "ema_bytes"}
    function.attributes["predicted"] = figures_attr(figures | moved)


def _map(op: nest.GroupOp, pricer: Pricer) -> Cost:
    if not op.is_mapped:
        raise TilewrightError(
            "unsupported", f"group @{op.sym_name.data}", "a mapping", "none", "run nest-tile before nest-map"
        )
    problem = group_of(op)
    try:
        tree = region_tree(op.mapping, problem, pricer.machine)
        nodes, cost = _solve(problem, tree, pricer)
    except TilewrightError as error:
        raise in_group(error, op) from error
    set_mapping(op, nodes)
    return cost


def bind_in_place(op: nest.GroupOp, pricer: Pricer) -> Mapping[str, float]:
    """Choose capabilities for a layer of a fused group, whose operands are in place; cycles of each unit for it."""
    problem = group_of(op)
    nodes, cost = bind_tree(problem, region_tree(op.mapping, problem, pricer.machine), pricer)
    set_mapping(op, nodes)
    return cost.queue_cycles


@lru_cache(maxsize=1 << 14)
def bind_tree(problem: Group, tree: tuple[Node, ...], pricer: Pricer) -> tuple[tuple[Node, ...], Cost]:
    """A mapping with a capability for each of its computes, and what it costs."""
    kernels = {kernel.name: kernel for kernel in problem.kernels}
    nodes = _bound(_stripped(tree), kernels, problem.extents, pricer)
    return nodes, cost_of(problem, nodes, pricer)


@lru_cache(maxsize=1 << 14)
def _solve(problem: Group, tree: tuple[Node, ...], pricer: Pricer) -> tuple[tuple[Node, ...], Cost]:
    check_tree(problem, tree, pricer.machine)
    return bind_tree(problem, tree, pricer)


def _stripped(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The tree without the spatial nodes around unbound computes, which are chosen with the capability."""
    found: list[Node] = []
    for node in nodes:
        match node:
            case Spatial(_, _, _, _, body) if any(leaf.match is None for leaf in leaves(body)):
                found.extend(_stripped(body))
            case Leaf():
                found.append(node)
            case _:
                found.append(replace(node, body=_stripped(node.body)))
    return tuple(found)


def _bound(
    nodes: tuple[Node, ...], kernels: Mapping[str, Kernel], tile: Mapping[str, int], pricer: Pricer
) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Leaf(name, None):
                found.append(bind_kernel(kernels[name], tile, pricer))
            case Leaf():
                found.append(node)
            case Loop(dim, step, body):
                found.append(Loop(dim, step, _bound(body, kernels, full_tiles(tile, dim, step), pricer)))
            case _:
                found.append(replace(node, body=_bound(node.body, kernels, tile, pricer)))
    return tuple(found)
