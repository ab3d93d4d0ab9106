"""Accesses of a tile to each memory of the core array, for one way to cut, block and share it."""

from __future__ import annotations

from typing import NamedTuple

from ..compiled import bare
from .blocks import Block, Sharing, Split, Work, ceil_div
from .hardware import CoreArray


class Counts(NamedTuple):
    """Bytes read and written per memory, over all cores; `hops` is bytes passed between cores."""

    al1_reads: int
    al1_writes: int
    wl1_reads: int
    wl1_writes: int
    second_reads: int
    ol1_reads: int
    ol1_writes: int
    results: int
    buffer_reads: int
    hops: int


class _Loops(NamedTuple):
    """Trips of the loops outside a block; `shared` trips are what sharing leaves."""

    filters: int
    columns: int
    rows: int
    batch: int
    shared_filters: int
    shared_columns: int
    filter_cores: int
    column_cores: int


@bare
def _loops(split: Split, block: Block, sharing: Sharing) -> _Loops:
    filter_cores = split.height * split.width * split.batch
    column_cores = split.filters
    filters, columns = block.filter_trips, block.column_trips
    if sharing.filters:
        filters = ceil_div(filters, min(filters, filter_cores))
    if sharing.columns:
        columns = ceil_div(columns, min(columns, column_cores))
    return _Loops(
        block.filter_trips,
        block.column_trips,
        block.row_trips,
        block.batch,
        filters,
        columns,
        filter_cores,
        column_cores,
    )


@bare
def _rows_read(work: Work, split: Split, trips: int) -> int:
    return work.height + (work.kernel_height - work.stride_height) * (trips * split.height - 1)


@bare
def _columns_read(work: Work, split: Split, trips: int) -> int:
    return work.width + (work.kernel_width - work.stride_width) * (trips * split.width - 1)


@bare
def _activations(work: Work, split: Split, block: Block, sharing: Sharing, loops: _Loops) -> tuple[int, int, int, int]:
    """Reads of the global buffer; writes and extra reads of AL1; bytes between cores.

    Rows are counted in output rows, whatever the stride.
    """
    overlap = (work.kernel_width - work.stride_width) * split.width
    rows = 1 if loops.columns == 1 else loops.rows
    plane = _rows_read(work, split, rows) * work.channels * work.batch
    fills = plane * _columns_read(work, split, loops.shared_columns if sharing.columns else 1)
    rows = 1 if loops.shared_columns == 1 else loops.rows
    buffer = _rows_read(work, split, rows) * _columns_read(work, split, 1) * work.channels * work.batch
    if not (sharing.filters and sharing.columns and not sharing.second):
        buffer *= loops.shared_filters
    writes = fills * loops.shared_filters * loops.column_cores
    if not sharing.columns:
        return buffer, writes, 0, 0
    cores = loops.column_cores
    writes += plane * overlap * loops.shared_filters * loops.shared_columns * (cores - 1)
    hops = writes - buffer
    whole = block.columns * (loops.columns - loops.columns % cores) + work.stride_width - work.kernel_width
    last = plane * (work.width - whole * split.width) * loops.shared_filters + plane * overlap * loops.shared_filters
    return buffer, writes, hops - last * (((cores - 1) * loops.columns) % cores), hops


@bare
def _weights(
    work: Work, split: Split, block: Block, array: CoreArray, sharing: Sharing, loops: _Loops
) -> tuple[int, int, int, int]:
    """Reads of the weights' next level; writes and extra reads of WL1; bytes between cores."""
    filters = work.kernel_height * work.kernel_width * work.channels * work.filters
    inner = loops.shared_columns * loops.rows * loops.batch
    reads = filters * (inner if sharing.columns or sharing.second else 1)
    rounds = 1
    if sharing.filters:
        rounds = loops.columns * loops.rows * loops.batch
    elif sharing.second:
        rounds = inner
    cores = loops.filter_cores
    writes = filters * rounds * cores
    if not sharing.filters:
        return reads, writes, 0, 0
    hops = writes - reads
    whole = block.filters_held * array.lanes * split.filters * (loops.filters - loops.filters % cores)
    last = filters // work.filters * (work.filters - whole) * rounds
    return reads, writes, hops - last * (((cores - 1) * loops.filters) % cores), hops


@bare
def count_accesses(work: Work, split: Split, block: Block, array: CoreArray, sharing: Sharing) -> Counts:
    """Accesses of one group of `work`."""
    loops = _loops(split, block, sharing)
    filters = work.kernel_height * work.kernel_width * work.channels * work.filters
    results = work.height * work.width * work.filters * work.batch
    macs = filters * work.height * work.width * work.batch
    activations, al1_writes, al1_extra, activation_hops = _activations(work, split, block, sharing, loops)
    weights, wl1_writes, wl1_extra, weight_hops = _weights(work, split, block, array, sharing, loops)
    sums = macs // work.channels * block.channels * split.channels
    return Counts(
        macs // work.filters * block.filters * split.filters + al1_extra,
        al1_writes,
        filters * loops.columns * loops.rows * loops.batch * loops.filter_cores + wl1_extra,
        wl1_writes,
        weights if sharing.second else 0,
        sums + split.channels * results,
        sums,
        results,
        activations + (filters if sharing.second else weights),
        activation_hops + weight_hops,
    )
