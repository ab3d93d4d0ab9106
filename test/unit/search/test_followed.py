"""Plans by the groups of a schedule, where there is room for them and where there is not."""

from collections.abc import Sequence

from tilewright.search.followed import Group, follow
from tilewright.search.network import Layer, Network, Rows
from tilewright.search.steps import OFFCHIP, Step

SIZE = 64


def chain(count: int, capacity: int, *extra_reads: tuple[int, int]) -> Network:
    """Layers that each read the map of the one before, map 0 first; `extra_reads` are layers and maps."""
    reads = [(n, *(value for layer, value in extra_reads if layer == n)) for n in range(count)]
    layers = tuple(Layer(reads[n], (n + 1,), by_rows=True) for n in range(count))
    return Network(layers, (SIZE,) * (count + 1), frozenset({0}), frozenset({count}), capacity)


def rows_of(start: int, stop: int) -> Sequence[Rows]:
    """Rings of four rows and of one, of all maps that the layers touch."""
    return [Rows(rows, dict.fromkeys(range(start, stop + 1), SIZE * rows // 8)) for rows in (4, 1)]


def test_groups_are_followed_and_maps_within_a_layer_group_stay():
    groups = (Group(0, 2, 0, True), Group(2, 3, 0, False), Group(3, 4, 1, False))
    found = follow(chain(4, 1000), groups, rows_of)
    assert found.steps == (Step(0, 2, 4), Step(2, 3, 0), Step(3, 4, 0))
    assert found.kept == {2, 4}  # 1 stays within its group, 3 is stored between the layer groups


def test_a_group_of_one_tile_is_its_layers_one_by_one():
    found = follow(chain(3, 1000), (Group(0, 3, 0, False),), rows_of)
    assert found.steps == (Step(0, 1, 0), Step(1, 2, 0), Step(2, 3, 0))
    assert found.kept == {1, 2, 3}


def test_where_a_group_has_too_little_room_fewer_of_its_layers_run_together():
    five_rings = follow(chain(4, 5 * SIZE // 8 + 6), (Group(0, 4, 0, True),), rows_of)
    assert five_rings.steps == (Step(0, 4, 1),)
    four_rings = follow(chain(4, 4 * SIZE // 8 + 6), (Group(0, 4, 0, True),), rows_of)
    assert [(step.start, step.stop) for step in four_rings.steps] == [(0, 3), (3, 4)]
    assert four_rings.kept == frozenset()
    nothing = follow(chain(2, 1), (Group(0, 2, 0, True),), rows_of)
    assert [step.rows for step in nothing.steps] == [OFFCHIP, OFFCHIP]


def test_a_map_that_a_later_layer_group_reads_too_stays_where_nothing_gives_way():
    groups = (Group(0, 2, 0, False), Group(2, 4, 1, False))
    roomy = follow(chain(4, 4 * SIZE, (3, 1)), groups, rows_of)
    assert 1 in roomy.kept
    tight = follow(chain(4, 3 * SIZE, (3, 1)), groups, rows_of)
    assert 1 not in tight.kept
    assert [step.rows for step in tight.steps] == [0, 0, 0, 4]  # the last has three maps
