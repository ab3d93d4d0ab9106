"""Clocks that stand still while code is compiled."""

from __future__ import annotations

import logging
import subprocess
import sys
from time import perf_counter, process_time

import pytest
from numba.core import event

from tilewright.costs import clock, compiled
from tilewright.costs.clock import Limit, Team, processor_seconds

SPENT_S = 0.05
LOCK, COMPILE = "numba:compiler_lock", "numba:compile"


def work() -> None:
    end, wall_end = process_time() + SPENT_S, perf_counter() + SPENT_S
    while process_time() < end or perf_counter() < wall_end:
        pass


def test_work_counts():
    processor = processor_seconds()
    work()
    assert processor_seconds() - processor >= 0.99 * SPENT_S


def test_compiling_does_not_count_and_functions_inside_are_left_out_once():
    processor, all_of_it = processor_seconds(), process_time()
    with event.trigger_event(LOCK):
        work()
        with event.trigger_event(LOCK):
            work()
        work()
    assert process_time() - all_of_it >= 2.99 * SPENT_S
    assert 0 <= processor_seconds() - processor < SPENT_S
    work()
    assert processor_seconds() - processor >= 0.99 * SPENT_S


def test_long_compiling_is_told_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr(compiled, "LONG_S", 0.0)
    monkeypatch.setattr(compiled._told, "said", False)  # pyright: ignore[reportPrivateUsage]
    caplog.set_level(logging.INFO, "tilewright")
    for _ in range(3):
        with event.trigger_event(LOCK), event.trigger_event(COMPILE):
            work()
    assert [record.message for record in caplog.records] == ["compiling the searches: once, a minute or two"]


def test_a_clock_needs_no_compiler():
    code = "import sys, tilewright.search.processes; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_limit_counts_what_all_of_a_team_spend(monkeypatch: pytest.MonkeyPatch):
    spent = [0.0, 0.0]
    monkeypatch.setattr(clock, "team", Team())
    clock.team.join(spent, 0)
    limit = Limit(100.0)
    assert 99 < limit.left_s < 100
    assert not limit.late
    spent[1] = 60.0
    assert 39 < limit.left_s < 40
    assert 19 < limit.part(0.5).left_s < 20
    spent[1] = 100.0
    assert limit.late
    assert not Limit(None).late


def test_a_limit_without_a_team_begins_when_it_is_made():
    work()
    limit = Limit(SPENT_S)
    assert not limit.late
    work()
    assert limit.late
