"""What is minimised, for compiled code."""

from __future__ import annotations

from ...costs.compiled import bare


@bare
def value_of(objective: int, energy: float, cycles: float) -> float:
    """The objective by its place in `values.OBJECTIVES`: energy times cycles, energy, or cycles; of words, energy."""
    if objective == 0:
        return energy * cycles
    return cycles if objective == 2 else energy
