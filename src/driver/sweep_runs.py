"""Where the points of a study are computed: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from ..errors import TilewrightError
from ..extras import extra
from ..interruption import stoppable
from ..search.processes import in_processes
from .points import evaluate, no_layers
from .sweep_spec import Row, Study

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
