import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.algebra.byte_regions import BLOCK, Region, make_region, regions_meet


def exact(itemsize: int, dims: list[tuple[int, int]]) -> set[int]:
    starts = (
        sum(i * s for i, (_, s) in zip(row, dims, strict=True))
        for row in itertools.product(*(range(n) for n, _ in dims))
    )
    return {start + byte for start in starts for byte in range(itemsize)}


def spelled(region: Region, address: int) -> set[int]:
    blocks = region.blocks(address + region.low)
    base = (address + region.low) // BLOCK
    return {
        (int(number) + base) * BLOCK + bit - address
        for number, mask in zip(blocks.numbers(), blocks.all_masks(), strict=True)
        for bit in range(64)
        if int(mask) >> bit & 1
    }


steps = st.lists(st.tuples(st.integers(1, 5), st.integers(-100, 100)), max_size=4)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([1, 2, 4]), steps, st.integers(0, 200))
def test_blocks_are_exact(itemsize: int, dims: list[tuple[int, int]], address: int):
    region = make_region(itemsize, dims)
    expected = exact(itemsize, dims)
    assert spelled(region, 1000 + address) == expected
    assert region.byte_count() == len(expected)
    assert (region.low, region.high) == (min(expected), max(expected) + 1)


@settings(max_examples=200, deadline=None)
@given(steps, steps, st.integers(-150, 150))
def test_meeting_is_exact(a: list[tuple[int, int]], b: list[tuple[int, int]], distance: int):
    found = regions_meet(make_region(4, a), 1000, make_region(4, b), 1000 + distance)
    common = exact(4, a) & {byte + distance for byte in exact(4, b)}
    assert found == (min(common) + 1000 if common else None)


def test_dense_blocks_are_one_row():
    assert make_region(4, [(8, 4), (3, 32), (5, 96)]) == Region(0, 480, ())
    assert make_region(1, [(8, 1), (3, -8)]) == Region(-16, 24, ())


def test_sliding_windows_collapse():
    """Rows p + r of a window: 6 + 3 - 1 rows."""
    region = make_region(4, [(6, 64), (3, 64), (2, 4)])
    assert (region.run, region.outer) == (8, ((8, 64),))


def test_full_blocks_need_no_masks():
    blocks = make_region(1, [(256, 1)]).blocks(0)
    assert blocks.masks is None
    assert blocks.index == slice(0, 4)
    assert np.array_equal(make_region(1, [(64, 1), (3, 128)]).blocks(64).numbers(), [0, 2, 4])
