"""The best of ranked candidates by a measure that takes long: how many are measured, and when that ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from ...costs.clock import Limit

WITHIN = 0.01
"""How far above the floor of any candidate the best may be for no other to be measured, where a caller says nothing."""

MOST, MOST_ASKED = 6, 24
"""Candidates that are measured at most, and where a caller says how near the best must be."""

SLACK = 0.02
"""Candidates estimated so far above the best are not measured, where a caller does not say how near it must be."""

Candidate = TypeVar("Candidate")


@dataclass
class Effort:
    """When measuring ends: within `gap` of the floor (None: `WITHIN`, or after fewer candidates), or with the time."""

    gap: float | None = None
    limit: Limit = field(default_factory=lambda: Limit(None))

    def measured(
        self, ranked: Iterable[tuple[float, Candidate]], measure: Callable[[Candidate], float | None], floor: float
    ) -> list[tuple[float, Candidate]]:
        """Candidates with their measures, of `ranked` with estimates, the least first; none measures less than `floor`.

        At least one is measured; a measure of None is no candidate.
        """
        found: list[tuple[float, Candidate]] = []
        gap, most = (WITHIN, MOST) if self.gap is None else (self.gap, MOST_ASKED)
        best = float("inf")
        for estimate, candidate in islice(ranked, most):
            is_pruned = self.gap is None and estimate > (1 + SLACK) * best
            if best <= (1 + gap) * floor or is_pruned or (found and self.limit.late):
                break
            figure = measure(candidate)
            if figure is not None:
                found.append((figure, candidate))
                best = min(best, figure)
        return found
