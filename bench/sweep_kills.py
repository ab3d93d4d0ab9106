"""A sweep that is killed three times and goes on: nothing lost, nothing twice; and its speed against single runs.

    python bench/sweep_kills.py --points 300 --jobs 2

computes a study of so many cheap points in `jobs` processes, ends it with SIGKILL after each quarter, and resumes it.
Every start notes what the database has; at the end each point must be there once, and all starts together must have
computed no point that was kept before.  Then as many points are computed in one process that keeps nothing: points a
second, and CPU seconds a point, of which a sweep takes more for what it sends and keeps (its processes' start aside).
Exit code 1 where a point is missing or was computed twice.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tilewright.driver.sweep_runs import figures_of
from tilewright.driver.sweep_spec import read_study

KILLS = 3

SPEC = """
target = "tiny"
networks = ["O[m,n] += A[m,k] * B[k,n]; m=10 n=4 k=6"]
[attributes]
"DRAM.bandwidth" = {bandwidths}
[options]
prove = false
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "study.toml"
        spec.write_text(SPEC.format(bandwidths=list(range(4, arguments.points + 4))))
        good = _killed(spec, arguments.points, arguments.jobs)
        _speed(spec, arguments.jobs)
    return 0 if good else 1


def _killed(spec: Path, points: int, jobs: int) -> bool:
    database = spec.with_name("sweep.sqlite")
    command = [sys.executable, "-m", "tilewright", "sweep", str(spec), "--jobs", str(jobs), "--json"]
    kept: list[int] = []
    for kill in range(1, KILLS + 1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(_keys(database)) < points * kill // (KILLS + 1) and process.poll() is None:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(1)  # its processes end with it
        kept.append(len(_keys(database)))
    last = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    keys = _keys(database)
    good = len(set(keys)) == len(keys) == last["done"] == points and last["computed"] == points - kept[-1]
    print(f"{points} points, killed at {kept}, {last['computed']} computed after: {'whole' if good else 'NOT WHOLE'}")
    return good


def _keys(database: Path) -> list[str]:
    """The keys in a database; none before there is one."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            return [key for (key,) in connection.execute("SELECT key FROM points")]
    except sqlite3.Error:
        return []


def _speed(spec: Path, jobs: int) -> None:
    """Points a second and CPU seconds a point of a fresh sweep, its processes' start aside, and of single runs here."""
    study = read_study(spec)
    points = [row for row, _ in study.points(study.machines())]
    figures_of(study, points[0])
    start, cpu = time.monotonic(), time.process_time()
    for point in points:
        figures_of(study, point)
    single, single_cpu = len(points) / (time.monotonic() - start), (time.process_time() - cpu) / len(points)
    few = spec.with_name("few.toml")
    few.write_text(SPEC.format(bandwidths=list(range(4, 4 + jobs))))
    started, _ = _sweep_cpu(few, jobs)
    spent, together = _sweep_cpu(spec, jobs)
    each = (spent - started) / (len(points) - jobs)
    print(f"single {single:.2f} points/s, {jobs} processes {together:.2f}: {together / single / jobs:.2f} of the most")
    print(
        f"CPU ms of a point: single {1e3 * single_cpu:.1f}, sweep {1e3 * each:.1f}: {single_cpu / each:.2f} of the most"
    )


def _sweep_cpu(spec: Path, jobs: int) -> tuple[float, float]:
    """CPU seconds of a fresh sweep and all of its processes, and its points a second after the first."""
    database = spec.with_name(f"fresh_{spec.stem}.sqlite")
    command = [sys.executable, "-m", "tilewright", "sweep", str(spec), "--jobs", str(jobs), "--database", str(database)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while not (first := len(_keys(database))) and process.poll() is None:
        time.sleep(0.05)
    start = time.monotonic()
    process.wait()
    rate = (len(_keys(database)) - first) / (time.monotonic() - start)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, rate


if __name__ == "__main__":
    sys.exit(main())
