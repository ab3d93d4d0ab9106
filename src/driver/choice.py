"""What a compilation chooses from: programs of several ways, the fastest of them, and why it was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from ..backends.program import Candidate
from ..errors import TilewrightError
from .pipelines import SCHEDULE

if TYPE_CHECKING:
    from ..backends.program import Program

LAYER_BY_LAYER = "layer by layer"
"""What answers call a program without groups."""

GREEDY = "greedy"
"""The method of groups that the default tries, too."""

WORDS = {
    SCHEDULE: "maps stay on chip from layer to layer (schedule)",
    GREEDY: "groups of layers run tile by tile (greedy)",
    "": LAYER_BY_LAYER,
}
"""The ways of the default."""

LOADS = "hardly longer than loads of the weights of all layers; no other way loads fewer"
"""Why a program is taken without a look at other ways."""


@dataclass(frozen=True)
class Figures:
    """What is kept of a program that was tried: see `Program`."""

    predicted: Mapping[str, float]
    lower_bound: Mapping[str, float]
    refused: tuple[str, ...]


def figures_of(program: Program) -> Figures:
    """Of a program that need not be kept itself."""
    return Figures(program.predicted, program.lower_bound, program.refused)


def is_near(program: Program | Figures, gap: float) -> bool:
    """Whether a program is as near to the bound of all as makes other ways not worth a try."""
    return bool(program.lower_bound) and program.predicted["cycles"] <= (1 + gap) * program.lower_bound["cycles"]


class Choice:
    """Programs of several methods: the fastest, what was tried, and why some are none.

    Of those of as many cycles the one of least energy is taken, then the first.
    """

    def __init__(self) -> None:
        self.tried: list[Candidate] = []
        self.errors: list[TilewrightError] = []
        self.least = inf, inf
        self.method = ""
        self.name = LAYER_BY_LAYER
        self.best: Program | None = None

    def compare(self, method: str, make: Callable[[], Program]) -> None:
        """Try one more."""
        try:
            program = make()
        except TilewrightError as error:
            self.refuse(method, error)
        else:
            self.take(method, program.predicted, program)

    def refuse(self, method: str, error: TilewrightError) -> None:
        """Note that there is no program of a method."""
        self.errors.append(error)
        self.leave_out(method, error.paragraph())

    def leave_out(self, method: str, reason: str) -> None:
        """Note that no program of a method was made."""
        self.tried.append(Candidate(method or LAYER_BY_LAYER, error=reason))

    def take(self, method: str, predicted: Mapping[str, float], program: Program | None = None) -> None:
        """Note the figures of a method, and its program where that is kept, with what that was chosen from."""
        cost = predicted["cycles"], predicted["energy_pj"]
        own = () if program is None else program.candidates
        if cost < self.least:
            self.least, self.method, self.best = cost, method, program
            self.name = next((way.method for way in own if way.chosen), method or LAYER_BY_LAYER)
        self.tried.extend(own or [Candidate(method or LAYER_BY_LAYER, *cost)])

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All that were tried, with the chosen one marked; none where there was nothing to choose from."""
        return tuple(replace(way, chosen=way.method == self.name) for way in self.tried) if len(self.tried) > 1 else ()

    def told(self, program: Program, more: str = "") -> Program:
        """The program that was chosen, with what it was chosen from and why; `more` says why not from more."""
        why = f"{WORDS.get(self.method, self.method)}: {more or f'the fastest of {len(self.tried)} ways tried'}"
        return replace(program, candidates=self.candidates, why=why)
