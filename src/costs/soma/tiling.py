"""The tile of each layer of a fused group, from the number of tiles."""

from __future__ import annotations

from math import gcd, isqrt

from ...errors import TilewrightError
from ...zoo.schedule_networks.layers import Network, Shape
from .fusion import FusedGroup
from .layer_cost import Box, source_box, union


def tiles_of(network: Network, group: FusedGroup, batch: int) -> dict[int, Box]:
    """The tile of each layer of `group`, the same for all its `group.tiles` tiles.

    Layers without consumers in the group are cut: first into samples, then into rows and columns of near-square tiles.
    A producer's tile holds what any consumer in the group reads for one tile, so that overlaps are computed again.
    Raises TilewrightError (kind `schedule`) where a map has fewer rows or columns than there are cuts.
    """
    found: dict[int, Box] = {}
    inside = set(group.layers)
    for number in reversed(group.layers):
        readers = [reader for reader in network.consumers[number] if reader in inside]
        if readers:
            found[number] = union([source_box(network, reader, number, found[reader]) for reader in readers])
        else:
            found[number] = _cut(network, number, group, batch)
    return found


def _cut(network: Network, number: int, group: FusedGroup, batch: int) -> Box:
    shape = network.layers[number].shape
    samples = gcd(batch, group.tiles)
    count = group.tiles // samples
    rows, columns = _fixed_axes(network, group)
    most = Shape(1, 1 if rows else shape.height, 1 if columns else shape.width)
    if count <= most.height * most.width:
        high, wide = _factor(count, shape, rows=not rows, columns=not columns)
        if high <= most.height and wide <= most.width:
            return Box(batch // samples, shape.channels, -(-shape.height // high), -(-shape.width // wide))
    raise TilewrightError(
        "schedule",
        f"layer {number} ({network.layers[number].name})",
        f"at most {batch} x {most.height} x {most.width} tiles of samples, rows and columns",
        f"{samples} x {count} tiles that divisors cannot spread over rows and columns",
        "use fewer tiles",
    )


def _fixed_axes(network: Network, group: FusedGroup) -> tuple[bool, bool]:
    """Whether rows, columns must stay whole because a transpose in the group turns them into channels or back."""
    inside = set(group.layers)
    rows = columns = False
    for number in group.layers:
        layer = network.layers[number]
        if layer.kind == "transpose" and not inside.isdisjoint(layer.producers):
            channel = layer.permutation[0]
            rows |= channel == 1 or layer.permutation[1] == 0
            columns |= channel == 2 or layer.permutation[2] == 0
    return rows, columns


def _factor(count: int, shape: Shape, *, rows: bool, columns: bool) -> tuple[int, int]:
    """Cuts along height and width, `count` in all, of tiles as near to square as divisors allow."""
    if not (rows and columns):
        return (count, 1) if rows else (1, count) if columns else (1, 1)
    floor = isqrt(count * shape.width // shape.height)
    below = max((d for d in range(1, min(floor, count) + 1) if count % d == 0), default=None)
    above = min((d for d in range(floor + 1, count + 1) if count % d == 0), default=None)
    wide = above if below is None else below if above is None else _nearer(count, shape, below, above)
    assert wide is not None
    return count // wide, wide


def _nearer(count: int, shape: Shape, below: int, above: int) -> int:
    ratio = shape.height / shape.width
    return below if abs(count / below - ratio * below) < abs(count / above - ratio * above) else above
