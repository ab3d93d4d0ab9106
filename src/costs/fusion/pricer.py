"""Prices of groups of layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import InfeasibleError, TilewrightError
from .columns import Ints, graph_columns
from .graph import LayerGraph
from .platform import Platform
from .price import (
    CYCLES,
    GLOBAL,
    INPUTS,
    OUTPUTS,
    REGIONS,
    TILE,
    TRANSFER,
    WEIGHT,
    WEIGHTS,
    Floats,
    Terms,
    price_groups,
    price_tiles,
)
from .trace import new_trace
from .values import Buffers, SubgraphCost

TILES = ((1, 1), (1, 4), (1, 16), (2, 16), (4, 16), (8, 16), (16, 16))
"""Rows and columns of the tiles of a group's last layers that are tried."""

MOST_BATCH = 64


class CostTable(NamedTuple):
    """Costs of many groups, a row each; `price` names the columns of `integers`, TILE is -1 where a group fits not."""

    integers: Ints
    energy_pj: Floats

    @property
    def fits(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each group can be run."""
        return self.integers[:, TILE] >= 0

    @property
    def ema_bytes(self) -> Ints:
        """External memory access of each group."""
        return self.integers[:, WEIGHTS] + self.integers[:, INPUTS] + self.integers[:, OUTPUTS]

    @property
    def latency_cycles(self) -> Ints:
        """The longer of computing and communication for each group."""
        return np.maximum(self.integers[:, CYCLES], self.integers[:, TRANSFER])


class SubgraphPricer:
    """Prices groups of layers of `graph`; `batch` samples run one after another before the next group begins.

    Each of `cores` (1, 2, 4, ...) has its own buffers and DRAM channel and takes a part of every map; weights, and
    results kept whole, are divided over the cores and passed on through a crossbar (Cocco, section 5.4.2).
    """

    def __init__(
        self,
        graph: LayerGraph,
        platform: Platform | None = None,
        *,
        buffers: Buffers | None = None,
        batch: int = 1,
        cores: int = 1,
        tiles: Sequence[tuple[int, int]] = TILES,
    ) -> None:
        self.graph = graph
        self.platform = Platform() if platform is None else platform
        self.buffers = self.platform.buffers if buffers is None else buffers
        if not 1 <= batch <= MOST_BATCH:
            raise TilewrightError("batch", graph.name, f"a batch of 1 to {MOST_BATCH}", str(batch))
        if not 1 <= cores <= 64:
            raise TilewrightError("cores", graph.name, "1 to 64 cores", str(cores))
        self.batch, self.cores, self.tiles = batch, cores, tuple(tiles)
        self._columns = graph_columns(graph, self.platform)
        self._trace = new_trace(len(graph) + len(graph.inputs))
        self._tiles = np.array(self.tiles, dtype=np.int64)

    def cost(self, nodes: Iterable[int], buffers: Buffers | None = None) -> SubgraphCost | None:
        """The price of running `nodes` as one group, None if they do not fit (`why` tells)."""
        members = self._members(nodes)
        table = self.cost_many(members, np.array([0, len(members)], dtype=np.int64), buffers)
        return self._value(table.integers[0], table.energy_pj[0]) if table.fits[0] else None

    def cost_many(self, members: Ints, starts: Ints, buffers: Buffers | None = None) -> CostTable:
        """Prices of the groups `members[starts[g]:starts[g + 1]]`, ascending layer numbers each."""
        count = len(starts) - 1
        table = CostTable(np.empty((count, TILE + 1), np.int64), np.empty(count))
        self._trace.stamp.fill(-1)
        terms = self._terms(self.buffers if buffers is None else buffers)
        price_groups(self._columns, self._trace, terms, self._tiles, members, starts, table.integers, table.energy_pj)
        return table

    def ways(self, nodes: Iterable[int]) -> tuple[SubgraphCost, ...]:
        """The ways to run `nodes` as one group, whatever the capacities, those that need less first."""
        members, count = self._members(nodes), len(self.tiles)
        table = CostTable(np.empty((count, TILE + 1), np.int64), np.empty(count))
        self._trace.stamp.fill(-1)
        terms = self._terms(self.buffers)
        price_tiles(self._columns, self._trace, terms, self._tiles, members, table.integers, table.energy_pj)
        return tuple(self._value(row, energy) for row, energy in zip(table.integers, table.energy_pj, strict=True))

    def why(self, nodes: Iterable[int], buffers: Buffers | None = None) -> InfeasibleError | None:
        """What keeps `nodes` from being run as one group, with the smallest capacity that would do; None if nothing."""
        buffers = self.buffers if buffers is None else buffers
        members = self._members(nodes)
        if self.cost(members, buffers) is not None:
            return None
        least = self.ways(members)[0]
        names = [self.graph.layers[v].name for v in members]
        subject = f"group {names[0]} to {names[-1]} of {self.graph.name}" if len(names) > 1 else f"layer {names[0]}"
        asked, bound, resource = least.global_demand_bytes, buffers.global_bytes, "global buffer"
        if buffers.weight_bytes is None:
            asked, resource = asked + least.weight_demand_bytes, "shared buffer"
        elif least.weight_demand_bytes > buffers.weight_bytes:
            asked, bound, resource = least.weight_demand_bytes, buffers.weight_bytes, "weight buffer"
        if least.regions > self.platform.regions and asked <= bound:
            lever = f"use a region manager of {least.regions} regions, or smaller groups"
            return InfeasibleError("region manager", least.regions, self.platform.regions, "regions", lever, subject)
        lever = f"use a {resource} of at least {asked} bytes, or smaller groups"
        return InfeasibleError(resource, asked, bound, "bytes", lever, subject)

    def _members(self, nodes: Iterable[int]) -> Ints:
        members = np.array(sorted(set(nodes)), dtype=np.int64)
        if len(members) == 0 or members[0] < 0 or members[-1] >= len(self.graph):
            found = str(members.tolist())
            raise TilewrightError("group", self.graph.name, f"layers from 0 to {len(self.graph) - 1}", found)
        return members

    def _value(self, row: Ints, energy_pj: float) -> SubgraphCost:
        cells: list[int] = row.tolist()
        return SubgraphCost(
            weight_bytes=cells[WEIGHTS],
            input_bytes=cells[INPUTS],
            output_bytes=cells[OUTPUTS],
            energy_pj=float(energy_pj),
            compute_cycles=cells[CYCLES],
            transfer_cycles=cells[TRANSFER],
            global_demand_bytes=cells[GLOBAL],
            weight_demand_bytes=cells[WEIGHT],
            regions=cells[REGIONS],
            tile=self.tiles[cells[TILE]],
        )

    def _terms(self, buffers: Buffers) -> Terms:
        platform = self.platform
        return Terms(
            array_x=platform.array[0],
            array_y=platform.array[1],
            cores=self.cores,
            batch=self.batch,
            align=platform.align_bytes,
            regions=platform.regions,
            global_capacity=buffers.global_bytes,
            weight_capacity=-1 if buffers.weight_bytes is None else buffers.weight_bytes,
            dram_bytes_per_cycle=platform.dram_bytes_per_cycle,
            mac_pj=platform.mac_pj,
            dram_read_pj=platform.dram_read_pj,
            dram_write_pj=platform.dram_write_pj,
            global_read_pj=platform.global_read_pj,
            global_write_pj=platform.global_write_pj,
            weight_read_pj=platform.weight_read_pj,
            weight_write_pj=platform.weight_write_pj,
            crossbar_pj=platform.crossbar_pj,
        )
