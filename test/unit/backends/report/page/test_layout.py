"""Boxes of a graph stand apart, below what they read."""

from itertools import combinations

import pytest

from tilewright.backends.report.page.summary import layout_of

CHAIN = 4, [(0, 1), (1, 2), (2, 3)]
DIAMOND = 4, [(0, 1), (0, 2), (1, 3), (2, 3)]
SHORTCUT = 5, [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)]
LATE_INPUT = 4, [(0, 2), (2, 3), (1, 3)]
WIDE = 9, [(0, k) for k in range(1, 8)] + [(k, 8) for k in range(1, 8)]


@pytest.mark.parametrize(("count", "edges"), [CHAIN, DIAMOND, SHORTCUT, LATE_INPUT, WIDE])
def test_boxes_stand_apart_and_below_what_they_read(count: int, edges: list[tuple[int, int]]):
    layout = layout_of(count, edges)
    for one, other in combinations(layout.places, 2):
        assert one[1] != other[1] or abs(one[0] - other[0]) >= 0.999
    for (source, target), path in zip(edges, layout.edges, strict=True):
        assert path[0] == layout.places[source]
        assert path[-1] == layout.places[target]
        assert [y for _, y in path] == list(range(path[0][1], path[-1][1] + 1))


def test_a_chain_is_straight_and_a_diamond_symmetric():
    assert {x for x, _ in layout_of(*CHAIN).places} == {0.0}
    top, left, right, bottom = layout_of(*DIAMOND).places
    assert top[0] == bottom[0] == (left[0] + right[0]) / 2


def test_an_edge_past_a_box_does_not_touch_it():
    layout = layout_of(*SHORTCUT)
    passed = layout.edges[3][1:-1]
    assert all(abs(x - layout.places[number][0]) >= 0.6 for (x, _), number in zip(passed, (1, 2), strict=True))


def test_what_nothing_comes_before_stands_above_its_reader():
    assert layout_of(*LATE_INPUT).places[1][1] == 1


def test_nothing():
    assert layout_of(0, []).places == ()
