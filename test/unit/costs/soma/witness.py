"""The second witness of SoMa's model: plans of fusions, without the compiled functions of `costs/dram`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tilewright.costs.dram.tables import Ints, ragged
from tilewright.costs.soma import FusedGroup, Fusion, Hardware
from tilewright.costs.soma.hardware import DRAM_PJ
from tilewright.costs.soma.tiling import check_fusion
from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks.layers import Network

from .witness_tables import NetworkColumns, StageColumns, place_layers, tensor_table, tile_table
from .witness_tiles import Box, TileCost, input_box, source_box, tile_cost, tiles_of

PLACES = ("buffer", "core", "hops", "arithmetic")
"""Where energy goes, besides DRAM."""


@dataclass(frozen=True)
class Tiling:
    """A fused group cut into `tiles`: tile and its cost for each of `layers`, energy in pJ of all tiles by `PLACES`."""

    layers: tuple[int, ...]
    tiles: int
    boxes: tuple[Box, ...]
    costs: tuple[TileCost, ...]
    energy_pj: tuple[float, float, float, float]


@dataclass(frozen=True)
class Stage:
    """A layer in its fused group: tile t of `tiles` runs at position `first + t * step`."""

    layer: int
    group: int
    fused_group: int
    tiles: int
    first: int
    step: int
    box: Box
    cost: TileCost

    @property
    def last(self) -> int:
        """Position of its last tile."""
        return self.first + (self.tiles - 1) * self.step


@dataclass(frozen=True)
class Tensors:
    """Columns over M tensors, numbered as SoMa does.

    `kind` is INPUT, WEIGHT or OUTPUT; `layer` reads or makes it; `tile` is the layer's tile (0 for weights); `source`
    is the layer that an input comes from, -1 - i for network input i, and -1 else; `position` is where it is first
    read, or made.  By default it lives from the beginning of position `start` to the end of `end - 1`; position -1
    comes before all tiles.  `moves` tells whether it passes through DRAM.
    """

    layer: Ints
    kind: Ints
    tile: Ints
    source: Ints
    size_bytes: Ints
    position: Ints
    start: Ints
    end: Ints
    moves: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True)
class Plan:
    """A fusion worked out: its fused groups cut, layer, number and cycles of each of N tiles, tensors.

    `transfer_cycles` is how long each tensor takes on the DRAM channel.
    """

    network: Network
    machine: Hardware
    fusion: Fusion
    batch: int
    tilings: tuple[Tiling, ...]
    columns: StageColumns
    tile_layer: Ints
    tile_index: Ints
    tile_cycles: Ints
    tensors: Tensors
    transfer_cycles: Ints

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The layers in order."""
        found: list[Stage] = []
        for tiling in self.tilings:
            for layer, box, cost in zip(tiling.layers, tiling.boxes, tiling.costs, strict=True):
                group, fused, tiles, first, step = (int(column[layer]) for column in self.columns[:5])
                found.append(Stage(layer, group, fused, tiles, first, step, box, cost))
        return tuple(found)

    @cached_property
    def moved(self) -> Ints:
        """Numbers of the tensors that pass through DRAM."""
        return np.flatnonzero(self.tensors.moves)

    @property
    def compute_cycles(self) -> int:
        """Cycles of all tiles."""
        return int(self.tile_cycles.sum())

    @property
    def dram_cycles(self) -> int:
        """Cycles of all transfers."""
        return int(self.transfer_cycles[self.moved].sum())

    @property
    def dram_bytes(self) -> int:
        """Bytes of all transfers."""
        return int(self.tensors.size_bytes[self.moved].sum())

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energy in pJ by place; DRAM at the same price for loads and stores."""
        sums = {place: sum(tiling.energy_pj[i] for tiling in self.tilings) for i, place in enumerate(PLACES)}
        return sums | {"dram": DRAM_PJ * self.dram_bytes}

    @property
    def energy_pj(self) -> float:
        """All energy; it does not depend on when transfers happen."""
        return sum(self.energy.values())


MAX_TILES = 1 << 20
"""Most tiles of a schedule, over all layers."""


class _Known(NamedTuple):
    """A tiling with its columns in `StageColumns`, and which sources of layers they are about."""

    tiling: Tiling
    cycles: Ints
    result_bytes: Ints
    sources: Ints
    source_bytes: Ints


class Planner:
    """Makes plans for `batch` samples of `network` on `machine`; keeps costs of tiles and cuts of fused groups."""

    def __init__(self, network: Network, machine: Hardware, batch: int) -> None:
        self.network, self.machine, self.batch = network, machine, batch
        self.columns = network_columns(network)
        self._costs: dict[tuple[int, Box], TileCost] = {}
        self._known: dict[tuple[tuple[int, ...], int], _Known] = {}

    def tiling(self, layers: tuple[int, ...], tiles: int) -> Tiling:
        """The fused group of `layers` cut into `tiles`; TilewrightError (kind `schedule`) where that cannot be."""
        return self._cut(layers, tiles).tiling

    def plan(self, fusion: Fusion) -> Plan:
        """Tiles and tensors of `fusion`, which must describe a computation of the network (see `check_fusion`)."""
        groups = fusion.fused_groups
        known = [self._cut(group.layers, group.tiles) for group in groups]
        order = np.array(fusion.order, np.int64)
        stages = self._stages(order, known)
        starts = np.array([0, *accumulate(len(group.layers) for group in groups[:-1])], np.int64)
        numbers = np.array([-1, *(group.group for group in groups)], np.int64)
        tiles = np.array([group.tiles for group in groups], np.int64)
        positions = place_layers(order, starts, tiles, np.diff(numbers), stages)
        table = tensor_table(self.columns, stages, order)
        cycles = -(-table[4] // self.machine.dram_bandwidth)
        layer, index, tile_cycles = tile_table(order, stages, positions)
        return Plan(
            self.network,
            self.machine,
            fusion,
            self.batch,
            tuple(item.tiling for item in known),
            stages,
            layer,
            index,
            tile_cycles,
            _tensors(table),
            cycles,
        )

    def _stages(self, order: Ints, known: list[_Known]) -> StageColumns:
        group, fused, tiles, first, step, cycles, result_bytes = np.empty((7, len(order)), np.int64)
        source_bytes = np.empty(len(self.columns.source), np.int64)
        cycles[order] = np.concatenate([item.cycles for item in known])
        result_bytes[order] = np.concatenate([item.result_bytes for item in known])
        source_bytes[np.concatenate([item.sources for item in known])] = np.concatenate(
            [item.source_bytes for item in known]
        )
        return StageColumns(group, fused, tiles, first, step, cycles, result_bytes, source_bytes)

    def _cut(self, layers: tuple[int, ...], tiles: int) -> _Known:
        key = layers, tiles
        if key not in self._known:
            self._known[key] = self._new_cut(layers, tiles)
        return self._known[key]

    def _new_cut(self, layers: tuple[int, ...], tiles: int) -> _Known:
        found = tiles_of(self.network, FusedGroup(layers, tiles, 0), self.batch)
        boxes = tuple(found[layer] for layer in layers)
        costs = tuple(self._cost(layer, box) for layer, box in zip(layers, boxes, strict=True))
        energies = (
            sum(cost.buffer_pj for cost in costs) * tiles,
            sum(cost.core_pj for cost in costs) * tiles,
            sum(cost.hop_pj for cost in costs) * tiles,
            sum(cost.arithmetic_pj for cost in costs) * tiles,
        )
        first = self.columns.first_source
        sources = [self._source_bytes(layer, box) for layer, box in zip(layers, boxes, strict=True)]
        return _Known(
            Tiling(layers, tiles, boxes, costs, energies),
            np.array([cost.cycles for cost in costs], np.int64),
            np.array([box.size_bytes for box in boxes], np.int64),
            np.concatenate([np.arange(first[layer], first[layer + 1]) for layer in layers]),
            np.array([size for sizes in sources for size in sizes], np.int64),
        )

    def _cost(self, layer: int, box: Box) -> TileCost:
        key = layer, box
        if key not in self._costs:
            self._costs[key] = tile_cost(self.network, layer, box, self.machine)
        return self._costs[key]

    def _source_bytes(self, number: int, tile: Box) -> list[int]:
        """Bytes that a tile needs of each source of the layer, in the order of `NetworkColumns.source`."""
        layer = self.network.layers[number]
        boxes = [
            source_box(self.network, number, producer, tile)._replace(
                channels=self.network.layers[producer].shape.channels
            )
            for producer in layer.producers
        ]
        whole = input_box(self.network, number, tile)
        boxes += [whole._replace(channels=self.network.inputs[i][1].channels) for i in layer.external]
        return [box.size_bytes for box in boxes]


def _tensors(table: Ints) -> Tensors:
    layer, kind, tile, source, size, position, start, end, moves = table
    return Tensors(layer, kind, tile, source, size, position, start, end, moves.astype(np.bool_))


def network_columns(network: Network) -> NetworkColumns:
    """`network` as arrays."""
    sources = [[*layer.producers, *(-1 - i for i in layer.external)] for layer in network.layers]
    weights = [network.weight_bytes(number) for number in range(len(network.layers))]
    return NetworkColumns(*ragged(sources), *ragged(network.consumers), np.array(weights, np.int64))


def plan(network: Network, machine: Hardware, fusion: Fusion, batch: int) -> Plan:
    """Tiles and tensors of `fusion` for `batch` samples.

    Raises TilewrightError (kind `schedule`) for a fusion that does not describe a computation of `network`.
    """
    check_fusion(network, fusion)
    count = sum(len(group.layers) * group.tiles for group in fusion.fused_groups)
    if count > MAX_TILES:
        raise TilewrightError("schedule", "tiles", f"at most {MAX_TILES} in all", str(count), "use fewer tiles")
    return Planner(network, machine, batch).plan(fusion)
