"""What is minimised."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...costs.bounds import Bounds
from ...costs.compiled import bare
from .values import Objective

Values = TypeVar("Values", float, NDArray[np.float64])


@bare
def value_of(objective: int, energy: float, cycles: float) -> float:
    """The objective by its place in `values.OBJECTIVES`: energy times cycles, energy, or cycles; of words, energy."""
    if objective == 0:
        return energy * cycles
    return cycles if objective == 2 else energy


def values_of(objective: Objective, energy: Values, cycles: Values) -> Values:
    """The same by name (pJ cycles, pJ or cycles), of one mapping or of many.

    Mappers see the objective `dram` as energy, on a machine whose energy counts words (`mappers.map_problem`).
    """
    if objective == "edp":
        return energy * cycles
    return energy if objective in ("energy", "dram") else cycles


def unit_of(objective: Objective) -> float:
    """The unit in which an objective is told: of energy times delay J cycles."""
    return 1e-12 if objective == "edp" else 1.0


def bound_of(limits: Bounds, objective: Objective) -> float:
    """The objective that no mapping can go below, in that unit."""
    return {"edp": limits.edp_j_cycle, "energy": limits.energy_pj, "latency": float(limits.cycles)}[objective]
