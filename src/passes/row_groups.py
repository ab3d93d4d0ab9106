"""Partitions whose groups are to be run by full rows: prices, tiles, and layers that only run on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation

from ..costs.fusion import Buffers, Platform, SubgraphCost
from ..costs.fusion.pricer import SubgraphPricer
from ..costs.fusion.values import Metric
from ..dialects import graph
from ..dialects.types import shape_of
from ..search.fusion import PartitionResult
from .fusion_layers import FusionLayers
from .graph_fuse import ELEMENTWISE

ROWS = (1, 2, 4, 8, 16, 32)
"""Rows of the tiles of a group's last layers that are tried."""


@dataclass(frozen=True)
class RowGroups:
    """Prices groups of `layers` that run by full rows, at most `most` in a tile, on `platform`."""

    layers: FusionLayers
    platform: Platform
    most: int
    metric: Metric = "ema"

    def pricer(self) -> SubgraphPricer:
        """The price of groups, with tiles of full rows."""
        table = self.layers.graph()
        tiles = [(rows, 0) for rows in ROWS if rows <= self.most] or [(1, 0)]
        return SubgraphPricer(table, self.platform, batch=self.layers.batch, metric=self.metric, tiles=tiles)

    def divided(self, pricer: SubgraphPricer, result: PartitionResult) -> PartitionResult:
        """A partition with layers that only run on their own cut out of its groups, and what it costs then."""
        found: list[list[int]] = []
        for group in result.groups:
            found.append([])
            for number in sorted(group):
                if self.fusible(number):
                    found[-1].append(number)
                else:
                    found += [[number], []]
        groups = tuple(tuple(group) for group in found if group)
        if len(groups) == len(result.groups):
            return result
        costs = [pricer.cost(group) for group in groups]
        total = sum(_metric(cost, self.metric) for cost in costs if cost is not None)
        return replace(result, groups=groups, cost=total, proven=False)

    def fusible(self, number: int) -> bool:
        """Whether a layer can run by rows inside of a group."""
        return all(_is_row_layer(op) for op in self.layers.members[number])

    def rows(self, pricer: SubgraphPricer, group: Sequence[int]) -> int:
        """Rows of the largest tile with which a group fits as a whole; 0 where none does, or a layer cannot."""
        if not all(self.fusible(number) for number in group):
            return 0
        buffers, regions = pricer.buffers, pricer.platform.regions
        whole = pricer.ways(group)[: len(pricer.tiles)]
        fitting = [way.tile[0] for way in whole if _fits(way, buffers) and way.regions <= regions]
        return max(fitting, default=0)


def _metric(cost: SubgraphCost, metric: Metric) -> float:
    return {"ema": cost.ema_bytes, "energy": cost.energy_pj, "latency": cost.latency_cycles}[metric]


def _fits(way: SubgraphCost, buffers: Buffers) -> bool:
    maps, weights = way.global_demand_bytes, way.weight_demand_bytes
    if buffers.weight_bytes is None:
        return maps + weights <= buffers.global_bytes
    return maps <= buffers.global_bytes and weights <= buffers.weight_bytes


def _is_row_layer(op: Operation) -> bool:
    match op:
        case graph.ConvOp() | graph.PoolOp():
            return len(shape_of(op.operands[0])) == 4
        case graph.GemmOp():
            return op.trans_a is None and isinstance(op.b.owner, graph.WeightOp)
        case graph.ReduceOp():
            return len(shape_of(op.x)) == 4 and tuple(op.axes.get_values()) == (2, 3)
        case _:
            return isinstance(op, ELEMENTWISE)
