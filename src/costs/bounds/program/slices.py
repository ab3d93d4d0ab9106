"""What parts of values need of all that is before them, such as single operations and results, wherever they are."""

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


Reads = tuple[tuple[int, Demand], ...]
"""Parts of values."""


def slices_of(network: Network, steps: Sequence[Step], counted: Sequence[int]) -> Slices:
    """Of an operation of each of `steps`, and of each output; points are those of the steps with numbers `counted`."""
    shapes = [value.shape for value in network.values]
    results = [((value, element(shapes[value])),) for value in network.outputs]
    found = needed(network, steps, counted, [*(operation(step, shapes) for step in steps), *results])
    externals = sum(value.external for value in network.values)
    return Slices(externals, found[: len(steps)], dict(zip(network.outputs, found[len(steps) :], strict=True)))


def needed(network: Network, steps: Sequence[Step], counted: Sequence[int], parts: Sequence[Reads]) -> Floats:
    """A row for each of `parts`, with the columns of `Slices`."""
    shapes = [value.shape for value in network.values]
    externals = [i for i, value in enumerate(network.values) if value.external]
    column = {value: i for i, value in enumerate(externals)}
    place = {steps[k].target: len(externals) + i for i, k in enumerate(counted)}
    asked: list[dict[Demand, None]] = [{} for _ in network.values]
    for reads in parts:
        for value, demand in reads:
            asked[value][demand] = None
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
    own = [_together([rows[read] for read in reads], width) for reads in parts]
    return np.array(own).reshape(len(own), width)


def _together(rows: Sequence[Floats], width: int) -> Floats:
    """Of all that is needed of the same thing, what is needed most of it."""
    return np.maximum.reduce(rows) if rows else np.zeros(width)
