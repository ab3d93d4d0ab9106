"""What is asked of a search for schedules, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...costs.dram import Timetable

Progress = Callable[[int, int], None]
"""Told how much is done of how much."""

POWERS = {"edp": (1.0, 1.0), "energy": (1.0, 0.0), "latency": (0.0, 1.0)}
"""Powers of energy and of latency in what is minimised, by the objective's name."""


@dataclass(frozen=True)
class Objective:
    """energy ** `energy_power` x latency ** `latency_power`, to be small."""

    energy_power: float = 1.0
    latency_power: float = 1.0


@dataclass(frozen=True)
class Effort:
    """How much to search: `chains` walks of `rounds` candidates each (None: by model and batch), on `jobs` threads.

    The answer depends on `seed`, `chains` and `rounds`, not on `jobs`.  It ends early after `time_limit_s`
    processor seconds of all threads together, or where the objective is at most `gap` (0.01 for 1 %) above its bound.
    """

    seed: int = 0
    chains: int | None = None
    rounds: int | None = None
    jobs: int = 1
    time_limit_s: float | None = None
    gap: float = 0.0


@dataclass(frozen=True)
class Found:
    """The best schedule, the same fusion without prefetch, and how many candidates were scored."""

    timetable: Timetable
    double_buffered: Timetable | None
    evaluations: int
