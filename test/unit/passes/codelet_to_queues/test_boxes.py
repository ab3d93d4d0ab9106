"""Pieces of boxes against the bytes of the box, one by one."""

import random
from collections.abc import Sequence
from itertools import product

import pytest

from tilewright.errors import TilewrightError
from tilewright.passes.codelet_to_queues import boxes
from tilewright.passes.codelet_to_queues.boxes import BoxAxis, Slot, cut, merge_axes, span

FREE = (-(1 << 20), (1 << 20) - 1)
SLOTS = [
    Slot("c", 3, (FREE, FREE)),
    Slot("b", 100, (FREE, FREE)),
    Slot("a", 7, ((1, 1), (1, 1))),
]


def elements(axes: Sequence[BoxAxis], offsets: Sequence[int] = (0, 0)) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    for point in product(*(range(axis.count) for axis in axes)):
        moved = [sum(i * axis.strides[o] for i, axis in zip(point, axes, strict=True)) for o in range(len(offsets))]
        found.add(tuple(a + b for a, b in zip(offsets, moved, strict=True)))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_pieces_are_the_box_and_fit_their_slots(seed: int, monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(seed)
    counts = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
    axes = [BoxAxis(rng.choice((1, 2, 4)), (1, 1))]
    inner = [axes[0].count] * 2
    for count in counts:
        axes.insert(0, BoxAxis(count, (inner[0], inner[1])))
        inner = [n * (count + rng.choice((0, 0, 2))) for n in inner]
    merged = merge_axes(axes)
    assert elements(merged) == elements(axes)
    covered: list[tuple[int, ...]] = []
    pieces = cut(merged, SLOTS, 2)
    for piece in pieces:
        for name, axis in piece.slots:
            slot = next(slot for slot in SLOTS if slot.name == name)
            assert axis.count <= slot.limit
            assert slot.takes(axis)
        covered += elements([axis for _, axis in piece.slots], piece.offsets)
    assert len(covered) == len(set(covered))
    assert set(covered) == elements(axes)
    monkeypatch.setattr(boxes, "MAX_PIECES", len(pieces) - 1)
    with pytest.raises(TilewrightError, match=f"found {len(pieces)}"):
        cut(merged, SLOTS, 2)


def test_neighbours_merge_only_where_all_operands_continue():
    axes = [BoxAxis(3, (8, 16)), BoxAxis(2, (4, 4)), BoxAxis(4, (1, 1))]
    assert merge_axes(axes) == (BoxAxis(3, (8, 16)), BoxAxis(8, (1, 1)))


def test_strides_that_no_field_holds_are_unrolled():
    far = BoxAxis(3, (1 << 30, 8))
    pieces = cut((far, BoxAxis(4, (1, 1))), SLOTS, 2)
    assert [piece.offsets for piece in pieces] == [(0, 0), (1 << 30, 8), (2 << 30, 16)]


def test_boxes_of_too_many_pieces_are_refused():
    with pytest.raises(TilewrightError, match="at most"):
        cut((BoxAxis(1 << 21, (1 << 30, 8)), BoxAxis(4, (1, 1))), SLOTS, 2)


def test_spans_reach_both_ways():
    assert span([BoxAxis(3, (4, -8)), BoxAxis(2, (1, 1))], 1) == (-16, 1)
