"""Bounds of a network on a machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from math import ceil, inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....machine import Machine
from .arrival import Arrival
from .demand import Demand, Need, element, elements, is_inside, need, users
from .network import Join, Network, Read, Step, View
from .slices import Floats, Reads, Slices, needed, slices_of
from .some_elements import Places, points_of_elements
from .traffic import Traffic
from .transfers import Transfers
from .work import Work

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
    network: Network, steps: Sequence[Step], needs: Sequence[Need], cycles: Floats, room_bytes: int, load_rate: float
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
    along = _Along({step.target: step for step in network.steps}, shapes)
    last: dict[int, Floats] = {}
    for step, read, parts in asked:
        found: list[Floats] = []
        read_once = _read_once(along.makers, step, read, shapes) if sizes[read.value] > room_bytes else None
        least = _least_of_elements(network, along, read_once) if read_once is not None else []
        for part, row in zip(parts, islice(rows, len(parts)), strict=True):
            loads = row[:externals].sum() / load_rate if load_rate else 0.0
            extent, disjoint = along.disjoint(step, read, part)
            made = np.tile(row[externals:], (min(extent, MOST_PARTS) if read_once is None else ELEMENT_PARTS, 1))
            coordinates = np.arange(len(made)) * extent // len(made) + 1
            known = {column[target]: points for target, points in disjoint.items() if target in column}
            at = list(known)
            made[:, at] = np.maximum(made[:, at], np.outer(coordinates, list(known.values())))
            for target, points in least:
                if target in column:
                    made[:, column[target]] = np.maximum(made[:, column[target]], points)
            found.append(np.maximum((cycles @ made.T).max(axis=0), loads))
        own = -np.sort(-np.concatenate(found))
        own = own if sizes[read.value] == network.values[read.value].bytes else own[-1:]
        before = last.get(read.value, own)
        last[read.value] = np.maximum(before, own) if len(before) == len(own) else max(before, own, key=np.mean)
    for value, own in last.items():
        yield from (LastRead(before, sizes[value] / len(own)) for before in own.tolist())


class _ReadOnce(NamedTuple):
    """A map, and how many of its elements, along axes in front, are read with each element of a weight."""

    value: int
    together: int


def _read_once(
    makers: Mapping[int, Step | View | Join], step: Step, read: Read, shapes: Sequence[Sequence[int]]
) -> _ReadOnce | None:
    """A map of which all elements are read, each with elements of a weight with which no other ones are read but those
    at the same place along the axes behind: one of each sample of a batch.
    """
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
            value = _without_views(makers, other.value)
            together = prod(shape[axis] for axis, named in zip(axes, behind, strict=True) if not named)
            return None if value is None else _ReadOnce(value, together)
    return None


def _without_views(makers: Mapping[int, Step | View | Join], value: int) -> int | None:
    while isinstance(view := makers.get(value), View):
        value = view.source
    return value if value in makers else None


def _least_of_elements(network: Network, along: _Along, read: _ReadOnce) -> list[tuple[int, Floats]]:
    """Targets of steps, with the points before the first element of each of `ELEMENT_PARTS` of a weight is read.

    Elements are counted in the order in which a program reads them, whatever that is.
    """
    value, shape = read.value, network.values[read.value].shape
    front = next((axes for axes in range(len(shape)) if prod(shape[:axes]) == read.together), None)
    if front is None:
        return []
    apart = {axis: {target for target, _ in along.points(value, element(shape), axis)} for axis in range(len(shape))}
    counts = np.arange(ELEMENT_PARTS) * prod(shape[front:]) // ELEMENT_PARTS + 1
    return list(points_of_elements(network, Places(value, front), apart, counts).items())


class _Link(NamedTuple):
    """Points of a step that a demand of one coordinate of an axis needs and no other coordinate does; and what is then
    needed of one coordinate of an axis of a value before, -1 if of none.
    """

    points: int
    value: int
    demand: Demand
    axis: int


@dataclass(frozen=True)
class _Along:
    """What single coordinates of an axis need of the steps before, each of them looked at once."""

    makers: dict[int, Step | View | Join]
    shapes: Sequence[Sequence[int]]
    links: dict[tuple[int, Demand, int], _Link | None] = field(default_factory=dict[Any, Any])

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


MANY_STEPS = 2000
"""Kernels of which what comes before and after is looked at: it takes room for each pair."""


@dataclass(frozen=True)
class ProgramBound:
    """Lower bounds over all programs; `terms` are the cycles of each argument, and `bound_by` the greatest of them."""

    cycles: int
    energy_pj: float
    dram_bytes: int
    bound_by: str
    terms: Mapping[str, int]

    @property
    def figures(self) -> dict[str, float]:
        """The `lower_bound` of an answer."""
        return {"cycles": self.cycles, "energy_pj": self.energy_pj, "dram_bytes": self.dram_bytes}


def program_bound(network: Network, machine: Machine) -> ProgramBound:
    """What every program takes at least.

    DRAM bytes: what is needed of each input and weight comes in, and each result goes out, once.

    Cycles are the most of

    - these bytes over the links, whose instructions move at most what the memory on chip holds, and take its latency;
    - the work of each node and unit, kernels at the least cycles per operation of any box of any instruction for them;
    - of each kernel, what any of its operations needs is loaded, then it and all kernels each of whose operations needs
      one of its results do their work, then an element is stored;
    - what each element of a result needs is loaded and computed, one more instruction ends, and all is stored;
    - before a kernel begins, what any of its operations needs is loaded and made; what it and the kernels after it read
      is on chip by then, or comes in later, and results that need it go out later;
    - before the last operation that reads an element of a weight begins, what any of those that read it needs is loaded
      and made; of the weights whose last operations begin later, what is not on chip by then comes in later;
    - while an input comes in, all of which most of the work needs, little of the rest can be done (`arrival`).

    Energy is that of these bytes at both ends of the link, and of each point of the kernels at the least of any box,
    every element that is read or written there once.
    """
    return _Bound(network, machine).found()


class _Bound:
    def __init__(self, network: Network, machine: Machine) -> None:
        self.network, self.machine = network, machine
        traffic = Traffic(network)
        self.steps, self.needs = traffic.steps, traffic.needs
        self.loads, self.stores, self.outputs = traffic.loads, traffic.stores, traffic.outputs
        shapes = [value.shape for value in network.values]
        self.work, self.transfers = Work(machine, self.steps, self.needs, shapes), Transfers(machine)

    def found(self) -> ProgramBound:
        terms = dict(self._terms())
        best = max(terms, key=lambda name: terms[name])
        return ProgramBound(terms[best], self._energy_pj(), self.loads + self.stores, best, terms)

    def _terms(self) -> Iterator[tuple[str, int]]:
        points = np.array([need.points for need in self.needs], np.float64)
        yield "DRAM traffic", self.transfers.cycles(self.loads, self.stores)
        busy, where = self.work.busy()
        yield f"work of {where}", _whole(busy)
        counted = [k for k, own in enumerate(self.work.options) if own and points[k]]
        if counted and self.outputs and len(counted) <= MANY_STEPS:
            yield from self._orders(counted, points)

    def _orders(self, counted: list[int], points: Floats) -> Iterator[tuple[str, int]]:
        """What must come one after the other."""
        found = slices_of(self.network, [self.steps[k] for k in counted], range(len(counted)))
        cycles = self.work.cycles[:, counted]
        last = min(self.transfers.cycles(0, self.network.values[value].element_bytes) for value in self.outputs)
        after = (found.operations[:, found.externals :] > 0).T
        np.fill_diagonal(after, True)
        busy = after @ self.work.total[:, counted].T
        loads = found.operations[:, : found.externals].sum(axis=1)
        heads = np.array([self.transfers.cycles(int(size), 0) for size in loads.tolist()])
        totals = heads[:, None] + busy
        k, label = np.unravel_index(int(totals.argmax()), totals.shape)
        name = self.steps[counted[k]].name
        yield f"loads before {name}, then work of {self.work.labels[label]}", _whole(float(totals[k, label])) + last
        starts: list[int] = []
        for value, row in found.results.items():
            loaded = self.transfers.cycles(int(row[: found.externals].sum()), 0) + self._paths[value]
            starts.append(max(loaded, _whole(float((cycles @ row[found.externals :]).max()))))
        own = [
            start + self.transfers.cycles(0, size) for start, size in zip(starts, self.outputs.values(), strict=True)
        ]
        yield "what every result needs, then stores", max(*own, min(starts) + self.transfers.cycles(0, self.stores))
        yield self._later(counted, found, after, cycles)
        yield self._last_reads(counted, cycles)
        yield from self._arrival(counted, found, points, last)

    def _arrival(self, counted: list[int], found: Slices, points: Floats, last: int) -> Iterator[tuple[str, int]]:
        """Units stand idle while an input comes in, if most of the work needs all of it."""
        externals = [i for i, value in enumerate(self.network.values) if value.external]
        needed = {value: found.operations[:, column] for column, value in enumerate(externals)}
        work = self.work.cycles[:, counted] * points[counted]
        whole = points[counted] >= self.work.sizes[counted]
        if self.transfers.load_rate:
            busiest, steps = work[int(work.sum(axis=1).argmax())], [self.steps[k] for k in counted]
            arrival = Arrival(self.network, steps, busiest, whole, needed, self.transfers.load_rate)
            yield "work while an input comes in, and after it", _whole(arrival.least_cycles()) + last

    def _later(self, counted: list[int], found: Slices, after: NDArray[np.bool_], cycles: Floats) -> tuple[str, int]:
        """What the memories on chip cannot hold when a kernel begins comes after what it needs."""
        place = {value: i for i, value in enumerate(counted)}
        read: dict[int, list[tuple[int, int]]] = {}
        for k in counted:
            for value, demand in self.needs[k].reads:
                if self.network.values[value].external:
                    size = elements(demand) * self.network.values[value].element_bytes
                    read.setdefault(value, []).append((place[k], size))
        sizes = np.zeros(len(counted))
        for readers in read.values():
            sizes += np.max([after[:, k] * size for k, size in readers], axis=0)
        rest = np.maximum(sizes - self._room, 0)
        stores = sum(size * (found.results[value][found.externals :] > 0) for value, size in self.outputs.items())
        loaded = found.operations[:, : found.externals].sum(axis=1) / (self.transfers.load_rate or inf)
        done = np.maximum((cycles @ found.operations[:, found.externals :].T).max(axis=0), loaded)
        totals = [
            _whole(before) + self.transfers.cycles(int(loads), int(stored))
            for before, loads, stored in zip(done.tolist(), rest.tolist(), np.asarray(stores).tolist(), strict=True)
        ]
        at = max(range(len(totals)), key=totals.__getitem__)
        return f"work and loads before {self.steps[counted[at]].name}, then what the chip had no room for", totals[at]

    def _last_reads(self, counted: list[int], cycles: Floats) -> tuple[str, int]:
        """What the memories on chip cannot hold before the last reads of weights comes after what these need."""
        needs, steps = [self.needs[k] for k in counted], [self.steps[k] for k in counted]
        rate = self.transfers.load_rate
        end = least_end(last_reads(self.network, steps, needs, cycles, self._room, rate), self._room, rate)
        return "work before the last reads of weights that the chip has no room for, then these", _whole(end)

    @cached_property
    def _room(self) -> int:
        """Bytes of all memories on chip."""
        near = [memory for memory in self.machine.memories if not memory.offchip]
        return sum(memory.capacity_bytes * memory.instances_x * memory.instances_y for memory in near)

    @cached_property
    def _paths(self) -> list[int]:
        """For each value, cycles of the fewest and shortest instructions between what is loaded and it."""
        ends = [0] * len(self.network.values)
        own = {step.target: self.work.shortest(k) for k, step in enumerate(self.steps)}
        for step in self.network.steps:
            ends[step.target] = own.get(step.target, 0) + min((ends[source] for source in step.sources), default=0)
        return ends

    def _energy_pj(self) -> float:
        far = [memory for memory in self.machine.memories if memory.offchip]
        energy = self.loads * min((memory.read_energy_pj_per_byte for memory in far), default=0.0)
        energy += self.stores * min((memory.write_energy_pj_per_byte for memory in far), default=0.0)
        energy += self.transfers.energy_pj(self.loads, self.stores)
        for k, (step, found) in enumerate(zip(self.steps, self.needs, strict=True)):
            sizes: dict[int, list[int]] = {}
            for value, demand in found.reads:
                sizes.setdefault(value, []).append(elements(demand) * self.network.values[value].element_bytes)
            times = Counter(read.value for read in step.reads)  # what is not known of one read is of no other
            known = {value: min(found) for value, found in sizes.items() if len(found) >= times[value]}
            reads = {read.tensor: known[read.value] for read in step.reads if read.value in known}
            written = found.written * self.network.values[step.target].element_bytes
            energy += self.work.energy_pj(k, found.points, reads, written)
        return energy * (1 - 1e-9)


def _whole(cycles: float) -> int:
    return ceil(cycles * (1 - 1e-9))
