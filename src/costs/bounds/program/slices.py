"""What single operations and single result elements need of all that is before them, wherever they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .demand import Demand, Need, element, elements, need, operation
from .network import Network, Step

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slices:
    """Bytes of external values (columns first) and points of steps (columns after) that are needed at least."""

    externals: int
    operations: Floats  # a row for each of the steps
    results: dict[int, Floats]  # a row for each output that steps make


def slices_of(network: Network, steps: Sequence[Step], counted: Sequence[int]) -> Slices:
    """Of each of `steps`, and of each output; points are those of the steps with numbers `counted`."""
    shapes = [value.shape for value in network.values]
    externals = [i for i, value in enumerate(network.values) if value.external]
    column = {value: i for i, value in enumerate(externals)}
    place = {steps[k].target: len(externals) + i for i, k in enumerate(counted)}
    asked: list[dict[Demand, None]] = [{} for _ in network.values]
    for step in steps:
        for value, demand in operation(step, shapes):
            asked[value][demand] = None
    for value in network.outputs:
        asked[value][element(shapes[value])] = None
    needs: dict[tuple[int, Demand], Need] = {}
    for step in reversed(network.steps):
        for demand in asked[step.target]:
            found = needs[step.target, demand] = need(step, demand, shapes)
            for value, part in found.reads:
                asked[value][part] = None
    width = len(externals) + len(counted)
    rows: dict[tuple[int, Demand], Floats] = {}
    for value, at in column.items():
        for demand in asked[value]:
            row = rows[value, demand] = np.zeros(width)
            row[at] = elements(demand) * network.values[value].element_bytes
    for step in network.steps:
        for demand in asked[step.target]:
            found = needs[step.target, demand]
            row = rows[step.target, demand] = _together([rows[read] for read in found.reads], width)
            if step.target in place:
                row[place[step.target]] = found.points
    own = [_together([rows[read] for read in operation(step, shapes)], width) for step in steps]
    results = {value: rows[value, element(shapes[value])] for value in network.outputs}
    return Slices(len(externals), np.array(own).reshape(len(own), width), results)


def _together(rows: Sequence[Floats], width: int) -> Floats:
    """Of all that is needed of the same thing, what is needed most of it."""
    return np.maximum.reduce(rows) if rows else np.zeros(width)
