"""The pass `graph-partition`: layers that run together, as groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...costs.fusion import LayerGraph, SubgraphCost
from ...costs.fusion.pricer import SubgraphPricer
from ...dialects import graph
from ...dialects.properties import figures_attr
from ...search.fusion import PartitionOptions, PartitionResult, partition
from ...search.fusion.floors import scene_of
from ..functions import copy_into, functions_of
from .fusion_layers import FusionLayers, fusion_layers, platform_in
from .graph_fuse import fused_group, name_values
from .row_groups import RowGroups


@dataclass
class Outliner:
    """Puts the layers of a function into groups, in an order of execution."""

    layers: FusionLayers
    groups: Sequence[Sequence[int]]
    tiles: Sequence[int]
    shapes: Sequence[tuple[int, int]]

    def run(self) -> None:
        """Replace the body of the function: weights, groups, then what the function returns."""
        block = self.layers.block
        old = list(block.ops)
        new: dict[SSAValue, SSAValue] = {argument: argument for argument in block.args}
        for op in old:
            op.detach()
        for op in old:
            if isinstance(op, graph.WeightOp):
                self._append(op, new)
        for numbers, tiles, (rows, columns) in zip(self.groups, self.tiles, self.shapes, strict=True):
            group, fused = self._group([op for op in old if self._owner(op) in numbers], tiles, new)
            if rows:
                fused.attributes["tile_rows"] = IntegerAttr(rows, i64)
            if columns:
                fused.attributes["tile_columns"] = IntegerAttr(columns, i64)
            block.add_op(group)
        last = old[-1]
        for operand in last.operands:
            copy_into(block, operand, new)
        self._append(last, new)
        for op in reversed(old):
            op.erase(safe_erase=False)

    def _owner(self, op: Operation) -> int:
        return self.layers.number.get(op.results[0], -1) if op.results else -1

    def _append(self, op: Operation, new: dict[SSAValue, SSAValue]) -> None:
        copy = op.clone(new)
        self.layers.block.add_op(copy)
        for before, after in zip(op.results, copy.results, strict=True):
            new[before] = after

    def _group(
        self, members: list[Operation], tiles: int, new: dict[SSAValue, SSAValue]
    ) -> tuple[Operation, graph.FusedGroupOp]:
        """A layer group around one fused group of `members`; `new` learns its results."""
        made: set[SSAValue] = {op.results[0] for op in members}
        inputs: dict[SSAValue, None] = {}
        for op in members:
            for operand in op.operands:
                self._inputs(operand, made, new, inputs)
        outputs: list[SSAValue] = [
            op.results[0] for op in members if any(self._leaves(use.operation, made) for use in op.results[0].uses)
        ]
        outer = Block(arg_types=[value.type for value in inputs])
        fused = fused_group(members, inputs, outer.args, outputs, tiles)
        outer.add_ops([fused, graph.YieldOp(*fused.outputs)])
        group = graph.LayerGroupOp([new[value] for value in inputs], fused.outputs.types, Region(outer))
        name_values(group, inputs, outputs)
        new.update(zip(outputs, group.outputs, strict=True))
        return group, fused

    def _inputs(
        self, value: SSAValue, made: set[SSAValue], new: dict[SSAValue, SSAValue], inputs: dict[SSAValue, None]
    ) -> None:
        """Collect what a group reads from outside, views looked through."""
        if value in made:
            return
        if value in new:
            inputs.setdefault(value)
        elif isinstance(value.owner, Operation):
            for operand in value.owner.operands:
                self._inputs(operand, made, new, inputs)

    def _leaves(self, user: Operation, made: set[SSAValue]) -> bool:
        """Whether `user`, or what reads it through views, is outside of the group."""
        if not user.results:
            return True
        if user.results[0] in self.layers.number:
            return user.results[0] not in made
        return any(self._leaves(use.operation, made) for use in user.results[0].uses)


def tiles_of(layers: LayerGraph, group: Sequence[int], cost: SubgraphCost) -> int:
    """Tiles into which the first result of a group is cut."""
    first = next((v for v in group if v in layers.exits or any(r not in group for r in layers.consumers[v])), group[-1])
    _, rows, columns = layers.layers[first].shape
    return -(-rows // cost.tile[0]) * -(-columns // (cost.tile[1] or columns))


@dataclass(frozen=True)
class GraphPartitionPass(ModulePass):
    """Put layers that run together, tile by tile, into groups of least total cost (Cocco, section 4).

    Before: layers of the graph dialect, weights named.  After: the function is a sequence of `graph.layer_group`, each
    with one `graph.fused_group`, in an order of execution; reshapes and concatenations are copied into the groups that
    read them.  A layer is one operation that computes with the elementwise ones that alone read its result.

        %a = graph.conv %x, %w ...            %b = graph.layer_group (%x, %w, %v) -> (...) {
        %b = graph.conv %a, %v ...      ->      %c = graph.fused_group tiles 14 (...) {
                                                  conv, conv, yield
                                                }
                                                graph.yield %c
                                              }

    `method` is one of `search.fusion.METHODS`, `metric` what becomes small: `ema` (bytes to and from DRAM), `energy` or
    `latency`.  The buffers are those of the target that `load-target` put into the module (without one: of Cocco's
    machine); `global_bytes` and `weight_bytes` (0: as the target has it) change them.  `time_limit_s` (0: none) ends
    the search early, and so does a cost at most `gap` (0.01 for 1 %) above its bound; else the result depends on `seed`
    only.  The function's attribute `partition` has the total, its
    lower bound, the count of groups, and DRAM bytes (`ema_bytes`).  A layer that fits no buffer alone is its own group.

    With `rows` the groups are for running (`docs/fusion.md`): tiles are full rows, at most so many; layers that only
    run on their own are in no group, and are priced as the target's tiles make them; and what fits is marked with the
    rows of its tiles (`tile_rows` of the fused group).  What does not fit by full rows may have tiles of `columns`
    columns at most (`tile_columns`; 0: only where a layer does not fit otherwise).
    """

    name = "graph-partition"
    method: str = "ours"
    metric: Literal["ema", "energy", "latency"] = "ema"
    seed: int = 0
    time_limit_s: float | int = 0
    gap: float | int = 0.0
    global_bytes: int = 0
    weight_bytes: int = 0
    rows: int = 0
    columns: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        platform = platform_in(op, self.global_bytes, self.weight_bytes)
        for function in functions_of(op):
            layers = fusion_layers(function)
            by_rows = RowGroups(layers, platform, self.rows, self.metric, self.columns)
            if self.rows:
                pricer = by_rows.pricer(ctx, op)
                tiles, copied = partial(by_rows.tile, pricer), by_rows.copied(ctx, op)
            else:
                pricer = SubgraphPricer(layers.graph(), platform, batch=layers.batch, metric=self.metric)
                tiles, copied = _no_tile, 0
            table = pricer.graph
            limit = self.time_limit_s or None
            options = PartitionOptions(self.method, self.metric, self.seed, limit, gap=self.gap)
            result = partition(table, pricer, options, scene=scene_of(pricer))
            outline(function, layers, pricer, result, tiles, copied)


def outline(
    function: func.FuncOp,
    layers: FusionLayers,
    pricer: SubgraphPricer,
    result: PartitionResult,
    shape: Callable[[Sequence[int]], tuple[int, int]],
    copied_bytes: int = 0,
) -> None:
    """Put the layers of `function` into the groups of `result`, with tiles of `shape` (0 rows: it is not to run).

    `copied_bytes` to and from DRAM belong to no layer, but count as `ema_bytes`.
    """
    costs = [pricer.cost(group) for group in result.groups]
    tiles = [
        1 if cost is None else tiles_of(pricer.graph, group, cost)
        for group, cost in zip(result.groups, costs, strict=True)
    ]
    Outliner(layers, result.groups, tiles, [shape(group) for group in result.groups]).run()
    figures = {
        "cost": result.cost,
        "lower_bound": result.lower_bound,
        "groups": float(len(result.groups)),
        "ema_bytes": float(copied_bytes + sum(cost.ema_bytes for cost in costs if cost is not None)),
    }
    function.attributes["partition"] = figures_attr(figures)


def _no_tile(group: Sequence[int]) -> tuple[int, int]:
    return 0, 0
