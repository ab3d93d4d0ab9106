"""The compiled placement of buffers, against gaps found byte by byte."""

import random

import numpy as np
import pytest

from tilewright.algebra.allocation import place


def plain_place(order: list[int], start: list[int], end: list[int], sizes: list[int], lowest: bool) -> list[int]:
    addresses, placed = [0] * len(sizes), list[int]()
    for item in order:
        if not sizes[item]:
            continue
        taken = {
            byte
            for other in placed
            if start[other] < end[item] and start[item] < end[other]
            for byte in range(addresses[other], addresses[other] + sizes[other])
        }
        top = max(taken, default=-1) + 1
        gaps = list[tuple[int, int]]()  # first byte and size of each run of free bytes
        for byte in range(top):
            if byte in taken:
                continue
            if byte and byte - 1 not in taken:
                gaps[-1] = gaps[-1][0], gaps[-1][1] + 1
            else:
                gaps.append((byte, 1))
        fitting = [gap for gap in gaps if gap[1] >= sizes[item]]
        chosen = min(fitting, key=lambda gap: gap[0] if lowest else gap[1], default=(top, 0))
        addresses[item] = chosen[0]
        placed.append(item)
    return addresses


@pytest.mark.parametrize("lowest", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_each_buffer_goes_into_the_lowest_or_the_smallest_gap(seed: int, lowest: bool):
    rng = random.Random(seed)
    count = rng.randint(1, 20)
    start = [rng.randrange(10) for _ in range(count)]
    end = [first + rng.randint(1, 5) for first in start]
    sizes = [rng.choice((0, rng.randint(1, 12))) if rng.random() < 0.2 else rng.randint(1, 12) for _ in range(count)]
    order = rng.sample(range(count), count)
    found = place(np.array(order), np.array(start), np.array(end), np.array(sizes), lowest)
    assert found.tolist() == plain_place(order, start, end, sizes, lowest)
