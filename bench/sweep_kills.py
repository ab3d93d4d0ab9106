"""A sweep that is killed three times and goes on: nothing lost, nothing twice; and its speed against single runs.

    python bench/sweep_kills.py --points 300 --jobs 2

computes a study of so many cheap points in `jobs` processes, ends it with SIGKILL after each quarter, and resumes it.
Every start notes what the database has; at the end each point must be there once, and all starts together must have
computed no point that was kept before.  Then as many points are computed in one process that keeps nothing, and in
`jobs` such processes side by side, which share the machine's caches as a sweep's do: points a second, and CPU
milliseconds a point, of which a sweep takes more for what it sends and keeps (its processes' start aside).
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
from multiprocessing import get_context
from pathlib import Path

from tilewright.driver.sweep import figures_of
from tilewright.driver.sweep_spec import read_study

KILLS = 3

SPEC = """
target = "{target}"
networks = ["{network}"]
[attributes]
"DRAM.bandwidth" = {bandwidths}
[options]
prove = false
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--network", default="O[m,n] += A[m,k] * B[k,n]; m=10 n=4 k=6")
    parser.add_argument("--target", default="tiny")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "study.toml"
        spec.write_text(_spec(arguments, arguments.points))
        good = _killed(spec, arguments.points, arguments.jobs)
        few = spec.with_name("few.toml")
        few.write_text(_spec(arguments, arguments.jobs))
        _speed(spec, few, arguments.jobs)
    return 0 if good else 1


def _spec(arguments: argparse.Namespace, points: int) -> str:
    """A study of so many points."""
    bandwidths = list(range(4, points + 4))
    return SPEC.format(target=arguments.target, network=arguments.network, bandwidths=bandwidths)


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


def _speed(spec: Path, few: Path, jobs: int) -> None:
    """Points a second and CPU milliseconds a point of a fresh sweep and of single runs.

    The start of a sweep's processes is taken off: it is that of a study `few` of a point each.
    """
    points = len(list(read_study(spec).points(read_study(spec).machines())))
    single, single_cpu = _alone(spec, points)
    with get_context("spawn").Pool(jobs) as pool:
        rates = pool.starmap(_alone, [(spec, points // jobs)] * jobs, chunksize=1)
    beside, beside_cpu = sum(rate for rate, _ in rates), sum(cpu for _, cpu in rates) / jobs
    started, _ = _sweep_cpu(few, jobs)
    spent, together = _sweep_cpu(spec, jobs)
    each = (spent - started) / (points - jobs)
    print(f"{'':20}{'points/s':>10}{'of the most':>13}{'CPU ms a point':>16}{'of the most':>13}")
    rows = ("single", single, single_cpu), (f"{jobs} side by side", beside, beside_cpu), ("sweep", together, each)
    for name, rate, cpu in rows:
        most = single * (1 if name == "single" else jobs)
        print(f"{name:20}{rate:10.2f}{rate / most:13.2f}{1e3 * cpu:16.1f}{single_cpu / cpu:13.2f}")


def _alone(spec: Path, count: int) -> tuple[float, float]:
    """Points a second and CPU seconds a point of the first `count` points here, one after another; nothing is kept."""
    study = read_study(spec)
    points = [row for row, _ in study.points(study.machines())][:count]
    figures_of(study, points[0])
    start, cpu = time.monotonic(), time.process_time()
    for point in points:
        figures_of(study, point)
    return count / (time.monotonic() - start), (time.process_time() - cpu) / count


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
