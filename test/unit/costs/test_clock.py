"""Clocks that stand still while code is compiled."""

from __future__ import annotations

import logging
from time import perf_counter, process_time

import pytest
from numba.core import event

from tilewright.costs import clock
from tilewright.costs.clock import processor_seconds, wall_seconds

SPENT_S = 0.05
LOCK, COMPILE = "numba:compiler_lock", "numba:compile"


def work() -> None:
    end, wall_end = process_time() + SPENT_S, perf_counter() + SPENT_S
    while process_time() < end or perf_counter() < wall_end:
        pass


def test_work_counts():
    processor, wall = processor_seconds(), wall_seconds()
    work()
    assert processor_seconds() - processor >= 0.99 * SPENT_S
    assert wall_seconds() - wall >= 0.99 * SPENT_S


def test_compiling_does_not_count_and_functions_inside_are_left_out_once():
    processor, wall, all_of_it = processor_seconds(), wall_seconds(), process_time()
    with event.trigger_event(LOCK):
        work()
        with event.trigger_event(LOCK):
            work()
        work()
    assert process_time() - all_of_it >= 2.99 * SPENT_S
    assert 0 <= processor_seconds() - processor < SPENT_S
    assert 0 <= wall_seconds() - wall < SPENT_S
    work()
    assert processor_seconds() - processor >= 0.99 * SPENT_S


def test_long_compiling_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr(clock, "LONG_S", 0.0)
    monkeypatch.setattr(clock._told, "said", False)  # pyright: ignore[reportPrivateUsage]
    caplog.set_level(logging.INFO, "tilewright")
    for _ in range(3):
        with event.trigger_event(LOCK), event.trigger_event(COMPILE):
            work()
    assert [record.message for record in caplog.records] == ["compiling the searches: once, a minute or two"]
