"""A DRAM that serves bursts in order and opens rows ahead, command by command, from one transfer to the next.

Each burst takes the earliest ticks at which its commands keep all distances to those before it, rows being opened in
the order of bursts; the bus of commands, which carries one each tick, is taken to have room for all.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..algebra.element import Ints
from ..machine.dram import FIELDS, DramTiming
from .compiled import bare, bare_entry

LONG_AGO = -(1 << 40)

ROW, BANK, GROUP, COLUMN, CHANNEL = range(5)
"""Parts of an address, as `machine.dram.FIELDS` has them."""

BURSTS, HITS, OPENED, REFRESHED = range(4)
"""What is counted."""


class Figures(NamedTuple):
    """A device's figures, see `machine.dram.DramTiming`; `segments` are rows (part, bits), the least significant first.

    `burst_bytes` and `lasts` (ticks) are those of a burst.
    """

    burst_bytes: int
    lasts: int
    groups: int
    banks: int
    cl: int
    cwl: int
    rcd: int
    rp: int
    ras: int
    rc: int
    ccd_s: int
    ccd_l: int
    rrd_s: int
    rrd_l: int
    faw: int
    wtr_s: int
    wtr_l: int
    rtw: int
    rtp: int
    wr: int
    rfc: int
    refi: int
    segments: Ints


class Channels(NamedTuple):
    """What each channel remembers, all ticks: rows c, in `banks` of each bank, in `groups` of each group.

    `opened` is the row that is open (-1: none), `activated` and `closable` when it was and when it may be closed,
    `idle` when a closed bank may be activated.  `commands`, `activates` and `ends` (of data) are the last of a group;
    `reads` the last command to read; `four` the last activates, `window` the last commands, rings whose places are in
    `places`; `refresh` is when the next one is due.
    """

    opened: Ints
    activated: Ints
    closable: Ints
    idle: Ints
    commands: Ints
    activates: Ints
    ends: Ints
    reads: Ints
    four: Ints
    window: Ints
    places: Ints
    refresh: Ints
    counts: Ints


@bare
def _most(values: Ints) -> int:
    found = LONG_AGO
    for value in values:
        found = max(found, value)
    return found


@bare
def _activate(f: Figures, at: Channels, c: int, bank: int, group: int, enter: int) -> int:
    """The tick at which a bank that has another row, or none, can be activated."""
    first = enter
    if at.opened[c, bank] >= 0:
        first = max(first, at.closable[c, bank]) + f.rp
    first = max(first, at.idle[c, bank], at.activated[c, bank] + f.rc)
    first = max(first, _most(at.activates[c]) + f.rrd_s, at.activates[c, group] + f.rrd_l)
    return max(first, at.four[c, at.places[c, 0]] + f.faw)


@bare
def _command(f: Figures, at: Channels, c: int, group: int, first: int, write: bool) -> int:
    """The tick of a command to read or write whose row is open from `first` on."""
    tick = max(first, _most(at.commands[c]) + f.ccd_s, at.commands[c, group] + f.ccd_l)
    if write:
        return max(tick, at.reads[c] + f.rtw)
    return max(tick, _most(at.ends[c]) + f.wtr_s, at.ends[c, group] + f.wtr_l)


@bare
def _refresh(f: Figures, at: Channels, c: int) -> None:
    """Closes all rows of a channel and refreshes them."""
    tick = at.refresh[c]
    ready = tick
    for bank in range(at.opened.shape[1]):
        if at.opened[c, bank] >= 0:
            ready = max(ready, max(tick, at.closable[c, bank]) + f.rp)
        ready = max(ready, at.idle[c, bank])
    for bank in range(at.opened.shape[1]):
        at.opened[c, bank] = -1
        at.idle[c, bank] = ready + f.rfc
    at.refresh[c] += f.refi
    at.counts[REFRESHED] += 1


@bare
def _burst(f: Figures, at: Channels, c: int, group: int, bank: int, row: int, write: bool, arrival: int) -> int:
    """One burst; when its data has moved."""
    while True:
        missed = (arrival - at.refresh[c]) // f.refi
        if missed > 1:  # idle for long: all but the last two refreshes are over
            at.refresh[c] += (missed - 1) * f.refi
        enter = max(arrival, at.window[c, at.places[c, 1]])
        hit = at.opened[c, bank] == row
        activate = at.activated[c, bank] if hit else _activate(f, at, c, bank, group, enter)
        tick = _command(f, at, c, group, max(enter, activate + f.rcd), write)
        if tick < at.refresh[c]:
            break
        _refresh(f, at, c)
    at.counts[BURSTS] += 1
    at.counts[HITS] += hit
    if not hit:
        at.counts[OPENED] += 1
        at.opened[c, bank], at.activated[c, bank] = row, activate
        at.closable[c, bank] = activate + f.ras
        at.activates[c, group] = activate
        at.four[c, at.places[c, 0]] = activate
        at.places[c, 0] = (at.places[c, 0] + 1) % at.four.shape[1]
    at.commands[c, group] = tick
    at.window[c, at.places[c, 1]] = tick
    at.places[c, 1] = (at.places[c, 1] + 1) % at.window.shape[1]
    if write:
        end = tick + f.cwl + f.lasts
        at.ends[c, group] = end
        at.closable[c, bank] = max(at.closable[c, bank], end + f.wr)
        return end
    at.reads[c] = tick
    at.closable[c, bank] = max(at.closable[c, bank], tick + f.rtp)
    return tick + f.cl + f.lasts


@bare
def _place(f: Figures, number: int, parts: Ints) -> None:
    """Where burst `number` lies: the parts of its address."""
    for part in range(len(parts)):
        parts[part] = 0
    for segment in range(f.segments.shape[0] - 1, -1, -1):  # from the most significant bit
        bits, below = f.segments[segment, 1], 0
        for inner in range(segment):
            below += f.segments[inner, 1]
        field = number >> below & ((1 << bits) - 1)
        part = f.segments[segment, 0]
        parts[part] = parts[part] << bits | field


@bare_entry
def serve_rows(f: Figures, at: Channels, starts: Ints, run: int, write: bool, arrival: int, parts: Ints) -> int:
    """Bursts of rows of `run` bytes from `starts` on, in this order; when the last data has moved.

    A burst that two rows share, one after the other, moves once.  `parts` is room for an address.
    """
    end, last = arrival, -1
    for start in starts:
        for number in range(start // f.burst_bytes, (start + run - 1) // f.burst_bytes + 1):
            if number == last:
                continue
            last = number
            _place(f, number, parts)
            bank = parts[GROUP] * f.banks + parts[BANK]
            end = max(end, _burst(f, at, parts[CHANNEL], parts[GROUP], bank, parts[ROW], write, arrival))
    return end


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
