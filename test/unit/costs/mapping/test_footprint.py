"""Intervals, boxes and their sums against enumeration."""

import itertools
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.algebra.affine import Affine, make_affine, step_of
from tilewright.costs.mapping.footprint import Interval, buffer_box, split, sweep_elements


def form(const: int, **terms: int) -> Affine:
    return make_affine(const, terms)


def test_a_strided_access_keeps_what_it_touches():
    tile = {"p": 4, "r": 1}
    assert step_of([form(0, p=2, r=1)], tile) == 2
    assert buffer_box([[form(-1, p=2, r=1)]], {"p": (4, 8), "r": (0, 1)}, tile) == (Interval(7, 2, 4),)


def test_a_window_keeps_its_hull():
    tile = {"p": 4, "r": 3}
    (box,) = buffer_box([[form(-1, p=2, r=1)]], {"p": (0, 4), "r": (0, 3)}, tile)
    assert box == Interval(-1, 1, 9)
    assert box.clip(7) == Interval(0, 1, 7)


def test_several_forms_keep_the_hull_of_all():
    ranges = {"c": (0, 8), "e": (0, 12)}
    assert buffer_box([[form(0, c=1)], [form(-2, e=1)]], ranges, {"c": 8, "e": 12}) == (Interval(-2, 1, 12),)


def test_a_reversed_access():
    assert buffer_box([[form(9, p=-3)]], {"p": (1, 3)}, {"p": 2}) == (Interval(3, 3, 2),)


@given(st.integers(-9, 9), st.integers(1, 4), st.integers(0, 9), st.integers(1, 12))
def test_clip_keeps_the_indices_inside(start: int, step: int, count: int, size: int):
    interval = Interval(start, step, count)
    inside = [start + i * step for i in range(count) if 0 <= start + i * step < size]
    clipped = interval.clip(size)
    assert [clipped.start + i * clipped.step for i in range(clipped.count)] == inside


def test_split_cuts_each_tile():
    starts, sizes = split((np.array([0, 7]), np.array([7, 3])), 3)
    assert starts.tolist() == [0, 3, 6, 7]
    assert sizes.tolist() == [3, 3, 1, 3]


coefficient = st.integers(-3, 3)


@given(
    st.lists(st.tuples(st.integers(-3, 3), coefficient, coefficient, coefficient), min_size=1, max_size=3),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.lists(st.integers(1, 9), min_size=3, max_size=3),
)
def test_sums_over_tiles_are_exact(
    rows: list[tuple[int, int, int, int]], extents: tuple[int, ...], steps: tuple[int, ...], shape: list[int]
):
    names = ("a", "b", "c")
    forms = [form(const, a=x, b=y, c=z) for const, x, y, z in rows]
    cut = [name for name, step, extent in zip(names, steps, extents, strict=True) if step < extent]
    tile = {name: min(step, extent) for name, step, extent in zip(names, steps, extents, strict=True)}
    whole = {name: (np.zeros(1, np.int64), np.array([extent])) for name, extent in zip(names, extents, strict=True)}
    tiles = {name: split(whole[name], tile[name]) for name in cut}
    pieces = [[(int(s), int(s + n)) for s, n in zip(*(tiles.get(name) or whole[name]), strict=True)] for name in names]
    expected = 0
    for choice in itertools.product(*pieces):
        box = buffer_box([forms], dict(zip(names, choice, strict=True)), tile)
        expected += prod(interval.clip(extent).count for interval, extent in zip(box, shape, strict=False))
    assert sweep_elements([forms], shape, tiles, tile) == expected
