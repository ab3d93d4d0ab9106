"""Seconds of work, without those in which compiled code is made or read.

Else the first search on a machine would spend its time limit on compiling, and answer what it found in the rest.
"""

from __future__ import annotations

import logging
from time import perf_counter, process_time

from numba.core import event

LONG_S = 2.0
"""Seconds of compiling after which the log says why people wait."""


class _Compiling(event.Listener):
    """Adds up the processor and wall-clock seconds for which numba's compiler is at work."""

    def __init__(self) -> None:
        self.depth = 0
        self.began = self.spent = 0.0, 0.0

    def on_start(self, event: event.Event) -> None:
        """Code for a function is wanted, maybe for one that another function calls."""
        if self.depth == 0:
            self.began = process_time(), perf_counter()
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        """Code for a function is there."""
        self.depth -= 1
        if self.depth == 0:
            (processor, wall), (processor_began, wall_began) = self.spent, self.began
            self.spent = processor + process_time() - processor_began, wall + perf_counter() - wall_began


class _Told(event.Listener):
    """Logs, once, that code is made rather than read."""

    said = False

    def on_start(self, event: event.Event) -> None:
        """A function whose code is not kept yet."""
        if not self.said and _compiling.spent[1] + perf_counter() - _compiling.began[1] > LONG_S:
            self.said = True
            logging.getLogger(__name__).info("compiling the searches: once, a minute or two")

    def on_end(self, event: event.Event) -> None:
        """Its code is there."""


_compiling, _told = _Compiling(), _Told()
event.register("numba:compiler_lock", _compiling)
event.register("numba:compile", _told)


def processor_seconds() -> float:
    """Processor time of this process so far, from an arbitrary zero."""
    return process_time() - _compiling.spent[0]


def wall_seconds() -> float:
    """Time so far, from an arbitrary zero."""
    return perf_counter() - _compiling.spent[1]
