"""Tiles of layers that run on the vector unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...costs.notation.values import Span
from ...errors import InfeasibleError
from .blocks import Block, Segment, Stretch, cuts_between
from .commands import Place
from .tile import TileCode, block_at, source_at

BYTES = "i8", "i8"


def vector_tile(code: TileCode) -> None:
    """Append the instructions of a tile of a layer without multiply-accumulates."""
    kind = code.layer.kind
    if kind == "pool":
        _pool(code)
    elif kind == "eltwise" and code.layer.operands > 1:
        _sum(code)
    elif kind == "transpose":
        _transpose(code)
    elif kind == "upsample":
        _upsample(code)
    else:
        _elementwise(code, "relu" if kind == "pointwise" else "identity")


def _samples(code: TileCode) -> Iterator[tuple[Span, tuple[Span, ...]]]:
    """Samples of the tile, and those that the tensors in use hold, by source."""
    for stretch in code.axis(0):
        yield stretch.outputs, tuple(segments[0].span for segments in stretch.segments)


def _runs(
    code: TileCode, held: tuple[Span, ...], tall: Stretch, wide: Stretch, channels: Span, offset: int = 0
) -> Iterator[tuple[Span, int]]:
    """Channels of the result that one block of a source feeds, with that source; channel c reads `offset` + c."""
    bounds = [block.channels[0] for block in code.result]
    for number, source in enumerate(code.sources):
        bounds.append(source.first_channel - offset)
        for vertical, horizontal in product(tall.segments[number], wide.segments[number]):
            blocks = source.blocks(held[number], vertical.span, horizontal.span)
            bounds += [source.first_channel + block.channels[0] - offset for block in blocks]
    for low, high in cuts_between(*channels, bounds):
        yield (low, high), source_at(code.sources, offset + low)


def _pool(code: TileCode) -> None:
    """Maxima of windows."""
    for (samples, held), tall, wide in product(_samples(code), code.axis(1), code.axis(2)):
        for channels, number in _runs(code, held, tall, wide, (0, code.region.channels)):
            for sample in range(*samples):
                pairs = product(tall.segments[number], wide.segments[number])
                for index, taps in enumerate(pairs):
                    _maximum(code, sample, channels, (held[number], number), (tall, wide), taps, index > 0)


def _maximum(
    code: TileCode,
    sample: int,
    channels: Span,
    where: tuple[Span, int],
    stretch: tuple[Stretch, Stretch],
    taps: tuple[Segment, Segment],
    keep: bool,
) -> None:
    held, number = where
    source = code.sources[number]
    channel = channels[0] - source.first_channel
    block = block_at(source.blocks(held, taps[0].span, taps[1].span), channel)
    result = block_at(code.result, channels[0])
    (down, right), (above, left) = code.layer.stride, code.network.padding(code.tile.layer)
    rows, columns = stretch[0].outputs, stretch[1].outputs
    row, column = rows[0] * down - above + taps[0].taps[0], columns[0] * right - left + taps[1].taps[0]
    _, per_channel, per_row = block.strides
    _, out_channel, out_row = result.strides
    places: dict[str, Place] = {
        "O": (result.at(sample, channels[0], rows[0], columns[0]), {"a": out_channel, "b": out_row, "c": 1}),
        "A": (
            block.at(sample, channel, row, column),
            {"a": per_channel, "b": down * per_row, "c": right, "r": per_row, "s": 1},
        ),
    }
    extents = {
        "a": channels[1] - channels[0],
        "b": rows[1] - rows[0],
        "c": columns[1] - columns[0],
        "r": taps[0].taps[1] - taps[0].taps[0],
        "s": taps[1].taps[1] - taps[1].taps[0],
    }
    code.steps.append(code.commands.step(code.commands.bindings["maximum"], BYTES, extents, places, keep=keep))


def _elementwise(code: TileCode, function: str) -> None:
    """A function of each element."""
    for (samples, held), tall, wide in product(_samples(code), code.axis(1), code.axis(2)):
        for channels, number in _runs(code, held, tall, wide, (0, code.region.channels)):
            corner = samples[0], channels[0], tall.outputs[0], wide.outputs[0]
            source, result = _operand(code, corner, number, held, (tall, wide), 0), block_at(code.result, channels[0])
            per_sample, per_channel, per_row = result.strides
            strides = {"a": per_sample, "b": per_channel, "c": per_row, "d": 1}
            extents = _extents(samples, channels, tall.outputs, wide.outputs)
            _move(code, function, extents, (result.at(*corner), strides), source)


def _extents(*spans: Span) -> dict[str, int]:
    return {dim: high - low for dim, (low, high) in zip("abcd", spans, strict=True)}


def _move(code: TileCode, function: str, extents: dict[str, int], result: Place, source: Place) -> None:
    places = {"O": result, "A": source}
    binding = code.commands.bindings["move"]
    code.steps.append(code.commands.step(binding, BYTES, extents, places, function=function))


def _operand(
    code: TileCode,
    corner: tuple[int, int, int, int],
    number: int,
    held: tuple[Span, ...],
    stretch: tuple[Stretch, Stretch],
    offset: int,
) -> Place:
    """Where a source is at sample, channel, row and column of the result `corner`; channel c reads `offset` + c."""
    source = code.sources[number]
    spans = [axis.segments[number][0].span for axis in stretch]
    channel = offset + corner[1] - source.first_channel
    block = block_at(source.blocks(held[number], spans[0], spans[1]), channel)
    per_sample, per_channel, per_row = block.strides
    address = block.at(corner[0], channel, corner[2], corner[3])
    return address, {"a": per_sample, "b": per_channel, "c": per_row, "d": 1}


def _sum(code: TileCode) -> None:
    """Sums of operands, shifted and clipped."""
    for (samples, held), channels, rows in _sum_chunks(code):
        for tall, wide in product(code.axis(1), code.axis(2)):
            low, high = max(tall.outputs[0], rows[0]), min(tall.outputs[1], rows[1])
            if low < high:
                clipped = Stretch((low, high), tall.segments)
                _sum_window(code, (samples, channels, rows), held, (clipped, wide))
        code.requant(code.sums.base, (samples, channels, rows, code.region.columns), ())


def _sum_chunks(code: TileCode) -> Iterator[tuple[tuple[Span, tuple[Span, ...]], Span, Span]]:
    """Samples, channels and rows whose sums fit."""
    _, channels, rows, columns = code.region.extents
    room = 2 * code.sums.half_bytes // 4
    if columns > room:
        lever = f"{4 * columns - 4 * room} bytes more for sums would do"
        raise InfeasibleError("sums", 4 * columns, 4 * room, "bytes", lever, code.layer.name)
    tall = min(rows, room // columns)
    deep = min(channels, max(1, room // (columns * tall)))
    for samples, held in _samples(code):
        count = max(1, room // (columns * tall * deep))
        for first in range(*samples, count):
            part = first, min(first + count, samples[1])
            for low in range(0, channels, deep):
                for top in range(*code.region.rows, tall):
                    bottom = min(top + tall, code.region.rows[1])
                    yield (part, held), (low, min(low + deep, channels)), (top, bottom)


def _sum_window(
    code: TileCode,
    chunk: tuple[Span, Span, Span],
    held: tuple[Span, ...],
    stretch: tuple[Stretch, Stretch],
) -> None:
    samples, channels, rows = chunk
    tall, wide = stretch
    depth = code.region.channels
    runs = [list(_runs(code, held, tall, wide, channels, i * depth)) for i in range(code.layer.operands)]
    bounds = [run[0][0] for given in runs for run in given]
    width = 4 * (code.region.columns[1] - code.region.columns[0])
    plane = width * (rows[1] - rows[0])
    sample = plane * (channels[1] - channels[0])
    for low, high in cuts_between(*channels, bounds):
        corner = samples[0], low, tall.outputs[0], wide.outputs[0]
        place = code.sums.base + (low - channels[0]) * plane + (corner[2] - rows[0]) * width
        place += 4 * (corner[3] - code.region.columns[0])
        sums: Place = place, {"a": sample, "b": plane, "c": width, "d": 4}
        given = [
            _operand(code, corner, source_at(code.sources, i * depth + low), held, stretch, i * depth)
            for i in range(code.layer.operands)
        ]
        extents = _extents(samples, (low, high), tall.outputs, wide.outputs)
        _add(code, extents, sums, given)


def _add(code: TileCode, extents: dict[str, int], sums: Place, given: list[Place]) -> None:
    binding = code.commands.bindings["add"]
    first, second, *others = given
    places = {"O": sums, "A": first, "B": second}
    code.steps.append(code.commands.step(binding, ("i32", "i8", "i8"), extents, places, function="add"))
    for other in others:
        places = {"O": sums, "A": other, "B": sums}
        code.steps.append(code.commands.step(binding, ("i32", "i8", "i32"), extents, places, function="add"))


def _clip(one: Span, two: Span) -> Span:
    return max(one[0], two[0]), min(one[1], two[1])


def _all_blocks(code: TileCode) -> Iterator[tuple[int, Block]]:
    """Every block of every source, with the source's first channel."""
    for source in code.sources:
        for blocks in source.tensors.values():
            for block in blocks:
                yield source.first_channel, block


def _transpose(code: TileCode) -> None:
    """Axis i of the result is axis `permutation[i]` of the input."""
    axes = code.layer.permutation
    for (first, block), result in product(_all_blocks(code), code.result):
        channels = first + block.channels[0], first + block.channels[1]
        given = channels, block.region.rows, block.region.columns
        samples = _clip(block.region.samples, code.region.samples)
        own = result.channels, code.region.rows, code.region.columns
        spans = [_clip(given[axis], own[place]) for place, axis in enumerate(axes)]
        if min(high - low for low, high in (samples, *spans)) <= 0:
            continue
        corner = [0, 0, 0]
        for place, axis in enumerate(axes):
            corner[axis] = spans[place][0]
        per_sample, *strides = *block.strides, 1
        source: Place = (
            block.at(samples[0], corner[0] - first, corner[1], corner[2]),
            {"a": per_sample, "b": strides[axes[0]], "c": strides[axes[1]], "d": strides[axes[2]]},
        )
        out_sample, out_channel, out_row = result.strides
        target = result.at(samples[0], *(span[0] for span in spans))
        strides_out = {"a": out_sample, "b": out_channel, "c": out_row, "d": 1}
        _move(code, "identity", _extents(samples, *spans), (target, strides_out), source)


def _upsample(code: TileCode) -> None:
    """Each pixel repeated along rows and columns."""
    given = code.network.input_shapes[code.tile.layer]
    tall, wide = code.layer.shape.height // given.height, code.layer.shape.width // given.width
    for (first, block), result, down, right in product(_all_blocks(code), code.result, range(tall), range(wide)):
        samples = _clip(block.region.samples, code.region.samples)
        channels = _clip((first + block.channels[0], first + block.channels[1]), result.channels)
        rows = _clip(block.region.rows, _repeated(code.region.rows, tall, down))
        columns = _clip(block.region.columns, _repeated(code.region.columns, wide, right))
        if min(high - low for low, high in (samples, channels, rows, columns)) <= 0:
            continue
        per_sample, per_channel, per_row = block.strides
        source = block.at(samples[0], channels[0] - first, rows[0], columns[0])
        out_sample, out_channel, out_row = result.strides
        target = result.at(samples[0], channels[0], rows[0] * tall + down, columns[0] * wide + right)
        _move(
            code,
            "identity",
            _extents(samples, channels, rows, columns),
            (target, {"a": out_sample, "b": out_channel, "c": tall * out_row, "d": wide}),
            (source, {"a": per_sample, "b": per_channel, "c": per_row, "d": 1}),
        )


def _repeated(span: Span, times: int, offset: int) -> Span:
    """Inputs whose copy number `offset` lies in `span`."""
    return -(-(span[0] - offset) // times), (span[1] - 1 - offset) // times + 1
