"""Closed forms of visits against the tool's procedure, step by step on sets of points."""

import random
from itertools import product
from math import prod

import pytest

from tilewright.costs.timeloop.traffic import visits

Loops = list[tuple[int, tuple[int, ...]]]


def box(extents: tuple[int, ...], corner: tuple[int, ...]) -> frozenset[tuple[int, ...]]:
    return frozenset(product(*(range(c, c + e) for c, e in zip(corner, extents, strict=True))))


def simulate(extents: tuple[int, ...], loops: Loops) -> int:
    """Words moved over all visits; iterations 0 and 1 of each loop, iteration 1 weighted by the rest."""
    loops = [loop for loop in loops if loop[0] > 1]
    before, corner, step = frozenset[tuple[int, ...]](), (0,) * len(extents), None
    total = 0
    for outer_first in product(*(range(2) for _ in loops)):
        indices = outer_first[::-1]
        weight = prod(bound - 1 for (bound, _), i in zip(loops, indices, strict=True) if i)
        here = tuple(sum(i * s[a] for (_, s), i in zip(loops, indices, strict=True)) for a in range(len(extents)))
        now = box(extents, here)
        if not before:
            total += len(now)
        else:
            move = tuple(h - c for h, c in zip(here, corner, strict=True))
            if not any(move):
                continue
            if step is None or step == move:
                total, step = total + weight * len(now - before), move
            else:
                total, step = total + weight * len(now), None
        before, corner = now, here
    return total


def words(extents: tuple[int, ...], loops: Loops) -> int:
    return sum(visit.weight * visit.words for visit in visits(extents, loops, resident=True))


def test_a_window_slides_along_the_innermost_loop():
    # 3 words, then 7 new ones
    assert words((3,), [(8, (1,))]) == 10


def test_a_loop_outside_restarts_the_window():
    # stepping an outer loop that does not index the tensor falls back by one slide, which is a change of step
    assert words((3,), [(4, (1,)), (2, (0,))]) == 2 * (3 + 3)


def test_loops_inside_the_first_moving_one_are_free():
    assert words((4,), [(5, (0,)), (2, (4,)), (3, (0,))]) == 4 * 2 * 3


def test_a_corner_of_a_moved_box_stays():
    # 3x3, moved by (1, 1): 4 of 9 stay
    assert words((3, 3), [(2, (1, 1))]) == 9 + 5


def test_operands_of_macs_move_one_word_per_iteration():
    assert sum(v.weight * v.words for v in visits((1,), [(3, (1,)), (4, (0,))], resident=False)) == 12


@pytest.mark.parametrize("seed", range(40))
def test_closed_form_equals_the_procedure(seed: int):
    rng = random.Random(seed)
    for _ in range(10):
        rank = rng.randint(1, 2)
        extents = tuple(rng.randint(1, 4) for _ in range(rank))
        loops = [
            (rng.randint(1, 4), tuple(rng.choice([0, 0, 1, 2, 3, 6]) for _ in range(rank)))
            for _ in range(rng.randint(0, 5))
        ]
        assert words(extents, loops) == simulate(extents, loops), (extents, loops)
