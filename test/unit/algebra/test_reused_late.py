"""Bytes that are taken again late: still never two live buffers in one byte, and no more waits than before."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.algebra.allocation import REACH, LiveRange, allocate, reused_late

LIVES = st.builds(lambda start, length, size: LiveRange(start, start + length, size), *3 * [st.integers(1, 8)])
RANGES = st.lists(LIVES, min_size=1, max_size=12)


def share_bytes(a: LiveRange, b: LiveRange, at: int, to: int) -> bool:
    return at < to + b.size_bytes and to < at + a.size_bytes


def waits(ranges: list[LiveRange], addresses: tuple[int, ...]) -> float:
    """What the search minimises; infinite where two live buffers share a byte."""
    total = 0.0
    for i, (a, at) in enumerate(zip(ranges, addresses, strict=True)):
        for b, to in zip(ranges[:i], addresses[:i], strict=True):
            apart = max(a.start - b.end, b.start - a.end)
            if share_bytes(a, b, at, to) and apart < REACH:
                total += float("inf") if apart < 0 else (1 - apart / REACH) ** 2
    return total


@given(RANGES, st.integers(0, 16))
def test_valid_and_no_worse(ranges: list[LiveRange], room: int) -> None:
    found = allocate(ranges, 1 << 20, 1)
    limit = found.top_bytes + room
    moved = reused_late(ranges, found.addresses, limit, 1)
    assert all(0 <= at and at + item.size_bytes <= limit for item, at in zip(ranges, moved, strict=True))
    assert waits(ranges, moved) <= waits(ranges, found.addresses) + 1e-9 < float("inf")


@pytest.mark.parametrize(("lives", "places"), [(2, 2), (4, 2), (5, 2), (3, 3), (5, 3), (6, 3)])
def test_near_the_best_addresses(lives: int, places: int) -> None:
    """Lives in turn in a few places of equal size: half as much again as the best of all ways to give them, at most."""
    ranges = [LiveRange(n, n + 1, 4) for n in range(lives)]
    least = min(waits(ranges, at) for at in product(range(0, 4 * places, 4), repeat=lives))
    assert least <= waits(ranges, reused_late(ranges, (0,) * lives, 4 * places, 4)) <= 1.5 * least


def test_bytes_of_one_lie_in_its_alignment() -> None:
    ranges = [LiveRange(0, 1, 5), LiveRange(1, 2, 5), LiveRange(0, 2, 3)]
    moved = reused_late(ranges, allocate(ranges, 1 << 20, 8).addresses, 24, 8)
    assert all(at % 8 == 0 for at in moved)
    assert len(set(moved)) == 3
