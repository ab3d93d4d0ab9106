"""Multicast groups, links and hops, by hand."""

from tilewright.costs.timeloop.spatial import Placement


def test_children_with_equal_offsets_form_a_multicast_group():
    # 4 columns share, 2 rows differ
    placement = Placement(((4, (0,)),), ((2, (1,)),), 4, 2, 1)
    assert placement.plain.signatures == ((4, 2),)


def test_two_loops_on_one_axis_mix_group_sizes():
    # p + r over 4 x 3 children: sums 0 to 5 occur 1 2 3 3 2 1 times
    placement = Placement(((4, (1,)),), ((3, (1,)),), 4, 3, 1)
    assert placement.plain.signatures == ((1, 2), (2, 2), (3, 2))


def test_links_feed_all_but_the_last_child():
    placement = Placement(((4, (1,)),), (), 4, 1, 1)
    delivery = placement.linked((1,))
    assert delivery is not None
    assert (delivery.links, delivery.signatures) == (3, ((1, 1),))


def test_links_that_save_no_access_are_not_used():
    # both columns need the same word; only one child has the right neighbour, so the word is read all the same
    placement = Placement(((2, (0,)), (2, (1,))), (), 4, 1, 1)
    assert placement.linked((1,)) is None


def test_no_neighbour_holds_a_distant_word():
    assert Placement(((4, (1,)),), (), 4, 1, 1).linked((2,)) is None


def test_hops_of_a_row_and_of_a_column():
    # middle row of 2 rows is 0.5; row 0: each of 2 columns has a branch of 0.5, the farthest column is 1
    row = Placement(((2, (0,)),), (), 2, 2, 1)
    assert row.hops(row.plain) == 1 + 2 * 0.5
    # both rows of both columns: a branch of 0.5 up and of 0.5 down in each
    square = Placement(((2, (0,)),), ((2, (0,)),), 2, 2, 1)
    assert square.hops(square.plain) == 1 + 2 * 1.0


def test_rows_are_packed_where_columns_stay_unused():
    # 1 used column of 4: the 4 rows of the mapping sit side by side in row 0
    placement = Placement((), ((4, (1,)),), 4, 4, 1)
    assert placement.hops(placement.plain) == (0 + 1 + 2 + 3) + 4 * 1.5


def test_one_child_needs_no_hop():
    placement = Placement((), (), 8, 8, 2)
    assert placement.hops(placement.plain) == 0
