"""Tiles, tensors and schedules in the tensor-centric notation."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...zoo.schedule_networks.layers import Network
from ..soma.fusion import INPUT, OUTPUT, WEIGHT, Fusion

__all__ = ["INPUT", "OUTPUT", "WEIGHT", "Choices", "Move", "Parsed", "Tensor", "Tile"]


@dataclass(frozen=True)
class Choices:
    """The layer-fusion attributes: order, DRAM cuts, fine-grained cuts and tiling numbers, for `batch` samples.

    By fused group, `streamed` tells whether weights are loaded again for each tile instead of staying, and `reused`
    whether layers take from earlier fused groups of their layer group, and their tiles from those before, what these
    loaded from DRAM.
    """

    fusion: Fusion
    batch: int
    streamed: tuple[bool, ...] = ()
    reused: tuple[bool, ...] = ()

    def flags(self, group: int) -> tuple[bool, bool]:
        """(streamed, reused) of fused group number `group`."""
        return bool(self.streamed and self.streamed[group]), bool(self.reused and self.reused[group])


class Tile(NamedTuple):
    """Tile number `tile` of `layer`."""

    layer: int
    tile: int


class Tensor(NamedTuple):
    """What lies in the buffer: `kind` of tile `tile` of `layer`.

    `source` is the layer that an input comes from, -1 - i for network input i, -1 else.  It is first read, or made, at
    position `first`; no tile reads it from position `last` on.  `moves` tells whether it passes through DRAM.
    """

    kind: int
    layer: int
    tile: int
    source: int
    size_bytes: int
    first: int
    last: int
    moves: bool

    @property
    def key(self) -> tuple[int, int, int, int]:
        """What names it: kind, layer, tile, source."""
        return self.kind, self.layer, self.tile, self.source


@dataclass(frozen=True)
class Parsed:
    """The layer-fusion attributes worked out: tiles in order with their cycles, `tensors`, and the energy of all."""

    network: Network
    choices: Choices
    tiles: tuple[Tile, ...]
    tile_cycles: tuple[int, ...]
    tensors: tuple[Tensor, ...]
    energy_pj: float

    @cached_property
    def number(self) -> dict[tuple[int, int, int, int], int]:
        """The number of each tensor by its key."""
        return {tensor.key: number for number, tensor in enumerate(self.tensors)}

    def describe(self, number: int) -> str:
        """A tensor in words."""
        tensor = self.tensors[number]
        name = self.network.layers[tensor.layer].name
        if tensor.kind == WEIGHT:
            return f"weights of {name}" + (f" for tile {tensor.tile}" if tensor.tile else "")
        if tensor.kind == OUTPUT:
            return f"result of {name}, tile {tensor.tile}"
        layers, inputs = self.network.layers, self.network.inputs
        source = layers[tensor.source].name if tensor.source >= 0 else inputs[-1 - tensor.source][0]
        return f"input of {name}, tile {tensor.tile}, from {source}"


class Move(NamedTuple):
    """A tensor that passes through DRAM: it lives in the buffer from position `start` to the end of `end - 1`.

    A load may begin once the tile before `start` is done; a store must be complete before tile `end` begins.
    """

    tensor: int
    start: int
    end: int
