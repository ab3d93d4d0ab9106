"""Prices of groups of layers."""

from collections.abc import Hashable, Iterable, Sequence
from math import ceil, gcd
from typing import Any, NamedTuple

import numpy as np

from ...algebra.element import Array, Bools, Floats, Ints
from ...errors import InfeasibleError, TilewrightError
from .alone import Alone
from .graph import LayerGraph
from .price import METRICS, Costs, Terms, price_groups
from .tables import COMPONENT, FIRST_EDGE, RATE, READERS, SOURCE, GraphTables, graph_tables
from .trace import new_trace
from .values import Buffers, Metric, Platform, SubgraphCost

Structure = tuple[int, ...]


class Alike:
    """Structures of groups of `graph`: groups with the same one have the same ways to run.

    A structure has all that tables say of the layers, in their order, of the windows through which they read, and of
    what they read, by its place in the group; and which results leave the group.  Layers that differ in their place in
    the network only are alike.
    """

    def __init__(self, graph: LayerGraph, net: GraphTables) -> None:
        self._numbers: dict[Hashable, int] = {}
        edges: list[list[int]] = net.edges.tolist()
        sources: list[list[int]] = net.sources.tolist()
        self._sources = [self._number(("source", *row[:READERS])) for row in sources]
        self._readers = [row[READERS] for row in sources]
        self._rates = [row[RATE] for row in sources]
        self._components = [row[COMPONENT] for row in sources]
        self._layers: list[int] = []
        self._reads: list[list[tuple[int, int]]] = []
        for layer, row, source in zip(graph.layers, net.layers.tolist(), self._sources, strict=False):
            own = edges[row[FIRST_EDGE] : row[FIRST_EDGE + 1]]
            kind = ("layer", layer.shape, layer.groups, layer.element_bytes, source, len(own), *row[FIRST_EDGE + 2 :])
            self._layers.append(self._number(kind))
            self._reads.append([(self._number(("edge", *edge[SOURCE + 1 :])), edge[SOURCE]) for edge in own])

    def _number(self, kind: Hashable) -> int:
        return self._numbers.setdefault(kind, len(self._numbers))

    def structure(self, members: Sequence[int]) -> Structure:
        """The structure of the group of `members` (ascending)."""
        places = {v: place for place, v in enumerate(members)}
        readers = [self._readers[v] for v in members]
        found = [len(members)]
        for v in members:
            found.append(self._layers[v])
            for edge, u in self._reads[v]:
                place = places.get(u)
                if place is None:
                    place = places[u] = len(places)
                    found.append(self._sources[u])
                elif place < len(members):
                    readers[place] -= 1
                found.append(edge)
                found.append(place)
        found.extend(count > 0 for count in readers)
        found.extend(self._paces(members))
        return tuple(found)

    def _paces(self, members: Sequence[int]) -> list[int]:
        """Positions by which the layers advance, to those of their component in the group."""
        common: dict[int, int] = {}
        for v in members:
            root = self._components[v]
            common[root] = gcd(common.get(root, 0), self._rates[v])
        order = {root: place for place, root in enumerate(common)}
        roots = [self._components[v] for v in members]
        return [
            number
            for v, root in zip(members, roots, strict=True)
            for number in (order[root], self._rates[v] // common[root])
        ]


TILES = ((1, 1), (1, 4), (1, 16), (1, 0), (2, 16), (4, 16), (8, 16), (16, 16))
"""Rows and columns of the tiles of a group's last layers that are tried; 0 columns are full rows, without SIDE."""

MOST_BATCH = 64


class CostTable(NamedTuple):
    """Costs of many groups, a row each; `Costs` names the columns of `integers`, TILE is -1 where a group fits not."""

    integers: Ints
    energy_pj: Floats

    @property
    def fits(self) -> Bools:
        """Whether each group can be run."""
        return self.integers[:, Costs.TILE] >= 0

    @property
    def ema_bytes(self) -> Ints:
        """External memory access of each group."""
        return self.integers[:, Costs.WEIGHTS] + self.integers[:, Costs.INPUTS] + self.integers[:, Costs.OUTPUTS]

    @property
    def latency_cycles(self) -> Ints:
        """The longer of computing and communication for each group."""
        return np.maximum(self.integers[:, Costs.CYCLES], self.integers[:, Costs.TRANSFER])

    def metric(self, name: Metric) -> Array:
        """The quantity called `name` of each group."""
        return {"ema": self.ema_bytes, "energy": self.energy_pj, "latency": self.latency_cycles}[name]


class SubgraphPricer:
    """Prices groups of layers of `graph`; `batch` samples run one after another before the next group begins.

    Each of `cores` (1, 2, 4, ...) has its own buffers and DRAM channel and takes a part of every map; weights, and
    results kept whole, are divided over the cores and passed on through a crossbar (Cocco, section 5.4.2).  A layer on
    its own that exceeds a buffer is cut in the way that is best for `metric`, for which the tile is chosen too.
    """

    def __init__(
        self,
        graph: LayerGraph,
        platform: Platform | None = None,
        *,
        buffers: Buffers | None = None,
        batch: int = 1,
        cores: int = 1,
        metric: Metric = "ema",
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
        self.metric: Metric = metric
        self._net = graph_tables(graph, self.platform)
        self._trace = new_trace(len(graph) + len(graph.inputs))
        self._alike = Alike(graph, self._net)
        self._tiles = np.array(self.tiles, dtype=np.int64)
        self._kinds = [self._alike.structure((layer,)) for layer in range(len(graph))]
        self._ways_alone: dict[Structure, CostTable] = {}
        self._cuts: dict[tuple[Structure, Buffers], int | None] = {}
        self._terms_of: dict[Buffers, Terms] = {}
        self._priced = 1

    def cost(self, nodes: Iterable[int], buffers: Buffers | None = None) -> SubgraphCost | None:
        """The price of running `nodes` as one group, None if they do not fit (`why` tells)."""
        members = self._members(nodes)
        starts = np.array([0, len(members)], dtype=np.int64)
        if len(members) > 1:
            table = self._table(members, starts, self.buffers if buffers is None else buffers, every=False)
        else:
            table = self._chosen(members, starts, buffers)
        return self._value(table.integers[0], table.energy_pj[0]) if table.integers[0, Costs.TILE] >= 0 else None

    def cost_many(self, members: Ints, starts: Ints, buffers: Buffers | None = None) -> CostTable:
        """Prices of the groups `members[starts[g]:starts[g + 1]]`, ascending layer numbers each."""
        if len(members) and not 0 <= members.min() <= members.max() < len(self.graph):
            raise self._unknown(members)
        return self._chosen(members, starts, buffers)

    def ways(self, nodes: Iterable[int]) -> tuple[SubgraphCost, ...]:
        """The ways to run `nodes` as one group, whatever the capacities, those with the smallest tiles first.

        After them, for single layers, those that go over weights or maps several times.
        """
        members = self._members(nodes)
        tables = [self._every(members)]
        if len(members) == 1:
            tables.append(self._alone_ways(int(members[0])))
        pairs = [pair for table in tables for pair in zip(table.integers, table.energy_pj, strict=True)]
        return tuple(self._value(row, energy) for row, energy in pairs)

    def structure(self, nodes: Sequence[int]) -> Structure:
        """What the ways to run `nodes` (ascending) depend on: groups of one structure have the same ones."""
        return self._alike.structure(nodes)

    def why(self, nodes: Iterable[int], buffers: Buffers | None = None) -> InfeasibleError | None:
        """What keeps `nodes` from being run as one group, with the smallest capacity that would do; None if nothing."""
        buffers = self.buffers if buffers is None else buffers
        members = self._members(nodes)
        if self.cost(members, buffers) is not None:
            return None
        least = self._least(members, buffers)
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

    def _least(self, members: Ints, buffers: Buffers) -> SubgraphCost:
        """The way that comes nearest to fitting."""

        def excess(way: SubgraphCost) -> tuple[int, int]:
            if buffers.weight_bytes is None:
                return 0, way.global_demand_bytes + way.weight_demand_bytes
            return max(0, way.weight_demand_bytes - buffers.weight_bytes), way.global_demand_bytes

        return min(self.ways(members), key=excess)

    def _chosen(self, members: Ints, starts: Ints, buffers: Buffers | None) -> CostTable:
        buffers = self.buffers if buffers is None else buffers
        table = self._table(members, starts, buffers, every=False)
        single = starts[1:] - starts[:-1] == 1
        fits, values = table.fits, table.metric(self.metric)
        rows = np.flatnonzero(single & ~fits if self.metric == "ema" else single)
        layers = members[starts[rows]]
        for layer in map(int, np.unique(layers)):
            best, ways, places = self._best_cut(layer, buffers), self._alone_ways(layer), rows[layers == layer]
            if best is not None and (not fits[places[0]] or ways.metric(self.metric)[best] < values[places[0]]):
                table.integers[places], table.energy_pj[places] = ways.integers[best], ways.energy_pj[best]
        return table

    def _table(self, members: Ints, starts: Ints, buffers: Buffers, *, every: bool) -> CostTable:
        count = (len(starts) - 1) * (len(self.tiles) if every else 1)
        table = CostTable(np.empty((count, len(Costs)), np.int64), np.empty(count))
        first, self._priced = self._priced, self._priced + len(starts) - 1
        terms = self._terms(buffers)
        price_groups(*self._net, self._trace, terms, self._tiles, members, starts, first, every, *table)
        return table

    def _every(self, members: Ints) -> CostTable:
        return self._table(members, np.array([0, len(members)], dtype=np.int64), self.buffers, every=True)

    def _alone_ways(self, layer: int) -> CostTable:
        """All ways to cut a layer; those of one kind have the same."""
        kind = self._kinds[layer]
        if kind not in self._ways_alone:
            whole = self._every(np.array([layer], dtype=np.int64))
            alone = Alone(self._net, self._trace, self._terms(self.buffers), self.graph.layers[layer], layer)
            self._ways_alone[kind] = CostTable(*alone.ways(self._tiles, *whole))
        return self._ways_alone[kind]

    def _best_cut(self, layer: int, buffers: Buffers) -> int | None:
        """The row of `_alone_ways` that fits and is best for the metric."""
        key = self._kinds[layer], buffers
        if key not in self._cuts:
            self._cuts[key] = self._find_cut(self._alone_ways(layer), buffers)
        return self._cuts[key]

    def _find_cut(self, ways: CostTable, buffers: Buffers) -> int | None:
        need, weights = ways.integers[:, Costs.GLOBAL], ways.integers[:, Costs.WEIGHT]
        if buffers.weight_bytes is None:
            good = need + weights <= buffers.global_bytes
        else:
            good = (need <= buffers.global_bytes) & (weights <= buffers.weight_bytes)
        choices = np.flatnonzero(good & (ways.integers[:, Costs.REGIONS] <= self.platform.regions))
        if len(choices) == 0:
            return None
        names: tuple[Metric, ...] = ("energy", "latency", "ema", self.metric)
        order = [ways.metric(name) for name in names]  # the last key sorts first
        return int(choices[np.lexsort([key[choices] for key in order])[0]])

    def _members(self, nodes: Iterable[int]) -> Ints:
        members = np.array(sorted(set(nodes)), dtype=np.int64)
        if len(members) == 0 or members[0] < 0 or members[-1] >= len(self.graph):
            raise self._unknown(members)
        return members

    def _unknown(self, members: Ints) -> TilewrightError:
        found = str(members.tolist()[:64])
        return TilewrightError("group", self.graph.name, f"layers from 0 to {len(self.graph) - 1}", found)

    def _value(self, row: Ints, energy_pj: float) -> SubgraphCost:
        cells: list[int] = row.tolist()
        return SubgraphCost(
            weight_bytes=cells[Costs.WEIGHTS],
            input_bytes=cells[Costs.INPUTS],
            output_bytes=cells[Costs.OUTPUTS],
            energy_pj=float(energy_pj),
            compute_cycles=cells[Costs.CYCLES],
            transfer_cycles=cells[Costs.TRANSFER],
            global_demand_bytes=cells[Costs.GLOBAL],
            weight_demand_bytes=cells[Costs.WEIGHT],
            regions=cells[Costs.REGIONS],
            tile=self.tiles[cells[Costs.TILE]],
            passes=cells[Costs.PASSES],
        )

    def _terms(self, buffers: Buffers) -> Terms:
        if buffers not in self._terms_of:
            self._terms_of[buffers] = self._new_terms(buffers)
        return self._terms_of[buffers]

    def _new_terms(self, buffers: Buffers) -> Terms:
        platform = self.platform
        same: dict[str, Any] = {name: getattr(platform, name) for name in Terms._fields if hasattr(platform, name)}
        return Terms(
            metric=METRICS.index(self.metric),
            array_x=platform.array[0],
            array_y=platform.array[1],
            cores=self.cores,
            batch=self.batch,
            align=platform.align_bytes,
            global_capacity=buffers.global_bytes,
            weight_capacity=-1 if buffers.weight_bytes is None else buffers.weight_bytes,
            **same,
        )


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
