"""Partitions whose groups are to be run: prices, tiles of full rows or narrower, and layers that only run alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...costs.fusion import Platform
from ...costs.fusion.pricer import ProgramPricer
from ...costs.fusion.values import Metric
from ...dialects import graph
from ...dialects.types import shape_of
from ..graph_to_nest.tiled_layers import copied_bytes, tiled_bytes
from ..nest_to_codelet.map_pieces import channel_axis
from .fusion_layers import FusionLayers
from .graph_fuse import ELEMENTWISE

ROWS = (1, 2, 4, 8, 16, 32)
"""Rows of the tiles of a group's last layers that are tried."""

COLUMNS = (8, 16, 32, 64, 128)
"""Their columns, where full rows do not fit."""


@dataclass(frozen=True)
class RowGroups:
    """Prices groups of `layers` that run on `platform`, at most `most` rows in a tile.

    Tiles have full rows; where these do not fit, at most `columns` columns.  With 0 there are such tiles only if some
    layer fits by them and not by full rows.
    """

    layers: FusionLayers
    platform: Platform
    most: int
    metric: Metric = "ema"
    columns: int = 0

    def pricer(self, ctx: Context, module: ModuleOp) -> ProgramPricer:
        """The price of groups as the program for the target in `module` will run them."""
        found = self._pricer(self.columns)
        fits = found.fits()
        if not self.columns:
            narrow = self._pricer(COLUMNS[-1])
            narrowly = narrow.fits()
            if any(fit and not before for fit, before in zip(narrowly, fits, strict=True)):
                found, fits = narrow, narrowly
        alone = {number for number, fit in enumerate(fits) if not fit or not self.fusible(number)}
        found.alone.update(tiled_bytes(ctx, module, self.layers, sorted(alone)))
        return found

    def _pricer(self, columns: int) -> ProgramPricer:
        table = self.layers.graph()
        rows = [rows for rows in ROWS if rows <= self.most] or [1]
        widths = [width for width in COLUMNS if width <= columns] or [columns] * (columns > 0)
        narrow = sorted(((high, wide) for high in rows for wide in widths), key=lambda tile: (tile[0] * tile[1], tile))
        tiles = [*narrow, *((high, 0) for high in rows)]
        apart = [number for number in range(len(table)) if not self.fusible(number)]
        return ProgramPricer(
            table, self.platform, batch=self.layers.batch, metric=self.metric, tiles=tiles, apart=apart
        )

    def copied(self, ctx: Context, module: ModuleOp) -> int:
        """DRAM bytes that the program moves besides those of its layers, whatever the groups."""
        return copied_bytes(ctx, module, self.layers)

    def fusible(self, number: int) -> bool:
        """Whether a layer can run by rows inside of a group."""
        members = self.layers.members[number]
        extents = shape_of(members[-1].results[0])
        rows = extents[:1] == (self.layers.batch,) and all(_is_row_layer(op) for op in members)
        grouped = any(isinstance(op, graph.ConvOp) and op.groups.value.data > 1 for op in members)
        return rows and all(self._lies_still(operand, grouped) for op in members for operand in op.operands)

    def _lies_still(self, value: SSAValue, grouped: bool) -> bool:
        """Whether the maps that `value` consists of can be read, sample by sample, where each of them lies.

        Their first axis is that of samples.  Those that are joined are side by side along channels, are not looked at
        together in another shape, and no kernel walks over groups of them.
        """
        stack = [(value, False)]
        while stack:
            value, viewed = stack.pop()
            match value.owner:
                case graph.WeightOp():
                    pass
                case graph.ReshapeOp() as view:
                    stack.append((view.x, True))
                case graph.ConcatOp() as join:
                    if viewed or grouped or join.axis.value.data != channel_axis(len(shape_of(value))):
                        return False
                    stack += [(piece, False) for piece in join.pieces]
                case _:
                    if shape_of(value)[:1] not in ((), (self.layers.batch,)):
                        return False
        return True

    def tile(self, pricer: ProgramPricer, group: Sequence[int]) -> tuple[int, int]:
        """Rows and columns (0: all) of the tile with which a group runs; (0, 0) for a layer that runs on its own."""
        cost = pricer.cost(group)
        alone = len(group) == 1 and (group[0] in pricer.alone or not self.fusible(group[0]))
        return (0, 0) if cost is None or alone else (cost.tile[0], cost.tile[1])


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
