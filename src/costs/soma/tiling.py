"""The first half of a schedule: layers in order, their groups and tiles."""

from dataclasses import dataclass
from functools import cached_property

from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network

INPUT, WEIGHT, OUTPUT = range(3)
"""Kinds of tensors: part of a feature map that a tile reads, weights of a layer, result of a tile."""


@dataclass(frozen=True)
class FusedGroup:
    """Layers that run tile by tile, in this order; `group` is the number of its layer group."""

    layers: tuple[int, ...]
    tiles: int
    group: int


@dataclass(frozen=True)
class Fusion:
    """`order` lists layers; `groups` and `cuts` are the places in it where layer groups, and where further fused groups
    begin; `tiles` counts the tiles of each fused group in order.  Place 0 always begins a layer group.
    """

    order: tuple[int, ...]
    groups: tuple[int, ...]
    cuts: tuple[int, ...]
    tiles: tuple[int, ...]

    @cached_property
    def fused_groups(self) -> tuple[FusedGroup, ...]:
        """The fused groups in order of execution."""
        heads = {0, *self.groups}
        starts = sorted(heads | set(self.cuts))
        found: list[FusedGroup] = []
        group = -1
        for start, end, tiles in zip(starts, [*starts[1:], len(self.order)], self.tiles, strict=True):
            group += start in heads
            found.append(FusedGroup(self.order[start:end], tiles, group))
        return tuple(found)

    @property
    def layer_group_count(self) -> int:
        """How many layer groups there are."""
        return len({0, *self.groups})


def check_fusion(network: Network, fusion: Fusion, where: str = "schedule") -> None:
    """Raise TilewrightError (kind `schedule`) where `fusion` does not describe a computation of `network`."""
    count = len(network.layers)
    if sorted(fusion.order) != list(range(count)):
        raise TilewrightError(
            "schedule", where, f"an order of the {count} layers of {network.name}", "a layer missing or repeated"
        )
    place = {layer: i for i, layer in enumerate(fusion.order)}
    for number, layer in enumerate(network.layers):
        for producer in layer.producers:
            if place[producer] > place[number]:
                found = f"layer {number} before layer {producer}, which it reads"
                raise TilewrightError("schedule", where, "producers before consumers", found)
    for start in (*fusion.groups, *fusion.cuts):
        if not 0 <= start < count:
            raise TilewrightError("schedule", where, f"groups that begin within the {count} layers", f"place {start}")
    starts = len({0, *fusion.groups, *fusion.cuts})
    if len(fusion.tiles) != starts:
        raise TilewrightError("schedule", where, f"{starts} tile counts, one per fused group", f"{len(fusion.tiles)}")
    if min(fusion.tiles) < 1:
        raise TilewrightError("schedule", where, "positive tile counts", str(min(fusion.tiles)))
