"""Pieces of boxes against the bytes of the box, one by one."""

import random
from collections.abc import Sequence
from itertools import product

import pytest

from tilewright.errors import TilewrightError
from tilewright.passes.codelet_to_queues import boxes
from tilewright.passes.codelet_to_queues.boxes import MOST_INTERVALS, BoxAxis, Reach, Slot, cut, merge_axes, reach_of

FREE = (-(1 << 20), (1 << 20) - 1)
SLOTS = [Slot("c", 3, (FREE, FREE)), Slot("b", 100, (FREE, FREE)), Slot("a", 7, ((1, 1), (1, 1)))]


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


def test_elements_reach_both_ways():
    assert reach_of([(3, -8), (2, 1)], 1) == Reach(-16, -14, 3, 8)
    assert reach_of([(3, -8), (2, 3), (2, 1)], 1) == Reach(-16, -14, 2, 3, 3, 8)
    assert reach_of([(3, -8), (2, 7), (2, 1)], 1) == Reach(-16, 9)


def bytes_of(reach: Reach) -> set[int]:
    places = product(range(reach.groups), range(reach.count), range(reach.low, reach.high))
    return {byte + i * reach.stride + group * reach.pitch for group, i, byte in places}


def touched(steps: Sequence[tuple[int, int]], element_bytes: int) -> set[int]:
    """Bytes of all elements, one by one; each step is a count and a stride."""
    starts = (sum(i * s for i, (_, s) in zip(at, steps, strict=True)) for at in product(*(range(n) for n, _ in steps)))
    return {start + byte for start in starts for byte in range(element_bytes)}


@pytest.mark.parametrize("seed", range(300))
def test_a_reach_has_all_bytes_that_are_touched_between_the_first_and_the_last(seed: int):
    rng = random.Random(seed)
    size = rng.choice((1, 2, 4, 8))
    steps = [(rng.randint(1, 6), rng.choice((-1, 1, 1)) * size * rng.randint(0, 40)) for _ in range(rng.randint(0, 3))]
    reach, own = reach_of(steps, size), touched(steps, size)
    assert own <= bytes_of(reach)
    assert (min(own), max(own)) == (min(bytes_of(reach)), max(bytes_of(reach)))
    if reach.count > 1:
        assert reach.stride > reach.high - reach.low
        for interval in range(reach.count):
            assert {reach.low + interval * reach.stride, reach.high - 1 + interval * reach.stride} <= own
    rng.shuffle(steps)
    assert reach_of(steps, size) == reach


@pytest.mark.parametrize("seed", range(60))
def test_the_reach_of_some_rows_of_all_channels_is_exact(seed: int):
    rng = random.Random(seed)
    size, channels, rows, columns = rng.choice((1, 2, 4)), rng.randint(2, 6), rng.randint(2, 9), rng.randint(1, 9)
    samples, tile = rng.randint(1, 3), rng.randint(1, rows - 1)
    signs = [rng.choice((-1, 1)) for _ in range(4)]
    row, channel = columns * size, rows * columns * size
    steps = [(samples, channels * channel), (channels, channel), (tile, row), (columns, size)]
    steps = [(count, sign * stride) for (count, stride), sign in zip(steps, signs, strict=True)]
    reach = reach_of(steps, size)
    assert bytes_of(reach) == touched(steps, size)
    assert (reach.count, reach.high - reach.low) == (samples * channels, tile * row)


def test_rows_without_their_last_column_reach_no_other_rows_of_a_channel():
    """As a convolution of stride 2 reads an even number of columns: 40 channels of 8 rows, two rows of 7 elements."""
    assert reach_of([(40, 64), (2, 8), (7, 1)], 1) == Reach(0, 15, 40, 64)
    assert reach_of([(3, 64), (2, 16), (2, 8), (4, 2)], 1) == Reach(0, 1, 16, 2, 3, 64)


@pytest.mark.parametrize("seed", range(60))
def test_the_reach_of_rows_of_channels_with_others_between_is_exact(seed: int):
    """As windows are copied to channels: those of one row of taps, which lie between those of other rows of taps."""
    rng = random.Random(seed)
    size, taps, channels, rows, columns = rng.choice((1, 2, 4)), 3, rng.randint(2, 4), rng.randint(2, 9), 5
    tile, row = rng.randint(1, rows - 1), columns * size
    channel = rows * row
    steps = [(channels, taps * taps * channel), (taps, channel), (tile, row), (columns, size)]
    reach = reach_of(steps, size)
    assert bytes_of(reach) == touched(steps, size)
    assert (reach.count, reach.groups, reach.high - reach.low) == (taps, channels, tile * row)


def test_an_access_of_too_many_intervals_is_taken_as_a_whole():
    assert reach_of([(MOST_INTERVALS, 8)], 4) == Reach(0, 4, MOST_INTERVALS, 8)
    assert reach_of([(MOST_INTERVALS + 1, 8)], 4) == Reach(0, 8 * MOST_INTERVALS + 4)
