"""Runs a program of a machine of loops: function, cycles, counts.

An array group is followed by the vector group that takes its sums, or stands alone; so may a vector group.  The vector
group runs once for each tile whose sums are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....algebra.formula import evaluate_formula
from ....errors import InfeasibleError, TilewrightError
from ....machine import Machine
from ..energy import Counts, MemoryCount, NodeCount, UnitCount, peak_ops_per_cycle, utilization
from ..memory import Storage
from ..result import SimulationResult, read_placement
from ..schedule import Issue
from .actions import steps
from .array import MAX_POINTS, ArrayRun, Tile, tiles
from .chip import Chip, points, span
from .groups import ArrayGroup, Group, Immediate, Nest, Release, Transfer, VectorGroup, read_groups
from .permute import Permute, check, permute
from .timeline import Timeline
from .trace import write_trace
from .vector import VectorRun

if TYPE_CHECKING:
    from ...program import Program

Progress = Callable[[str, int, int], None]
MAX_DRAM_BYTES = 1 << 34


@dataclass
class _Machine:
    """What a run works on."""

    machine: Machine
    chip: Chip
    time: Timeline
    counts: Counts
    functional: bool


def simulate_loops(
    program: Program,
    inputs: Mapping[str, NDArray[Any]],
    functional: bool = True,
    trace: Path | None = None,
    progress: Progress | None = None,
) -> SimulationResult:
    """As `simulate`, for control model `loops`."""
    machine = program.machine
    every = list(steps(machine, program.code))
    levels = {unit.name: _levels(unit.engine.levels if unit.engine else ()) for unit in machine.units}
    groups = read_groups(every, levels)
    storage = _dram(program, groups, inputs, functional)
    chip = Chip(machine, storage.data)
    for tensor in program.tensors:
        if tensor.role in ("input", "weight"):
            chip.dram_written[tensor.address : tensor.address + tensor.size_bytes] = True
    copies = {memory.name: int(memory.buffering) for memory in machine.memories}
    state = _Machine(machine, chip, Timeline(copies, storage.name), _counts(machine), functional)
    for step in every:
        state.counts.mnemonics[step.mnemonic.name] += 1
    for number, (array, vector) in enumerate(pairs(groups)):
        if progress is not None:
            progress("simulate", number, len(groups))
        with np.errstate(all="ignore"):
            _Pair(state, array, vector).run()
    cycles = state.time.end
    if trace is not None:
        write_trace(trace, machine, state.time.slices)
    return _result(program, state, storage, cycles, len(every))


def _levels(pairs_: Sequence[tuple[str, str]]) -> dict[str, int]:
    return {name: int(word) for name, word in pairs_}


def pairs(groups: Sequence[Group]) -> list[tuple[ArrayGroup | None, VectorGroup | None]]:
    """Each array group with the vector group behind it, if there is one."""
    found: list[tuple[ArrayGroup | None, VectorGroup | None]] = []
    for group in groups:
        if isinstance(group, ArrayGroup):
            found.append((group, None))
        elif found and found[-1][0] is not None and found[-1][1] is None:
            found[-1] = found[-1][0], group
        else:
            found.append((None, group))
    return found


def _result(program: Program, state: _Machine, storage: Storage, cycles: int, count: int) -> SimulationResult:
    by_name = {storage.name: storage}
    _price_memories(state, storage.size_bytes)
    outputs = [t for t in program.tensors if t.role == "output"] if state.functional else []
    return SimulationResult(
        outputs={t.name: read_placement(by_name, t) for t in outputs},
        cycles=cycles,
        energy_pj=state.counts.energy_pj,
        dram_bytes=state.counts.dram_bytes(state.machine),
        peak_bytes={name: c.peak_bytes for name, c in state.counts.memories.items()},
        utilization=utilization(state.counts, cycles),
        counts=state.counts,
        instructions=count,
        issues=[Issue(item.index, item.start_cycle, item.end_cycle) for item in state.time.slices],
        placements={t.name: t for t in program.tensors},
        storages=by_name,
    )


def _price_memories(state: _Machine, dram_bytes: int) -> None:
    """Energy of what was read and written, and how far each memory was used."""
    for memory in state.machine.memories:
        used = state.counts.memories[memory.name]
        used.peak_bytes = dram_bytes if memory.offchip else state.chip.peaks[memory.name]
        reads, writes = used.read_bytes, used.write_bytes
        used.energy_pj = reads * memory.read_energy_pj_per_byte + writes * memory.write_energy_pj_per_byte


def _dram(program: Program, groups: Sequence[Group], inputs: Mapping[str, NDArray[Any]], functional: bool) -> Storage:
    """The one memory off chip, as far as tensors and transfers reach, with the tensors that are given."""
    from ..simulate import place_tensors

    offchip = [memory for memory in program.machine.memories if memory.offchip]
    if len(offchip) != 1:
        raise TilewrightError("target", program.machine.name, "one memory off chip", f"{len(offchip)}")
    reach = max([t.address + t.size_bytes for t in program.tensors], default=0)
    reach = max([reach, *(_reach(program.machine, group) for group in groups)])
    if reach > MAX_DRAM_BYTES:
        raise InfeasibleError("host memory", reach, MAX_DRAM_BYTES, "bytes", "use lower addresses", offchip[0].name)
    storage = Storage(offchip[0], reach, functional)
    place_tensors(program, inputs, [storage], functional)
    return storage


def _reach(machine: Machine, group: Group) -> int:
    """One past the highest byte of DRAM that a group's transfers touch; traps what lies below 0."""
    unit = next(unit for unit in machine.units if unit.name == group.unit)
    granules = {name: int(word) for name, word in unit.engine.granules} if unit.engine else {}
    transfers = (
        group.transfers if isinstance(group, ArrayGroup) else [e for e in group.events if isinstance(e, Transfer)]
    )
    top = 0
    for transfer in transfers:
        if transfer.program:
            continue
        walk = list(transfer.walk)
        if isinstance(group, ArrayGroup):
            side = int(transfer.store)
            walk = [(n, group.strides.get((transfer.memory, side, loop), 0)) for loop, n in group.tile]
        low, high = span([*transfer.loops, *walk])
        if transfer.base + low < 0:
            raise transfer.step.trap("range", "addresses of at least 0", f"{transfer.base + low}")
        top = max(top, transfer.base + high + transfer.size * granules.get(transfer.memory, 1))
    return top


class _Pair:
    """An array group and the vector group that takes its sums, tile by tile."""

    def __init__(self, state: _Machine, array: ArrayGroup | None, vector: VectorGroup | None) -> None:
        self.state = state
        self.array = ArrayRun(state.machine, state.chip, array) if array is not None else None
        self.vector = VectorRun(state.machine, state.chip, vector) if vector is not None else None
        self.turn = 0
        self.stored: tuple[str, ...] = ()

    def run(self) -> None:
        """All tiles."""
        for run in (self.array, self.vector):
            if run is not None:
                self.state.time.configure(run.group.unit, run.group.instructions)
                self.state.counts.units[run.group.unit].instructions += run.group.instructions
        if self.vector is not None:
            self._check_turns(self.vector)
        if self.array is None:
            turns = self._turns()
            if turns > MAX_POINTS:
                assert self.vector is not None
                raise self.vector.group.step.trap("illegal", f"at most {MAX_POINTS} tiles", str(turns))
            for _ in range(turns):
                self._drain(0, "")
            return
        for tile in tiles(self.array.group):
            self._tile(self.array, tile)

    def _turns(self) -> int:
        assert self.vector is not None
        transfers = [event for event in self.vector.group.events if isinstance(event, Transfer)]
        return max((points(t.walk) for t in transfers), default=1)

    def _check_turns(self, vector: VectorRun) -> None:
        """All transfers of a vector group walk over as many tiles as there are."""
        group = self.array.group if self.array is not None else None
        turns = self._turns()
        if group is not None:
            turns = points([(n, 0) for loop, n in group.tile if loop not in group.reductions])
        for event in vector.group.events:
            if isinstance(event, Transfer) and event.walk and points(event.walk) != turns:
                raise event.step.trap("illegal", f"loops over {turns} tiles", f"over {points(event.walk)}")

    def _tile(self, array: ArrayRun, tile: Tile) -> None:
        state, time = self.state, self.state.time
        for transfer in tile.loads:
            self._count_transfer(array.bytes_of(transfer), transfer)
            cycles = self._cycles(array.bytes_of(transfer), transfer)
            time.load(transfer.memory, cycles, f"load {transfer.memory}", transfer.step.index)
            if state.functional:
                array.move(transfer, tile.indices)
        sums = array.sums.target.memory
        inputs = [o.memory for o in (*array.sums.sources, *array.sums.initial)]
        ready = max(time.buffers[name].ready for name in (*inputs, sums))
        if tile.first and all(transfer.memory != sums for transfer in tile.loads):
            ready = max(ready, time.begin(sums))
        cycles = array.issues * self._issue_cycles(array)
        occupied = cycles + array.engine.latency_cycles
        _, end = time.run(array.group.unit, ready, occupied, "sums", array.group.step.index)
        for name in inputs:
            time.buffers[name].use(end)
        self._count_sums(array, cycles)
        if state.functional:
            array.compute(tile.first)
        if tile.last:
            self._finish(array, tile, sums, end)

    def _finish(self, array: ArrayRun, tile: Tile, sums: str, ready: int) -> None:
        time = self.state.time
        time.buffers[sums].use(ready)
        for transfer in tile.stores:
            self._store(array.bytes_of(transfer), transfer, ready)
            if self.state.functional:
                array.move(transfer, tile.indices)
        if self.vector is not None:
            self._drain(ready, sums)

    def _drain(self, ready: int, sums: str) -> None:
        """The vector group for one tile, whose sums are `ready`."""
        vector, time = self.vector, self.state.time
        assert vector is not None
        unit = vector.group.unit
        for event in vector.group.events:
            match event:
                case Transfer(store=False):
                    size = vector.bytes_of(event)
                    self._count_transfer(size, event)
                    time.load(event.memory, self._cycles(size, event), f"load {event.memory}", event.step.index)
                    ready = max(ready, time.buffers[event.memory].ready)
                case Transfer():
                    self._store(vector.bytes_of(event), event, time.engines.get(unit, 0))
                case Nest():
                    ready = max([ready, *(time.begin(name) for name in _targets(event))])
                    _, end = time.run(unit, ready, vector.cycles(event), "body", event.body[0].step.index)
                    self._count_nest(vector, event)
                    for name in (*_memories(event), *([sums] if sums else ())):
                        time.buffers[name].use(end)
                case Permute():
                    ready = self._permute(vector, event, ready, sums)
                case Immediate() | Release():
                    pass
            if self.state.functional:
                _execute(vector, event, self.turn)
        self.turn += 1

    def _permute(self, vector: VectorRun, event: Permute, ready: int, sums: str) -> int:
        """The time and counts of a permutation, a row a cycle; when its rows are there."""
        check(vector.chip, event)
        time, counts, unit = self.state.time, self.state.counts, vector.group.unit
        ready = max(ready, time.begin(event.target.memory))
        _, end = time.run(unit, ready, event.rows + vector.latency, "permute", event.step.index)
        for name in (event.source.memory, event.target.memory, *([sums] if sums else ())):
            time.buffers[name].use(end)
        size = vector.chip.row_bytes(event.source.memory)
        counts.memories[event.source.memory].read_bytes += event.source.count * size
        counts.memories[event.target.memory].write_bytes += event.target.count * size
        counts.units[unit].busy_cycles += event.rows + vector.latency
        return ready

    def _store(self, size: int, transfer: Transfer, ready: int) -> None:
        self._count_transfer(size, transfer)
        cycles = self._cycles(size, transfer)
        self.state.time.store(transfer.memory, ready, cycles, f"store {transfer.memory}", transfer.step.index)

    def _link(self, transfer: Transfer) -> str:
        memory = "IMEM" if transfer.program else transfer.memory
        ends = (memory, self.state.time.channel)
        return "->".join(ends if transfer.store else ends[::-1])

    def _cycles(self, size: int, transfer: Transfer) -> int:
        name = self._link(transfer)
        for link in self.state.machine.links:
            if link.name == name:
                return int(-(-size // link.bandwidth_bytes_per_cycle)) + link.latency_cycles
        raise transfer.step.trap("illegal", "a link that the transfer goes over", name)

    def _issue_cycles(self, array: ArrayRun) -> int:
        return int(evaluate_formula(array.capability.cycles, {d.name: d.limit for d in array.capability.dims}))

    def _count_transfer(self, size: int, transfer: Transfer) -> None:
        counts = self.state.counts
        on, off = counts.memories[transfer.memory], counts.memories[self.state.time.channel]
        source, target = (on, off) if transfer.store else (off, on)
        source.read_bytes += size
        target.write_bytes += size
        link = counts.links[self._link(transfer)]
        link.issues += 1
        link.bytes += size
        link.ops += size
        link.busy_cycles += self._cycles(size, transfer)
        link.full_cycles += self._cycles(size, transfer)

    def _count_sums(self, array: ArrayRun, cycles: int) -> None:
        counts, capability = self.state.counts, array.capability
        node = counts.computes[array.engine.node]
        ops = array.issues * _points(capability)
        node.issues += array.issues
        node.ops += ops
        node.busy_cycles += cycles
        computes = {c.name: c for c in self.state.machine.computes}
        node.full_cycles += ops / peak_ops_per_cycle(computes[array.engine.node], capability)
        node.energy_pj += float(evaluate_formula(capability.energy_pj, {"ops": ops}))
        for name, size in array.sums.read_bytes().items():
            counts.memories[name].read_bytes += size
        counts.memories[array.sums.target.memory].write_bytes += array.sums.read_bytes()[array.sums.target.memory]
        counts.units[array.group.unit].busy_cycles += cycles

    def _count_nest(self, vector: VectorRun, nest: Nest) -> None:
        counts = self.state.counts
        rows = points([(n, 0) for n in nest.extents])
        counts.units[vector.group.unit].busy_cycles += vector.cycles(nest)
        for compute in nest.body:
            lanes, capability = vector.nodes[compute.step.names["function"]]
            node = counts.computes[capability.node]
            node.issues += rows
            node.ops += rows * lanes
            node.busy_cycles += rows
            node.full_cycles += rows
            node.energy_pj += rows * lanes * float(evaluate_formula(capability.energy_pj, {"ops": 1}))
            for role in capability.operands:
                place = compute.places[role]
                count, size = counts.memories[place.memory], rows * vector.chip.row_bytes(place.memory)
                if role == capability.operands[0]:
                    count.write_bytes += size
                else:
                    count.read_bytes += size


def _memories(nest: Nest) -> list[str]:
    """The memories that a nest touches, each once."""
    return list(dict.fromkeys(place.memory for compute in nest.body for place in compute.places.values()))


def _targets(nest: Nest) -> list[str]:
    """The memories that hold what a nest makes and not what it starts from: their old content must have left."""
    made = dict.fromkeys(compute.places["O"].memory for compute in nest.body)
    return list(made)


def _execute(vector: VectorRun, event: object, turn: int) -> None:
    match event:
        case Transfer():
            vector.move(event, turn)
        case Nest():
            vector.run(event)
        case Immediate():
            vector.set(event)
        case Permute():
            permute(vector.chip, event)
        case _:
            pass


def _points(capability: Any) -> int:
    return int(np.prod([dim.limit for dim in capability.dims], dtype=np.int64))


def _counts(machine: Machine) -> Counts:
    return Counts(
        {memory.name: MemoryCount() for memory in machine.memories},
        {node.name: NodeCount() for node in machine.computes},
        {link.name: NodeCount() for link in machine.links},
        {unit.name: UnitCount() for unit in machine.units},
        {mnemonic.name: 0 for mnemonic in machine.mnemonics},
    )
