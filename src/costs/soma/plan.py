"""The tiles of a fusion in order of execution, and the tensors that live in the buffer or move through DRAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network
from .fusion import FusedGroup, Fusion, check_fusion
from .hardware import DRAM_PJ, Hardware
from .layer_cost import Box, input_box, source_box, tile_cost
from .tile_cost import TileCost
from .tiling import tiles_of

Ints = NDArray[np.int64]

INPUT, WEIGHT, OUTPUT = 0, 1, 2
"""Kinds of tensors."""

MAX_TILES = 1 << 20
"""Most tiles of a schedule, over all layers."""


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

    kind: Ints
    layer: Ints
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
    """A fusion worked out: `stages` in order of layers, cycles and layer of each of N tiles, tensors.

    `transfer_cycles` is how long each tensor takes on the DRAM channel.
    """

    network: Network
    machine: Hardware
    fusion: Fusion
    batch: int
    stages: tuple[Stage, ...]
    tile_layer: Ints
    tile_index: Ints
    tile_cycles: Ints
    tensors: Tensors
    transfer_cycles: Ints

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
        return {
            "buffer": sum(stage.cost.buffer_pj * stage.tiles for stage in self.stages),
            "core": sum(stage.cost.core_pj * stage.tiles for stage in self.stages),
            "hops": sum(stage.cost.hop_pj * stage.tiles for stage in self.stages),
            "arithmetic": sum(stage.cost.arithmetic_pj * stage.tiles for stage in self.stages),
            "dram": DRAM_PJ * self.dram_bytes,
        }

    @property
    def energy_pj(self) -> float:
        """All energy; it does not depend on when transfers happen."""
        return sum(self.energy.values())


class CostCache:
    """Costs of tiles of one network on one machine, each computed once."""

    def __init__(self, network: Network, machine: Hardware) -> None:
        self._network, self._machine = network, machine
        self._known: dict[tuple[int, Box], TileCost] = {}

    def cost(self, layer: int, tile: Box) -> TileCost:
        """Cost of `tile` of `layer`."""
        key = layer, tile
        if key not in self._known:
            self._known[key] = tile_cost(self._network, layer, tile, self._machine)
        return self._known[key]


def plan(network: Network, machine: Hardware, fusion: Fusion, batch: int, costs: CostCache | None = None) -> Plan:
    """Tiles and tensors of `fusion` for `batch` samples.

    `costs` keeps costs of tiles from plan to plan.  Raises TilewrightError (kind `schedule`) for a fusion that does not
    describe a computation of `network`.
    """
    check_fusion(network, fusion)
    known = CostCache(network, machine) if costs is None else costs
    stages: list[Stage] = []
    first = 0
    _check_size(fusion)
    for number, group in enumerate(fusion.fused_groups):
        boxes = tiles_of(network, group, batch)
        for place, layer in enumerate(group.layers):
            cost = known.cost(layer, boxes[layer])
            stages.append(_stage(group, number, layer, first + place, boxes[layer], cost))
        first += len(group.layers) * group.tiles
    rows = _Rows(network, stages, first)
    for stage in stages:
        rows.add_layer(stage)
    tensors = rows.tensors()
    columns = _tile_columns(stages, first)
    return Plan(network, machine, fusion, batch, tuple(stages), *columns, tensors, _cycles(tensors, machine))


def _check_size(fusion: Fusion) -> None:
    count = sum(len(group.layers) * group.tiles for group in fusion.fused_groups)
    if count > MAX_TILES:
        raise TilewrightError("schedule", "tiles", f"at most {MAX_TILES} in all", str(count), "use fewer tiles")


def _stage(group: FusedGroup, number: int, layer: int, first: int, box: Box, cost: TileCost) -> Stage:
    return Stage(layer, group.group, number, group.tiles, first, len(group.layers), box, cost)


def _tile_columns(stages: Sequence[Stage], count: int) -> tuple[Ints, Ints, Ints]:
    layer, index, cycles = (np.zeros(count, np.int64) for _ in range(3))
    for stage in stages:
        own = slice(stage.first, stage.last + 1, stage.step)
        layer[own], cycles[own], index[own] = stage.layer, stage.cost.cycles, np.arange(stage.tiles)
    return layer, index, cycles


def _cycles(tensors: Tensors, machine: Hardware) -> Ints:
    return -(-tensors.size_bytes // machine.dram_bandwidth)


class _Rows:
    """Tensors as they are found, one part per layer and source."""

    def __init__(self, network: Network, stages: Sequence[Stage], positions: int) -> None:
        self._network, self._positions = network, positions
        self._stages = {stage.layer: stage for stage in stages}
        self._parts: list[tuple[Ints, ...]] = []
        self._ends = {stage.group: stage.last for stage in stages}

    def add_layer(self, stage: Stage) -> None:
        """Inputs from DRAM by producer, then network inputs, then weights, then results."""
        layer = self._network.layers[stage.layer]
        for producer in layer.producers:
            if self._stages[producer].group != stage.group:
                channels = self._network.layers[producer].shape.channels
                box = source_box(self._network, stage.layer, producer, stage.box)
                self._add_inputs(stage, producer, box._replace(channels=channels))
        for external in layer.external:
            channels = self._network.inputs[external][1].channels
            box = input_box(self._network, stage.layer, stage.box)._replace(channels=channels)
            self._add_inputs(stage, -1 - external, box)
        weights = self._network.weight_bytes(stage.layer)
        if weights:
            start, end = np.array([stage.first - 1]), np.array([stage.last + 1])
            self._add(stage, WEIGHT, -1, weights, np.array([stage.first]), start, end, moves=True)
        self._add_results(stage)

    def _add_inputs(self, stage: Stage, source: int, box: Box) -> None:
        positions = _positions(stage)
        self._add(stage, INPUT, source, box.size_bytes, positions, positions - 1, positions + 1, moves=True)

    def _add_results(self, stage: Stage) -> None:
        positions = _positions(stage)
        end = positions + 1
        readers = [self._stages[reader] for reader in self._network.consumers[stage.layer]]
        moves = not readers
        for reader in readers:
            if reader.fused_group == stage.fused_group:
                end = np.maximum(end, _positions(reader) + 1)
            elif reader.group == stage.group:
                end = np.maximum(end, reader.last + 1)
            else:
                moves = True
        if moves:
            end = np.maximum(end, np.minimum(positions + 2, self._ends[stage.group] + 1))
        self._add(stage, OUTPUT, -1, stage.box.size_bytes, positions, positions, end, moves=moves)

    def _add(
        self, stage: Stage, kind: int, source: int, size: int, position: Ints, start: Ints, end: Ints, *, moves: bool
    ) -> None:
        def column(value: int) -> Ints:
            return np.full(len(position), value, np.int64)

        self._parts.append(
            (
                column(kind),
                column(stage.layer),
                np.arange(len(position)),
                column(source),
                column(size),
                position,
                np.maximum(start, -1),
                end,
                column(moves),
            )
        )

    def tensors(self) -> Tensors:
        """All parts, in the order they were added."""
        kind, layer, tile, source, size, position, start, end, moves = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        return Tensors(kind, layer, tile, source, size, position, start, end, moves.astype(np.bool_))


def _positions(stage: Stage) -> Ints:
    return np.arange(stage.tiles) * stage.step + stage.first
