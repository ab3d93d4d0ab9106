"""The best mapping so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from .....costs.hierarchy import LoopMapping
from ..bounds.estimates import ROUNDING


@dataclass
class Incumbent:
    """A mapping, its energy (pJ), cycles and objective; a search for less ends within `gap` of the best."""

    gap: float = 0.0
    value: float = inf
    mapping: LoopMapping = field(default_factory=lambda: LoopMapping(()))
    energy: float = inf
    cycles: int = 0

    @property
    def enough(self) -> float:
        """What a mapping must be below to be looked for."""
        return self.value / (1 + self.gap)

    def offer(self, value: float, energy: float, cycles: int, mapping: Callable[[], LoopMapping]) -> None:
        """Take over a mapping if it is better."""
        if value < self.value * (1 - ROUNDING):
            found = mapping()  # first, as a request to stop may come there
            self.value, self.energy, self.cycles, self.mapping = value, energy, cycles, found
