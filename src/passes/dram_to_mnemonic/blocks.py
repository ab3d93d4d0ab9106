"""Where the bytes are that a tile reads and writes, and into which parts its work falls by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...algebra.allocation import Parts, with_ends
from ...costs.notation import Region, Tensor
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
    region = tensor.region
    return [Block(region, (part.first, end), part.address) for part, end in with_ends(parts, region.channels)]


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


class Piece(NamedTuple):
    """Outputs [from, to) whose taps [from, to) all fall into `span`."""

    outputs: Span
    span: Span
    taps: Span


class Band(NamedTuple):
    """Outputs that the first piece of each source reaches whole; all pieces of each source in it."""

    outputs: Span
    pieces: tuple[tuple[Piece, ...], ...]


def bands(given: Sequence[Stretch]) -> list[Band]:
    """Stretches put together tap by tap: few bands, in each of which one tap reaches all outputs.

    A window that leaves the map, or one tensor for the next, costs an instruction for each of its taps, and none reads
    weights for taps that it does not use.  Where no tap is there for all outputs, each stretch is a band of its own.
    """
    whole = given[0].outputs[0], given[-1].outputs[1]
    sources = range(len(given[0].segments))
    taps = [_by_tap(given, source) for source in sources]
    covering = [(len(pieces), tap) for tap, pieces in taps[0].items() if all(_covers(own, tap, whole) for own in taps)]
    if not covering:
        return [Band(s.outputs, tuple(tuple(Piece(s.outputs, *g) for g in part) for part in s.segments)) for s in given]
    _, chosen = min(covering)
    found: list[Band] = []
    for outputs in cuts_between(*whole, [own[0] for source in sources for own, _ in taps[source][chosen]]):
        parts: list[tuple[Piece, ...]] = []
        for source in sources:
            pieces = _clipped(taps[source], outputs)
            first = next(p for p in pieces if p.outputs == outputs and p.taps[0] <= chosen < p.taps[1])
            parts.append((first, *(piece for piece in pieces if piece is not first)))
        found.append(Band(outputs, tuple(parts)))
    return found


def _by_tap(given: Sequence[Stretch], source: int) -> dict[int, list[tuple[Span, Span]]]:
    """For each tap the outputs that have it, by the span it falls into."""
    found: dict[int, list[tuple[Span, Span]]] = {}
    for stretch in given:
        for span, taps in stretch.segments[source]:
            for tap in range(*taps):
                own = found.setdefault(tap, [])
                if own and own[-1][1] == span and own[-1][0][1] == stretch.outputs[0]:
                    own[-1] = (own[-1][0][0], stretch.outputs[1]), span
                else:
                    own.append((stretch.outputs, span))
    return found


def _covers(taps: dict[int, list[tuple[Span, Span]]], tap: int, whole: Span) -> bool:
    """Whether every output has the tap."""
    at = whole[0]
    for outputs, _ in taps.get(tap, ()):
        if outputs[0] != at:
            return False
        at = outputs[1]
    return at == whole[1]


def _clipped(taps: dict[int, list[tuple[Span, Span]]], outputs: Span) -> list[Piece]:
    """Pieces within `outputs`; taps that reach the same outputs in the same span go together."""
    found: dict[tuple[Span, Span], list[Piece]] = {}
    for tap in sorted(taps):
        for own, span in taps[tap]:
            clipped = max(own[0], outputs[0]), min(own[1], outputs[1])
            if clipped[0] >= clipped[1]:
                continue
            runs = found.setdefault((clipped, span), [])
            if runs and runs[-1].taps[1] == tap:
                runs[-1] = Piece(clipped, span, (runs[-1].taps[0], tap + 1))
            else:
                runs.append(Piece(clipped, span, (tap, tap + 1)))
    return [piece for runs in found.values() for piece in runs]


def cuts_between(low: int, high: int, bounds: Sequence[int]) -> list[Span]:
    """[low, high) cut at those of `bounds` that lie inside."""
    inside = sorted({bound for bound in bounds if low < bound < high})
    return list(zip([low, *inside], [*inside, high], strict=True))
