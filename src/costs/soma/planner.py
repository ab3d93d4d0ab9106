"""Plans of many fusions of one network: what does not change between them is worked out once."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network
from .build import Ints, NetworkColumns, StageColumns, place_layers, tensor_table, tile_table
from .fusion import FusedGroup, Fusion, check_fusion
from .hardware import Hardware
from .layer_cost import Box, input_box, source_box, tile_cost
from .plan import Plan, Tensors, Tiling
from .tile_cost import TileCost
from .tiling import tiles_of

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


def ragged(rows: list[list[int]] | tuple[tuple[int, ...], ...]) -> tuple[Ints, Ints]:
    """Where each row begins, and the values of all rows, one after another."""
    first = np.array([0, *accumulate(len(row) for row in rows)], np.int64)
    return first, np.array([value for row in rows for value in row], np.int64)


def plan(network: Network, machine: Hardware, fusion: Fusion, batch: int) -> Plan:
    """Tiles and tensors of `fusion` for `batch` samples.

    Raises TilewrightError (kind `schedule`) for a fusion that does not describe a computation of `network`.
    """
    check_fusion(network, fusion)
    count = sum(len(group.layers) * group.tiles for group in fusion.fused_groups)
    if count > MAX_TILES:
        raise TilewrightError("schedule", "tiles", f"at most {MAX_TILES} in all", str(count), "use fewer tiles")
    return Planner(network, machine, batch).plan(fusion)
