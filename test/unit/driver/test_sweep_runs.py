"""Points on a Dask cluster of separate processes: the answers of this machine's processes, also when a worker dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tilewright.driver.sweep import Note, on_cluster, sweep
from tilewright.driver.sweep_spec import Row, Study, read_study
from tilewright.errors import TilewrightError

SPEC = """
target = "tiny"
networks = ["O[m,n] += A[m,k] * B[k,n]; m=10 n=4 k=6", "O[m,n] += A[m,k] * B[k,n]; m=7 n=9 k=5"]
[attributes]
"SPAD.depth" = [256, 4096]
"DRAM.bandwidth" = [8, 16]
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "study.toml"
    path.write_text(SPEC)
    return read_study(path)


def figures(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without times and places."""
    rows = [{name: value for name, value in row.items() if name != "cpu_s"} for row in answer["rows"]]
    return {**answer, "rows": rows, "database": ""}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 4])
def test_a_cluster_answers_as_processes_do(study: Study, tmp_path: Path, workers: int):
    distributed = pytest.importorskip("distributed")
    own = sweep(study, tmp_path / "own.sqlite", jobs=2)
    assert own["failed"] == 4
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        theirs = sweep(study, tmp_path / "theirs.sqlite", run=on_cluster(cluster.scheduler_address))
    assert figures(theirs) == figures(own)


@pytest.mark.slow
def test_points_of_a_worker_that_dies_run_again(study: Study, tmp_path: Path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        run = on_cluster(cluster.scheduler_address)
        killed: list[int] = []

        def killing(study: Study, rows: Sequence[Row], note: Note) -> None:
            def after(place: int, answer: dict[str, Any]) -> None:
                if not killed:  # the others have points in flight
                    killed.append(next(iter(cluster.workers.values())).pid)
                    os.kill(killed[0], signal.SIGKILL)
                note(place, answer)

            run(study, rows, after)

        answer = sweep(study, tmp_path / "points.sqlite", run=killing)
    assert killed
    assert (answer["done"], answer["computed"], answer["failed"]) == (8, 8, 4)


def test_an_address_where_nobody_answers_is_told(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("tilewright.driver.sweep.CONNECT_S", 0.2)
    with pytest.raises(TilewrightError, match=r"a Dask scheduler that answers.*127\.0\.0\.1:9"):
        sweep(study, tmp_path / "points.sqlite", run=on_cluster("tcp://127.0.0.1:9"))
