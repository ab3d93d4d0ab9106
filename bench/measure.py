"""What every benchmark here prints: a value, its limit, and their ratio; the exit code tells whether all hold."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Report:
    """Lines of `name value limit ratio`; a ratio above 1 fails."""

    failed: list[str] = field(default_factory=list[str])

    def add(self, name: str, value: float, limit: float, unit: str = "") -> None:
        """Print one value against its limit."""
        ratio = value / limit
        if ratio > 1:
            self.failed.append(name)
        verdict = "ok" if ratio <= 1 else "OVER"
        print(f"{name:48} {value:10.4g} {unit:6} limit {limit:8.4g}  ratio {ratio:6.3f}  {verdict}", flush=True)

    def finish(self) -> None:
        """Leave with 1 if a limit was passed."""
        sys.exit(1 if self.failed else 0)


def cpu_seconds(work: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """CPU time of `work` in this process, all threads, the least of `repeats`; and its last result."""
    times: list[float] = []
    for _ in range(max(1, repeats) - 1):
        times.append(_timed(work)[0])
    seconds, result = _timed(work)
    return min(seconds, *times) if times else seconds, result


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    gc.collect()
    start = time.process_time()
    result = work()
    return time.process_time() - start, result
