"""The least time until the last reads of weights that the chip has no room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .demand import Demand, Need, element, elements, is_inside, need, users
from .network import Join, Network, Read, Step, View
from .slices import Floats, Reads, needed
from .some_elements import Places, points_of_elements

MOST_PARTS = 16
"""Parts of a weight along a dim that are looked at."""

ELEMENT_PARTS = 64
"""Parts of a weight each of whose elements is read with one element of a map."""


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
    network: Network,
    steps: Sequence[Step],
    needs: Sequence[Need],
    chains: Chains,
    cycles: Floats,
    room_bytes: int,
    load_rate: float,
) -> Iterator[LastRead]:
    """Of all weights that `steps` read; `cycles` are those of a point of each step on each unit.  Of a weight that the
    chip has no room for, it is looked at which elements of a map are read with which of its own.

    Before the last read of an element all is loaded and made that any of the operations that read it need.
    """
    shapes = [value.shape for value in network.values]
    sizes = read_bytes(network, needs)
    asked = [(step, read, users(step, read, shapes)) for step in steps for read in step.reads if read.value in sizes]
    rows = iter(needed(network, steps, range(len(steps)), [part for *_, parts in asked for part in parts]))
    externals = sum(value.external for value in network.values)
    column = {step.target: i for i, step in enumerate(steps)}
    last: dict[int, Floats] = {}
    for step, read, parts in asked:
        found: list[Floats] = []
        once = read_once(chains, step, read) if sizes[read.value] > room_bytes else None
        least = least_of_elements(network, chains, once) if once is not None else {}
        for part, row in zip(parts, islice(rows, len(parts)), strict=True):
            loads = row[:externals].sum() / load_rate if load_rate else 0.0
            extent, disjoint = chains.disjoint(step, read, part)
            made = np.tile(row[externals:], (min(extent, MOST_PARTS) if once is None else ELEMENT_PARTS, 1))
            coordinates = np.arange(len(made)) * extent // len(made) + 1
            known = {column[target]: points for target, points in disjoint.items() if target in column}
            at = list(known)
            made[:, at] = np.maximum(made[:, at], np.outer(coordinates, list(known.values())))
            for target, points in least.items():
                if target in column:
                    made[:, column[target]] = np.maximum(made[:, column[target]], points)
            found.append(np.maximum((cycles @ made.T).max(axis=0), loads))
        own = -np.sort(-np.concatenate(found))
        own = own if sizes[read.value] == network.values[read.value].bytes else own[-1:]
        before = last.get(read.value, own)
        last[read.value] = np.maximum(before, own) if len(before) == len(own) else max(before, own, key=np.mean)
    for value, own in last.items():
        yield from (LastRead(before, sizes[value] / len(own)) for before in own.tolist())


class ReadOnce(NamedTuple):
    """A map, and how many of its elements, along axes in front, are read with each element of a weight."""

    value: int
    together: int


def read_once(chains: Chains, step: Step, read: Read) -> ReadOnce | None:
    """A map of which all elements are read, each with elements of a weight with which no other ones are read but those
    at the same place along the axes behind: one of each sample of a batch.
    """
    shapes = chains.shapes
    own = {form.names[0] for form in read.forms if len(form.names) == 1}
    added = {name for form in read.forms for name in form.names} - own
    for other in step.reads:
        shape = shapes[other.value]
        axes = [axis for axis, size in enumerate(shape) if size > 1]
        if other is read or not all(_is_one_to_one(step, other, axis, shapes) for axis in axes):
            continue
        names = [other.forms[axis].names[0] for axis in axes]
        behind = [name in own for name in names]
        if added & set(names) or len(set(names)) < len(names) or not any(behind) or behind != sorted(behind):
            continue
        if prod(step.extents[name] for name in names) == prod(shape):
            value = _without_views(chains.makers, other.value)
            together = prod(shape[axis] for axis, named in zip(axes, behind, strict=True) if not named)
            return None if value is None else ReadOnce(value, together)
    return None


def _without_views(makers: Mapping[int, Step | View | Join], value: int) -> int | None:
    while isinstance(view := makers.get(value), View):
        value = view.source
    return value if value in makers else None


def least_of_elements(network: Network, chains: Chains, read: ReadOnce) -> dict[int, Floats]:
    """By targets of steps, the points before the first element of each of `ELEMENT_PARTS` of a weight is read.

    Elements are counted in the order in which a program reads them, whatever that is.
    """
    if read not in chains.elements:
        value, shape = read.value, network.values[read.value].shape
        front = front_of(read, shape)
        every = range(len(shape))
        apart = {axis: {target for target, _ in chains.points(value, element(shape), axis)} for axis in every}
        chains.elements[read] = (
            {} if front is None else points_of_elements(network, Places(value, front), apart, counts_of(shape, front))
        )
    return chains.elements[read]


def front_of(read: ReadOnce, shape: Sequence[int]) -> int | None:
    """How many axes in front of a map have the elements that are read together."""
    return next((axes for axes in range(len(shape)) if prod(shape[:axes]) == read.together), None)


def counts_of(shape: Sequence[int], front: int) -> NDArray[np.int64]:
    """How many elements there are with the first of each of `ELEMENT_PARTS`."""
    return np.arange(ELEMENT_PARTS) * prod(shape[front:]) // ELEMENT_PARTS + 1


class _Link(NamedTuple):
    """Points of a step that a demand of one coordinate of an axis needs and no other coordinate does; and what is then
    needed of one coordinate of an axis of a value before, -1 if of none.
    """

    points: int
    value: int
    demand: Demand
    axis: int


@dataclass(frozen=True)
class Chains:
    """What single coordinates of an axis need of the steps before, each of them looked at once."""

    makers: dict[int, Step | View | Join]
    shapes: Sequence[Sequence[int]]
    links: dict[tuple[int, Demand, int], _Link | None] = field(default_factory=dict[Any, Any])
    elements: dict[ReadOnce, dict[int, Floats]] = field(default_factory=dict[Any, Any])

    def disjoint(self, step: Step, read: Read, part: Reads) -> tuple[int, dict[int, int]]:
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
                if other is read or not own & set(form.names) or not _is_one_to_one(step, other, axis, self.shapes):
                    continue
                if other.value in demands and sum(one.value == other.value for one in step.reads) == 1:
                    found = dict(self.points(other.value, demands[other.value], axis))
                    best = max(
                        best, (step.extents[form.names[0]], found), key=lambda one: one[0] * sum(one[1].values())
                    )
        return best

    def points(self, value: int, demand: Demand, axis: int) -> Iterator[tuple[int, int]]:
        """By targets of steps, the points that a demand of one coordinate of an axis needs."""
        while (link := self._link(value, demand, axis)) is not None:
            yield value, link.points
            _, value, demand, axis = link

    def _link(self, value: int, demand: Demand, axis: int) -> _Link | None:
        """Of the step that makes a value, if one does."""
        key = value, demand, axis
        if key not in self.links:
            step = self.makers.get(value)
            self.links[key] = self._made(step, demand, axis) if isinstance(step, Step) else None
        return self.links[key]

    def _made(self, step: Step, demand: Demand, axis: int) -> _Link:
        needs = need(step, demand, self.shapes)
        names, demands = step.kernel.target.forms[axis].names, dict(needs.reads)
        following = (
            (read.value, at)
            for read in step.reads
            for at, form in enumerate(read.forms)
            if form.names == names and _is_one_to_one(step, read, at, self.shapes) and read.value in self.makers
            if sum(one.value == read.value for one in step.reads) == 1 and read.value in demands
        )
        value, axis = next(following, (-1, 0))
        return _Link(needs.points, value, demands.get(value, ()), axis)


def _is_one_to_one(step: Step, read: Read, axis: int, shapes: Sequence[Sequence[int]]) -> bool:
    """Whether each coordinate of one dim reads another coordinate of an axis."""
    form = read.forms[axis]
    return len(form.names) == 1 and is_inside(form, step.extents, shapes[read.value][axis])
