"""When weights are read for the last time: until then they are on chip, or come in later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from .demand import Demand, Need, elements, is_inside, need, users
from .network import Join, Network, Read, Step, View
from .slices import Floats, Reads, needed

MOST_PARTS = 16
"""Parts of a weight along a dim that are looked at."""


class LastRead(NamedTuple):
    """Of a part of a weight: cycles before the last operation that reads any of its elements begins, and its bytes."""

    before: float
    bytes: float


def read_bytes(network: Network, needs: Sequence[Need]) -> dict[int, int]:
    """Bytes of each input and weight that is read."""
    sizes: dict[int, int] = {}
    for found in needs:
        for value, demand in found.reads:
            if network.values[value].external:
                sizes[value] = max(sizes.get(value, 0), elements(demand) * network.values[value].element_bytes)
    return sizes


def least_end(last: Iterable[LastRead], room_bytes: int, load_rate: float) -> float:
    """Cycles at least, where the memories on chip hold so many bytes and so many come in a cycle.

    When the first of some last reads can begin, all that is read then or later is on chip, or comes in later.
    """
    most, left = 0.0, float(-room_bytes)
    for before, size in sorted(last, reverse=True):
        left += size
        most = max(most, before + left / load_rate if left > 0 and load_rate else 0.0)
    return most


def last_reads(
    network: Network, steps: Sequence[Step], needs: Sequence[Need], cycles: Floats, load_rate: float
) -> Iterator[LastRead]:
    """Of all weights that `steps` read; `cycles` are those of a point of each step on each unit.

    Before the last read of an element all is loaded and made that any of the operations that read it need.
    """
    shapes = [value.shape for value in network.values]
    sizes = read_bytes(network, needs)
    asked = [(step, read, users(step, read, shapes)) for step in steps for read in step.reads if read.value in sizes]
    rows = iter(needed(network, steps, range(len(steps)), [part for *_, parts in asked for part in parts]))
    externals = sum(value.external for value in network.values)
    makers = {step.target: step for step in network.steps}
    column = {step.target: i for i, step in enumerate(steps)}
    last: dict[int, Floats] = {}
    for step, read, parts in asked:
        found: list[Floats] = []
        for part, row in zip(parts, islice(rows, len(parts)), strict=True):
            loads = row[:externals].sum() / load_rate if load_rate else 0.0
            extent, disjoint = _disjoint_points(shapes, makers, step, read, part)
            made = np.tile(row[externals:], (min(extent, MOST_PARTS), 1))
            coordinates = np.arange(len(made)) * extent // len(made) + 1
            for target, points in disjoint.items():
                if target in column:
                    made[:, column[target]] = np.maximum(made[:, column[target]], coordinates * points)
            found.append(np.maximum((cycles @ made.T).max(axis=0), loads))
        own = -np.sort(-np.concatenate(found))
        own = own if sizes[read.value] == network.values[read.value].bytes else own[-1:]
        known = last.get(read.value, own)
        last[read.value] = np.maximum(known, own) if len(known) == len(own) else max(known, own, key=np.mean)
    for value, own in last.items():
        yield from (LastRead(before, sizes[value] / len(own)) for before in own.tolist())


def _disjoint_points(
    shapes: Sequence[Sequence[int]], makers: dict[int, Step | View | Join], step: Step, read: Read, part: Reads
) -> tuple[int, dict[int, int]]:
    """Of the dim of a weight that most points depend on: its extent, and by targets of steps the points that each
    coordinate needs, other ones for each coordinate; `part` is what the operations that read an element need.

    The operations read a value at this coordinate of an axis, whose elements are made one by one from those of the
    steps before at one coordinate, too.
    """
    own = {form.names[0] for form in read.forms if len(form.names) == 1}
    demands = dict(part)
    best: tuple[int, dict[int, int]] = 1, {}
    for other in step.reads:
        for axis, form in enumerate(other.forms):
            if other is read or not own & set(form.names) or not _is_one_to_one(step, other, axis, shapes):
                continue
            if other.value in demands and sum(one.value == other.value for one in step.reads) == 1:
                found = _points_along(makers, other.value, demands[other.value], axis, shapes)
                best = max(best, (step.extents[form.names[0]], found), key=lambda one: one[0] * sum(one[1].values()))
    return best


def _points_along(
    makers: dict[int, Step | View | Join], value: int, demand: Demand, axis: int, shapes: Sequence[Sequence[int]]
) -> dict[int, int]:
    """By targets of steps, the points that a demand of one coordinate of an axis needs and no other coordinate does."""
    found: dict[int, int] = {}
    while isinstance(step := makers.get(value), Step):
        needs = need(step, demand, shapes)
        found[value] = needs.points
        names, demands = step.kernel.target.forms[axis].names, dict(needs.reads)
        following = (
            (read.value, at)
            for read in step.reads
            for at, form in enumerate(read.forms)
            if form.names == names and _is_one_to_one(step, read, at, shapes) and read.value in makers
            if sum(one.value == read.value for one in step.reads) == 1 and read.value in demands
        )
        value, axis = next(following, (-1, 0))
        demand = demands.get(value, ())
    return found


def _is_one_to_one(step: Step, read: Read, axis: int, shapes: Sequence[Sequence[int]]) -> bool:
    """Whether each coordinate of one dim reads another coordinate of an axis."""
    form = read.forms[axis]
    return len(form.names) == 1 and is_inside(form, step.extents, shapes[read.value][axis])
