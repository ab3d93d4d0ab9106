"""Studies: points computed on several processes, none twice, and what no other machine is better than."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from math import exp, fsum, log
from pathlib import Path
from typing import Any

import numpy as np

from ..costs.pareto import undominated
from ..machine.changes import Value
from .models import Progress
from .sweep_runs import LOST, Run, on_this_machine
from .sweep_search import search
from .sweep_spec import FIGURES, Row, Study
from .sweep_store import Store, key_of


def sweep(
    study: Study, database: Path, *, jobs: int = 1, run: Run | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """The answer of `tilewright sweep`: `points`, `done`, `computed` now and `failed` ones; `rows`; the `front`.

    What the database has is not computed again; each point is kept as soon as it ends.  Points run in `jobs` processes,
    or wherever `run` runs them.
    """
    with closing(Store(database)) as store:
        table = _Table(study, store, run or on_this_machine(jobs), progress)
        if study.search:
            search(study, table.figures)
        else:
            table.compute(study.machines())
    rows = table.rows()
    failed = sum("error" in row for row in rows)
    counts = {"points": len(table.points), "done": len(rows), "computed": table.computed, "failed": failed}
    front = front_of(study, rows)
    return {**counts, "database": str(database), "objectives": list(study.objectives), "rows": rows, **front}


class _Table:
    """The points of a study so far and their answers, of the database or computed."""

    def __init__(self, study: Study, store: Store, run: Run, progress: Progress | None) -> None:
        self.study, self.store, self.run, self.progress = study, store, run, progress
        self.points: list[tuple[str, Row]] = []
        """Each with its key."""
        self.answers: dict[str, dict[str, Any]] = {}
        self.computed = 0
        self.total = 0
        self.start = time.monotonic()

    def compute(self, machines: Sequence[Mapping[str, Value]]) -> None:
        """Add the points of some machines, and compute those whose answers are not there."""
        found = [(key_of(point), row) for row, point in self.study.points(machines)]
        self.points += found
        self.answers |= self.store.answers(key for key, _ in found)
        missing = {key: row for key, row in reversed(found) if key not in self.answers}
        keys = list(reversed(missing))
        self.total = len(self.answers) + len(keys)

        def note(place: int, answer: dict[str, Any]) -> None:
            key = keys[place]
            self.answers[key] = {name: value for name, value in answer.items() if name != "layers"}
            self.computed += 1
            if answer.get("error", {}).get("kind") != LOST:
                self.store.put(key, missing[key], self.answers[key])
            if self.progress is not None:
                self.progress(*_progress(time.monotonic() - self.start, self.computed, len(self.answers), self.total))

        self.run(self.study, [missing[key] for key in keys], note)

    def rows(self) -> list[dict[str, Any]]:
        """What is known of each point that has an answer, in order."""
        return [{**told, **self.answers[key]} for key, told in self.points if key in self.answers]

    def figures(self, machines: Sequence[Mapping[str, Value]]) -> list[tuple[float, ...] | None]:
        """The objectives of some machines, computed now; None for one that some network has no program for."""
        self.compute(machines)
        found = {tuple(one["attributes"].values()): one for one in machines_of(self.study, self.rows())}
        own = [found.get(tuple(values.values())) for values in machines]
        return [tuple(one[name] for name in self.study.objectives) if one is not None else None for one in own]


def _progress(spent: float, computed: int, done: int, total: int) -> tuple[str, int, int]:
    """What a progress bar tells, with the time that is left if the rest takes as long as what was computed."""
    left = spent / computed * (total - done)
    told = f"{left / 3600:.1f} h" if left > 5400 else f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s"
    return f"sweep, {told} left", done, total


def front_of(study: Study, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`machines` as `machines_of` has them, and the `front` of those."""
    machines = machines_of(study, rows)
    costs = np.array([[machine[name] for name in study.objectives] for machine in machines], np.float64)
    best = undominated(costs.reshape(-1, len(study.objectives))) if machines else []
    return {"machines": machines, "front": [machines[place] for place in best]}


def machines_of(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Machines with programs for all networks, each with the geometric means of its networks' figures."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row["attributes"].values()), []).append(row)
    each = len(study.networks) * len(study.batches)
    return [
        {
            "attributes": group[0]["attributes"],
            **{name: _mean([row[name] for row in group]) for name in (*FIGURES, *study.plugged())},
            **{name: group[0][name] for name in study.costs()},
        }
        for group in groups.values()
        if len(group) == each and not any("error" in row for row in group)
    ]


def _mean(values: Sequence[float]) -> float:
    """The geometric mean; exact where there is one value, 0 where one is 0."""
    if len(values) == 1:
        return values[0]
    return exp(fsum(map(log, values)) / len(values)) if all(value > 0 for value in values) else 0.0
