"""Cycles and energy of one tile on the core array."""

from math import inf
from typing import NamedTuple

from ..compiled import bare
from .blocks import (
    Block,
    Sharing,
    Split,
    Work,
    block_of,
    bus_suffices,
    ceil_div,
    column_limit,
    compute_cycles,
    macs_of,
    sharing_possible,
)
from .hardware import HOP_PJ, MAC_PJ, CoreArray


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


class _Shared(NamedTuple):
    """Trips of the loops over filters and columns that sharing leaves, and the cores along each."""

    filters: int
    columns: int
    filter_cores: int
    column_cores: int


@bare
def _shared(split: Split, block: Block, sharing: Sharing) -> _Shared:
    filter_cores = split.height * split.width * split.batch
    column_cores = split.filters
    filters, columns = block.filter_trips, block.column_trips
    if sharing.filters:
        filters = ceil_div(filters, min(filters, filter_cores))
    if sharing.columns:
        columns = ceil_div(columns, min(columns, column_cores))
    return _Shared(filters, columns, filter_cores, column_cores)


@bare
def _rows_read(work: Work, split: Split, trips: int) -> int:
    return work.height + (work.kernel_height - work.stride_height) * (trips * split.height - 1)


@bare
def _columns_read(work: Work, split: Split, trips: int) -> int:
    return work.width + (work.kernel_width - work.stride_width) * (trips * split.width - 1)


@bare
def _activations(work: Work, split: Split, block: Block, sharing: Sharing, left: _Shared) -> tuple[int, int, int, int]:
    """Reads of the global buffer; writes and extra reads of AL1; bytes between cores.

    Rows are counted in output rows, whatever the stride.
    """
    overlap = (work.kernel_width - work.stride_width) * split.width
    rows = 1 if block.column_trips == 1 else block.row_trips
    plane = _rows_read(work, split, rows) * work.channels * work.batch
    fills = plane * _columns_read(work, split, left.columns if sharing.columns else 1)
    rows = 1 if left.columns == 1 else block.row_trips
    buffer = _rows_read(work, split, rows) * _columns_read(work, split, 1) * work.channels * work.batch
    if not (sharing.filters and sharing.columns and not sharing.second):
        buffer *= left.filters
    writes = fills * left.filters * left.column_cores
    if not sharing.columns:
        return buffer, writes, 0, 0
    cores = left.column_cores
    writes += plane * overlap * left.filters * left.columns * (cores - 1)
    hops = writes - buffer
    whole = block.columns * (block.column_trips - block.column_trips % cores) + work.stride_width - work.kernel_width
    last = plane * (work.width - whole * split.width) * left.filters + plane * overlap * left.filters
    return buffer, writes, hops - last * (((cores - 1) * block.column_trips) % cores), hops


@bare
def _weights(
    work: Work, split: Split, block: Block, array: CoreArray, sharing: Sharing, left: _Shared
) -> tuple[int, int, int, int]:
    """Reads of the weights' next level; writes and extra reads of WL1; bytes between cores."""
    filters = work.kernel_height * work.kernel_width * work.channels * work.filters
    inner = left.columns * block.row_trips * block.batch
    reads = filters * (inner if sharing.columns or sharing.second else 1)
    rounds = 1
    if sharing.filters:
        rounds = block.column_trips * block.row_trips * block.batch
    elif sharing.second:
        rounds = inner
    cores = left.filter_cores
    writes = filters * rounds * cores
    if not sharing.filters:
        return reads, writes, 0, 0
    hops = writes - reads
    whole = block.filters_held * array.lanes * split.filters * (block.filter_trips - block.filter_trips % cores)
    last = filters // work.filters * (work.filters - whole) * rounds
    return reads, writes, hops - last * (((cores - 1) * block.filter_trips) % cores), hops


@bare
def count_accesses(work: Work, split: Split, block: Block, array: CoreArray, sharing: Sharing) -> Counts:
    """Accesses of one group of `work`."""
    left = _shared(split, block, sharing)
    filters = work.kernel_height * work.kernel_width * work.channels * work.filters
    results = work.height * work.width * work.filters * work.batch
    macs = filters * work.height * work.width * work.batch
    activations, al1_writes, al1_extra, activation_hops = _activations(work, split, block, sharing, left)
    weights, wl1_writes, wl1_extra, weight_hops = _weights(work, split, block, array, sharing, left)
    sums = macs // work.channels * block.channels * split.channels
    return Counts(
        macs // work.filters * block.filters * split.filters + al1_extra,
        al1_writes,
        filters * block.column_trips * block.row_trips * block.batch * left.filter_cores + wl1_extra,
        wl1_writes,
        weights if sharing.second else 0,
        sums + split.channels * results,
        sums,
        results,
        activations + (filters if sharing.second else weights),
        activation_hops + weight_hops,
    )


@bare
def groups_together(work: Work, array: CoreArray) -> int:
    """Groups that a core works on at a time."""
    if work.groups == 1:
        return 1
    return min(array.vector // work.channels, array.lanes // work.filters, work.groups)


@bare
def _energies(counts: Counts, array: CoreArray) -> tuple[float, float, float]:
    """pJ in the global buffer, in the cores' buffers, and between cores."""
    buffer = counts.buffer_reads * array.buffer_read + counts.results * array.buffer_write
    core = counts.al1_reads * array.al1_read + counts.al1_writes * array.al1_write
    core += counts.wl1_reads * array.wl1_read + counts.wl1_writes * array.wl1_write
    core += counts.ol1_reads * array.ol1_read + counts.ol1_writes * array.ol1_write
    core += counts.results * (array.ol2_read + array.ol2_write)
    return buffer, core, HOP_PJ * counts.hops


@bare
def _candidate(
    work: Work, split: Split, block: Block, array: CoreArray, sharing: Sharing, together: int
) -> tuple[int, float, float, float]:
    """Cycles and energies of one candidate, 0 cycles where it is impossible."""
    if not sharing_possible(block, split, sharing) or not bus_suffices(work, split, block, array, sharing, together):
        return 0, 0.0, 0.0, 0.0
    counts = count_accesses(work, split, block, array, sharing)
    read = max(counts.buffer_reads, counts.second_reads) * together
    cycles = max(compute_cycles(work, block), ceil_div(read, array.read_port))
    buffer, core, hops = _energies(counts, array)
    passes, groups = ceil_div(work.groups, max(1, together)), work.groups
    return cycles * passes, buffer * groups, core * groups, hops * groups


@bare
def best_candidate(
    work: Work, ways: tuple[Split, ...], sharings: tuple[Sharing, ...], array: CoreArray
) -> tuple[int, float, float, float]:
    """Cycles, and pJ in the global buffer, in the cores and between them, of the candidate of least energy x cycles.

    0 cycles where no blocking fits into the cores' buffers.
    """
    together, macs = groups_together(work, array), macs_of(work)
    best = (0, 0.0, 0.0, 0.0)
    least = inf
    for split in ways:
        rows = 0
        for columns in range(column_limit(work, split, array), 0, -1):
            block = block_of(work, split, array, columns)
            if block.rows == rows:
                continue
            rows = block.rows
            for sharing in sharings:
                found = _candidate(work, split, block, array, sharing, together)
                product = (found[1] + found[2] + found[3] + MAC_PJ * macs) * found[0]
                if found[0] > 0 and product < least:
                    least, best = product, found
    return best
