"""Values that are others seen another way: reshaped, axes in another order, or rows and lanes exchanged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ...algebra.expr import Access
from ...dialects import nest
from ...dialects.types import shape_of
from ...errors import TilewrightError
from .emitter import LOAD, STORE, Emitter, Target
from .forms import forms
from .places import Rows
from .tensors import Stored
from .vector_code import RowWalk, emit_permute, emit_transfer


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


def permuted(group: nest.GroupOp) -> tuple[SSAValue, tuple[int, ...]] | None:
    """What a group only copies with its axes in another order, and the source's axis of each axis; None for others."""
    if len(group.kernels) != 1 or len(group.results) != 1:
        return None
    kernel = group.kernels[0]
    statement = kernel.statement.data
    if statement.reduce != "=" or not isinstance(statement.value, Access):
        return None
    outside = group.outside
    target, source = forms(kernel)
    value = outside.get(kernel.operands_by_name[source.name])
    if value is None or kernel.init is not None:
        return None
    shape, types = shape_of(group.results[0]), (value.type, group.results[0].type)
    if cast(TensorType, types[0]).element_type != cast(TensorType, types[1]).element_type:
        return None
    alone = [axis.const == 0 and len(axis.names) < 2 for form in (target, source) for axis in form.axes]
    if not all(alone) or sorted(shape) != sorted(shape_of(value)):
        return None
    free = [i for i, axis in enumerate(source.axes) if not axis.names]
    order: list[int] = []
    for axis in target.axes:
        found = source.axis_of(axis.names[0]) if axis.names else (free.pop(0) if free else -1)
        order.append(found)
    if -1 in order or [shape_of(value)[i] for i in order] != list(shape):
        return None
    return value, tuple(order)


def reordered(place: Stored, order: Sequence[int]) -> Stored:
    """A place with its axes in another order."""
    pitches = tuple(place.pitches[i] for i in order)
    return Stored(place.address, pitches, list(order).index(place.lane), place.row_bytes, place.lanes)


def reshaped(name: str, place: Stored, before: Sequence[int], after: Sequence[int]) -> Stored:
    """A place under another shape; `TilewrightError` where rows of lanes do not allow it.

    Row-major elements are digits: axes that lie over lanes count rows of lanes.  Axes are cut or joined where the steps
    between rows permit.
    """
    real = [i for i, n in enumerate(before) if n > 1]
    if before[place.lane] > 1 and real and real[-1] != place.lane:
        raise _refused(name, before, after)
    digits = [(n, place.pitches[i]) for i, n in enumerate(before) if i != place.lane and n > 1]
    lane = max((i for i, n in enumerate(after) if n > 1), default=len(after) - 1)
    width, wide = before[place.lane], after[lane]
    if width == wide:
        blocks = 1
    elif width % place.lanes or wide % place.lanes:
        raise _refused(name, before, after)
    else:
        digits.append((width // place.lanes, place.pitches[place.lane]))
        blocks = wide // place.lanes
    pitches = [0] * len(after)
    pitches[lane] = place.pitches[place.lane] if width == wide else 0
    wanted = [*(i for i, n in enumerate(after) if i != lane and n > 1), *([] if width == wide else [lane])]
    for axis in reversed(wanted):
        pitch = _take(digits, blocks if axis == lane else after[axis])
        if pitch is None:
            raise _refused(name, before, after)
        pitches[axis] = pitch
    return Stored(place.address, tuple(pitches), lane, place.row_bytes, place.lanes)


def _take(digits: list[tuple[int, int]], extent: int) -> int | None:
    """Takes an axis of an extent off the innermost digits; its step."""
    if extent == 1:
        return digits[-1][1] if digits else 0
    pitch, got = 0, 1
    while got < extent:
        if not digits:
            return None
        n, step = digits.pop()
        if n == 1:
            continue
        if pitch and step != pitch * got:
            return None
        pitch = pitch or step
        if got * n > extent:
            rest = extent // got
            if got * rest != extent or n % rest:
                return None
            digits.append((n // rest, step * rest))
            n = rest
        got *= n
    return pitch if got == extent else None


def _refused(name: str, before: Sequence[int], after: Sequence[int]) -> TilewrightError:
    lever = "make the channels a whole number of rows, or leave the reshape to a machine without this limit"
    return TilewrightError(
        "unsupported", name, "a reshape that keeps rows of lanes whole", f"{before} to {after}", lever
    )
