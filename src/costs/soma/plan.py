"""The tiles of a fusion in order of execution, and the tensors that live in the buffer or move through DRAM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...zoo.schedule_networks.layers import Network
from .build import INPUT, OUTPUT, WEIGHT, Ints, StageColumns
from .fusion import Fusion
from .hardware import DRAM_PJ, Hardware
from .layer_cost import Box
from .tile_cost import TileCost

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


__all__ = ["INPUT", "OUTPUT", "PLACES", "WEIGHT", "Ints", "Plan", "Stage", "Tensors", "Tiling"]
