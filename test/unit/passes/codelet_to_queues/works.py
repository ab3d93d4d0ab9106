"""What instructions keep busy, by names, as problems of order have it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tilewright.passes.codelet_to_queues.order import Problem, Timed
from tilewright.passes.codelet_to_queues.timed import Arrows


class Work(NamedTuple):
    """What an instruction keeps busy: its unit, which works in order, and a resource (node or channel) for `cycles`."""

    unit: int
    resource: str
    cycles: int


def problem_of(work: Sequence[Work], before: Arrows, depths: Sequence[int]) -> Problem:
    """The same with a number for each resource."""
    resources = {name: number for number, name in enumerate(dict.fromkeys(item.resource for item in work))}
    rows = [(item.unit, resources[item.resource], item.cycles) for item in work]
    return Problem(np.array(rows, np.int64).reshape(-1, 3), before, np.array(depths, np.int64))


def waits_of(timed: Timed) -> list[list[tuple[int, int]]]:
    """For each place the (unit, count) pairs that are waited for."""
    return [[(unit, count) for unit, count in enumerate(row) if count] for row in timed.needs.tolist()]
