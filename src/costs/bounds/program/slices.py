"""What parts of values need of all that is before them, such as single operations and results, wherever they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .demand import Demand, Need, element, elements, need, operation
from .network import Join, Network, Step, View

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


class _Kind(NamedTuple):
    """Steps that are alike but for their values: one of them, its sources, and what demands of its target need."""

    step: Step | View | Join
    sources: tuple[int, ...]
    needs: dict[Demand, Need]

    def need(self, demand: Demand, sources: Sequence[int], shapes: Sequence[Sequence[int]]) -> Need:
        """What `demand` needs of the step whose sources are these."""
        found = self.needs.get(demand)
        if found is None:
            found = self.needs[demand] = need(self.step, demand, shapes)
        if sources == self.sources:
            return found
        own = dict(zip(self.sources, sources, strict=True))
        reads, either = (tuple((own[value], part) for value, part in one) for one in (found.reads, found.either))
        return Need(found.points, found.written, reads, either)


def _alike(step: Step | View | Join, sources: Sequence[int], shapes: Sequence[Sequence[int]]) -> tuple[object, ...]:
    """What `need` depends on but for the numbers of values."""
    sizes = tuple(shapes[value] for value in (*sources, step.target))
    match step:
        case Step():
            kernel, place = step.kernel, sources.index
            extents = tuple((name, step.extents[name]) for name in kernel.dims)
            reads = tuple((place(read.value), read.forms, read.padded) for read in step.reads)
            init = None if step.init is None else place(step.init)
            return sizes, kernel.target.forms, kernel.statement.reduce, extents, reads, init
        case View():
            return (sizes,)
        case Join():
            return sizes, step.axis, tuple(map(sources.index, step.sources))


def _needs(network: Network, asked: Sequence[dict[Demand, list[int]]]) -> dict[tuple[int, Demand], Need]:
    """Of all that is asked of each value, and of what that needs, which is added to `asked`."""
    shapes = [value.shape for value in network.values]
    needs: dict[tuple[int, Demand], Need] = {}
    kinds: dict[tuple[object, ...], _Kind] = {}
    for step in reversed(network.steps):
        sources = tuple(dict.fromkeys(step.sources))
        kind = kinds.setdefault(_alike(step, sources, shapes), _Kind(step, sources, {}))
        for demand in asked[step.target]:
            found = needs[step.target, demand] = kind.need(demand, sources, shapes)
            for value, part in (*found.reads, *found.either):
                asked[value].setdefault(part, [])
    return needs


def needed(network: Network, steps: Sequence[Step], counted: Sequence[int], parts: Sequence[Reads]) -> Floats:
    """A row for each of `parts`, with the columns of `Slices`: of all that it needs, what is needed most of it.

    Rows of what is between are there until the last that needs them has its own.
    """
    externals = [i for i, value in enumerate(network.values) if value.external]
    column = {value: i for i, value in enumerate(externals)}
    place = {steps[k].target: len(externals) + i for i, k in enumerate(counted)}
    asked: list[dict[Demand, list[int]]] = [{} for _ in network.values]
    for number, reads in enumerate(parts):
        for value, demand in reads:
            asked[value].setdefault(demand, []).append(number)
    needs = _needs(network, asked)
    waiting = Counter(read for found in needs.values() for read in (*found.reads, *found.either))
    own = np.zeros((len(parts), len(externals) + len(counted)))
    rows: dict[tuple[int, Demand], Floats] = {}

    def add(row: Floats, value: int, demand: Demand) -> None:
        if value in column:
            at = column[value]
            row[at] = max(row[at], elements(demand) * network.values[value].element_bytes)
        else:
            np.maximum(row, rows[value, demand], out=row)

    for value in externals:
        for demand, numbers in asked[value].items():
            for number in numbers:
                add(own[number], value, demand)
    for step in network.steps:
        for demand, numbers in asked[step.target].items():
            found = needs.pop((step.target, demand))
            waiting.subtract((*found.reads, *found.either))
            free = next((read for read in found.reads if read in rows and not waiting[read]), None)
            row = rows[step.target, demand] = np.zeros(own.shape[1]) if free is None else rows.pop(free)
            for read in found.reads:
                if read != free:
                    add(row, *read)
            if found.either:
                choices = np.zeros((len(found.either), len(row)))
                for choice, read in zip(choices, found.either, strict=True):
                    add(choice, *read)
                np.maximum(row, choices.min(axis=0), out=row)
            for read in (*found.reads, *found.either):
                if not waiting[read]:
                    rows.pop(read, None)
            if step.target in place:
                row[place[step.target]] = found.points
            for number in numbers:
                add(own[number], step.target, demand)
            if not waiting[step.target, demand]:
                del rows[step.target, demand]
    return own
