"""Waits against all pairs of conflicting accesses."""

import random

import pytest

from tilewright.passes.codelet_to_queues.order import BLOCK_BYTES, Order, Span


def blocks(spans: list[Span]) -> set[tuple[int, int]]:
    """Memories and blocks of all bytes that are touched, byte by byte."""
    return {
        (span.memory, (byte + number * span.stride) // BLOCK_BYTES)
        for span in spans
        for number in range(span.intervals)
        for byte in range(span.low, span.high)
    }


def random_spans(rng: random.Random, most: int) -> list[Span]:
    spans: list[Span] = []
    for _ in range(rng.randint(0, most)):
        memory, low, size = rng.randrange(2), rng.randrange(0, 600), rng.randint(1, 150)
        intervals = rng.choice((1, 1, rng.randint(2, 6)))
        stride = size + rng.randint(1, 200) if intervals > 1 else 0
        spans.append(Span(memory, low, low + size, intervals, stride))
    return spans


@pytest.mark.parametrize("seed", range(20))
def test_conflicting_accesses_are_ordered(seed: int):
    rng = random.Random(seed)
    order = Order(3, 2)
    history: list[tuple[int, int, list[Span], list[Span]]] = []
    before: list[set[int]] = []  # instructions that are done when instruction i starts
    last: dict[int, int] = {}
    numbers: dict[tuple[int, int], int] = {}
    for index in range(80):
        unit, reads, writes = rng.randrange(3), random_spans(rng, 2), random_spans(rng, 1)
        waits = order.issue(unit, reads, writes)
        assert all(other != unit for other, _ in waits)
        done: set[int] = set()
        for previous in [*([last[unit]] if unit in last else []), *(numbers[wait] for wait in waits)]:
            done |= before[previous] | {previous}
        for other, (_, _, old_reads, old_writes) in enumerate(history):
            clash = blocks(writes) & (blocks(old_reads) | blocks(old_writes)) or blocks(reads) & blocks(old_writes)
            assert not clash or other in done
        before.append(done)
        last[unit] = index
        numbers[unit, order.issued[unit]] = index
        history.append((unit, index, reads, writes))


def test_waits_that_follow_from_others_are_left_out():
    order = Order(3, 1)
    assert order.issue(0, [], [Span(0, 0, 64)]) == []
    assert order.issue(1, [Span(0, 0, 64)], [Span(0, 64, 128)]) == [(0, 1)]
    assert order.issue(2, [Span(0, 0, 64), Span(0, 64, 128)], []) == [(1, 1)]
    assert order.issue(2, [Span(0, 0, 64)], []) == []


def test_readers_are_waited_for_before_their_bytes_are_overwritten():
    order = Order(3, 1)
    order.issue(0, [], [Span(0, 0, 64)])
    order.issue(1, [Span(0, 0, 64)], [])
    order.issue(2, [Span(0, 0, 64)], [])
    assert order.issue(0, [], [Span(0, 10, 20)]) == [(1, 1), (2, 1)]


def test_accesses_between_each_others_intervals_wait_for_nothing():
    order = Order(2, 1)
    assert order.issue(0, [], [Span(0, 0, 64, 3, 192)]) == []
    assert order.issue(1, [], [Span(0, 64, 128, 3, 192)]) == []
    assert order.issue(1, [Span(0, 128, 192, 2, 192)], []) == []
    assert order.issue(1, [Span(0, 400, 410)], []) == [(0, 1)]  # the last interval
