"""A tile's instructions and the sums that they keep meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...costs.notation import Parsed, Region, Tile
from ...zoo.schedule_networks.layers import Layer, Network
from ...zoo.schedule_networks.meaning import HIGHEST, LOWEST, SHIFT, scale_of
from .blocks import Block, Source, Stretch, cuts_between, stretches
from .commands import Commands, Place, Step

REQUANT_TYPES = "i8", "i32", "i32", "i32"


@dataclass(frozen=True)
class Sums:
    """Room for 32-bit sums: halves of `half_bytes` from `base` on, used in turn; `constants` are addresses by value."""

    base: int
    half_bytes: int
    constants: dict[int, int]

    def half(self, number: int) -> int:
        """The half that chunk `number` uses."""
        return self.base + number % 2 * self.half_bytes


@dataclass
class TileCode:
    """What a tile is made from, and its instructions so far."""

    commands: Commands
    parsed: Parsed
    tile: Tile
    sources: tuple[Source, ...]
    weights: tuple[Block, ...]
    made: tuple[Source, ...]
    result: list[Block]
    sums: Sums
    steps: list[Step] = field(default_factory=list[Step])

    @property
    def network(self) -> Network:
        """The network."""
        return self.parsed.network

    @property
    def layer(self) -> Layer:
        """The tile's layer."""
        return self.network.layers[self.tile.layer]

    @property
    def region(self) -> Region:
        """What the tile makes."""
        assert self.tile.region is not None
        return self.tile.region

    def axis(self, number: int, sources: Sequence[Source] | None = None) -> list[Stretch]:
        """Stretches along rows (1) or columns (2) of the tile, or along its samples (0)."""
        given = [source.spans[number] for source in (self.sources if sources is None else sources)]
        if number == 0:
            return stretches(self.region.samples, (1, 1, 0), 1 << 40, given)
        layer, axis = self.layer, number - 1
        outputs = (self.region.rows, self.region.columns)[axis]
        size = self.network.input_shapes[self.tile.layer][1 + axis]
        window = (1, 1, 0)
        if layer.has_macs or layer.kind == "pool":
            window = layer.kernel[axis], layer.stride[axis], self.network.padding(self.tile.layer)[axis]
        return stretches(outputs, window, size, given)

    def requant(self, address: int, chunk: tuple[tuple[int, int], ...], after: tuple[int, ...]) -> None:
        """Sums at `address` of samples, channels, rows and columns `chunk`, packed in that order, to the result."""
        constants = self.sums.constants
        multiplier, shift = constants[scale_of(self.network, self.tile.layer)], constants[SHIFT]
        (s0, s1), channels, (r0, r1), (c0, c1) = chunk
        row = 4 * (c1 - c0)
        plane = row * (r1 - r0)
        sample = plane * (channels[1] - channels[0])
        for block in self.result:
            low, high = max(channels[0], block.channels[0]), min(channels[1], block.channels[1])
            if low >= high:
                continue
            per_sample, per_channel, per_row = block.strides
            places: dict[str, Place] = {
                "O": (block.at(s0, low, r0, c0), {"a": per_sample, "b": per_channel, "c": per_row, "d": 1}),
                "A": (address + (low - channels[0]) * plane, {"a": sample, "b": plane, "c": row, "d": 4}),
                "M": (multiplier, {}),
                "S": (shift, {}),
            }
            extents = {"a": s1 - s0, "b": high - low, "c": r1 - r0, "d": c1 - c0}
            values = {"Z": 0, "L": LOWEST, "H": HIGHEST}
            binding = self.commands.bindings["requant"]
            self.steps.append(self.commands.step(binding, REQUANT_TYPES, extents, places, values=values, after=after))


def channel_cuts(sources: Sequence[Source], blocks: Sequence[Block]) -> list[int]:
    """Where channels of the concatenation change their source or block."""
    bounds = [source.first_channel for source in sources]
    return bounds + [block.channels[0] for block in blocks]


def source_at(sources: Sequence[Source], channel: int) -> int:
    """The number of the source that holds a channel of the concatenation."""
    for number, source in enumerate(sources):
        if source.first_channel <= channel < source.first_channel + source.channels:
            return number
    raise AssertionError(channel)


def block_at(blocks: Sequence[Block], channel: int) -> Block:
    """The block that holds a channel of its own map."""
    return next(block for block in blocks if block.channels[0] <= channel < block.channels[1])


__all__ = ["Sums", "TileCode", "block_at", "channel_cuts", "cuts_between", "source_at"]
