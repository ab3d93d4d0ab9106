"""A DRAM controller tick by tick, with a bus that carries one command a tick: a second witness for the kernel.

Rules are those of the standards, written from the distances between commands: a history of commands is kept, and a
command may be issued if no rule about any earlier one forbids it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.machine.dram import DramTiming

HISTORY = 24


@dataclass(frozen=True)
class Command:
    kind: str  # activate, precharge, read, write
    tick: int
    bank: tuple[int, int]  # group, bank in it


class Controller:
    """One channel; bursts are (group, bank, row, write), served in order."""

    def __init__(self, timing: DramTiming) -> None:
        self.t = timing
        self.rows: dict[tuple[int, int], int] = {}
        self.history: list[Command] = []
        self.last: dict[tuple[str, tuple[int, int]], int] = {}
        self.blocked = 0  # by a refresh, until this tick
        self.due = timing.refi

    def when(self, kind: str, bank: tuple[int, int]) -> int:
        return self.last.get((kind, bank), -(10**9))

    def recent(self, *kinds: str) -> list[Command]:
        return [command for command in self.history if command.kind in kinds]

    def may_precharge(self, tick: int, bank: tuple[int, int]) -> bool:
        t = self.t
        written = self.when("write", bank) + t.cwl + t.burst // 2 + t.wr
        return tick >= max(self.when("activate", bank) + t.ras, self.when("read", bank) + t.rtp, written)

    def may_activate(self, tick: int, bank: tuple[int, int]) -> bool:
        t = self.t
        if tick < max(self.when("precharge", bank) + t.rp, self.when("activate", bank) + t.rc, self.blocked):
            return False
        before = self.recent("activate")
        if len(before) >= 4 and tick < before[-4].tick + t.faw:
            return False
        return all(tick >= c.tick + (t.rrd_l if c.bank[0] == bank[0] else t.rrd_s) for c in before)

    def may_move(self, tick: int, bank: tuple[int, int], write: bool) -> bool:
        t = self.t
        if tick < self.when("activate", bank) + t.rcd:
            return False
        for c in self.recent("read", "write"):
            near = c.bank[0] == bank[0]
            least = t.ccd_l if near else t.ccd_s
            if write and c.kind == "read":
                least = max(least, t.rtw)
            if not write and c.kind == "write":
                least = max(least, t.cwl + t.burst // 2 + (t.wtr_l if near else t.wtr_s))
            if tick < c.tick + least:
                return False
        return True

    def issue(self, kind: str, tick: int, bank: tuple[int, int]) -> None:
        self.history = [*self.history, Command(kind, tick, bank)][-HISTORY:]
        self.last[kind, bank] = tick

    def refresh(self, tick: int) -> bool:
        """One step of a refresh that is due; True while it keeps others from being served."""
        if tick < self.due:
            return False
        if all(self.may_precharge(tick, bank) for bank in self.rows):
            closed = bool(self.rows)
            for bank in self.rows:
                self.last["precharge", bank] = tick
            self.rows.clear()
            begin = tick + (self.t.rp if closed else 0)
            settled = [at + self.t.rp for (kind, _), at in self.last.items() if kind == "precharge"]
            self.blocked = max([begin, *settled]) + self.t.rfc
            self.due += self.t.refi
        return True


def ticks_of(timing: DramTiming, bursts: Sequence[tuple[int, int, int, bool]]) -> int:
    """The tick at which the last data of bursts that are all asked for at tick 0 has moved."""
    control, waiting, tick, end = Controller(timing), list(bursts), 0, 0
    while waiting:
        if not control.refresh(tick):
            end = max(end, _serve(control, waiting, tick))
        tick += 1
    return end


def _serve(control: Controller, waiting: list[tuple[int, int, int, bool]], tick: int) -> int:
    """At most one command; the end of the data if it moves some."""
    t = control.t
    group, bank, row, write = waiting[0]
    if control.rows.get((group, bank)) == row and control.may_move(tick, (group, bank), write):
        control.issue("write" if write else "read", tick, (group, bank))
        waiting.pop(0)
        return tick + (t.cwl if write else t.cl) + t.burst // 2
    seen: dict[tuple[int, int], int] = {}
    ordered = True  # rows are opened in the order of bursts
    for group, bank, row, _ in waiting[: t.window]:
        place = group, bank
        if place in seen:  # an earlier burst needs the bank as it is, or as it will be
            ordered = ordered and seen[place] == row
            continue
        seen[place] = row
        if control.rows.get(place) == row:
            continue
        if place in control.rows:
            if control.may_precharge(tick, place):
                control.issue("precharge", tick, place)
                del control.rows[place]
                return 0
        elif ordered and control.may_activate(tick, place):
            control.issue("activate", tick, place)
            control.rows[place] = row
            return 0
        ordered = False
    return 0
