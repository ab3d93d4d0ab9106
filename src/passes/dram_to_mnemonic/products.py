"""Tiles of multiply-accumulate layers: sums by the array, chunk by chunk, requantised while the next chunk is made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ...costs.dram.issue_price import chunk_sizes
from ...costs.notation.values import Span
from ...errors import InfeasibleError
from .blocks import Band, Block, Piece, Source, bands, cuts_between
from .commands import Place
from .tile import TileCode, block_at, source_at

MAC_TYPES = "i32", "i8", "i8"


class Chunk(NamedTuple):
    """Samples, channels and rows whose sums are made together."""

    samples: Span
    channels: Span
    rows: Span


class Job(NamedTuple):
    """Output channels [filters) of each of the groups [groups)."""

    groups: Span
    filters: Span


class Window(NamedTuple):
    """Rows of a chunk within a band of rows, and a band of columns."""

    rows: Span
    columns: Span
    tall: Band
    wide: Band

    def pieces(self, source: int) -> list[tuple[Piece, Piece]]:
        """Pieces of rows and of columns that fall into one tensor, clipped to the rows of the chunk."""
        found: list[tuple[Piece, Piece]] = []
        for tall, wide in product(self.tall.pieces[source], self.wide.pieces[source]):
            rows = max(tall.outputs[0], self.rows[0]), min(tall.outputs[1], self.rows[1])
            if rows[0] < rows[1]:
                found.append((tall._replace(outputs=rows), wide))
        return found


def product_tile(code: TileCode) -> None:
    """Append the instructions of a tile of a convolution, a fully connected layer, or a product of two results."""
    rows, columns = bands(code.axis(1)), bands(code.axis(2))
    done: list[int] = []
    whole = all(len(band) == 1 and len(band[0].pieces[0]) == 1 for band in (rows, columns))
    for number, (chunk, held) in enumerate(_chunks(code, whole)):
        base = code.sums.half(number)
        first = len(code.steps)
        after = (done[number - 2],) if number > 1 else ()
        for tall, wide in product(rows, columns):
            low, high = max(tall.outputs[0], chunk.rows[0]), min(tall.outputs[1], chunk.rows[1])
            if low < high:
                window = Window((low, high), wide.outputs, tall, wide)
                _window(code, chunk, held, window, base, after if len(code.steps) == first else ())
        last = len(code.steps) - 1
        whole = chunk.samples, chunk.channels, chunk.rows, code.region.columns
        code.requant(base, whole, (last,))
        done.append(len(code.steps) - 1)


def _chunks(code: TileCode, whole: bool) -> Iterator[tuple[Chunk, tuple[Span, ...]]]:
    """Chunks that fit half of the sums' room, and the samples that the tensors in use hold, by source; windows are read
    by one instruction where `whole`.
    """
    samples, channels, rows = _chunk_sizes(code, whole)
    held = (*code.sources, *code.made)
    for stretch in code.axis(0, held):
        spans = tuple(segments[0].span for segments in stretch.segments)
        for first in range(*stretch.outputs, samples):
            part = first, min(first + samples, stretch.outputs[1])
            for low in range(0, code.region.channels, channels):
                high = min(low + channels, code.region.channels)
                for top in range(*code.region.rows, rows):
                    yield Chunk(part, (low, high), (top, min(top + rows, code.region.rows[1]))), spans


def _chunk_sizes(code: TileCode, whole: bool) -> tuple[int, int, int]:
    """Samples, channels and rows of a chunk: those that end first."""
    extents = code.region.extents
    room = code.sums.half_bytes // 4
    if extents[3] > room:
        lever = f"{4 * extents[3] - code.sums.half_bytes} bytes more for each half of the sums would do"
        raise InfeasibleError("sums", 4 * extents[3], code.sums.half_bytes, "bytes", lever, code.layer.name)
    shape, issue = shape_of(code), code.commands.issue
    given = shape.groups, shape.filters, shape.channels, *shape.kernel, int(shape.shared)
    limited = issue._replace(sums=min(room, issue.sums) if extents[3] <= issue.sums else room)
    return chunk_sizes(limited, *code.commands.scratch, given, extents, whole)


class Shape(NamedTuple):
    """Groups, filters and channels of a group, kernel; whether samples share weights."""

    groups: int
    filters: int
    channels: int
    kernel: tuple[int, int]
    shared: bool


def shape_of(code: TileCode) -> Shape:
    """The shape of the tile's layer."""
    channels, filters = code.network.group_shape(code.tile.layer)
    return Shape(code.layer.groups, filters, channels, code.layer.kernel, not code.made and code.layer.groups == 1)


def _window(
    code: TileCode, chunk: Chunk, held: tuple[Span, ...], window: Window, base: int, after: tuple[int, ...]
) -> None:
    """The sums of one window of a chunk."""
    shape = shape_of(code)
    for low, high in cuts_between(*chunk.channels, _filter_cuts(code)):
        for job in _jobs((low, high), shape):
            if shape.shared:
                after = _job(code, chunk, chunk.samples, held, window, job, base, after)
                continue
            for sample in range(*chunk.samples):
                after = _job(code, chunk, (sample, sample + 1), held, window, job, base, after)


def _filter_cuts(code: TileCode) -> list[int]:
    blocks = [block for source in code.made for given in source.tensors.values() for block in given]
    return [block.channels[0] for block in (*code.weights, *blocks)]


def _jobs(channels: Span, shape: Shape) -> Iterator[Job]:
    """Output channels as whole groups and parts of groups."""
    at, end = channels
    while at < end:
        group, inside = divmod(at, shape.filters)
        if inside or end - at < shape.filters:
            upto = min(shape.filters, inside + end - at)
            yield Job((group, group + 1), (inside, upto))
            at += upto - inside
        else:
            last = end // shape.filters
            yield Job((group, last), (0, shape.filters))
            at = last * shape.filters


def _job(
    code: TileCode,
    chunk: Chunk,
    samples: Span,
    held: tuple[Span, ...],
    window: Window,
    job: Job,
    base: int,
    after: tuple[int, ...],
) -> tuple[int, ...]:
    """One job's sums; what the next instruction must wait for."""
    shape = shape_of(code)
    bounds = _input_cuts(code, held, window)
    for groups in _group_runs(job.groups, shape.channels, bounds):
        cuts = [bound - groups[0] * shape.channels for bound in bounds] if groups[1] - groups[0] == 1 else []
        cuts += [span[0] for source in code.made for span in source.spans[1]]
        first = True
        for low, high in cuts_between(0, shape.channels, cuts):
            channel = groups[0] * shape.channels + low
            number = source_at(code.sources, channel)
            for pieces in window.pieces(number):
                where = groups, (low, high)
                _product(code, chunk, samples, held, job, where, pieces, base, first, after)
                first, after = False, ()
    return after


def _input_cuts(code: TileCode, held: tuple[Span, ...], window: Window) -> list[int]:
    """Where channels of the concatenation change their block, in any tensor of the window."""
    found = [source.first_channel for source in code.sources]
    for number, source in enumerate(code.sources):
        for tall, wide in window.pieces(number):
            blocks = source.blocks(held[number], tall.span, wide.span)
            found += [source.first_channel + block.channels[0] for block in blocks]
    return sorted(set(found))


def _group_runs(groups: Span, channels: int, bounds: list[int]) -> list[Span]:
    """Groups cut where their input changes its block; a group that straddles a cut stands alone."""
    cuts: list[int] = []
    for bound in bounds:
        cuts += [bound // channels, -(-bound // channels)]
    return cuts_between(*groups, cuts)


def _product(
    code: TileCode,
    chunk: Chunk,
    samples: Span,
    held: tuple[Span, ...],
    job: Job,
    where: tuple[Span, Span],
    pieces: tuple[Piece, Piece],
    base: int,
    first: bool,
    after: tuple[int, ...],
) -> None:
    """One instruction: groups and input channels `where`, rows and columns `pieces` and their taps."""
    shape, (groups, (low, high)) = shape_of(code), where
    channel = groups[0] * shape.channels + low
    number = source_at(code.sources, channel)
    source = code.sources[number]
    block = block_at(source.blocks(held[number], pieces[0].span, pieces[1].span), channel - source.first_channel)
    extents = {
        "g": samples[1] - samples[0] if shape.shared else groups[1] - groups[0],
        "k": job.filters[1] - job.filters[0],
        "p": pieces[0].outputs[1] - pieces[0].outputs[0],
        "q": pieces[1].outputs[1] - pieces[1].outputs[0],
        "c": high - low,
        "r": pieces[0].taps[1] - pieces[0].taps[0],
        "s": pieces[1].taps[1] - pieces[1].taps[0],
    }
    filter_ = groups[0] * shape.filters + job.filters[0]
    places = {
        "O": _sums(code, chunk, shape, samples[0], filter_, pieces, base),
        "X": _inputs(code, shape, block, samples[0], channel - source.first_channel, pieces),
        "W": _weights(code, shape, samples[0], filter_, low, pieces, held),
    }
    step = code.commands.step(code.commands.bindings["mac"], MAC_TYPES, extents, places, keep=not first, after=after)
    code.steps.append(step)


def _sums(
    code: TileCode, chunk: Chunk, shape: Shape, sample: int, filter_: int, pieces: tuple[Piece, Piece], base: int
) -> Place:
    width = code.region.columns[1] - code.region.columns[0]
    plane = width * (chunk.rows[1] - chunk.rows[0])
    channels = chunk.channels[1] - chunk.channels[0]
    place = ((sample - chunk.samples[0]) * channels + filter_ - chunk.channels[0]) * plane
    place += (pieces[0].outputs[0] - chunk.rows[0]) * width + pieces[1].outputs[0] - code.region.columns[0]
    group = channels * plane if shape.shared else shape.filters * plane
    return base + 4 * place, {"g": 4 * group, "k": 4 * plane, "p": 4 * width, "q": 4}


def _inputs(
    code: TileCode, shape: Shape, block: Block, sample: int, channel: int, pieces: tuple[Piece, Piece]
) -> Place:
    (down, right), (above, left) = code.layer.stride, code.network.padding(code.tile.layer)
    per_sample, per_channel, per_row = block.strides
    row = pieces[0].outputs[0] * down - above + pieces[0].taps[0]
    column = pieces[1].outputs[0] * right - left + pieces[1].taps[0]
    group = per_sample if shape.shared else shape.channels * per_channel
    strides = {"g": group, "p": down * per_row, "q": right, "c": per_channel, "r": per_row, "s": 1}
    return block.at(sample, channel, row, column), strides


def _weights(
    code: TileCode,
    shape: Shape,
    sample: int,
    filter_: int,
    channel: int,
    pieces: tuple[Piece, Piece],
    held: tuple[Span, ...],
) -> Place:
    tall, wide = shape.kernel
    tap = pieces[0].taps[0] * wide + pieces[1].taps[0]
    if code.made:
        return _made_weights(code, shape, sample, filter_, channel, tap, held)
    block = block_at(code.weights, filter_)
    area = tall * wide
    per_filter = shape.channels * area
    address = block.address + (filter_ - block.channels[0]) * per_filter + channel * area + tap
    group = 0 if shape.shared else shape.filters * per_filter
    return address, {"g": group, "k": per_filter, "c": area, "r": wide, "s": 1}


def _made_weights(
    code: TileCode, shape: Shape, sample: int, filter_: int, channel: int, tap: int, held: tuple[Span, ...]
) -> Place:
    """Weights that are a layer's result: filters are its channels, input channels its rows, taps its columns."""
    number = source_at(code.made, filter_)
    source: Source = code.made[number]
    rows = next(span for span in source.spans[1] if span[0] <= channel < span[1])
    columns = next(span for span in source.spans[2] if span[0] <= tap < span[1])
    blocks = source.blocks(held[len(code.sources) + number], rows, columns)
    block = block_at(blocks, filter_ - source.first_channel)
    _, per_channel, per_row = block.strides
    strides = {"g": shape.filters * per_channel, "k": per_channel, "c": per_row, "r": shape.kernel[1], "s": 1}
    return block.at(sample, filter_ - source.first_channel, channel, tap), strides
