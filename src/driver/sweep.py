"""Studies: points computed on several processes, none twice, and what no other machine is better than.

Machines may be chosen by what those before came to, in rounds (tree-structured Parzen estimator, Bergstra 2011).  Of
Optuna's samplers this finds the front with the fewest machines: on 252 machines of a model study with a front of 13, 40
of them hold 7 or 8 of it; 2 or 3 with NSGA-II, 1 or 2 at random.
"""

import hashlib
import json
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import cache, partial
from importlib.metadata import version
from math import exp, fsum, log
from pathlib import Path
from typing import Any

import numpy as np

from ..costs.pareto import undominated
from ..errors import TilewrightError
from ..extras import extra
from ..files import hash_of
from ..frontends.acg import print_target
from ..interruption import requested, stoppable
from ..machine.changes import Value
from ..option_fields import answer_fields
from ..search.processes import in_processes
from .cost_terms import version_of
from .models import Progress
from .points import Point, evaluate, no_layers
from .sweep_spec import FIGURES, Row, Study

Note = Callable[[int, dict[str, Any]], None]
Run = Callable[[Study, Sequence[Row], Note], None]
"""Computes points of a study and calls `note(place, answer)` as each ends, in any order."""

CONNECT_S = 30
"""How long a scheduler has to answer."""

LOST = "lost"
"""The kind of error of a point over which several workers died: none that the point has by itself."""


def figures_of(study: Study, row: Row) -> dict[str, Any]:
    """What is computed of a point; its machine is made where it is computed, which is cheaper than to send it."""
    return evaluate(study.point(row), no_layers)


def on_this_machine(jobs: int) -> Run:
    """Points in `jobs` processes."""
    return lambda study, rows, note: in_processes(partial(figures_of, study), rows, jobs, note)


def on_cluster(address: str) -> Run:
    """Points on the workers of the Dask scheduler at `address`, which have tilewright and the files of the study.

    Points of a worker that dies run again on another one, as often as the cluster's `allowed-failures` says.
    """
    distributed = extra("distributed", "dask", "--scheduler")
    return partial(_on_cluster, distributed, address)


def _on_cluster(distributed: Any, address: str, study: Study, rows: Sequence[Row], note: Note) -> None:
    if not rows:
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        expected, lever = "the address of a Dask scheduler that answers", "start one with `dask scheduler`"
        raise TilewrightError("usage", "--scheduler", expected, f"{address}: {error}", lever) from error
    with closing(client):
        futures = client.map(partial(figures_of, study), rows, pure=False)
        places = {future.key: place for place, future in enumerate(futures)}
        with stoppable():
            for future in distributed.as_completed(futures, loop=client.loop):
                note(places[future.key], _answer(distributed, future))
        client.cancel(futures)


def _answer(distributed: Any, future: Any) -> dict[str, Any]:
    """What a point came to; that it took its workers with it is an answer, too."""
    try:
        return future.result()
    except distributed.KilledWorker as error:
        found = TilewrightError(LOST, "a point", "workers that live", str(error)[:200], "give them more memory")
        return {"error": found.as_dict(), "cpu_s": 0.0}


WAIT_S = 60
"""How long a sweep waits for another that writes."""


def key_of(point: Point) -> str:
    """A hash of the model (its bytes, of a file), the machine, shapes, options, versions of tilewright and of costs."""
    path = Path(point.model)
    model = hash_of(path) if path.suffix and path.is_file() else point.model
    costs = {name: version_of(name) for name in point.costs}
    options = answer_fields(point.options)
    whole = [model, print_target(point.machine), asdict(point.shapes), options, _version(), costs]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


@cache
def _version() -> str:
    return version("tilewright")


class Store:
    """The answers in a file; several processes may use one.

    What was `put` stays when the process is killed; what the last seconds brought may be lost when the machine loses
    its power.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.connection = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")
            self.connection.execute("CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, point TEXT, answer TEXT)")
        except sqlite3.Error as error:
            raise TilewrightError("file", str(path), "an SQLite file that can be written", str(error)) from error

    def answers(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The answers that are there."""
        found: dict[str, dict[str, Any]] = {}
        try:
            for key in keys:
                row = self.connection.execute("SELECT answer FROM points WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = json.loads(row[0])
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise TilewrightError("file", str(self.path), "answers as sweeps write them", str(error)) from error
        return found

    def put(self, key: str, point: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Keep an answer; one that another sweep has put there stays."""
        row = key, json.dumps(point), json.dumps(answer)
        try:
            self.connection.execute("INSERT OR IGNORE INTO points VALUES (?, ?, ?)", row)
        except sqlite3.Error as error:
            raise TilewrightError("file", str(self.path), "an SQLite file that can be written", str(error)) from error

    def close(self) -> None:
        """Nothing more is put."""
        self.connection.close()


ROUND = 5
"""Machines of a round; the same for any number of processes, and so is what is found."""

TRIES = 20
"""Rounds in a row that bring no machine which is not known, after which the search ends."""

Figures = Callable[[Sequence[Mapping[str, Value]]], list[tuple[float, ...] | None]]


def search(study: Study, figures: Figures) -> None:
    """Ask for the `figures` of `study.search` different machines at most, a round at a time.

    Values of attributes are ordered as the study gives them.  Machines without a program teach nothing.
    `TilewrightError` (kind `usage`) without Optuna.
    """
    optuna = extra("optuna", "search", "search")
    chosen = _study(optuna, study)
    known: dict[tuple[Value, ...], tuple[float, ...] | None] = {}
    idle = 0
    while len(known) < study.search and idle < TRIES and not requested():
        trials = [chosen.ask() for _ in range(ROUND)]
        machines = [_machine(study, trial) for trial in trials]
        new = list({tuple(one.values()): one for one in machines if tuple(one.values()) not in known}.values())
        new = new[: study.search - len(known)]
        idle = 0 if new else idle + 1
        known |= zip((tuple(one.values()) for one in new), figures(new), strict=True)
        for trial, machine in zip(trials, machines, strict=True):
            found = known.get(tuple(machine.values()))
            state = optuna.trial.TrialState.COMPLETE if found is not None else optuna.trial.TrialState.FAIL
            chosen.tell(trial, found, state=state)


def _study(optuna: Any, study: Study) -> Any:
    """Optuna's study, which keeps nothing and says nothing."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(seed=study.seed, multivariate=True, constant_liar=True)
        return optuna.create_study(directions=["minimize"] * len(study.objectives), sampler=sampler)


def _machine(study: Study, trial: Any) -> dict[str, Value]:
    return {
        path: values[trial.suggest_int(path, 0, len(values) - 1) if len(values) > 1 else 0]
        for path, values in study.attributes.items()
    }


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
