"""Which tiles a layer has: candidates by a formula, of the best of them the one whose instructions take least."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from ...costs.stages.code import read_code
from ...costs.stages.schedule import run_stages
from ...errors import InfeasibleError
from ...machine.stage_isa import StageIsa, StageWriter
from .emit import LayerWriter
from .works import Tiles, Work, rooms

TIMED = 6
"""Candidates whose instructions are written and timed."""

OVERHEAD_CYCLES = 8
"""What the formula takes an instruction to cost beside its micro-ops."""


def choose_tiles(isa: StageIsa, work: Work) -> Tiles:
    """The tiles of fewest cycles; `InfeasibleError` where not even the smallest fit."""
    found: list[tuple[float, int, Tiles]] = []
    for number, tiles in enumerate(_candidates(isa, work)):
        try:
            rooms(isa, work, tiles)
        except InfeasibleError:
            continue
        found.append((_estimate(isa, work, tiles), number, tiles))
    if not found:
        smallest = Tiles(1, 1, 1, 1)
        rooms(isa, work, smallest)
        return smallest
    timed = [
        (cycles, number, tiles)
        for _, number, tiles in sorted(found)[:TIMED]
        if (cycles := layer_cycles(isa, work, tiles)) is not None
    ]
    if not timed:
        raise InfeasibleError(isa.micro.name, 1, 0, "micro-ops", "choose smaller tiles", work.name)
    return min(timed)[2]


def layer_cycles(isa: StageIsa, work: Work, tiles: Tiles) -> int | None:
    """The cycles of a layer alone; None where its micro-ops do not fit."""
    writer = StageWriter(isa)
    layer = LayerWriter(writer, work, tiles)
    layer.write()
    if isa.micro.depth is not None and len(layer.ops) > isa.micro.depth:
        return None
    writer.flush(isa.loading)
    return int(run_stages(read_code(isa.machine, writer.bytes()))[1].max())


def _parts(extent: int) -> list[int]:
    """Sizes that cut an extent into 1, 2, 3, ... equal parts, the last perhaps smaller."""
    return sorted({ceil(extent / count) for count in range(1, extent + 1)}, reverse=True)


def _candidates(isa: StageIsa, work: Work) -> Iterator[Tiles]:
    result, depth = work.result, isa.sums.depth or 0
    summed = [work.parts] if work.diagonal else _parts(work.parts)
    for columns in _parts(result.width)[:4]:
        for rows in _parts(result.height):
            for blocks in _parts(result.blocks):
                if blocks * rows * columns > depth:
                    continue
                for parts in summed:
                    for turns in (1, 2):
                        for whole in (False, True) if parts < work.parts else (False,):
                            for outer in (True, False):
                                yield Tiles(blocks, rows, columns, parts, turns, whole, outer)


def _estimate(isa: StageIsa, work: Work, tiles: Tiles) -> float:
    """Cycles: the larger of what computing and the bus take, and what neither hides.

    All tiles count as whole ones; those of the border are smaller in the machine.
    """
    result, window = work.result, work.window
    maps = ceil(result.height / tiles.rows) * ceil(result.width / tiles.columns)
    blocks = ceil(result.blocks / tiles.blocks)
    chunks = 1 if work.diagonal else ceil(work.parts / tiles.parts)
    sums = result.blocks * result.height * result.width
    passes = 3 + 2 * work.vectors + (not work.vectors)
    if work.maximum:
        passes = 2 + 2 * window.taps + 2 * window.row_step * window.column_step
    slices = maps * ceil(result.blocks * tiles.block_elements / max(256, tiles.block_elements))
    walks = maps * blocks * (work.parts * window.taps) + slices * (passes + 1)
    products = 0 if work.maximum else sums * work.parts * window.taps
    compute = products + sums * passes + OVERHEAD_CYCLES * walks
    rows, columns = window.reach(tiles.rows, tiles.columns)
    rows, columns = min(rows, work.sources[0].height), min(columns, work.sources[0].width)
    total = len(work.sources) * result.blocks if work.diagonal else work.parts
    again = 1 if work.diagonal else blocks
    if not work.diagonal and chunks == 1 and (maps == 1 or not tiles.outer):
        again = 1
    loaded = 16 * total * rows * columns * maps * again
    weights = 256 * (1 if work.shared else result.blocks) * work.parts * (1 if work.maximum else window.taps)
    if not work.shared and (tiles.whole or chunks == 1):
        weights *= 1 if tiles.outer or blocks == 1 else maps
    elif not work.shared:
        weights *= maps
    moved = (loaded + weights + 16 * sums) / _rate(isa)
    steps = maps * blocks * chunks
    first = (loaded + weights) / _rate(isa) / steps
    last = 16 * tiles.block_elements / _rate(isa)
    exposed = last * (maps * blocks if tiles.turns == 1 else 1)
    return max(compute + exposed, moved) + first


def _rate(isa: StageIsa) -> float:
    return next(link.bandwidth_bytes_per_cycle for link in isa.machine.links if link.dst == isa.rows.name)
