"""Transfers of a DRAM: the compiled kernel, a controller that goes tick by tick, and closed forms say the same."""

import random
from itertools import pairwise
from math import ceil

import numpy as np
import pytest

from tilewright.costs.dram_timing import Dram
from tilewright.machine.dram import FIELDS, DramTiming, dram_timing, timing_names

from ...bench_scripts import bench
from .dram_by_ticks import ticks_of

streams = bench("dram_timing")
NAMES = timing_names()
WITHIN = 0.03


def row_bytes(timing: DramTiming) -> int:
    """Addresses after which a bank has its next row, on one channel."""
    return timing.columns * timing.groups * timing.banks * timing.bus_bits // 8


def bank_bytes(timing: DramTiming) -> int:
    """Addresses after which the next bank of each group comes."""
    return timing.columns * timing.groups * timing.bus_bits // 8


def unbroken_ticks(timing: DramTiming, bursts: int) -> int:
    """Ticks of so many consecutive reads from the beginning of a row, on one channel, before any refresh.

    Exact where rows are opened ahead in time: the window covers closing and opening one.
    """
    each = ceil(bursts / timing.channels)
    return timing.rcd + (each - 1) * streams.pace(timing) + timing.cl + timing.burst_ticks


def share(timing: DramTiming, bursts: int, ticks: int) -> float:
    return bursts * timing.burst_ticks / timing.channels / ticks


@pytest.mark.parametrize("name", NAMES)
def test_sequential_streams_reach_what_refresh_leaves(name: str):
    timing, bursts = dram_timing(name), 30_000
    end = Dram(timing).serve(np.array([0]), bursts * timing.burst_bytes, False, 0)
    assert share(timing, bursts, end) == pytest.approx(streams.sequential_share(timing), rel=WITHIN)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bursts", [1, 2, 64, 128])
def test_unbroken_streams_take_exactly_their_closed_form(name: str, bursts: int):
    timing = dram_timing(f"{name}:channels=1")
    if bursts * timing.burst_bytes <= bank_bytes(timing):
        end = Dram(timing).serve(np.array([0]), bursts * timing.burst_bytes, False, 0)
        assert end == unbroken_ticks(timing, bursts) if timing.groups == 1 else end - unbroken_ticks(timing, bursts) < 8


@pytest.mark.parametrize("name", NAMES)
def test_strides_of_a_row_take_a_row_cycle_each(name: str):
    timing, bursts = dram_timing(f"{name}:channels=1"), 4_000
    end = Dram(timing).serve(np.arange(bursts) * row_bytes(timing), timing.burst_bytes, False, 0)
    assert share(timing, bursts, end) == pytest.approx(streams.strided_share(timing), rel=WITHIN)


@pytest.mark.parametrize("name", NAMES)
def test_random_reads_one_after_the_other(name: str):
    timing = dram_timing(f"{name}:channels=1")
    places = np.random.default_rng(5).integers(0, timing.capacity_bytes // timing.burst_bytes, 4_000)
    dram, end = Dram(timing), 0
    for place in places:
        end = dram.serve(np.array([place * timing.burst_bytes]), timing.burst_bytes, False, end)
    assert share(timing, len(places), end) == pytest.approx(streams.random_share(timing), rel=WITHIN)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("batch", [1, 4, 16, 64])
def test_reads_and_writes_in_turn(name: str, batch: int):
    timing, times = dram_timing(f"{name}:channels=1"), 400
    dram, end, size = Dram(timing), 0, batch * timing.burst_bytes
    for turn in range(times):
        dram.serve(np.array([turn * size]), size, False, 0)
        end = dram.serve(np.array([bank_bytes(timing) + turn * size]), size, True, 0)
    assert share(timing, 2 * batch * times, end) == pytest.approx(streams.mixed_share(timing, batch), rel=WITHIN)


def addresses(timing: DramTiming, kind: str, rng: random.Random, bursts: int) -> list[tuple[int, bool]]:
    """Burst numbers of a stream, with whether they are written."""
    all_bursts = timing.capacity_bytes // timing.burst_bytes
    if kind == "sequential":
        return [(i, False) for i in range(bursts)]
    if kind == "strided":
        stride = rng.choice([3, 16, 127, 128, 129, 512, 2048])
        return [(i * stride % all_bursts, False) for i in range(bursts)]
    if kind == "random":
        return [(rng.randrange(all_bursts), False) for _ in range(bursts)]
    found: list[tuple[int, bool]] = []
    while len(found) < bursts:
        start, write = rng.randrange(all_bursts // 2), rng.random() < 0.5
        found += [(start + i, write) for i in range(rng.choice([1, 2, 8, 40]))]
    return found[:bursts]


def split(timing: DramTiming, number: int) -> dict[str, int]:
    """The parts of a burst's address, from the least significant bit."""
    parts: dict[str, int] = dict.fromkeys(FIELDS, 0)
    filled = dict(parts)
    for part, bits in reversed(timing.address):
        parts[part] |= (number & ((1 << bits) - 1)) << filled[part]
        filled[part] += bits
        number >>= bits
    return parts


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["sequential", "strided", "random", "mixed"])
def test_a_controller_that_goes_tick_by_tick_agrees(name: str, kind: str):
    rng = random.Random(f"{name} {kind}")
    for trial in range(2):
        timing = dram_timing(f"{name}:channels=1,window={(4, 16)[trial]},refi=3000")
        stream = addresses(timing, kind, rng, 500)
        parts = [split(timing, number) for number, _ in stream]
        bursts = [(p["group"], p["bank"], p["row"], w) for p, (_, w) in zip(parts, stream, strict=True)]
        dram = Dram(timing)
        ends = [dram.serve(np.array([n * timing.burst_bytes]), timing.burst_bytes, w, 0) for n, w in stream]
        assert max(ends) == pytest.approx(ticks_of(timing, bursts), rel=WITHIN), (kind, trial)


def test_addresses_are_split_one_to_one():
    timing = dram_timing("ddr4-2400:rows=4,columns=32,banks=2,groups=2,channels=2")
    bursts = timing.capacity_bytes // timing.burst_bytes
    places = {tuple(split(timing, number).values()) for number in range(bursts)}
    assert len(places) == bursts


def test_rows_that_share_a_burst_move_it_once():
    timing = dram_timing("ddr4-2400")
    dram = Dram(timing)
    dram.serve(np.array([0, 16, 32, 100]), 16, False, 0)
    assert dram.counts.bursts == 2


def test_a_long_rest_has_its_refreshes_behind_it():
    timing = dram_timing("ddr4-2400")
    dram = Dram(timing)
    ends = [dram.serve(np.array([0]), 64, False, tick) - tick for tick in (0, 10_000 * timing.refi + 2_000)]
    assert ends == [timing.rcd + timing.cl + timing.burst_ticks] * 2
    assert dram.counts.refreshed <= 3


def test_bursts_of_a_channel_are_apart_on_its_bus():
    timing = dram_timing("hbm2:channels=1")
    dram = Dram(timing)
    rng = random.Random(3)
    ends = [dram.serve(np.array([rng.randrange(1 << 30) & ~63]), 64, False, 0) for _ in range(300)]
    assert min(later - earlier for earlier, later in pairwise(ends)) >= timing.burst_ticks
