"""A point compiled again for machines with more of a resource: each machine once, in any number of processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..backends.program import Program
from ..backends.simulator import simulate
from ..backends.simulator.waiting import waits_by_layer
from ..errors import TilewrightError
from ..machine.changes import scaled
from ..search.processes import in_processes
from .models import Progress
from .points import Point, evaluate

AS_IT_IS = ("", 1.0)
"""The machine of the point itself."""


def layers_with_waits(program: Program) -> list[dict[str, Any]]:
    """The predicted figures of each layer, and its `waits` (`waiting.layer_waits`)."""
    found = waits_by_layer(program, simulate(program, functional=False, checks=False))
    return [{**layer.as_dict(), "waits": own} for layer, own in zip(program.layers, found, strict=True)]


@dataclass
class Trials:
    """Answers of `evaluate` with waits, by attribute and by how many times it is taken.

    A machine that cannot be, or has no program, is an answer with `error`.
    """

    point: Point
    jobs: int = 1
    progress: Progress | None = None
    answers: dict[tuple[str, float], dict[str, Any]] = field(default_factory=dict[tuple[str, float], dict[str, Any]])

    def compute(self, pairs: Iterable[tuple[str, float]]) -> None:
        """Compile for each attribute, with so much of it, what was not compiled yet."""
        missing: list[tuple[str, float]] = []
        points: list[Point] = []
        for pair in dict.fromkeys(pairs):
            if pair not in self.answers:
                missing.append(pair)
                machine = self.point.machine if pair == AS_IT_IS else scaled(self.point.machine, *pair)
                points.append(replace(self.point, machine=machine))
        total = len(self.answers) + len(missing)

        def note(place: int, answer: dict[str, Any]) -> None:
            path, factor = missing[place]
            self.answers[path, factor] = answer
            if self.progress is not None:
                told = f"compile with {path} x {factor:g}" if path else "compile again"
                self.progress(told, len(self.answers), total)

        work = partial(evaluate, layers_of=layers_with_waits)
        if self.jobs > 1:
            in_processes(work, points, self.jobs, note)
        else:
            for place, one in enumerate(points):
                note(place, work(one))

    def of(self, path: str, factor: float) -> dict[str, Any]:
        """The answer for an attribute that was computed."""
        return self.answers[path, factor]

    def base(self) -> dict[str, Any]:
        """The answer for the machine as it is; raises its error."""
        self.compute([AS_IT_IS])
        answer = self.answers[AS_IT_IS]
        if "error" in answer:
            raise TilewrightError(**answer["error"])
        return answer
