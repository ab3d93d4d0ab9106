"""Cycles and energy of one tile on the core array, or on the vector unit."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from ..compiled import bare, compiled
from .blocks import (
    SHARINGS,
    Block,
    Sharing,
    Split,
    Work,
    block_of,
    bus_suffices,
    ceil_div,
    column_limit,
    compute_cycles,
    sharing_possible,
    splits,
)
from .counts import Counts, count_accesses
from .hardware import HOP_PJ, MAC_PJ, VECTOR_PJ, CoreArray, Hardware


class TileCost(NamedTuple):
    """Cycles, and energy in pJ by place: global buffer, buffers in the cores, links between cores, arithmetic."""

    cycles: int
    buffer_pj: float
    core_pj: float
    hop_pj: float
    arithmetic_pj: float

    @property
    def energy_pj(self) -> float:
        """All energy but that of DRAM."""
        return self.buffer_pj + self.core_pj + self.hop_pj + self.arithmetic_pj


INFEASIBLE = TileCost(0, inf, inf, inf, inf)
"""A tile that no blocking fits into the cores' buffers."""


def vector_cost(operations: int, machine: Hardware) -> TileCost:
    """Cost of `operations` elementary operations on the vector unit, which is charged for no traffic."""
    return TileCost(-(-operations // machine.array.vector_ops), 0.0, 0.0, 0.0, VECTOR_PJ * operations)


def mac_cost(work: Work, machine: Hardware) -> TileCost:
    """Cost of `work` by the candidate of least energy x cycles; `INFEASIBLE` where there is none."""
    cycles, buffer, core, hops = _best(work, splits(machine.array.side), SHARINGS, machine.array)
    if cycles == 0:
        return INFEASIBLE
    window = work.kernel_height * work.kernel_width
    macs = work.channels * work.filters * window * work.height * work.width * work.batch * work.groups
    return TileCost(cycles, buffer, core, hops, MAC_PJ * macs)


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
    together = groups_together(work, array)
    window = work.kernel_height * work.kernel_width
    macs = work.channels * work.filters * window * work.height * work.width * work.batch * work.groups
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


@compiled
def _best(
    work: Work, ways: tuple[Split, ...], sharings: tuple[Sharing, ...], array: CoreArray
) -> tuple[int, float, float, float]:
    return best_candidate(work, ways, sharings, array)
