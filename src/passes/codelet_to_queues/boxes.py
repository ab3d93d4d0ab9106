"""Strided boxes of bytes: merging their axes, and cutting them into pieces that an instruction's slots can say."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import TilewrightError

MAX_PIECES = 1 << 20


@dataclass(frozen=True)
class BoxAxis:
    """`count` steps; each moves operand `i` by `strides[i]` bytes."""

    count: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Slot:
    """A loop that an instruction offers: at most `limit` steps; per operand the lowest and highest stride in bytes."""

    name: str
    limit: int
    strides: tuple[tuple[int, int], ...]

    def takes(self, axis: BoxAxis) -> bool:
        """Whether the axis' strides can be said."""
        return all(low <= s <= high for s, (low, high) in zip(axis.strides, self.strides, strict=True))

    @property
    def fixed(self) -> bool:
        """Whether all strides are given by the instruction itself."""
        return all(low == high for low, high in self.strides)


@dataclass(frozen=True)
class Piece:
    """A part of a box that one instruction can do: where it begins per operand, and the axis in each used slot."""

    offsets: tuple[int, ...]
    slots: tuple[tuple[str, BoxAxis], ...]


MOST_INTERVALS = 4096
"""An access of more intervals is taken for one that touches all bytes between its first and its last."""


MOST_GROUPED = 64
"""Intervals of an access in several groups at most: of more, the bytes between those of a group count as touched."""


@dataclass(frozen=True)
class Reach:
    """Bytes around an address: from `low` to `high` (exclusive), and `count - 1` more intervals, each `stride` on.

    And `groups - 1` times as many, each `pitch` on.
    """

    low: int
    high: int
    count: int = 1
    stride: int = 0
    groups: int = 1
    pitch: int = 0


def reach_of(steps: Sequence[tuple[int, int]], element_bytes: int) -> Reach:
    """The bytes that elements touch which are at all multiples of strides below counts: `steps` of (count, stride).

    Intervals of one stride, or a few of two.  Where steps have gaps of more sizes those of the longest steps stay, and
    the bytes in smaller gaps count as touched: of a map without its last column, rows of each channel.
    """
    low = sum(min(0, stride * (count - 1)) for count, stride in steps)
    high = sum(max(0, stride * (count - 1)) for count, stride in steps) + element_bytes
    width, levels = element_bytes, list[tuple[int, int]]()
    for stride, count in sorted((abs(stride), count) for count, stride in steps if count > 1 and stride):
        intervals, pitch = levels[-1] if levels else (1, 0)
        if stride <= width and not pitch:
            width += stride * (count - 1)
        elif pitch and stride % pitch == 0 and stride <= pitch * intervals:
            levels[-1] = intervals + stride // pitch * (count - 1), pitch
        elif stride <= width + sum(step * (number - 1) for number, step in levels):
            return Reach(low, high)
        else:
            levels.append((count, stride))
        while len(levels) > 2 or (len(levels) == 2 and levels[0][0] * levels[1][0] > MOST_GROUPED):
            intervals, pitch = levels.pop(0)
            width += pitch * (intervals - 1)
    if not levels or levels[0][0] > MOST_INTERVALS:
        return Reach(low, high)
    return Reach(low, low + width, *levels[0], *(levels[1] if len(levels) > 1 else ()))


def merge_axes(axes: Sequence[BoxAxis]) -> tuple[BoxAxis, ...]:
    """Outermost first; drops axes of one step and joins neighbours that continue each other in all operands."""
    merged: list[BoxAxis] = []
    for axis in axes:
        if axis.count == 1:
            continue
        last = merged[-1] if merged else None
        if last is not None and all(a == b * axis.count for a, b in zip(last.strides, axis.strides, strict=True)):
            merged[-1] = BoxAxis(last.count * axis.count, axis.strides)
        else:
            merged.append(axis)
    return tuple(merged)


def cut(axes: Sequence[BoxAxis], slots: Sequence[Slot], operands: int) -> list[Piece]:
    """Pieces that together are the box; `slots` innermost last.

    Raises `TilewrightError` (kind `unsupported`) where more than `MAX_PIECES` would be needed.
    """
    needed = _count(tuple(axes), slots)
    if needed > MAX_PIECES:
        raise TilewrightError("unsupported", "transfer", f"at most {MAX_PIECES} instructions", str(needed))
    return _cut(tuple(axes), slots, operands)


def _cut(axes: tuple[BoxAxis, ...], slots: Sequence[Slot], operands: int) -> list[Piece]:
    placed, left = _place(axes, slots)
    if left:
        axis = min(left, key=lambda a: a.count)
        each = _cut(_without(axes, axis), slots, operands)
        return [_moved(piece, axis, i) for i in range(axis.count) for piece in each]
    for slot, axis in placed:
        if axis.count > slot.limit:
            starts = range(0, axis.count, slot.limit)
            parts = [BoxAxis(min(slot.limit, axis.count - start), axis.strides) for start in starts]
            pieces = {part: _cut(_replaced(axes, axis, part), slots, operands) for part in dict.fromkeys(parts)}
            return [_moved(piece, axis, i * slot.limit) for i, part in enumerate(parts) for piece in pieces[part]]
    return [Piece((0,) * operands, tuple((slot.name, axis) for slot, axis in placed))]


def _count(axes: tuple[BoxAxis, ...], slots: Sequence[Slot]) -> int:
    """How many pieces `_cut` makes."""
    placed, left = _place(axes, slots)
    if left:
        axis = min(left, key=lambda a: a.count)
        return axis.count * _count(_without(axes, axis), slots)
    for slot, axis in placed:
        if axis.count > slot.limit:
            full, rest = divmod(axis.count, slot.limit)
            ends = [(full, slot.limit), (1, rest)]
            return sum(n * _count(_replaced(axes, axis, BoxAxis(c, axis.strides)), slots) for n, c in ends if c)
    return 1


def _place(axes: tuple[BoxAxis, ...], slots: Sequence[Slot]) -> tuple[list[tuple[Slot, BoxAxis]], list[BoxAxis]]:
    placed: list[tuple[Slot, BoxAxis]] = []
    left = list(axes)
    for slot in sorted(reversed(slots), key=lambda s: not s.fixed):
        axis = next((a for a in reversed(left) if slot.takes(a)), None)
        if axis is not None:
            left = list(_without(left, axis))
            placed.append((slot, axis))
    return placed, left


def _without(axes: Sequence[BoxAxis], axis: BoxAxis) -> tuple[BoxAxis, ...]:
    index = max(i for i, a in enumerate(axes) if a is axis)
    return (*axes[:index], *axes[index + 1 :])


def _replaced(axes: Sequence[BoxAxis], axis: BoxAxis, by: BoxAxis) -> tuple[BoxAxis, ...]:
    return tuple(by if a is axis else a for a in axes)


def _moved(piece: Piece, axis: BoxAxis, steps: int) -> Piece:
    return Piece(tuple(o + steps * s for o, s in zip(piece.offsets, axis.strides, strict=True)), piece.slots)
