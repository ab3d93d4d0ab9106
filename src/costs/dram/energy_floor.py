"""Compiled: the least energy of a layer on the cores in the exact model, whatever tiles it is cut into.

A tile is cut over the cores, blocked and shared in one of a few ways (`costs.soma.blocks`).  In each of them the
accesses that `costs.soma.counts` counts have a part that grows with the pixels of a tile and one that comes with every
tile, and the largest blocks are those of the whole map.  So tiles cost for each pixel no less than the best of all
tiles does.
"""

from __future__ import annotations

from math import inf

from ..soma.blocks import SHARINGS, Block, Sharing, Split, Work, block_of, ceil_div, column_limit
from ..soma.hardware import BUS_BYTES, MAC_PJ
from .compiled import compiled, inner
from .tables import Model


@compiled
def least_price(
    work: Work, ways: tuple[Split, ...], pixels: tuple[int, int], together: int, model: Model, cycle_pj: float
) -> float:
    """pJ of one group, and `cycle_pj` for each of its cycles; 0 where no way is left.

    `work` is its map in all samples, of which `pixels` rows and columns, evenly spread, have to be computed; the cores
    work on `together` groups at a time.
    """
    least = inf
    for split in ways:
        rows = 0
        for columns in range(column_limit(work, split, model.array), 0, -1):
            block = block_of(work, split, model.array, columns)
            if block.rows <= rows:
                continue
            rows = block.rows
            for sharing in SHARINGS[:3]:
                if _may_share(work, split, block, sharing, model.array.lanes, together):
                    least = min(least, _least_of_tiles(work, split, block, sharing, pixels, together, model, cycle_pj))
    return 0.0 if least == inf else least


@inner
def _least_of_tiles(
    work: Work,
    split: Split,
    block: Block,
    sharing: Sharing,
    pixels: tuple[int, int],
    together: int,
    model: Model,
    cycle_pj: float,
) -> float:
    """The best of all tiles one way: where every s-th row is asked for, a tile with h of them makes (h - 1) s + 1."""
    steps = ceil_div(work.height, pixels[0]), ceil_div(work.width, pixels[1])
    least = inf
    for tall in range(pixels[0] if steps[0] == 1 else 1, pixels[0] + 1):
        for wide in range(pixels[1] if steps[1] == 1 else 1, pixels[1] + 1):
            made = work.batch * ((tall - 1) * steps[0] + 1) * ((wide - 1) * steps[1] + 1)
            price = _tile_price(work, split, block, sharing, made, together, model, cycle_pj)
            least = min(least, price / (tall * wide))
    return least * pixels[0] * pixels[1]


@inner
def _may_share(work: Work, split: Split, block: Block, sharing: Sharing, lanes: int, together: int) -> bool:
    """Whether some tile can: its extents aside, cores must have filters to share, and the bus carry the blocks."""
    cores = min(block.filter_trips, split.height * split.width * split.batch)
    if not sharing.filters:
        return True
    carried = BUS_BYTES * block.filters_held * block.channels * block.rows * block.columns
    channels, filters = ceil_div(work.channels, split.channels), ceil_div(work.filters, split.filters)
    if cores == 1 or carried < channels * min(filters, block.filters_held * lanes) * together:
        return False
    return not sharing.columns or (split.filters > 1 and ceil_div(block.filter_trips, cores) > 1)


@inner
def _reach(work: Work, rows: float, columns: float) -> float:
    """Input pixels for each pixel of a tile whose halos are read once for `rows` and `columns`."""
    high, wide = min(work.stride_height, work.kernel_height), min(work.stride_width, work.kernel_width)
    return (high + (work.kernel_height - high) / rows) * (wide + (work.kernel_width - wide) / columns)


@inner
def _tile_price(
    work: Work,
    split: Split,
    block: Block,
    sharing: Sharing,
    pixels: int,
    together: int,
    model: Model,
    cycle_pj: float,
) -> float:
    """A tile of `pixels` in all samples.

    Tiles as wide as a block run down without vertical halos between blocks; in others columns need no halos.
    """
    array, window = model.array, work.kernel_height * work.kernel_width
    tall, wide = max(1.0, work.height / split.height), max(1.0, work.width / split.width)
    plane = min(_reach(work, tall, min(wide, float(block.columns))), _reach(work, float(block.rows), wide))
    cores, trips = split.height * split.width * split.batch, block.filter_trips
    if sharing.filters:
        trips = ceil_div(trips, min(trips, cores))
    weights, results = float(window * work.channels * work.filters), float(pixels) * work.filters
    read = weights + pixels * work.channels * (_reach(work, tall, wide) if sharing.columns else plane * trips)
    rounds = weights * max(float(cores), float(pixels) / (block.rows * block.columns))
    energy = array.al1_read * pixels * work.channels * window * block.filters * split.filters
    energy += array.al1_write * pixels * work.channels * plane * trips * split.filters
    energy += array.wl1_read * rounds + array.wl1_write * (rounds if sharing.filters else weights * cores)
    sums = results * window * block.channels * split.channels
    energy += array.ol1_write * sums + array.ol1_read * (sums + split.channels * results)
    energy += results * (array.ol2_read + array.ol2_write + array.buffer_write) + array.buffer_read * read
    busy = min(split.height, work.height) * min(split.width, work.width) * min(split.batch, work.batch)
    cycles = float(pixels) * window * block.channels * block.filters / (busy * together)
    cycles = max(cycles, read / array.read_port, results / model.write_port)
    return energy + MAC_PJ * results * window * work.channels + cycle_pj * cycles
