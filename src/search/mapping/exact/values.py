"""What the exact mapper is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ....costs.timeloop import LoopMapping

Objective = Literal["edp", "energy", "latency"]


@dataclass(frozen=True)
class Space:
    """Which mappings count: perfect factors and any order of loops, always.

    With `bypass` a memory other than the outermost may be without any of the tensors; with `split_axes` a dimension may
    be spread over columns and rows at once.
    """

    bypass: bool = False
    split_axes: bool = False


@dataclass(frozen=True)
class Mapped:
    """The best mapping found, its price, and a lower bound of the objective over the whole space.

    `edp` in joule cycles, `energy` in pJ; `lower_bound` in the objective's unit (pJ or cycles otherwise).  `proven`
    says that no mapping of the space is better (up to rounding, 1e-9 relative).  `evaluated` mappings were priced in
    full; `cpu_s` is processor time in seconds.
    """

    mapping: LoopMapping
    edp: float
    energy: float
    cycles: int
    lower_bound: float
    proven: bool
    evaluated: int
    cpu_s: float
