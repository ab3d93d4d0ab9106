"""Which tiles a layer has: candidates by a formula, of the best of them one whose instructions take least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, prod

from ...algebra.allocation import BumpAllocator
from ...costs.stages.code import COLUMNS, KIND, OFF_BYTES, ROWS, STORE, read_code
from ...costs.stages.schedule import run_stages
from ...dialects.codelet import TensorOp
from ...errors import InfeasibleError
from ...machine.stage_isa import StageIsa
from ..codelet_to_queues.locals import place_locals
from ..codelet_to_queues.read import Tensors, read_codelet
from ..codelet_to_queues.tree import Codelet
from ..codelet_to_stages.emit import StageEmitter
from .along import axes_of
from .layer import LayerBuilder
from .works import Tiles, Work, require_room

TIMED = 4
"""Candidates of fewest cycles, and as many of little traffic, whose instructions are written and timed."""

LITTLE = 1.14
"""Traffic that is called little: so many times the bytes of inputs, weights and result."""

NEAR = 0.04
"""Tiles of little traffic are taken where they take at most so much longer than the fastest."""

OVERHEAD_CYCLES = 8
"""What the formula takes an instruction to cost beside its micro-ops."""


def choose_tiles(isa: StageIsa, work: Work) -> Tiles:
    """The tiles of fewest cycles, of about equals those of little traffic; `InfeasibleError` where none fit."""
    found: list[tuple[float, float, int, Tiles]] = []
    for number, tiles in enumerate(_candidates(isa, work)):
        try:
            require_room(isa, work, tiles)
        except InfeasibleError:
            continue
        found.append((*_estimate(isa, work, tiles), number, tiles))
    if not found:
        smallest = Tiles(1, 1, 1, 1)
        require_room(isa, work, smallest)
        return smallest
    found.sort(key=lambda one: one[:3])
    little = LITTLE * work.compulsory_bytes
    sparing = [one for one in found if one[1] <= little] or sorted(found, key=lambda one: one[1:3])
    chosen = {one[2]: one[3] for one in (*found[:TIMED], *sparing[:TIMED])}
    timed = [
        (*taken, number, tiles)
        for number, tiles in chosen.items()
        if (taken := layer_figures(isa, work, tiles)) is not None
    ]
    if not timed:
        _placed(isa, work, found[0][3])
        raise InfeasibleError(isa.micro.name, 1, 0, "micro-ops", "choose smaller tiles", work.name)
    near = [one for one in timed if one[0] <= (1 + NEAR) * min(timed)[0]]
    return min(near, key=lambda one: (max(one[1], little), one[0], one[2]))[3]


def layer_figures(isa: StageIsa, work: Work, tiles: Tiles) -> tuple[int, int] | None:
    """Cycles and DRAM bytes of a layer alone; None where it does not fit."""
    emitter = StageEmitter(isa)
    try:
        emitter.codelet(_placed(isa, work, tiles))
    except InfeasibleError:
        return None
    code = read_code(isa.machine, emitter.finish())
    copies = code.rows[code.rows[:, KIND] <= STORE]
    moved = int((copies[:, ROWS] * copies[:, COLUMNS] * copies[:, OFF_BYTES]).sum())
    fetched = len(code.rows) * max(word.bytes for word in isa.machine.words.values())
    return int(run_stages(code)[1].max()), moved + fetched


def _placed(isa: StageIsa, work: Work, tiles: Tiles) -> Codelet:
    """The layer's codelet with addresses as if it were alone; `InfeasibleError` where a memory is too small."""
    op = LayerBuilder(isa, work, tiles).build()
    roots = {value: value.owner for value in op.tensors if isinstance(value.owner, TensorOp)}
    written = frozenset(roots[value] for value in op.tensors if value is work.result.tensor)
    codelet, _ = read_codelet(op, Tensors(roots, written, {}), allocated=False)
    op.erase()
    surrogates = list(codelet.surrogates)
    for memory in isa.machine.memories:
        placed = place_locals(codelet, memory.name, memory.capacity_bytes, memory.align_bytes)
        if isinstance(placed, int):
            lever = "choose smaller tiles"
            raise InfeasibleError(memory.name, placed, memory.capacity_bytes, "bytes", lever, work.name)
        for index, slots in placed.items():
            surrogates[index] = replace(surrogates[index], addresses=slots)
    bump = BumpAllocator(next(memory for memory in isa.machine.memories if memory.offchip).align_bytes)
    for index, one in enumerate(surrogates):
        if one.axes is None:
            surrogates[index] = replace(one, addresses=(bump.take(one.size_bytes),))
    return replace(codelet, surrogates=tuple(surrogates))


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
                        for outer in (True, False) if blocks < result.blocks else (True,):
                            for kept in _kept(isa, work, blocks, parts, outer):
                                yield Tiles(blocks, rows, columns, parts, turns, kept, outer)


def _kept(isa: StageIsa, work: Work, blocks: int, parts: int, outer: bool) -> list[int]:
    """Parts of weights on chip: two, and as many as there is room for and tiles read again."""
    if work.diagonal:
        return [2]
    chunks, block_tiles = ceil(work.parts / parts), ceil(work.result.blocks / blocks)
    most = (isa.blocks.depth or 0) // (blocks * parts * work.window.taps)
    return sorted({2, max(2, min(most, chunks * (min(block_tiles, 2) if outer else block_tiles)))})


def _estimate(isa: StageIsa, work: Work, tiles: Tiles) -> tuple[float, float]:
    """Cycles and bytes moved.  Cycles are the larger of what computing and the bus take, and what neither hides.

    All tiles count as whole ones; those of the border are smaller in the machine.
    """
    result, window = work.result, work.window
    maps = tiles.maps(result)
    blocks = ceil(result.blocks / tiles.blocks)
    chunks = 1 if work.diagonal else ceil(work.parts / tiles.parts)
    sums = result.elements
    passes = 1 + sum(step.passes for step in work.steps) + 15 * work.wide
    stored = 16 * sums * (4 if work.wide else 1)
    rows, columns = work.reach(tiles.rows, tiles.columns)
    if work.maximum:
        taps = prod(axis.applied for axis in axes_of(work, tiles)) / (result.height * result.width)
        passes = 2 + 2 * taps + 2 * rows * columns / tiles.block_elements
    slices = maps * ceil(result.blocks / tiles.slice_blocks)
    walks = maps * blocks * (work.weight_parts * window.taps) + slices * (passes + 1)
    products = 0 if work.maximum else sums * work.weight_parts * window.taps
    compute = products + sums * passes + OVERHEAD_CYCLES * walks
    rows, columns = min(rows, work.sources[0].height), min(columns, work.sources[0].width)
    total = len(work.sources) * result.blocks if work.diagonal else work.parts
    again = 1 if work.diagonal else blocks
    if not work.diagonal and (maps == 1 or not tiles.outer):
        again = 1 + (blocks - 1) * max(0, chunks - 2) / chunks
    loaded = 16 * total * rows * columns * maps * again
    weights = 256 * (1 if work.shared else result.blocks) * work.weight_parts * (1 if work.maximum else window.taps)
    if not work.shared and (tiles.outer or blocks == 1):
        weights *= 1 + (maps - 1) * max(0, chunks - tiles.kept) / chunks
    elif not work.shared and tiles.kept < blocks * chunks:
        weights *= maps
    moved = (loaded + weights + stored) / _rate(isa)
    steps = maps * blocks * chunks
    first = (loaded + weights) / _rate(isa) / steps
    last = 16 * tiles.block_elements / _rate(isa)
    exposed = last * (maps * blocks if tiles.turns == 1 else 1)
    return max(compute + exposed, moved) + first, moved * _rate(isa)


def _rate(isa: StageIsa) -> float:
    return next(link.bandwidth_bytes_per_cycle for link in isa.machine.links if link.dst == isa.rows.name)
