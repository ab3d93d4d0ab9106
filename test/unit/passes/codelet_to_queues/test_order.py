"""Waits, and orders in which units wait less, against all pairs of conflicting accesses."""

import random
from itertools import islice, product

import numpy as np
import pytest

from tilewright.passes.codelet_to_queues import dependences
from tilewright.passes.codelet_to_queues.dependences import Span, Touches
from tilewright.passes.codelet_to_queues.order import Problem, Timed

from .works import Work, problem_of, waits_of

Accesses = tuple[list[Span], list[Span]]


def touched(spans: list[Span]) -> set[tuple[int, int]]:
    """Memories and bytes that are touched."""
    return {
        (span.memory, byte + number * span.stride + group * span.pitch)
        for span in spans
        for group in range(span.groups)
        for number in range(span.intervals)
        for byte in range(span.low, span.high)
    }


def random_spans(rng: random.Random, most: int) -> list[Span]:
    spans: list[Span] = []
    for _ in range(rng.randint(0, most)):
        memory, low, size = rng.randrange(2), rng.randrange(0, 600), rng.randint(1, 150)
        intervals = rng.choice((1, 1, rng.randint(2, 6)))
        stride = size + rng.randint(1, 200) if intervals > 1 else 0
        groups = rng.choice((1, 1, rng.randint(2, 4)))
        pitch = intervals * stride + rng.randint(1, 200) if groups > 1 else 0
        spans.append(Span(memory, low, low + size, intervals, stride, groups, pitch))
    return spans


def problem_with(work: list[Work], accesses: list[Accesses]) -> Problem:
    touches = Touches()
    for reads, writes in accesses:
        touches.add(reads, writes)
    return problem_of(work, touches.dependences(), [0] * (1 + max(item.unit for item in work)))


def test_dependences_are_the_same_by_sorted_ends_and_by_a_table_of_bytes(monkeypatch: pytest.MonkeyPatch):
    rng = random.Random(5)
    for count in (1, 40):
        touches = Touches()
        for _ in range(count):
            touches.add(random_spans(rng, 2), random_spans(rng, 1))
        found: list[list[list[int]]] = []
        for most in (0, 1, 1 << 20):
            monkeypatch.setattr(dependences, "MOST_UNUSED", most)
            found.append([ends.tolist() for ends in touches.dependences()])
        assert found[0] == found[1] == found[2]


def clashes_of(accesses: list[Accesses]) -> list[list[int]]:
    """The others with which each clashes, itself among them where it writes what it reads."""
    bytes_of = [(touched(reads), touched(writes)) for reads, writes in accesses]
    return [
        [
            other
            for other, (old_reads, old_writes) in enumerate(bytes_of)
            if writes & (old_reads | old_writes) or reads & old_writes
        ]
        for reads, writes in bytes_of
    ]


def check(timed: Timed, work: list[Work], clashes: list[list[int]]) -> list[int]:
    """The order, in which whatever clashes is done before, by what is waited for and by the order of units."""
    order, waits = timed.order.tolist(), waits_of(timed)
    done_before: list[set[int]] = [set() for _ in work]
    last: dict[int, int] = {}
    numbers: dict[tuple[int, int], int] = {}
    counts: dict[int, int] = {}
    for place, (number, pairs) in enumerate(zip(order, waits, strict=True)):
        unit = work[number].unit
        assert all(other != unit for other, _ in pairs)
        for previous in [*([last[unit]] if unit in last else []), *(numbers[pair] for pair in pairs)]:
            done_before[number] |= done_before[previous] | {previous}
        for other in clashes[number]:
            assert other >= number or other in done_before[number]
            assert other <= number or other not in order[:place]
        counts[unit] = counts.get(unit, 0) + 1
        last[unit] = numbers[unit, counts[unit]] = number
    return order


@pytest.mark.parametrize("seed", range(20))
def test_conflicting_accesses_are_ordered(seed: int):
    rng = random.Random(seed)
    accesses = [(random_spans(rng, 2), random_spans(rng, 1)) for _ in range(80)]
    work = [Work(unit := rng.randrange(3), f"R{min(unit, 1)}", rng.randint(1, 30)) for _ in accesses]
    problem, clashes = problem_with(work, accesses), clashes_of(accesses)
    program = check(problem.timed(np.arange(len(work))), work, clashes)
    for in_order in (frozenset[int](), frozenset((0, 1))):
        for found in islice(problem.list_schedules(in_order), 2):
            order = check(problem.timed(found), work, clashes)
            assert sorted(order) == program
            for unit in in_order:
                kept = [number for number in order if work[number].unit == unit]
                assert kept == sorted(kept)


def waits(units: list[int], accesses: list[Accesses]) -> list[list[tuple[int, int]]]:
    work = [Work(unit, str(unit), 1) for unit in units]
    return waits_of(problem_with(work, accesses).timed(np.arange(len(units))))


def test_waits_that_follow_from_others_are_left_out():
    first, second = Span(0, 0, 64), Span(0, 64, 128)
    accesses: list[Accesses] = [([], [first]), ([first], [second]), ([first, second], []), ([first], [])]
    assert waits([0, 1, 2, 2], accesses) == [[], [(0, 1)], [(1, 1)], []]


def test_readers_are_waited_for_before_their_bytes_are_overwritten():
    all_, some = Span(0, 0, 64), Span(0, 10, 20)
    accesses: list[Accesses] = [([], [all_]), ([all_], []), ([all_], []), ([], [some])]
    assert waits([0, 1, 2, 0], accesses)[-1] == [(1, 1), (2, 1)]


def test_accesses_between_each_others_intervals_wait_for_nothing():
    accesses: list[Accesses] = [
        ([], [Span(0, 0, 64, 3, 192)]),
        ([], [Span(0, 64, 128, 3, 192)]),
        ([Span(0, 128, 192, 2, 192)], []),
        ([Span(0, 400, 410)], []),  # the last interval
    ]
    assert waits([0, 1, 1, 1], accesses) == [[], [], [], [(0, 1)]]


def test_accesses_between_the_intervals_of_groups_wait_for_nothing():
    accesses: list[Accesses] = [
        ([], [Span(0, 0, 4, 3, 16, 2, 100)]),
        ([Span(0, 4, 8, 3, 16, 2, 100)], []),
        ([Span(0, 48, 100)], []),
        ([Span(0, 133, 134)], []),  # in the last interval of the last group
    ]
    assert waits([0, 1, 1, 1], accesses) == [[], [], [], [(0, 1)]]


def test_what_a_long_chain_depends_on_goes_first():
    """A unit that prepares and ends each tile does the next preparation first: two more units never wait."""
    accesses: list[Accesses] = []
    work: list[Work] = []
    for tile in range(8):
        place = Span(0, 10 * (tile % 2), 10 * (tile % 2) + 10)
        accesses += [([], [place]), ([place], [place]), ([place], [])]
        work += [Work(0, "vector", 2), Work(1, "matrix", 9), Work(0, "vector", 4)]
    order = next(problem_with(work, accesses).list_schedules(frozenset()))
    vector = [number for number in order if work[number].unit == 0]
    assert vector[:4] == [0, 3, 2, 6]


def test_by_tail_a_short_load_goes_before_long_ones():
    """All tiles need four bytes that are loaded in one cycle: they go before the first tile's nine."""
    shared = Span(0, 1000, 1004)
    accesses: list[Accesses] = []
    work: list[Work] = []
    for tile in range(2):
        place = Span(0, 100 * tile, 100 * tile + 90)
        accesses.append(([], [place]))
        work.append(Work(0, "channel", 9))
    accesses.append(([], [shared]))
    work.append(Work(0, "channel", 1))
    for tile in range(2):
        accesses.append(([Span(0, 100 * tile, 100 * tile + 90), shared], []))
        work.append(Work(1, "vector", 8))
    problem = problem_with(work, accesses)
    ends = [
        problem.timed(next(problem.list_schedules(frozenset(), by_tail=by_tail))).end_cycle for by_tail in (False, True)
    ]
    assert ends == [9 + 9 + 1 + 8 + 8, 1 + 9 + 9 + 8]


def test_priorities_that_are_moved_at_random_end_some_programs_sooner():
    gained = 0
    for seed in range(12):
        rng = random.Random(seed)
        accesses = [(random_spans(rng, 2), random_spans(rng, 1)) for _ in range(60)]
        work = [Work(unit := rng.randrange(3), f"R{unit}", rng.randint(1, 90)) for _ in accesses]
        problem = problem_with(work, accesses)
        found = problem.best(frozenset((0,)))
        check(found, work, clashes_of(accesses))
        assert found.order.tolist() == problem.best(frozenset((0,))).order.tolist()
        ways = product((frozenset((0,)), frozenset[int]()), (False, True))
        orders = [islice(problem.list_schedules(units, by_tail=tail), 2) for units, tail in ways]
        least = min(problem.timed(order).end_cycle for listed in orders for order in listed)
        assert found.end_cycle <= least
        gained += found.end_cycle < least
    assert gained
