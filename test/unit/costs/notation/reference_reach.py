"""What a tile reads of its sources, and how the results of a fused group are cut."""

from __future__ import annotations

from math import gcd, isqrt
from typing import NamedTuple

from tilewright.errors import TilewrightError
from tilewright.zoo.schedule_networks.layers import Network

ROWS, COLUMNS = 0, 1

Span = tuple[int, int]
"""[from, to)."""


class Region(NamedTuple):
    """All channels of some samples, rows and columns of a feature map."""

    samples: Span
    channels: int
    rows: Span
    columns: Span

    @property
    def extents(self) -> tuple[int, int, int, int]:
        """Samples, channels, rows and columns."""
        return (
            self.samples[1] - self.samples[0],
            self.channels,
            self.rows[1] - self.rows[0],
            self.columns[1] - self.columns[0],
        )

    @property
    def size_bytes(self) -> int:
        """At one byte per element."""
        samples, channels, rows, columns = self.extents
        return samples * channels * rows * columns

    def union(self, other: Region) -> Region:
        """The smallest region that holds both."""
        return Region(
            join(self.samples, other.samples),
            self.channels,
            join(self.rows, other.rows),
            join(self.columns, other.columns),
        )


def join(one: Span, two: Span) -> Span:
    """The smallest span that holds both."""
    return min(one[0], two[0]), max(one[1], two[1])


def sources_of(network: Network, number: int) -> list[int]:
    """Layers ascending, then network inputs as -1 - i."""
    layer = network.layers[number]
    return [*layer.producers, *(-1 - i for i in layer.external)]


def source_channels(network: Network, source: int) -> int:
    """Channels of a layer's result or of a network input."""
    return (network.layers[source].shape if source >= 0 else network.inputs[-1 - source][1]).channels


def read_region(network: Network, number: int, source: int, tile: Region) -> Region:
    """The part of `source` that layer `number` reads for `tile`."""
    _, channels, height, width = tile.extents
    return Region(
        tile.samples,
        source_channels(network, source),
        read_span(network, number, source, ROWS, tile.rows, width, channels),
        read_span(network, number, source, COLUMNS, tile.columns, height, channels),
    )


def read_span(network: Network, number: int, source: int, axis: int, span: Span, other: int, channels: int) -> Span:
    """Rows or columns of `source` that layer `number` reads for its rows or columns `span`.

    `other` and `channels` are the extents of the tile along its other axes.
    """
    layer = network.layers[number]
    found: list[Span] = []
    if source in layer.weights_from:
        extent = network.group_shape(number)[0] if axis == ROWS else layer.kernel[0] * layer.kernel[1]
        found.append((0, extent))
    if source < 0 or source in layer.inputs:
        found.append(_input_span(network, number, axis, span, other, channels))
    return found[0] if len(found) == 1 else join(*found)


def _input_span(network: Network, number: int, axis: int, span: Span, other: int, channels: int) -> Span:
    layer = network.layers[number]
    size = network.input_shapes[number][1 + axis]
    if layer.kind == "fc":
        return 0, size
    if layer.kind == "transpose":
        place = layer.permutation.index(1 + axis)
        if place == 0:
            return 0, channels
        return span if place == 1 + axis else (0, other)
    if layer.kind in ("eltwise", "pointwise"):
        return span
    if layer.kind == "upsample":
        times = layer.shape[1 + axis] // size
        return span[0] // times, -(-span[1] // times)
    stride, kernel, pad = layer.stride[axis], layer.kernel[axis], network.padding(number)[axis]
    begin = min(max(0, span[0] * stride - pad), size - 1)
    return begin, max(begin + 1, min((span[1] - 1) * stride + kernel - pad, size))


def fixed_axes(network: Network, layers: tuple[int, ...]) -> tuple[bool, bool]:
    """Whether rows, columns must stay whole because a transpose in the group turns them into something else."""
    inside = set(layers)
    rows = columns = False
    for number in layers:
        layer = network.layers[number]
        if layer.kind == "transpose" and not inside.isdisjoint(layer.producers):
            channel = layer.permutation[0]
            rows |= channel == 1 or layer.permutation[1] == 0
            columns |= channel == 2 or layer.permutation[2] == 0
    return rows, columns


def cuts_of(network: Network, layers: tuple[int, ...], tiles: int, batch: int) -> tuple[int, int, int]:
    """Parts of samples, rows and columns: samples first, then tiles as near to square as divisors allow.

    Raises TilewrightError (kind `schedule`) where a result has fewer rows or columns than parts.
    """
    samples = gcd(batch, tiles)
    fixed = fixed_axes(network, layers)
    inside, found = set(layers), (0, 0)
    for number in reversed(layers):
        if not inside.isdisjoint(network.consumers[number]):
            continue
        shape = network.layers[number].shape
        if found == (0, 0):
            found = _factor(tiles // samples, shape.height, shape.width, fixed)
        if found == (0, 0) or found[0] > shape.height or found[1] > shape.width:
            raise TilewrightError(
                "schedule",
                f"layer {number} ({network.layers[number].name})",
                f"{tiles} tiles of {batch} samples, {shape.height} rows and {shape.width} columns",
                "fewer rows or columns than parts, or no divisors that spread them",
                "use fewer tiles",
            )
    return samples, *found


def _factor(count: int, height: int, width: int, fixed: tuple[bool, bool]) -> tuple[int, int]:
    tall, wide = (1 if fixed[0] else height), (1 if fixed[1] else width)
    if count > tall * wide:
        return 0, 0
    columns = 1 if fixed[1] else count if fixed[0] else _nearest(count, height, width)
    if count % columns or count // columns > tall or columns > wide:
        return 0, 0
    return count // columns, columns


def _nearest(count: int, height: int, width: int) -> int:
    """The divisor of `count` near to which columns make square tiles."""
    floor = isqrt(count * width // height)
    below = max((d for d in range(1, min(floor, count) + 1) if count % d == 0), default=0)
    above = next((d for d in range(floor + 1, count + 1) if count % d == 0), 0)
    if not (below and above):
        return below + above
    ratio = height / width
    return below if abs(count / below - ratio * below) < abs(count / above - ratio * above) else above
