"""The order in which instructions stand in a program, what each then waits for, and when all is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from ...algebra.element import Ints
from .timed import CYCLES, UNIT, Arrows, heights, in_program_order, list_starts, needed_counts, reversed_arrows
from .timed import timed_starts as starts_of

MAX_SCHEDULED = 1 << 17
"""Instructions of a program at most whose order is chosen."""

ROUNDS, MOST_ROUNDS = 2, 6
"""Schedules that are tried for each way to treat loads at least, and at most while each ends sooner than the last."""

SPREADS, MOVED = (0.002, 0.01, 0.03, 0.1), 0.2
"""How far priorities are moved at random, as parts of the program's length, and which part of them."""

DRAWN, MOST_DRAWN, FAR = 100, 1 << 13, 0.05
"""Schedules by priorities that are changed at random, of programs of at most so many instructions that end so much
later than their busiest unit could.
"""


@dataclass(frozen=True)
class Timed:
    """Instructions in an order, for each place how many of each unit must be done before (0: any), and the last end."""

    order: Ints
    needs: NDArray[np.int32]
    end_cycle: int


@dataclass(frozen=True)
class Problem:
    """The work of instructions, what they depend on, and how many each unit's queue takes (0: all).

    Rows of `work` are the unit of an instruction, which works in order, and the resource, a node or channel by number,
    that it keeps busy for how many cycles.
    """

    work: Ints
    before: Arrows
    depths: Ints

    def timed(self, order: Ints) -> Timed:
        """What instructions in this order wait for, and when they are done."""
        needs = needed_counts(len(self.depths), order, self.work, self.before)
        return Timed(order, needs, self.end_cycle(order, needs))

    def end_cycle(self, order: Ints, needs: NDArray[np.int32]) -> int:
        """The cycle at which all is done if each instruction starts as soon as its unit and what it needs are free."""
        if not len(order):
            return 0
        return int((starts_of(order, self.work, needs, self.depths) + self.work[order, CYCLES]).max())

    def list_schedules(self, in_order: frozenset[int], *, by_tail: bool = False) -> Iterator[Ints]:
        """Orders that let units work side by side, one after another; units of `in_order` keep that of the program.

        Of what can start a unit takes what the longest chain depends on (Graham 1969; Hu 1961), or `by_tail` what the
        longest chain comes after, so that a short load goes before a long one (Jackson 1955).  Then the schedule is
        made from its end, the latest first, and from its beginning again, by how late each could have started in that
        one (forward-backward improvement: Li and Willis 1992).
        """
        work, cycles = self.work, self.work[:, CYCLES]
        before = in_program_order(work, self.before, np.isin(np.arange(len(self.depths)), list(in_order)))
        after = reversed_arrows(before)
        chains = heights(work, after)
        ranked = np.lexsort((cycles, cycles - chains)) if by_tail else np.argsort(-chains, kind="stable")
        starts = list_starts(work, before, after, ranked)
        while True:
            yield np.argsort(starts, kind="stable")
            starts, _ = self._again(before, after, starts)

    def _again(self, before: Arrows, after: Arrows, starts: Ints) -> tuple[Ints, Ints]:
        """Starts of a schedule that is made from the end of one and then from its beginning, and the priorities that
        make it: minus how long before the end each could have started.
        """
        cycles = self.work[:, CYCLES]
        back = list_starts(self.work, after, before, np.argsort(-starts - cycles, kind="stable"))
        latest = -back - cycles
        return list_starts(self.work, before, after, np.argsort(latest, kind="stable")), latest

    def drawn(self, first: Ints) -> Iterator[Ints]:
        """Orders by priorities of which a fifth is moved at random; each goes on from the best so far.

        They move by 0.2 % to 10 % of the program's length, from those that the order `first` leads to.
        """
        work, before, cycles = self.work, self.before, self.work[:, CYCLES]
        after, numbers = reversed_arrows(before), np.random.default_rng(0)
        priorities, least = np.argsort(first).astype(np.float64), 1 << 62
        for number in range(DRAWN):
            spread = SPREADS[number % len(SPREADS)] * least if number else 0.0
            moved = numbers.normal(0, spread, len(work)) * (numbers.random(len(work)) < MOVED)
            starts = list_starts(work, before, after, np.argsort(priorities + moved, kind="stable"))
            for _ in range(ROUNDS - 1):
                starts, _ = self._again(before, after, starts)
            starts, latest = self._again(before, after, starts)
            end = int((starts + cycles).max())
            if end < least:
                priorities, least = latest.astype(np.float64), end
                yield np.argsort(starts, kind="stable")

    def best(self, loads: frozenset[int] | None) -> Timed:
        """The order that ends first of that of the program and of list schedules.

        `loads` are the units that load; None leaves the order as it is.
        """
        found = self.timed(np.arange(len(self.work)))
        if loads is None or not 0 < len(self.work) <= MAX_SCHEDULED:
            return found
        least = int(np.bincount(self.work[:, UNIT], self.work[:, CYCLES]).max())
        for in_order, by_tail in product((loads, frozenset[int]()), (False, True)):
            if found.end_cycle == least:
                break
            last = 0
            for number, order in enumerate(islice(self.list_schedules(in_order, by_tail=by_tail), MOST_ROUNDS)):
                timed = self.timed(order)
                found = min(found, timed, key=lambda timed: timed.end_cycle)
                if number >= ROUNDS - 1 and timed.end_cycle >= last:
                    break
                last = timed.end_cycle
        if len(self.work) <= MOST_DRAWN and found.end_cycle > (1 + FAR) * least:
            for order in self.drawn(found.order):
                found = min(found, self.timed(order), key=lambda timed: timed.end_cycle)
        return found
