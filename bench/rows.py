"""Tables that are made row by row by several processes, and can be stopped and taken up again.

A table is a file of JSON lines; a row is appended as soon as it is there, and rows that are there are not made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice, product
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.mappers import map_problem
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers import layer

Row = dict[str, Any]
Task = TypeVar("Task")


def read(path: Path) -> list[Row]:
    """The rows of a table; none if there is no file.  A last line that was cut off is left out."""
    if not path.exists():
        return []
    rows: list[Row] = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def make(
    path: Path, tasks: Iterable[Task], work: Callable[[Task], Row], jobs: int, seconds: float = float("inf")
) -> Iterator[Row]:
    """The rows of `tasks` as they are ready, each appended to the table; no task is taken up after `seconds`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun, left = monotonic(), iter(tasks)
    waiting: set[Future[Row]] = set()
    with path.open("a") as file, ProcessPoolExecutor(jobs, initializer=_warm_up) as pool:
        while True:
            free = 2 * jobs - len(waiting) if monotonic() - begun < seconds else 0
            waiting |= {pool.submit(work, task) for task in islice(left, free)}
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                row = future.result()
                file.write(json.dumps(row) + "\n")
                file.flush()
                yield row


def _warm_up() -> None:
    """Load the compiled code of the mappers, so that no row counts it."""
    machine = find_architecture("conventional")
    requests = Request(time_limit_s=2.0), Request(model="timeloop", space=Space(bypass=True), time_limit_s=2.0)
    for mapper, request in product(("exact", "refine"), requests):
        map_problem(machine, layer("resnet18:conv5_1"), mapper, request)
