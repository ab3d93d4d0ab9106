"""Prices of groups as a program runs them: some layers only on their own, at the traffic that their tiles have."""

from collections.abc import Iterable, Sequence
from math import ceil

import numpy as np

from .graph import LayerGraph
from .price import Costs, Terms
from .pricer import CostTable, SubgraphPricer
from .tables import Ints
from .values import Buffers, Metric, Platform, SubgraphCost


class ProgramPricer(SubgraphPricer):
    """Layers of `apart` are in no group of several; `alone` has bytes to and from DRAM of layers that run on their own.

    All others run as groups, tile by tile, also if they are by themselves.
    """

    def __init__(
        self,
        graph: LayerGraph,
        platform: Platform,
        *,
        batch: int = 1,
        metric: Metric = "ema",
        tiles: Sequence[tuple[int, int]],
        apart: Iterable[int] = (),
    ) -> None:
        super().__init__(graph, platform, batch=batch, metric=metric, tiles=tiles)
        self.alone: dict[int, int] = {}
        self._apart = np.zeros(len(graph), np.bool_)
        self._apart[sorted(apart)] = True
        self._rows: dict[int, tuple[Ints, float]] = {}

    def fits(self) -> list[bool]:
        """For each layer, whether it fits as a group of its own."""
        count = len(self.graph)
        return self._table(np.arange(count), np.arange(count + 1), self.buffers, every=False).fits.tolist()

    def cost(self, nodes: Iterable[int], buffers: Buffers | None = None) -> SubgraphCost | None:
        members = self._members(nodes)
        return None if len(members) > 1 and self._apart[members].any() else super().cost(members, buffers)

    def _new_terms(self, buffers: Buffers) -> Terms:
        return super()._new_terms(buffers)._replace(narrow=1 if any(columns for _, columns in self.tiles) else 0)

    def _chosen(self, members: Ints, starts: Ints, buffers: Buffers | None) -> CostTable:
        buffers = self.buffers if buffers is None else buffers
        table = self._table(members, starts, buffers, every=False)
        single = starts[1:] - starts[:-1] == 1
        table.integers[np.logical_or.reduceat(self._apart[members], starts[:-1]) & ~single, Costs.TILE] = -1
        rows = np.flatnonzero(single)
        layers = members[starts[rows]]
        for layer in map(int, np.unique(layers)):
            if layer in self.alone:
                places = rows[layers == layer]
                table.integers[places], table.energy_pj[places] = self._row(layer, buffers)
        return table

    def _row(self, layer: int, buffers: Buffers) -> tuple[Ints, float]:
        """The best cut of a layer, with the traffic of `alone`: what is not weights or results is read."""
        if layer not in self._rows:
            ways, platform = self._alone_ways(layer), self.platform
            place = self._best_cut(layer, buffers) or 0
            row, energy = ways.integers[place].copy(), float(ways.energy_pj[place])
            before = row[Costs.WEIGHTS], row[Costs.INPUTS]
            row[Costs.WEIGHTS] = self.graph.layers[layer].weight_bytes
            row[Costs.INPUTS] = max(0, self.alone[layer] - row[Costs.WEIGHTS] - row[Costs.OUTPUTS])
            row[Costs.TRANSFER] = ceil(
                (row[Costs.WEIGHTS] + row[Costs.INPUTS] + row[Costs.OUTPUTS]) / platform.dram_bytes_per_cycle
            )
            energy += float(row[Costs.WEIGHTS] - before[0]) * (platform.dram_read_pj + platform.weight_write_pj)
            energy += float(row[Costs.INPUTS] - before[1]) * (platform.dram_read_pj + platform.global_write_pj)
            self._rows[layer] = row, energy
        return self._rows[layer]
