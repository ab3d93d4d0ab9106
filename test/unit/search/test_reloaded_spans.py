"""Spans whose weights are loaded for each sample: what leaves them, and which are cheap."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tilewright.search.network import Layer, Network, Rows
from tilewright.search.reloaded_spans import kept_cuts, reloaded_spans
from tilewright.search.residency import Search, plan
from tilewright.search.steps import Span

LAYERS = tuple(Layer((n,), (n + 1,), weight_bytes=100 if n < 4 else 500, by_sample=True) for n in range(6))
SIZES = (400, 1600, 800, 1600, 400, 400, 400)
NETWORK = Network(LAYERS, SIZES, frozenset({0}), frozenset({6}), capacity_bytes=2000, samples=4)
"""Four samples; the third layer's map grows again."""


def no_rows(start: int, stop: int) -> Sequence[Rows]:
    return ()


def test_what_leaves_a_span_is_stored_where_it_has_no_room_beside_one_sample():
    """One sample of the third map, the weights of a layer and all of the fourth map take 900 bytes."""
    kept, stored = (
        plan(replace(NETWORK, capacity_bytes=size), no_rows, spans=[Span(0, 4, reload=True)]) for size in (1400, 900)
    )
    assert kept.spans == stored.spans == (Span(0, 4, reload=True),)
    assert kept.kept == {1, 2, 3, 4, 5, 6}
    assert stored.kept & {1, 2, 3, 4} == {1, 2, 3}
    assert not plan(replace(NETWORK, capacity_bytes=500), no_rows, spans=[Span(0, 4, reload=True)]).spans


@pytest.mark.parametrize(
    ("capacity_bytes", "weight_bytes", "is_kept", "is_later", "moves"),
    [(2300, 100, True, False, 0), (1100, 100, True, True, 2), (1100, 700, False, False, 3)],
)
def test_what_is_stored_stays_from_the_first_layer_after_the_span_that_reads_it(
    capacity_bytes: int, weight_bytes: int, is_kept: bool, is_later: bool, moves: int
):
    """All samples of map 4 have no room beside one of those before.

    Beside 700 bytes of weights between its readers they have none, either: then the map moves three times.
    """
    layers = (*LAYERS[:4], Layer((4,), (5,)), Layer((5,), (6,), weight_bytes), Layer((4, 6), (7,)))
    sizes = (400, 1600, 1600, 800, 400, 100, 100, 100)
    network = replace(NETWORK, layers=layers, map_bytes=sizes, results=frozenset({7}), capacity_bytes=capacity_bytes)
    search = Search(network, no_rows, 0.5, (Span(0, 4, reload=True),))
    found = search.run()
    assert found is not None
    assert (4 in found.kept, 4 in found.later) == (is_kept, is_later)
    assert search.price == sizes[0] / network.samples + moves * sizes[4]


def test_spans_are_cheap_that_little_leaves_and_of_few_weights():
    assert [sum(SIZES[n] for n in NETWORK.leaving(span)) for span in (1, 2, 3, 4, 5)] == [1600, 800, 1600, 400, 400]
    assert reloaded_spans(replace(NETWORK, capacity_bytes=4000), no_rows) == [range(2), range(4)]  # no map is stored
    assert reloaded_spans(replace(NETWORK, capacity_bytes=1400), no_rows) == [range(4), range(2)]


def test_a_span_begins_after_maps_of_which_one_sample_has_no_room():
    """The first maps, of 1,600 bytes, run in rows; from the second border on one sample of each map has room."""

    def in_rows(start: int, stop: int) -> Sequence[Rows]:
        return (Rows(1, {n: 10 for n in range(start, stop + 1)}),)

    layers = tuple(replace(layer, by_rows=n < 2, piece_bytes=(200,)) for n, layer in enumerate(LAYERS))
    network = replace(NETWORK, layers=layers, map_bytes=(1600, 4000, 800, 1600, 400, 400, 400), capacity_bytes=1000)
    assert reloaded_spans(network, in_rows) == [range(2, 4)]
    found = plan(network, in_rows, spans=[Span(2, 4, reload=True)])
    assert found.spans == (Span(2, 4, reload=True),)
    assert [(step.start, step.stop, step.rows) for step in found.steps[:3]] == [(0, 2, 1), (2, 3, 0), (3, 4, 0)]
    assert 2 not in found.kept  # all samples of it have no room beside one of what is made of it


def test_spans_begin_after_layers_that_need_all_samples():
    layers = tuple(replace(layer, by_sample=n != 1) for n, layer in enumerate(LAYERS))
    network = replace(NETWORK, layers=layers, capacity_bytes=4000)
    assert reloaded_spans(network, no_rows) == [range(2, 4)]
    assert Search(network, no_rows, 0.5, (Span(0, 4, reload=True),)).run() is None


def test_kept_spans_follow_each_other_as_long_as_their_weights_are_few():
    """Two of the first four layers have 200 bytes of weights, those after them 1,000."""
    network = replace(NETWORK, capacity_bytes=4000)
    assert kept_cuts(network, no_rows, 200) == (0, 2, 4)
    assert kept_cuts(network, no_rows, 400) == kept_cuts(network, no_rows, 100) == ()  # one span, or none
    assert kept_cuts(network, no_rows, 100, 200) == (0, 2, 4)  # the shortest take more
    assert kept_cuts(network, no_rows, 100, 199) == ()
    spans = Span(0, 2), Span(2, 4)
    found = plan(network, no_rows, spans=spans)
    assert found.spans == spans
    assert 2 in found.kept  # all samples of the map between them
