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
from ..search.processes import in_processes
from .models import Progress
from .points import evaluate
from .sweep_spec import FIGURES, Study
from .sweep_store import Store, key_of


def sweep(study: Study, database: Path, *, jobs: int = 1, progress: Progress | None = None) -> dict[str, Any]:
    """The answer of `tilewright sweep`: `points`, `done`, `computed` now and `failed` ones; `rows`; the `front`.

    What the database has is not computed again; each point is kept as soon as it ends.
    """
    told, points = zip(*study.points(), strict=True)
    keys = [key_of(point) for point in points]
    with closing(Store(database)) as store:
        answers = store.answers(keys)
        missing = list(dict.fromkeys(key for key in keys if key not in answers))
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        start = time.monotonic()

        def note(place: int, answer: dict[str, Any]) -> None:
            key = missing[place]
            answers[key] = {name: value for name, value in answer.items() if name != "layers"}
            store.put(key, told[first[key]], answers[key])
            if progress is not None:
                progress(*_progress(time.monotonic() - start, len(missing), len(answers), len(set(keys))))

        in_processes(evaluate, [points[first[key]] for key in missing], jobs, note)
    rows = [{**point, **answers[key]} for point, key in zip(told, keys, strict=True) if key in answers]
    failed = sum("error" in row for row in rows)
    computed = sum(key in answers for key in missing)
    counts = {"points": len(points), "done": len(rows), "computed": computed, "failed": failed}
    front = front_of(study, rows)
    return {**counts, "database": str(database), "objectives": list(study.objectives), "rows": rows, **front}


def _progress(spent: float, missing: int, done: int, total: int) -> tuple[str, int, int]:
    """What a progress bar tells, with the time that is left if the rest takes as long as what was computed."""
    computed = missing - (total - done)
    left = spent / max(computed, 1) * (total - done)
    told = f"{left / 3600:.1f} h" if left > 5400 else f"{left / 60:.0f} min" if left > 90 else f"{left:.0f} s"
    return f"sweep, {told} left", done, total


def front_of(study: Study, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`machines`, each with the geometric means of its networks' figures, and the `front` of those."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row["attributes"].values()), []).append(row)
    each = len(study.networks) * len(study.batches)
    machines = [
        {
            "attributes": group[0]["attributes"],
            **{name: _mean([row[name] for row in group]) for name in FIGURES},
            **{name: group[0][name] for name in study.costs()},
        }
        for group in groups.values()
        if len(group) == each and not any("error" in row for row in group)
    ]
    costs = np.array([[machine[name] for name in study.objectives] for machine in machines], np.float64)
    best = undominated(costs.reshape(-1, len(study.objectives))) if machines else []
    return {"machines": machines, "front": [machines[place] for place in best]}


def _mean(values: Sequence[float]) -> float:
    """The geometric mean; exact where there is one value, 0 where one is 0."""
    if len(values) == 1:
        return values[0]
    return exp(fsum(map(log, values)) / len(values)) if all(value > 0 for value in values) else 0.0
