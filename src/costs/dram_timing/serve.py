"""A DRAM that remembers which rows are open and what its buses did, from one transfer to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...machine.dram import FIELDS, DramTiming
from .kernel import LONG_AGO, Channels, Figures, serve_rows

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class DramCounts:
    """Bursts, those whose row was open, rows opened, and refreshes of all channels."""

    bursts: int
    hits: int
    opened: int
    refreshed: int

    @property
    def hit_share(self) -> float:
        """Bursts whose row was open, of all."""
        return self.hits / max(self.bursts, 1)


class Dram:
    """A device whose transfers are served in the order in which they are asked for."""

    def __init__(self, timing: DramTiming) -> None:
        self.timing = timing
        segments = [(FIELDS.index(part), bits) for part, bits in reversed(timing.address)]
        named = {name: getattr(timing, name) for name in Figures._fields if hasattr(timing, name)}
        self.figures = Figures(**named, lasts=timing.burst_ticks, segments=np.array(segments, np.int64))
        self.channels = _fresh(timing)
        self._parts = np.zeros(len(FIELDS), np.int64)

    def serve(self, starts: Ints, run_bytes: int, write: bool, tick: int) -> int:
        """Move rows of `run_bytes` bytes, asked for at `tick`; the tick at which all have moved."""
        rows = np.ascontiguousarray(starts, np.int64)
        return int(serve_rows(self.figures, self.channels, rows, run_bytes, write, tick, self._parts))

    @property
    def counts(self) -> DramCounts:
        """What has happened so far."""
        return DramCounts(*(int(n) for n in self.channels.counts))


def _fresh(timing: DramTiming) -> Channels:
    c, banks, groups = timing.channels, timing.groups * timing.banks, timing.groups

    def long_ago(*shape: int) -> Ints:
        return np.full(shape, LONG_AGO, np.int64)

    return Channels(
        np.full((c, banks), -1, np.int64),
        long_ago(c, banks),
        long_ago(c, banks),
        np.zeros((c, banks), np.int64),
        long_ago(c, groups),
        long_ago(c, groups),
        long_ago(c, groups),
        long_ago(c),
        long_ago(c, 4),
        long_ago(c, timing.window),
        np.zeros((c, 2), np.int64),
        np.full(c, timing.refi, np.int64),
        np.zeros(4, np.int64),
    )
