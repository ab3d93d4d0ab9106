"""Where the bytes are that a tile reads and writes, and into which parts its work falls by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...costs.notation import Parts, Region, Tensor
from ...costs.notation.values import Span
from ...errors import TilewrightError

SAMPLES, ROWS, COLUMNS = 0, 1, 2
"""Axes along which feature maps are cut; channels are cut by addresses only."""


class Block(NamedTuple):
    """Channels `channels` of `region` at `address`: samples, channels, rows, columns, one byte each."""

    region: Region
    channels: Span
    address: int

    @property
    def strides(self) -> tuple[int, int, int]:
        """Bytes from one sample, channel and row to the next."""
        _, _, rows, columns = self.region.extents
        channel = rows * columns
        return (self.channels[1] - self.channels[0]) * channel, channel, columns

    def at(self, sample: int, channel: int, row: int, column: int) -> int:
        """The address of an element, by its place in the whole map."""
        per_sample, per_channel, per_row = self.strides
        place = (sample - self.region.samples[0]) * per_sample + (channel - self.channels[0]) * per_channel
        return self.address + place + (row - self.region.rows[0]) * per_row + column - self.region.columns[0]


def blocks_of(tensor: Tensor, parts: Parts) -> list[Block]:
    """The parts of a feature map's tensor."""
    assert tensor.region is not None
    firsts = [part.first for part in parts] + [tensor.region.channels]
    return [Block(tensor.region, (firsts[i], firsts[i + 1]), part.address) for i, part in enumerate(parts)]


@dataclass(frozen=True)
class Source:
    """A map that a tile reads: tensors that hold it, and its first channel in the concatenation of all sources."""

    first_channel: int
    channels: int
    tensors: dict[tuple[Span, Span, Span], list[Block]]

    @cached_property
    def spans(self) -> tuple[list[Span], list[Span], list[Span]]:
        """Samples, rows and columns that tensors hold."""
        axes = ({key[axis] for key in self.tensors} for axis in range(3))
        samples, rows, columns = (sorted(spans) for spans in axes)
        return samples, rows, columns

    def blocks(self, samples: Span, rows: Span, columns: Span) -> list[Block]:
        """The blocks of the tensor with just these spans."""
        found = self.tensors.get((samples, rows, columns))
        if found is None:
            raise TilewrightError("schedule", "a tile's input", "tensors that hold all of it", "a gap between them")
        return found


def make_source(first_channel: int, tensors: Sequence[tuple[Tensor, Parts]]) -> Source:
    """A source from the tensors that feed it."""
    found: dict[tuple[Span, Span, Span], list[Block]] = {}
    channels = 0
    for tensor, parts in tensors:
        assert tensor.region is not None
        channels = tensor.region.channels
        found[tensor.region.samples, tensor.region.rows, tensor.region.columns] = blocks_of(tensor, parts)
    return Source(first_channel, channels, found)


class Segment(NamedTuple):
    """Taps [from, to) of a window fall into `span`."""

    span: Span
    taps: Span


class Stretch(NamedTuple):
    """Outputs [from, to) along an axis whose windows fall into the same spans; `segments` by source."""

    outputs: Span
    segments: tuple[tuple[Segment, ...], ...]


def stretches(outputs: Span, window: tuple[int, int, int], size: int, spans: Sequence[Sequence[Span]]) -> list[Stretch]:
    """`outputs` cut where windows (kernel, stride, padding before) on a map of `size` reach other `spans` of a source.

    Taps outside of the map are left out.
    """
    found: list[Stretch] = []
    for output in range(*outputs):
        segments = tuple(_segments(output, window, size, given) for given in spans)
        if found and found[-1].segments == segments:
            found[-1] = Stretch((found[-1].outputs[0], output + 1), segments)
        else:
            found.append(Stretch((output, output + 1), segments))
    return found


def _segments(output: int, window: tuple[int, int, int], size: int, spans: Sequence[Span]) -> tuple[Segment, ...]:
    kernel, stride, pad = window
    begin = output * stride - pad
    at, end = max(begin, 0), min(begin + kernel, size)
    found: list[Segment] = []
    while at < end:
        holding = [span for span in spans if span[0] <= at < span[1]]
        if not holding:
            raise TilewrightError("schedule", "a tile's input", "tensors that hold all of it", "a gap between them")
        span = next((span for span in holding if span[1] >= end), max(holding, key=lambda span: span[1]))
        found.append(Segment(span, (at - begin, min(span[1], end) - begin)))
        at = span[1]
    return tuple(found)


def cuts_between(low: int, high: int, bounds: Sequence[int]) -> list[Span]:
    """[low, high) cut at those of `bounds` that lie inside."""
    inside = sorted({bound for bound in bounds if low < bound < high})
    return list(zip([low, *inside], [*inside, high], strict=True))
