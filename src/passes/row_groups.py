"""Partitions whose groups are to be run by full rows: prices, tiles, and layers that only run on their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..costs.fusion import Platform
from ..costs.fusion.program_pricer import ProgramPricer
from ..costs.fusion.values import Metric
from ..dialects import graph
from ..dialects.types import shape_of
from .fusion_layers import FusionLayers
from .graph_fuse import ELEMENTWISE
from .tiled_layers import copied_bytes, tiled_bytes

ROWS = (1, 2, 4, 8, 16, 32)
"""Rows of the tiles of a group's last layers that are tried."""


@dataclass(frozen=True)
class RowGroups:
    """Prices groups of `layers` that run by full rows, at most `most` in a tile, on `platform`."""

    layers: FusionLayers
    platform: Platform
    most: int
    metric: Metric = "ema"

    def pricer(self, ctx: Context, module: ModuleOp) -> ProgramPricer:
        """The price of groups as the program for the target in `module` will run them."""
        table, batch = self.layers.graph(), self.layers.batch
        tiles = [(rows, 0) for rows in ROWS if rows <= self.most] or [(1, 0)]
        apart = {number for number in range(len(table)) if not self.fusible(number)}
        found = ProgramPricer(table, self.platform, batch=batch, metric=self.metric, tiles=tiles, apart=apart)
        alone = apart | {number for number, fits in enumerate(found.fits()) if not fits}
        found.alone.update(tiled_bytes(ctx, module, self.layers, sorted(alone)))
        return found

    def copied(self, ctx: Context, module: ModuleOp) -> int:
        """DRAM bytes that the program moves besides those of its layers, whatever the groups."""
        return copied_bytes(ctx, module, self.layers)

    def fusible(self, number: int) -> bool:
        """Whether a layer can run by rows inside of a group."""
        return all(_is_row_layer(op) for op in self.layers.members[number])

    def rows(self, pricer: ProgramPricer, group: Sequence[int]) -> int:
        """Rows of the tile with which a group runs as a whole; 0 for a layer that runs on its own."""
        cost = pricer.cost(group)
        alone = len(group) == 1 and (group[0] in pricer.alone or not self.fusible(group[0]))
        return 0 if cost is None or alone else cost.tile[0]


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
