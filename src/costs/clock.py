"""Processor seconds of searches, without those in which compiled code is made or read, and limits of them.

Else the first search on a machine would spend its time limit on compiling, and answer what it found in the rest.
"""

from collections.abc import MutableSequence
from math import inf
from os import times
from time import perf_counter, process_time

from ..interruption import requested


class Compiling:
    """The processor and wall-clock seconds for which compiled code is made or read, added up (`costs.compiled`)."""

    def __init__(self) -> None:
        self.began = self.spent = 0.0, 0.0

    def begin(self) -> None:
        """Code for a function is wanted."""
        self.began = process_time(), perf_counter()

    def end(self) -> None:
        """It is there."""
        (processor, wall), (processor_began, wall_began) = self.spent, self.began
        self.spent = processor + process_time() - processor_began, wall + perf_counter() - wall_began

    def so_far_s(self) -> float:
        """Wall-clock seconds, those since it began included."""
        return self.spent[1] + perf_counter() - self.began[1]


compiling = Compiling()


class Copies:
    """The processor seconds of processes that began as copies of this one and have ended, added up."""

    def __init__(self) -> None:
        self.spent_s = 0.0

    def add_since(self, children_s: float) -> None:
        """Those of all children that ended since they had spent `children_s`."""
        self.spent_s += children_seconds() - children_s


copies = Copies()


def children_seconds() -> float:
    """Processor seconds of all processes that this one has started and waited for."""
    spent = times()
    return spent.children_user + spent.children_system


def cpu_seconds() -> float:
    """Processor time of this process and its copies so far, from an arbitrary zero."""
    return process_time() + copies.spent_s


def processor_seconds() -> float:
    """The same without that in which compiled code is made or read."""
    return cpu_seconds() - compiling.spent[0]


class Team:
    """Processes that search side by side within one limit; this one has `place` in their table of seconds spent."""

    def __init__(self) -> None:
        self.spent: MutableSequence[float] = [0.0]
        self.place, self.began = 0, 0.0

    def join(self, spent: MutableSequence[float], place: int) -> None:
        """Count the seconds of all from now on; `spent` is a table that they share."""
        self.spent, self.place, self.began = spent, place, processor_seconds()

    def seconds(self) -> float:
        """What all have spent."""
        self.spent[self.place] = processor_seconds() - self.began
        return sum(self.spent)


team = Team()


class Limit:
    """When a search ends: after some processor seconds (None: never) of all its threads, and of all processes of its
    team, or when the process is asked to stop.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = inf if seconds is None else seconds + (team.seconds() if len(team.spent) == 1 else 0.0)

    @property
    def left_s(self) -> float:
        """Seconds that are left, less than 0 where it is over."""
        if requested():
            return -inf
        return inf if self._end == inf else self._end - team.seconds()

    @property
    def late(self) -> bool:
        """Whether it is over."""
        return self.left_s <= 0

    def part(self, share: float) -> "Limit":
        """A limit after this share of what is left."""
        part = Limit(None)
        if self._end < inf:
            part._end = team.seconds() + share * self.left_s
        return part


NO_LIMIT = Limit(None)
"""Ends when the process is asked to stop."""
