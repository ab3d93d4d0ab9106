"""What a mapper is asked and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ...costs.hierarchy import Architecture, LoopMapping, Problem

Objective = Literal["edp", "energy", "latency", "dram", "noc"]
Factors = Literal["perfect", "imperfect"]
CostModel = Literal["exact", "timeloop"]

OBJECTIVES: tuple[Objective, ...] = ("edp", "energy", "latency", "dram")
"""What is minimised: energy times delay, energy, cycles, or words to and from the outermost memory.  Cycles on a mesh,
`noc`, are found with these."""


@dataclass(frozen=True)
class Space:
    """Which mappings count; any order of loops always does.

    With `bypass` a memory other than the outermost may be without any of the tensors that it may hold; with
    `split_axes` a dimension may be spread over columns and rows at once.  `perfect` factors multiply to the bound
    exactly; imperfect ones cover it, and what sticks out is not executed (`costs.hierarchy.LoopMapping`).
    """

    bypass: bool = False
    split_axes: bool = False
    factors: Factors = "perfect"


@dataclass(frozen=True)
class Request:
    """How to search: objective, cost model, space, and limits.

    `time_limit_s` is processor time; a mapper that reaches it answers with the best found so far.  `report` is called
    now and then with (best objective so far, lower bound).  A mapper that bounds may end as soon as its best is within
    `gap` (0.01 for 1 %) of the best of the whole space; 0 asks for a proof.
    """

    objective: Objective = "edp"
    model: CostModel = "exact"
    space: Space = field(default_factory=lambda: Space(bypass=True, split_axes=True, factors="imperfect"))
    seed: int = 0
    time_limit_s: float | None = None
    report: Callable[[float, float], None] | None = field(default=None, compare=False)
    gap: float = 0.0


@dataclass(frozen=True)
class Mapped:
    """The best mapping found, its price, and a lower bound of the objective over the whole space.

    `edp` in joule cycles, `energy` in pJ; `lower_bound` in the objective's unit (J cycles, pJ, cycles or words).
    `proven` says that no mapping of the space is better (up to rounding, 1e-9 relative).  `evaluated` mappings were
    priced in full; `cpu_s` is processor time in seconds.
    """

    mapping: LoopMapping
    edp: float
    energy: float
    cycles: int
    lower_bound: float
    proven: bool
    evaluated: int
    cpu_s: float


class Mapper(Protocol):
    """Chooses a mapping.  Raises `InfeasibleError` where nothing fits, `TilewrightError` beyond its limits."""

    def __call__(self, arch: Architecture, problem: Problem, request: Request) -> Mapped: ...
