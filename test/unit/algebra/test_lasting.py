"""Lives that end later where there is room: bytes in use stay below the limit, and who ended last keeps its bytes."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.algebra.allocation import LiveRange, lasting


def in_use(ranges: list[LiveRange], moment: int) -> int:
    return sum(item.size_bytes for item in ranges if item.start <= moment < item.end)


@pytest.mark.parametrize("seed", range(30))
def test_no_more_bytes_are_in_use_than_allowed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranges = [
        LiveRange(start, start + int(rng.integers(1, 4)), 64 * int(rng.integers(1, 5)))
        for start in map(int, rng.integers(0, 20, 12))
    ]
    moments = range(max(item.end for item in ranges))
    limit = max(in_use(ranges, moment) for moment in moments) + 64 * int(rng.integers(0, 6))
    found = lasting(ranges, limit, 64)
    assert all(in_use(found, moment) <= limit for moment in moments)
    for item, later in zip(ranges, found, strict=True):
        assert later.end >= item.end
        assert (later.start, later.size_bytes) == (item.start, item.size_bytes)
        if item.end < later.end < moments.stop:  # it went for one that begins there
            assert in_use(found, later.end) + item.size_bytes > limit - 256


def test_what_ended_first_goes_first() -> None:
    ranges = [LiveRange(0, 1, 64), LiveRange(0, 2, 64), LiveRange(3, 4, 64)]
    assert [item.end for item in lasting(ranges, 128, 64)] == [3, 4, 4]
    assert [item.end for item in lasting(ranges, 192, 64)] == [4, 4, 4]
    assert [item.end for item in lasting(ranges, 64, 64)] == [3, 3, 4]
