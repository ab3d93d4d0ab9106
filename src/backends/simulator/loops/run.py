"""Runs a program of a machine of loops: function, cycles, counts.

An array group is followed by the vector group that reads its sums, or stands alone; so may a vector group.  The vector
group runs once for each tile whose sums are complete.  Blocks of a program must fit the memory of instructions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....machine import Machine
from ....machine.loop_rules import instruction_memory
from ...control_models import Inputs, SimulationOptions
from ..energy import counts_of, price_memories, total_of
from ..layers import advances, layer_figures
from ..placing import offchip_storage
from ..result import SimulationResult, make_result
from ..schedule import Issue
from ..trace import TracedLayers, write_events
from .actions import Step, steps
from .array import MAX_POINTS, ArrayRun, Tile, tiles
from .chip import Chip, points
from .groups import ArrayGroup, Group, Immediate, Nest, Release, Transfer, VectorGroup, read_groups
from .permute import Permute, check, permute
from .reach import reach as reached
from .reach import spans
from .state import RunState
from .timeline import Timeline
from .vector import VectorRun

if TYPE_CHECKING:
    from ...program import Program


def pairs(machine: Machine, groups: Sequence[Group]) -> list[tuple[ArrayGroup | None, VectorGroup | None]]:
    """Each array group with the vector group behind it that reads its sums, if there is one."""
    found: list[tuple[ArrayGroup | None, VectorGroup | None]] = []
    for group in groups:
        array = found[-1][0] if found and found[-1][1] is None else None
        if isinstance(group, ArrayGroup):
            found.append((group, None))
        elif array is not None and _sums_of(machine, array) in _read(group):
            found[-1] = array, group
        else:
            found.append((None, group))
    return found


def _sums_of(machine: Machine, group: ArrayGroup) -> str:
    engine = next(unit.engine for unit in machine.units if unit.name == group.unit)
    assert engine is not None
    capability = machine.executed(engine)
    assert capability is not None
    return next(binding.memory for binding in engine.operands if binding.operand == capability.operands[0])


def _read(group: VectorGroup) -> set[str]:
    """The memories that a vector group reads rows of."""
    nests = [event for event in group.events if isinstance(event, Nest)]
    read = {p.memory for n in nests for c in n.body for role, p in c.places.items() if role != "O"}
    return read | {event.source.memory for event in group.events if isinstance(event, Permute)}


class Pair:
    """An array group and the vector group that takes its sums, tile by tile."""

    def __init__(self, state: RunState, array: ArrayGroup | None, vector: VectorGroup | None) -> None:
        self.state = state
        self.array = ArrayRun(state.machine, state.chip, array) if array is not None else None
        self.vector = VectorRun(state.machine, state.chip, vector) if vector is not None else None
        self.turn = 0
        groups = [group for group in (array, vector) if group is not None]
        self.spans = [span for group in groups for span in spans(state.machine, group)]
        loads = [(transfer.step.index, low, high) for transfer, low, high in self.spans if not transfer.store]
        self.after = {index: state.written.ready(low, high) for index, low, high in loads}
        self.ends: dict[int, int] = {}

    def run(self) -> None:
        """All tiles; what they stored may be read from then on."""
        self._run()
        for transfer, low, high in self.spans:
            if transfer.store:
                self.state.written.add(low, high, self.ends.get(transfer.step.index, 0))

    def _run(self) -> None:
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
        if self.array.group.is_fetch:
            self._fetch(self.array)
            return
        for tile in tiles(self.array.group):
            self._tile(self.array, tile)

    def _fetch(self, array: ArrayRun) -> None:
        """Instructions of the next block come when those before are done."""
        for transfer in array.group.transfers:
            size = array.bytes_of(transfer)
            self.state.count_transfer(size, transfer)
            self.state.time.fetch(self.state.cycles(size, transfer), transfer.step.index)

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
            self.state.count_transfer(array.bytes_of(transfer), transfer)
            cycles = self.state.cycles(array.bytes_of(transfer), transfer)
            self._load(transfer, cycles)
            if state.functional:
                array.move(transfer, tile.indices)
        sums = array.sums.target.memory
        inputs = [o.memory for o in (*array.sums.sources, *array.sums.initial)]
        ready = max(time.buffers[name].ready for name in (*inputs, sums))
        if tile.first and all(transfer.memory != sums for transfer in tile.loads):
            ready = max(ready, time.begin(sums))
        cycles = array.issues * self.state.issue_cycles(array)
        occupied = cycles + array.engine.latency_cycles
        _, end = time.run(array.group.unit, ready, occupied, "sums", array.group.step.index)
        for name in inputs:
            time.buffers[name].use(end)
        self.state.count_sums(array, cycles)
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
                    self.state.count_transfer(size, event)
                    self._load(event, self.state.cycles(size, event))
                    ready = max(ready, time.buffers[event.memory].ready)
                case Transfer():
                    self._store(vector.bytes_of(event), event, time.engines.get(unit, 0))
                case Nest():
                    ready = max([ready, *(time.begin(name) for name in _targets(event))])
                    _, end = time.run(unit, ready, vector.cycles(event), "body", event.body[0].step.index)
                    self.state.count_nest(vector, event)
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

    def _load(self, transfer: Transfer, cycles: int) -> None:
        index = transfer.step.index
        self.state.time.load(transfer.memory, cycles, f"load {transfer.memory}", index, self.after.get(index, 0))

    def _store(self, size: int, transfer: Transfer, ready: int) -> None:
        self.state.count_transfer(size, transfer)
        cycles, index = self.state.cycles(size, transfer), transfer.step.index
        self.ends[index] = self.state.time.store(transfer.memory, ready, cycles, f"store {transfer.memory}", index)


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


MAX_DRAM_BYTES = 1 << 34


def simulate_loops(program: Program, inputs: Inputs, options: SimulationOptions) -> SimulationResult:
    """As `simulate`, for control model `loops`."""
    machine = program.machine
    every, functional = list(steps(machine, program.code)), options.functional
    _check_blocks(machine, every)
    levels = {unit.name: _levels(unit.engine.levels if unit.engine else ()) for unit in machine.units}
    groups = read_groups(every, levels)
    reach = max([0, *(reached(machine, group) for group in groups)])
    storage = offchip_storage(program, reach, MAX_DRAM_BYTES, inputs, functional)
    chip = Chip(machine, storage.data)
    for tensor in program.tensors:
        if tensor.role in ("input", "weight"):
            chip.dram_written[tensor.address : tensor.address + tensor.size_bytes] = True
    copies = {memory.name: int(memory.buffering) for memory in machine.memories}
    state = RunState(machine, chip, Timeline(copies, storage.name), counts_of(machine), functional)
    program.layer_table.check(len(every))
    numbers = program.layer_table.numbers()
    parts = [counts_of(machine) for _ in range(max(len(program.layer_table.layers), 1))]
    ends: list[tuple[int, int]] = []
    for number, (array, vector) in enumerate(pairs(machine, groups)):
        if options.progress is not None:
            options.progress("simulate", number, len(groups))
        first = next(group.step.index for group in (array, vector) if group is not None)
        layer = numbers[first] if numbers else 0
        state.counts = parts[layer]
        with np.errstate(all="ignore"):
            Pair(state, array, vector).run()
        ends.append((layer, state.time.end))
    for part in parts:
        price_memories(machine, part)
    total = total_of(machine, parts)
    total.mnemonics.update(Counter(step.mnemonic.name for step in every))
    for memory in machine.memories:
        total.memories[memory.name].peak_bytes = storage.size_bytes if memory.offchip else chip.peaks[memory.name]
    traced = TracedLayers(program.layer_table, numbers, advances(ends) if numbers else ())
    layers = layer_figures(machine, traced.table, traced.stretches, parts) if numbers else ()
    if options.trace is not None:
        rows = sorted({item.row for item in state.time.slices})
        write_events(options.trace, machine, rows, traced, state.time.slices)
    issues = [Issue(item.index, item.start_cycle, item.end_cycle) for item in state.time.slices]
    return make_result(program, total, state.time.end, len(every), issues, [storage], layers, functional)


def _check_blocks(machine: Machine, every: Sequence[Step]) -> None:
    """Traps blocks that are longer than the memory of instructions, where the machine has one."""
    memory = instruction_memory(machine)
    if memory is None or not machine.instruction_bits:
        return
    length, most = 0, 8 * memory.capacity_bytes // machine.instruction_bits
    for step in every:
        length += 1
        if length > most:
            raise step.trap("range", f"blocks of at most {most} instructions, as {memory.name} holds", "more")
        if step.kind == "block":
            length = 0


def _levels(pairs_: Sequence[tuple[str, str]]) -> dict[str, int]:
    return {name: int(word) for name, word in pairs_}
