"""Regular streams in closed form: the share of the bus's peak that they reach, and the ticks of an unbroken one."""

from __future__ import annotations

from math import ceil

from ...machine.dram import DramTiming


def refresh_share(timing: DramTiming) -> float:
    """The part of time that is left between refreshes, for a stream whose last burst before one is read.

    A refresh waits until the row that was read last may close, closes it (`rp`), takes `rfc`, and the first burst after
    it waits for its row (`rcd`).  `rtp` of it pass while the bus would rest for the next command anyway.
    """
    lost = max(timing.rtp - timing.ccd_s, 0) + timing.rp + timing.rfc + timing.rcd
    return 1 - lost / timing.refi


def _alternates(timing: DramTiming) -> bool:
    """Whether consecutive bursts of a channel go to groups in turn, and back only after `ccd_l`."""
    parts = [part for part, bits in timing.address if part != "channel" and bits]
    bits = next((bits for part, bits in reversed(timing.address) if part == "group"), 0)
    return parts[-1:] == ["group"] and (timing.ccd_s << bits) >= timing.ccd_l


def _pace(timing: DramTiming) -> int:
    """Ticks between bursts of consecutive addresses in open rows."""
    return timing.ccd_s if _alternates(timing) else timing.ccd_l


def sequential_share(timing: DramTiming) -> float:
    """Share of the peak that consecutive reads reach: rows are opened ahead, only refresh interrupts."""
    return timing.burst_ticks / _pace(timing) * refresh_share(timing)


def strided_share(timing: DramTiming) -> float:
    """Share of the peak that reads of one burst from each row of one bank reach: a row cycle for each."""
    return timing.burst_ticks / max(timing.rc, timing.ras + timing.rp) * refresh_share(timing)


def random_share(timing: DramTiming) -> float:
    """Share of the peak that single reads of random bursts reach where each waits for the one before.

    The row is closed, opened and read; the first read of a bank after a refresh, which closes all, closes none.
    """
    banks = timing.groups * timing.banks
    whole = timing.rp + timing.rcd + timing.cl + timing.burst_ticks
    between = timing.refi - timing.rp - timing.rfc
    reads = between / whole
    for _ in range(8):  # how many reads there are between refreshes depends on what they take
        closed = banks * (1 - (1 - 1 / banks) ** reads)
        reads = between / (whole - timing.rp * closed / reads)
    return reads * timing.burst_ticks / timing.refi


def mixed_share(timing: DramTiming, batch: int) -> float:
    """Share of the peak that `batch` reads and `batch` writes in turn reach, each of consecutive addresses.

    Rows are opened ahead; the two streams are in different banks.
    """
    pace = _pace(timing)
    wait = timing.wtr_l
    if _alternates(timing):  # the first read goes to the group that was written longest ago
        wait = max(timing.wtr_s, timing.wtr_l - (timing.groups - 1) * timing.ccd_s)
    back = timing.cwl + timing.burst_ticks + wait
    cycle = 2 * (batch - 1) * pace + max(timing.rtw, pace) + back
    return 2 * batch * timing.burst_ticks / cycle * refresh_share(timing)


def unbroken_ticks(timing: DramTiming, bursts: int) -> int:
    """Ticks of so many consecutive reads from the beginning of a row, on one channel, before any refresh.

    Exact where rows are opened ahead in time: the window covers closing and opening one.
    """
    each = ceil(bursts / timing.channels)
    return timing.rcd + (each - 1) * _pace(timing) + timing.cl + timing.burst_ticks
