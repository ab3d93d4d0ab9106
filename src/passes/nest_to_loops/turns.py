"""Tensors whose rows of lanes shall run along another axis: rows and lanes change places, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .emitter import LOAD, STORE, Emitter, Target
from .permute_code import RowWalk, emit_permute
from .places import Rows
from .tensors import Stored
from .vector_code import emit_transfer


@dataclass(frozen=True)
class Turn:
    """A tensor of a shape that goes from one place to another, whose lanes run along another axis."""

    shape: tuple[int, ...]
    source: Stored
    target: Stored
    width_bits: int


@dataclass(frozen=True)
class _Box:
    """Equal tiles: where they begin, their size and how many there are, along the target's and the source's lanes.

    Sizes are in elements; a tile's are whole blocks of lanes, or less than one.
    """

    start: tuple[int, int]
    size: tuple[int, int]
    count: tuple[int, int]


def emit_turn(emitter: Emitter, target: Target, turn: Turn) -> tuple[int, int]:
    """The groups that turn a tensor; cycles of the vector engine and bytes that move."""
    cycles = moved = 0
    lanes = turn.source.lanes
    others = [i for i in range(len(turn.shape)) if i not in (turn.source.lane, turn.target.lane)]
    copies = 1
    for axis in others:
        copies *= turn.shape[axis]
    for box in _boxes(turn, min(target.rows(name) for name in target.scratch)):
        _emit_box(emitter, target, turn, box, others)
        blocks = [-(-size // lanes) for size in box.size]
        tiles = copies * box.count[0] * box.count[1]
        moved += tiles * (box.size[0] * blocks[1] + box.size[1] * blocks[0]) * turn.source.row_bytes
        cycles += tiles * max(box.size[0] * blocks[1], blocks[0] * blocks[1] * lanes)
    return cycles, moved


def _boxes(turn: Turn, rows: int) -> Iterator[_Box]:
    """Whole blocks both ways, as many in a tile as fit, and what is left."""
    lanes = turn.source.lanes
    most = rows // lanes
    down = _parts(turn.shape[turn.target.lane], lanes, 1 if most < 4 else 2)
    most //= max(size // lanes for _, size, _ in down) or 1
    across = _parts(turn.shape[turn.source.lane], lanes, max(most, 1))
    for first, high, n in down:
        for second, wide, m in across:
            yield _Box((first, second), (high, wide), (n, m))


def _parts(extent: int, lanes: int, most: int) -> list[tuple[int, int, int]]:
    """Start, size and count of equal tiles of at most so many blocks, and what is left."""
    whole = extent // lanes
    blocks = max((n for n in range(1, most + 1) if whole % n == 0), default=1)
    found = [(0, blocks * lanes, whole // blocks)] if whole else []
    return found + ([(whole * lanes, extent % lanes, 1)] if extent % lanes else [])


def _emit_box(emitter: Emitter, target: Target, turn: Turn, box: _Box, others: Sequence[int]) -> None:
    first, second = target.scratch
    lanes = turn.source.lanes
    high, wide = (-(-size // lanes) for size in box.size)
    emitter.begin(target.vector[0].name)
    _transfer(emitter, target, turn, box, others, LOAD)
    inner = min(box.size[0], lanes), min(box.size[1], lanes)
    source = [(high, lanes * wide), (wide, 1), (inner[0], wide)]
    result = [(high, 1), (wide, lanes * high), (inner[1], high)]
    emit_permute(emitter, RowWalk(second, 0, result), RowWalk(first, 0, source), True)
    _transfer(emitter, target, turn, box, others, STORE)
    emitter.end()


def _transfer(emitter: Emitter, target: Target, turn: Turn, box: _Box, others: Sequence[int], side: int) -> None:
    """Rows of one side: along the other side's lanes, and blocks of its own lanes."""
    place, row, lane = (turn.source, 0, 1) if side == LOAD else (turn.target, 1, 0)
    axes = turn.target.lane, turn.source.lane
    steps = [place.pitches[axis] for axis in axes]  # bytes per row, or per block of its own lanes
    lanes = place.lanes
    units = [1 if i == row else lanes for i in (0, 1)]
    start = place.address + sum(box.start[i] // units[i] * steps[i] for i in (0, 1))
    walk = [(turn.shape[axis], place.pitches[axis]) for axis in others if turn.shape[axis] > 1]
    walk += [(box.count[i], box.size[i] // units[i] * steps[i]) for i in (0, 1) if box.count[i] > 1]
    loops = [(box.size[row], steps[row]), (-(-box.size[lane] // lanes), steps[lane])]
    memory = target.scratch[0 if side == LOAD else 1]
    rows = Rows(start, {}, place.row_bytes)
    emit_transfer(emitter, target, side, memory, rows, walk, loops, (0, turn.width_bits))
