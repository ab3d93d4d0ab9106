"""Costs of single tiles, computed by hand on 4 x 4 cores of 16 x 32 MACs."""

import pytest

from tilewright.costs.soma import blocks, hardware, tile_cost
from tilewright.costs.soma.blocks import SHARINGS, Block, Split, Work, splits
from tilewright.costs.soma.hardware import MAC_PJ, VECTOR_PJ
from tilewright.costs.soma.tile_cost import Counts

from .witness_tiles import INFEASIBLE, entry, mac_cost, vector_cost

block_of, bus_suffices, column_limit = entry(blocks.block_of), entry(blocks.bus_suffices), entry(blocks.column_limit)
compute_cycles, sharing_possible = entry(blocks.compute_cycles), entry(blocks.sharing_possible)
count_accesses = entry(tile_cost.count_accesses)

MACHINE = hardware(8, 1, 4, 256, 512)
ARRAY = MACHINE.array
CHANNELS_BY_FILTERS, *_, ROWS_BY_COLUMNS = splits(4)
POINTWISE = Work(1, 64, 128, 4, 4, 1, 1, 1, 1, 1)
WINDOW = Work(1, 64, 128, 16, 16, 3, 3, 1, 1, 1)
ALONE, FILTERS_SHARED, BOTH_SHARED = SHARINGS[:3]


def test_splits():
    assert splits(4)[:2] == (Split(4, 4, 1, 1, 1), Split(4, 1, 1, 1, 4))
    assert splits(4)[2:] == (Split(1, 4, 1, 1, 4), Split(4, 1, 1, 4, 1), Split(1, 4, 4, 1, 1), Split(1, 1, 4, 4, 1))


def test_block_of_a_pointwise_tile():
    """64 channels are one step of 4 x 16, 128 filters one of 4 x 32; all 16 pixels and all filters stay in."""
    assert column_limit(POINTWISE, CHANNELS_BY_FILTERS, ARRAY) == 4
    block = block_of(POINTWISE, CHANNELS_BY_FILTERS, ARRAY, 4)
    assert block == Block(1, 1, 4, 4, 1, 1, 4, 4, 1, 1, 1)
    assert compute_cycles(POINTWISE, block) == 16


def test_accesses_of_a_pointwise_tile():
    """131072 MACs, 8192 weights, 1024 inputs to 4 columns of cores, 2048 results of 4 parts."""
    block = block_of(POINTWISE, CHANNELS_BY_FILTERS, ARRAY, 4)
    assert count_accesses(POINTWISE, CHANNELS_BY_FILTERS, block, ARRAY, ALONE) == Counts(
        al1_reads=1024 * 4,
        al1_writes=1024 * 4,
        wl1_reads=8192,
        wl1_writes=8192,
        second_reads=0,
        ol1_reads=2048 * 4 + 4 * 2048,
        ol1_writes=2048 * 4,
        results=2048,
        buffer_reads=1024 + 8192,
        hops=0,
    )


def test_cost_of_a_pointwise_tile():
    """9216 bytes at 256 a cycle take longer than 16 cycles of MACs."""
    cost = mac_cost(POINTWISE, MACHINE)
    assert cost.cycles == 36
    assert cost.buffer_pj == pytest.approx(9216 * ARRAY.buffer_read + 2048 * ARRAY.buffer_write, rel=1e-12)
    core = 4096 * (ARRAY.al1_read + ARRAY.al1_write) + 8192 * (ARRAY.wl1_read + ARRAY.wl1_write)
    core += 16384 * ARRAY.ol1_read + 8192 * ARRAY.ol1_write + 2048 * (ARRAY.ol2_read + ARRAY.ol2_write)
    assert cost.core_pj == pytest.approx(core, rel=1e-12)
    assert cost.hop_pj == 0
    assert cost.arithmetic_pj == pytest.approx(131072 * MAC_PJ)
    assert cost.energy_pj == pytest.approx(sum(cost[1:]), rel=1e-12)


def test_window_overlaps_between_cores():
    """3x3 over 16 x 16 split 4 x 4: each core's 4 x 4 part reads 6 x 6, 16 + 3 x 2 of each axis in all."""
    block = block_of(WINDOW, ROWS_BY_COLUMNS, ARRAY, 4)
    assert block == Block(4, 4, 4, 4, 1, 4, 4, 4, 1, 1, 1)
    tile_cost = count_accesses(WINDOW, ROWS_BY_COLUMNS, block, ARRAY, ALONE)
    assert tile_cost.al1_writes == 22 * 22 * 64
    assert tile_cost.buffer_reads == 22 * 22 * 64 + 9 * 64 * 128
    assert tile_cost.wl1_writes == 9 * 64 * 128 * 16


def test_filters_in_trips():
    """512 channels are 32 steps of 16: 2048 bytes of weights a lane hold 7 filters of 9 x 32, so 16 take 3 trips."""
    work = WINDOW._replace(channels=512, filters=512)
    block = block_of(work, ROWS_BY_COLUMNS, ARRAY, 1)
    assert (block.channels, block.filters, block.filters_held, block.filter_trips) == (32, 16, 7, 3)
    assert not sharing_possible(block, ROWS_BY_COLUMNS, ALONE._replace(columns=True))
    assert (block.rows, block.row_trips, block.column_trips) == (4, 1, 4)
    alone = count_accesses(work, ROWS_BY_COLUMNS, block, ARRAY, ALONE)
    assert alone.buffer_reads == 22 * 22 * 512 * 3 + 9 * 512 * 512


def test_shared_filters_are_fetched_once():
    """With rows in two trips and 3 trips of filters over 16 cores, one fetch serves all; the rest travels."""
    work = WINDOW._replace(channels=512, filters=512, height=64)
    block = block_of(work, ROWS_BY_COLUMNS, ARRAY, 1)
    assert (block.row_trips, block.column_trips, block.filter_trips) == (2, 4, 3)
    assert sharing_possible(block, ROWS_BY_COLUMNS, FILTERS_SHARED)
    weights = 9 * 512 * 512
    tile_cost = count_accesses(work, ROWS_BY_COLUMNS, block, ARRAY, FILTERS_SHARED)
    rows = 64 + 2 * (2 * 4 - 1)
    assert tile_cost.buffer_reads == rows * 22 * 512 + weights
    assert tile_cost.wl1_writes == weights * 8 * 16
    assert tile_cost.hops == weights * 8 * 16 - weights
    kept = weights * 8 * ((15 * 3) % 16)
    assert tile_cost.wl1_reads == weights * 8 * 16 + tile_cost.hops - kept


def test_bus_limits_sharing():
    block = block_of(POINTWISE, CHANNELS_BY_FILTERS, ARRAY, 4)
    carried = 64 * 1 * 1 * 4 * 4
    needed = 16 * 32
    assert carried >= needed
    assert bus_suffices(POINTWISE, CHANNELS_BY_FILTERS, block, ARRAY, FILTERS_SHARED, 1)
    assert not bus_suffices(POINTWISE, CHANNELS_BY_FILTERS, block, ARRAY, FILTERS_SHARED, 3)


def test_impossible_sharings():
    block = block_of(POINTWISE, CHANNELS_BY_FILTERS, ARRAY, 4)
    assert [sharing_possible(block, CHANNELS_BY_FILTERS, sharing) for sharing in SHARINGS] == [True] + [False] * 4


def test_groups_too_wide_for_a_core_are_not_limited_by_the_port():
    """12 heads of 64 x 513: 5 steps of filters, 60 cycles, though 399744 bytes pass the port."""
    assert mac_cost(Work(1, 64, 513, 1, 1, 1, 1, 1, 1, 12), MACHINE).cycles == 60


def test_narrow_groups_run_together():
    """Depthwise 3x3: 16 of the 64 groups at a time."""
    work = Work(1, 1, 1, 8, 8, 3, 3, 1, 1, 64)
    single = mac_cost(work._replace(groups=1), MACHINE)
    together = mac_cost(work, MACHINE)
    assert together.cycles % 4 == 0
    assert together.cycles < 64 * single.cycles
    assert together.arithmetic_pj == pytest.approx(64 * single.arithmetic_pj)


def test_window_too_large_for_a_core():
    assert mac_cost(Work(1, 64, 64, 4, 4, 2000, 1, 1, 1, 1), MACHINE) == INFEASIBLE


def test_vector_operations_cause_no_traffic():
    cost = vector_cost(1025, MACHINE)
    assert cost.cycles == 3
    assert cost.energy_pj == pytest.approx(1025 * VECTOR_PJ)
    assert cost.buffer_pj == cost.core_pj == 0
