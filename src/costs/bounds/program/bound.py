"""Bounds of a network on a machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from ....machine import Machine
from .arrival import Arrival
from .demand import elements
from .last_reads import Chains, last_reads, least_end, read_bytes, read_once
from .network import Network
from .rounds import Rounds, rounds_of
from .slices import Floats, Slices, slices_of
from .traffic import Traffic
from .transfers import Transfers
from .work import Work

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
    - the weights of layers before a map whose elements' own weights do not fit come again in each of the rounds in
      which these are made (`rounds`);
    - while an input comes in, all of which, or a sample, most of the work needs, little else can be done (`arrival`).

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
        yield from self._rounds(counted, cycles)
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
            sizes += np.max([after[:, k] * float(size) for k, size in readers], axis=0)
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
        last = last_reads(self.network, steps, needs, self._chains, cycles, self._room, rate)
        end = least_end(last, self._room, rate)
        return "work before the last reads of weights that the chip has no room for, then these", _whole(end)

    def _rounds(self, counted: list[int], cycles: Floats) -> Iterator[tuple[str, int]]:
        """Maps are made in rounds, in each of which weights come again, while those of their elements come."""
        needs, steps = [self.needs[k] for k in counted], [self.steps[k] for k in counted]
        busiest, rate = cycles[int(self.work.total[:, counted].sum(axis=1).argmax())], self.transfers.load_rate
        sizes = read_bytes(self.network, needs)
        for step, read in ((step, read) for step in steps for read in step.reads):
            once = read_once(self._chains, step, read) if rate and sizes.get(read.value, 0) > self._room else None
            if once is None or sizes[read.value] < self.network.values[read.value].bytes:
                continue
            found = rounds_of(self.network, self._chains, steps, busiest, sizes, (step, read, once))
            if found is not None:
                made, left, layers = found
                rounds = Rounds(made, busiest, left, layers, self._room, rate)
                yield f"rounds of layers before {step.name}, with their weights in each", _whole(rounds.least_end(1.0))

    @cached_property
    def _chains(self) -> Chains:
        makers = {step.target: step for step in self.network.steps}
        return Chains(makers, [value.shape for value in self.network.values])

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
