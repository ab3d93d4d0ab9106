"""Which tiles a layer has: candidates by a formula, of the best of them one whose instructions take least."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, prod
from typing import NamedTuple

from ...algebra.allocation import BumpAllocator
from ...costs.stages.code import Copy, Kind, Row, read_code
from ...costs.stages.schedule import run_stages
from ...dialects.codelet import TensorOp
from ...errors import InfeasibleError
from ...machine.stage_isa import StageIsa
from ...search.tiles.choice import Effort, steps
from ..codelet_to_queues.locals import place_locals
from ..codelet_to_queues.read import Tensors, read_codelet
from ..codelet_to_queues.tree import Codelet
from ..codelet_to_stages.emit import StageEmitter
from .along import axes_of
from .layer import LayerBuilder
from .works import Tiles, Work, require_room

SPARING = 12
"""Candidates of least traffic that are timed where none has little."""

LITTLE = 1.14
"""Traffic that is called little: so many times the bytes of inputs, weights and result."""

NEAR = 0.04
"""Tiles of little traffic are taken where they take at most so much longer than the fastest."""

OVERHEAD_CYCLES = 8
"""What the formula takes an instruction to cost beside its micro-ops."""


def choose_tiles(isa: StageIsa, work: Work, effort: Effort) -> Tiles:
    """The tiles of fewest cycles, of about equals those of little traffic; `InfeasibleError` where none fit."""
    found = _fitting(isa, work, alike=effort.gap is not None)
    if not found:
        smallest = Tiles(1, 1, 1, 1)
        require_room(isa, work, smallest)
        return smallest
    figures: dict[Tiles, tuple[int, int]] = {}

    def measure(one: Estimate) -> int | None:
        taken = figures.get(one.tiles) or layer_figures(isa, work, one.tiles)
        if taken is not None:
            figures[one.tiles] = taken
        return taken[0] if taken is not None else None

    little = LITTLE * work.compulsory_bytes
    sparing = [one for one in found if one.moved <= little]
    sparing = sparing or sorted(sorted(found, key=lambda one: one.moved)[:SPARING])
    least = floor_cycles(isa, work)
    for ranked in found, sparing:
        effort.measured([(one.cycles, one) for one in ranked], measure, least)
    if not figures:
        _placed(isa, work, found[0].tiles)
        raise InfeasibleError(isa.micro.name, 1, 0, "micro-ops", "choose smaller tiles", work.name)
    near = (1 + NEAR) * min(figures.values())[0]
    timed = [
        (max(moved, little), cycles, place) for place, (cycles, moved) in enumerate(figures.values()) if cycles <= near
    ]
    return list(figures)[min(timed)[2]]


class Estimate(NamedTuple):
    """Tiles with the cycles and bytes moved that a formula expects, and their place among the candidates."""

    cycles: float
    moved: float
    place: int
    tiles: Tiles


def _fitting(isa: StageIsa, work: Work, *, alike: bool) -> list[Estimate]:
    """Candidates that fit, the fastest first; of those that the formula cannot tell apart all (`alike`) or one."""
    found: dict[tuple[float, ...], Estimate] = {}
    for place, tiles in enumerate(candidates(isa, work)):
        try:
            require_room(isa, work, tiles)
        except InfeasibleError:
            continue
        expected = _estimate(isa, work, tiles)
        found.setdefault((*expected, place * alike), Estimate(*expected, place, tiles))
    return sorted(found.values(), key=lambda one: one[:3])


def layer_figures(isa: StageIsa, work: Work, tiles: Tiles) -> tuple[int, int] | None:
    """Cycles and DRAM bytes of a layer alone; None where it does not fit."""
    emitter = StageEmitter(isa)
    try:
        emitter.codelet(_placed(isa, work, tiles))
    except InfeasibleError:
        return None
    code = read_code(isa.machine, emitter.finish())
    copies = code.rows[code.rows[:, Row.KIND] <= Kind.STORE]
    moved = int((copies[:, Copy.ROWS] * copies[:, Copy.COLUMNS] * copies[:, Copy.OFF_BYTES]).sum())
    fetched = len(code.rows) * max(word.bytes for word in isa.machine.words.values())
    return int(run_stages(code)[1].max()), moved + fetched


def _placed(isa: StageIsa, work: Work, tiles: Tiles) -> Codelet:
    """The layer's codelet with addresses as if it were alone; `InfeasibleError` where a memory is too small."""
    op = LayerBuilder(isa, work, tiles).build()
    roots = {value: value.owner for value in op.tensors if isinstance(value.owner, TensorOp)}
    written = frozenset(roots[value] for value in op.tensors if value is work.result.tensor)
    codelet = read_codelet(op, Tensors(roots, written, {}), allocated=False)
    op.erase()
    surrogates = list(codelet.surrogates)
    for memory in isa.machine.memories:
        placed = place_locals(codelet, memory.name, memory.capacity_bytes, memory.align_bytes)
        if isinstance(placed, int):
            lever = "choose smaller tiles"
            raise InfeasibleError(memory.name, placed, memory.capacity_bytes, "bytes", lever, work.name)
        for index, slots in placed.items():
            surrogates[index] = replace(surrogates[index], addresses=slots)
    bump = BumpAllocator(isa.machine.memory_by_name[isa.machine.offchip[0]].align_bytes)
    for index, one in enumerate(surrogates):
        if one.axes is None:
            surrogates[index] = replace(one, addresses=(bump.take(one.size_bytes),))
    return replace(codelet, surrogates=tuple(surrogates))


def candidates(isa: StageIsa, work: Work) -> Iterator[Tiles]:
    """All tiles that may be taken, whether there is room for them or not."""
    result, depth = work.result, isa.sums.depth or 0
    summed = [work.parts] if work.diagonal else steps(work.parts)
    for columns in steps(result.width)[:4]:
        for rows in steps(result.height):
            for blocks in steps(result.blocks):
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


def floor_cycles(isa: StageIsa, work: Work) -> float:
    """Cycles that a layer takes at least, however it is cut: of its products and steps, or of its bytes on the bus.

    Windows of a maximum are taken to have no gaps between them.
    """
    result, window = work.result, work.window
    height, width = window.reach(result.height, result.width)
    down = 1 if work.maximum else window.skips(result.height, result.width)[0]
    rows, columns = min(height - window.top, work.sources[0].height), min(width - window.left, work.sources[0].width)
    loaded = _summed(work) * ceil(rows / down) * columns * result.samples
    whole = Tiles(result.blocks, result.height, result.width, work.parts)
    return max(_computing(work, whole), (16 * loaded + _weight_bytes(work) + _stored_bytes(work)) / _rate(isa))


def _computing(work: Work, tiles: Tiles) -> float:
    """Cycles of products and of steps."""
    products = 0 if work.maximum else work.weight_parts * work.window.taps
    return work.result.elements * (products + _passes(work, tiles))


def _passes(work: Work, tiles: Tiles) -> float:
    """Cycles of steps for each sum."""
    if not work.maximum:
        return 1 + sum(step.passes for step in work.steps) + 15 * work.wide
    taps = prod(axis.applied for axis in axes_of(work, tiles)) / (work.result.height * work.result.width)
    return 2 + 2 * taps + 2 * prod(work.reach(tiles.rows, tiles.columns)) / tiles.block_elements


def _summed(work: Work) -> int:
    """Blocks of all sources that are loaded for a row and column."""
    return len(work.sources) * work.result.blocks if work.diagonal else work.parts


def _weight_bytes(work: Work) -> int:
    blocks = (1 if work.shared else work.result.blocks) * work.weight_parts
    return 256 * blocks * (1 if work.maximum else work.window.taps)


def _stored_bytes(work: Work) -> int:
    return 16 * work.result.elements * (4 if work.wide else 1)


def _estimate(isa: StageIsa, work: Work, tiles: Tiles) -> tuple[float, float]:
    """Cycles and bytes moved.  Cycles are the larger of what computing and the bus take, and what neither hides.

    All tiles count as whole ones; those of the border are smaller in the machine.
    """
    result = work.result
    maps = tiles.maps(result)
    blocks = ceil(result.blocks / tiles.blocks)
    chunks = 1 if work.diagonal else ceil(work.parts / tiles.parts)
    slices = maps * ceil(result.blocks / tiles.slice_blocks)
    walks = maps * blocks * (work.weight_parts * work.window.taps) + slices * (_passes(work, tiles) + 1)
    compute = _computing(work, tiles) + OVERHEAD_CYCLES * walks
    rows, columns = work.reach(tiles.rows, tiles.columns)
    rows, columns = min(rows, work.sources[0].height), min(columns, work.sources[0].width)
    again = 1 if work.diagonal else blocks
    if not work.diagonal and (maps == 1 or not tiles.outer):
        again = 1 + (blocks - 1) * max(0, chunks - 2) / chunks
    loaded = 16 * _summed(work) * rows * columns * maps * again
    weights: float = _weight_bytes(work)
    if not work.shared and (tiles.outer or blocks == 1):
        weights *= 1 + (maps - 1) * max(0, chunks - tiles.kept) / chunks
    elif not work.shared and tiles.kept < blocks * chunks:
        weights *= maps
    moved = (loaded + weights + _stored_bytes(work)) / _rate(isa)
    first = (loaded + weights) / _rate(isa) / (maps * blocks * chunks)
    last = 16 * tiles.block_elements / _rate(isa)
    exposed = last * (maps * blocks if tiles.turns == 1 else 1)
    return max(compute + exposed, moved) + first, moved * _rate(isa)


def _rate(isa: StageIsa) -> float:
    return next(link.bandwidth_bytes_per_cycle for link in isa.machine.links if link.dst == isa.rows.name)
